# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Records that do not make one run are refused, each with the reason."""

import signal
import subprocess
import time
import unittest

from workbench import FFMPEG, clip, comparable, ffmpeg, fresh, single

CUT = 75  # frames of the first part
TICK, REF_TICK = 512, 40  # of a frame, in the clocks of closed.mp4 and ref.mkv
LEAD = 16


class Replay(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.log = self.place / "log.json"

    def record(self, name, begin, end, distorted="closed.mp4", options=""):
        """Frames begin..end - 1 of the distorted video, and what may be their partners."""
        path = self.place / name
        path.unlink(missing_ok=True)
        trims = (f"[0:v:0]trim=start_pts={begin * TICK}:end_pts={end * TICK}[d];"
                 f"[1:v:0]trim=start_pts={(begin - 2) * REF_TICK}:end_pts={(end + 2) * REF_TICK}[r]")
        ffmpeg("-i", clip(distorted), "-i", clip("ref.mkv"), "-lavfi",
               f"{trims};[d][r]quality_cuda=vmaf:rate=25:max_dt=0.02:record={path}{options}", "-f", "null", "-")
        return path

    def replay(self, *records, options="vmaf", cut=CUT):
        listed = self.place / "list"
        listed.write_text("".join(f"{cut * TICK * (i > 0)} {cut * REF_TICK * (i > 0)} {path}\n" for i, path in enumerate(records)))
        return subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-lavfi",
                               f"nullsrc[a];nullsrc[b];[a][b]quality_cuda={options}:replay={listed}:log_path={self.log}", "-f", "null", "-"],
                              capture_output=True, text=True, check=False)

    def refuse(self, reason, *arguments, **options):
        run = self.replay(*arguments, **options)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(reason, run.stderr)

    def test_two_parts(self):
        run = self.replay(self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "vmaf", "replay.json")))

    def waiting(self, first, coming):
        """A replay that waits for its second part."""
        listed = self.place / "list"
        listed.write_text(f"0 0 {first}\n{CUT * TICK} {CUT * REF_TICK} {coming}\n")
        graph = f"nullsrc[a];nullsrc[b];[a][b]quality_cuda=vmaf:replay={listed}:replay_wait=1:log_path={self.log}"
        return subprocess.Popen([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-lavfi", graph, "-f", "null", "-"],
                                stderr=subprocess.PIPE, text=True)

    def test_a_part_that_is_to_come(self):
        first, second, coming = self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150), self.place / "coming"
        with self.waiting(first, coming) as process:
            with self.assertRaises(subprocess.TimeoutExpired):  # longer than an input may be silent (STALL)
                process.wait(3)
            second.rename(coming)
            _, message = process.communicate(timeout=60)
        self.assertEqual((process.returncode, message), (0, ""))
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "vmaf", "replay.json")))

    def test_a_part_that_never_comes(self):
        """A signal ends the waiting."""
        with self.waiting(self.record("a", 0, CUT), self.place / "nothing") as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(1)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=10)
        self.assertNotEqual(process.returncode, 0)

    def test_a_record_appears_whole(self):
        """Until then its name has an ending; what a killed run leaves is not taken for one."""
        path = self.place / "growing"
        graph = f"[0:v][1:v]quality_cuda=psnr:record={path}"
        with subprocess.Popen([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-re", "-i", clip("closed.mp4"), "-re", "-i", clip("ref.mkv"),
                               "-lavfi", graph, "-f", "null", "-"]) as process:
            while not path.with_name("growing.unfinished").exists() and process.poll() is None:
                time.sleep(0.01)
            process.kill()
        self.assertFalse(path.exists())
        self.assertTrue(path.with_name("growing.unfinished").exists())

    def test_other_pictures(self):
        """Same stamps, another encode: what both parts scored differs."""
        self.refuse("differs from the one before", self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150, distorted="open.mp4"))

    def test_a_frame_is_missing(self):
        self.refuse("does not go on where the one before it ends", self.record("a", 0, CUT - 1), self.record("b", CUT - LEAD, 150))

    def test_begins_too_late(self):
        for begin in (CUT, CUT + 3):
            self.refuse("does not go on where the one before it ends", self.record("a", 0, CUT), self.record("b", begin, 150))

    def test_too_few_pairs_before(self):
        self.refuse("begins too late", self.record("a", 0, CUT), self.record("b", CUT - 1, 150))

    def test_other_metrics(self):
        records = self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150)
        self.refuse("words", *records, options="vmaf+psnr")

    def test_ends_early(self):
        whole, end = self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150)
        data = end.read_bytes()
        for size, reason in ((len(data) // 2, "end"), (0, "is none"), (3, "is none")):
            end.write_bytes(data[:size])
            self.refuse(reason, whole, end)

    def test_no_record(self):
        text = self.place / "text"
        text.write_bytes(b"no record at all" * 1000)
        self.refuse("is none", text)
        self.refuse("cannot be opened", self.place / "nothing")

    def test_a_record_is_never_written_over(self):
        path = self.record("a", 0, 10)
        run = subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-i", clip("closed.mp4"), "-i", clip("ref.mkv"), "-lavfi",
                              f"[0:v][1:v]quality_cuda=psnr:record={path}", "-f", "null", "-"], capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("File exists", run.stderr)

    def test_no_offset_is_looked_for(self):
        """Each part would begin with another look; and records have no pictures."""
        self.refuse("align=auto: with record or replay none and start are accepted", self.record("a", 0, 10), options="vmaf:align=auto")


if __name__ == "__main__":
    unittest.main()
