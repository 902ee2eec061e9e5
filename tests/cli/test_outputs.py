# SPDX-License-Identifier: BSD-2-Clause-Patent
"""No output takes the place of what is read, nor of another output, by whatever name; what is no file is written to."""

import json
import os
import shutil
import stat
import subprocess
import unittest

from workbench import COMMAND, FFMPEG, clip, command, comparable, fresh, single


class Outputs(unittest.TestCase):
    def setUp(self):
        self.place = fresh("outputs_" + self.id().rpartition(".")[2])
        self.videos = []
        for name in ("closed.mp4", "ref.mkv"):
            shutil.copy(clip(name), self.place / name)
            self.videos.append(self.place / name)
        self.before = {path: path.read_bytes() for path in self.videos}

    def refuse(self, *arguments):
        run = command(*arguments)
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)
        self.assertEqual({path: path.read_bytes() for path in self.videos}, self.before)
        return run.stderr

    def names_of(self, path):
        """A file under other names."""
        hard, soft = self.place / f"hard{path.suffix}", self.place / f"soft{path.suffix}"
        os.link(path, hard)
        soft.symlink_to(path)
        return [path, path.parent / "." / path.name, path.parent / ".." / path.parent.name / path.name, hard, soft]

    def test_log_over_a_video(self):
        for video in self.videos:
            for name in self.names_of(video):
                with self.subTest(name):
                    self.assertIn("nothing is written over it", self.refuse("score", *self.videos, "-m", "psnr", "-o", name))

    def test_plan_over_a_video(self):
        """The plan was forgotten, or is a link."""
        self.assertIn("the plan comes first", self.refuse("plan", *self.videos, clip("ref.mp4"), "-m", "psnr"))
        (self.place / "link").symlink_to(self.videos[0])
        self.assertIn("is no plan", self.refuse("plan", self.place / "link", *self.videos, "-m", "psnr"))
        notes = self.place / "notes.json"
        notes.write_text('{"mine": 1}')
        self.assertIn("is no plan", self.refuse("plan", notes, *self.videos, "-m", "psnr"))
        self.assertEqual(notes.read_text(), '{"mine": 1}')

    def test_plan_over_a_plan(self):
        plan = self.place / "plan.json"
        for _ in range(2):
            self.assertEqual(command("plan", plan, *self.videos, "-m", "psnr").returncode, 0)
        self.assertIn("nothing is written over it", self.refuse("plan", plan, *self.videos, "-m", "psnr", "-o", plan))

    @staticmethod
    def title(distorted, reference, log):
        return {"distorted": [str(distorted)], "reference": str(reference), "log": str(log)}

    def test_titles_with_one_log(self):
        titles = self.place / "titles.json"
        (self.place / "link.json").symlink_to(self.place / "a.json")
        (self.place / "a.json").write_text("")
        for one, other in (("a.json", "./a.json"), ("a.json", "link.json"), ("x/../a.json", "a.json")):
            with self.subTest(other):
                titles.write_text(json.dumps([self.title(*self.videos, f"{self.place}/{log}") for log in (one, other)]))
                self.assertRegex(self.refuse("plan", self.place / "plan.json", "--titles", titles, "-m", "psnr"),
                                 "two titles|nothing is written over it")

    def test_a_titles_log_over_anothers_video(self):
        titles = self.place / "titles.json"
        titles.write_text(json.dumps([self.title(*self.videos, self.place / "x.json"),
                                      self.title(clip("open.mp4"), clip("ref.mkv"), self.videos[0])]))
        self.assertIn("nothing is written over it", self.refuse("plan", self.place / "plan.json", "--titles", titles, "-m", "psnr"))

    def test_report_over_what_it_reads(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "outputs_log.json")
        before = log.read_bytes()
        for option in ("--csv", "-o", "--png"):
            self.assertIn("nothing is written over it", self.refuse("report", log, option, log.parent / "." / log.name))
            self.assertIn("nothing is written over it", self.refuse("report", log, option, self.videos[0], "--distorted", self.videos[0],
                                                                   "--reference", self.videos[1]))
        self.assertIn("nothing is written over it", self.refuse("report", log, "--csv", self.place / "x", "--png", self.place / "./x"))
        self.assertEqual(log.read_bytes(), before)

    def test_what_is_no_file_stays_what_it_is(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "outputs_log.json")
        pipe = self.place / "pipe"
        os.mkfifo(pipe)
        for arguments in (["report", log, "--csv", pipe], ["score", *self.videos, "-m", "psnr", "-q", "-o", pipe]):
            with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
                self.assertEqual(command(*arguments).returncode, 0)
                self.assertGreater(len(reader.communicate(timeout=60)[0]), 1000)
            self.assertTrue(stat.S_ISFIFO(pipe.stat().st_mode))
        run = command("report", log, "--csv", pipe)  # nobody reads
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot be written", run.stderr)
        null = self.place / "null"
        try:
            os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            self.skipTest("SKIPPED: only root makes devices")
        self.assertEqual(command("report", log, "--csv", null).returncode, 0)
        self.assertTrue(stat.S_ISCHR(null.stat().st_mode))

    def test_blanks_at_the_ends_of_a_name(self):
        for name in ("scores.json ", " scores.json", " \t"):
            for parts in (1, 2):
                place = self.place / f"{parts}{name}"
                place.mkdir()
                (place / "scores.json").write_text("kept")
                run = subprocess.run([COMMAND, "score", *self.videos, "-m", "psnr", "-q", "--parts", str(parts), "--ffmpeg", FFMPEG, "-o", name],
                                     cwd=place, capture_output=True, text=True, timeout=60, check=False,
                                     env={**os.environ, "TMPDIR": str(place)})
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertEqual(sorted(path.name for path in place.iterdir()), sorted([name, name + ".commands", "scores.json"]))
                self.assertEqual((place / "scores.json").read_text(), "kept")

    def test_a_full_standard_output(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["score", *self.videos, "-m", "psnr", "--json"], ["score", *self.videos, "-m", "psnr"],
                              ["plan", self.place / "plan.json", *self.videos, "-m", "psnr"]):
                run = subprocess.run([COMMAND, *arguments, "--ffmpeg", FFMPEG], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
                                     check=False)
                self.assertEqual(run.returncode, 1, arguments)
                self.assertIn("standard output cannot be written", run.stderr)

    def test_log_on_standard_output(self):
        for parts in (1, 3):
            typed = f"{COMMAND} score {self.videos[0]} {self.videos[1]} -m psnr -q --parts {parts} --ffmpeg {FFMPEG} -o /dev/stdout | cat"
            run = subprocess.run(typed, shell=True, capture_output=True, timeout=60, check=True)
            log = self.place / "log.json"
            log.write_bytes(run.stdout)
            self.assertEqual(comparable(log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "outputs_single.json")))


if __name__ == "__main__":
    unittest.main()
