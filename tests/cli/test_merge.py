# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Records that do not make one run are refused, each with the reason. The library's function is called, as the command does."""

import ctypes
import subprocess
import threading
import time
import unittest

from workbench import FFMPEG, ROOT, clip, comparable, ffmpeg, fresh, single

CUT = 75  # frames of the first part
TICK, REF_TICK = 512, 40  # of a frame, in the clocks of closed.mp4 and ref.mkv
LEAD = 16
MAX_VIDEOS = 17

MERGED, INEXACT, FAILED, STOPPED = range(4)  # qcr_merged
ERROR, WARNING = range(2)  # qcr_level
SAY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
GOES_ON = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Part(ctypes.Structure):
    """qcr_part"""
    _fields_ = [("begins", ctypes.c_int64 * MAX_VIDEOS), ("path", ctypes.c_char_p)]


class Wish(ctypes.Structure):
    """qcr_merge_config"""
    _fields_ = [("parts", ctypes.POINTER(Part)), ("part_count", ctypes.c_int), ("renditions", ctypes.c_int),
                *((name, ctypes.c_char_p) for name in ("metrics", "model", "feature", "options")),
                *((name, ctypes.c_int) for name in ("skip_unsupported", "range")), ("n_subsample", ctypes.c_int),
                ("max_dt", ctypes.c_double), ("log_path", ctypes.c_char_p), ("log_fmt", ctypes.c_char_p),
                ("stats_file", ctypes.c_char_p),
                ("waits", ctypes.c_int), ("goes_on", GOES_ON), ("opaque", ctypes.c_void_p), ("say", SAY), ("of_say", ctypes.c_void_p)]


LIBRARY = ctypes.CDLL(str(ROOT / "build/engine/libquality_cuda.so"))


class Merge(unittest.TestCase):
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

    def merge(self, *records, options="vmaf", cut=CUT, goes_on=None):
        """@return status, and what was said as an error or a warning"""
        said = []
        parts = (Part * len(records))()
        for i, path in enumerate(records):
            parts[i].path = str(path).encode()
            parts[i].begins[:2] = [cut * TICK * (i > 0), cut * REF_TICK * (i > 0)]
        say = SAY(lambda _, level, text: said.append(text.decode()) if level <= WARNING else None)
        asked = GOES_ON(lambda _: int(goes_on()) if goes_on else 1)
        wish = Wish(parts=parts, part_count=len(records), renditions=1, metrics=options.encode(), log_path=str(self.log).encode(),
                    waits=goes_on is not None, goes_on=asked, say=say)
        return LIBRARY.qcr_merge(ctypes.byref(wish)), said

    def refuse(self, reason, *arguments, status=INEXACT, **options):
        merged, said = self.merge(*arguments, **options)
        self.assertEqual(merged, status, said)
        self.assertTrue(any(reason in line for line in said), said)

    def assert_as_one_run(self):
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "vmaf", "merge.json")))

    def test_two_parts(self):
        self.assertEqual(self.merge(self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150)), (MERGED, []))
        self.assert_as_one_run()

    def test_a_part_that_is_to_come(self):
        first, second, coming = self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150), self.place / "coming"
        results = []
        thread = threading.Thread(target=lambda: results.append(self.merge(first, coming, goes_on=lambda: True)))
        thread.start()
        thread.join(3)  # longer than an input may be silent (STALL)
        self.assertTrue(thread.is_alive())
        second.rename(coming)
        thread.join(60)
        self.assertEqual(results, [(MERGED, [])])
        self.assert_as_one_run()

    def test_a_part_that_never_comes(self):
        """Who waits is told so, and leaves nothing."""
        asked = []

        def goes_on():
            asked.append(True)
            return len(asked) < 20

        self.assertEqual(self.merge(self.record("a", 0, CUT), self.place / "nothing", goes_on=goes_on), (STOPPED, []))
        self.assertEqual((len(asked), self.log.exists()), (20, False))

    def test_what_is_there_is_logged(self):
        """As after every run that fails."""
        self.refuse("lacks a pair", self.damaged_pair(self.record("a", 0, CUT)), self.record("b", CUT - LEAD, 150))
        log = self.log.read_text()
        self.assertIn('"complete": false', log)
        self.assertIn("lacks a pair", log)

    def test_a_log_that_is_there_stays(self):
        """It may be a whole run's, which nothing incomplete replaces."""
        first, second = self.record("a", 0, CUT), self.record("b", CUT - LEAD, 150)
        self.assertEqual(self.merge(first, second), (MERGED, []))
        whole = self.log.read_bytes()
        self.refuse("lacks a pair", self.damaged_pair(first), second)
        self.assertEqual(self.log.read_bytes(), whole)

    def damaged_pair(self, path):
        """The last pairs are gone: an entry of another kind stands in their places."""
        data = bytearray(path.read_bytes())
        kind, at, seen = (0x5051).to_bytes(4, "little"), 0, []
        while at < len(data):
            if data[at:at + 4] == kind:
                seen.append(at)
            at += 8 + 8 * int.from_bytes(data[at + 4:at + 8], "little")
        for place in seen[-3:]:
            data[place] = 0
        path.write_bytes(data)
        return path

    def test_no_pair(self):
        """The log is that of a run that has scored nothing."""
        path, log = self.place / "a", self.place / "single.json"
        for options in (f"vmaf:record={path}:allow_unpaired=1", f"vmaf:log_path={log}"):
            run = subprocess.run([FFMPEG, "-nostdin", "-v", "error", "-i", clip("closed.mp4"), "-i", clip("ref.mkv"), "-lavfi",
                                  f"[1:v]setpts=PTS+100/TB[r];[0:v][r]quality_cuda={options}", "-f", "null", "-"],
                                 capture_output=True, text=True, check=False)
        self.assertIn("no frame was scored: the time stamps never overlap", run.stderr)
        self.refuse("no frame was scored: the time stamps never overlap", path, status=FAILED)
        self.assertEqual(comparable(self.log), comparable(log))

    def test_of_frames_that_were_not_to_be_scored(self):
        """A merge would score them."""
        self.refuse("lacks a pair", self.record("a", 0, CUT, options=":enable=0"), self.record("b", CUT - LEAD, 150))

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
        self.refuse("words", *records, options="vmaf+psnr", status=FAILED)

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
        """Each part would begin with another look."""
        run = subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-i", clip("closed.mp4"), "-i", clip("ref.mkv"), "-lavfi",
                              f"[0:v][1:v]quality_cuda=psnr:align=auto:record={self.place / 'a'}", "-f", "null", "-"],
                             capture_output=True, text=True, check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("align=auto: with record none and start are accepted", run.stderr)


if __name__ == "__main__":
    unittest.main()
