# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a person sees of quality-cuda: the table, JSON, exit codes, and one clear line for each mistake."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from workbench import COMMAND, FFMPEG, TIMEOUT_SECONDS, clip, command, comparable, ffmpeg_in, ffmpeg_that, folder, fresh, interrupt, single


def run_lines(run):
    return [line for line in run.stderr.splitlines() if line]


class Summary(unittest.TestCase):
    def test_table_shows_the_model_alone(self):
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "--parts", 2)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = run.stdout.splitlines()
        self.assertEqual((lines[0].split(), lines[1].split()), (["vmaf"], ["file", "size", "codec", "kbit/s", "mean", "p5", "min"]))
        self.assertEqual((lines[3], lines[-1]), ("", "frames: 150, scored: 150"))
        expected = json.loads(single([clip("closed.mp4"), clip("ref.mkv")], "metrics=vmaf", "table.json").read_text())["pooled_metrics"]["vmaf"]
        self.assertEqual([float(value) for value in lines[2].split()[4:]], [round(expected[pool], 2) for pool in ("mean", "p5", "min")])

    def test_json(self):
        run = command("score", clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 2, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["parts"], 2)
        self.assertEqual([each["pairing"]["scored"] for each in report["renditions"]], [150, 90])
        self.assertEqual([each["complete"] for each in report["renditions"]], [True, False])

    def test_quiet(self):
        run = command("score", clip("plain.avi"), clip("ref.mkv"), "-m", "psnr", "--parts", 2, "--quiet")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_fail_if(self):
        for condition, code in (("psnr_y.mean<1", 0), ("psnr_y.p5<60", 3), ("psnr_y.min>=1", 3), ("psnr_y.max>60", 0)):
            with self.subTest(condition):
                run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 1, "--fail-if", condition)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertEqual(condition in run.stderr, code == 3)

    def test_several_conditions(self):
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--fail-if", "psnr_y.mean<1", "--fail-if", "psnr_cb.mean>1")
        self.assertEqual((run.returncode, len(run_lines(run))), (3, 1), run.stderr)

    def test_warnings_are_of_the_whole(self):
        run = command("score", clip("short.mp4"), clip("ref_short.mkv"), "-m", "psnr", "--parts", 2)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("after it:10", run.stderr)


class Inputs(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.log = self.place / "log.json"

    def assert_log(self, videos):
        expected = single(videos, "metrics=psnr", f"{self.place.name}.json")
        self.assertEqual(comparable(self.log), comparable(expected))

    def test_a_pipe(self):
        with clip("h264.ts").open("rb") as stream:
            run = command("score", "-", clip("ref.mkv"), "-m", "psnr", "--parts", 3, "-o", self.log, given=stream)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("it is no file: scored in one part", run.stderr)
        self.assert_log([clip("h264.ts"), clip("ref.mkv")])

    def test_names_that_mean_something_to_ffmpeg(self):
        odd = self.place / "odd 'na:me, [1]; 50%03d\\.mkv"
        shutil.copy(clip("ref.mkv"), odd)
        self.log = self.place / "o'd:d [2],;\\.json"
        run = command("score", clip("closed.mp4"), odd, "-m", "psnr", "--parts", 2, "-o", self.log)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assert_log([clip("closed.mp4"), clip("ref.mkv")])

    def test_interrupted(self):
        """Nothing temporary is left, and no child."""
        arguments = ["score", clip("closed.mp4"), clip("ref.mkv"), "-m", "all", "--on-unsupported", "skip", "--parts", 3,
                     "--ffmpeg", FFMPEG, "-o", self.log]
        folder_of_run = self.place / "tmp"
        done = interrupt(arguments, folder_of_run, lambda: list(folder_of_run.glob("*/part2.record.unfinished")))
        self.assertEqual(done, (1, "quality-cuda: interrupted: Interrupt\n"))
        self.assertEqual(list(folder_of_run.iterdir()), [])
        self.assertFalse(self.log.exists())


class Mistakes(unittest.TestCase):
    def refuse(self, *arguments, code=1, environment=None):
        run = command(*arguments, environment=environment)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual(len(run_lines(run)), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("quality-cuda: "), run.stderr)
        return run.stderr

    def test_missing(self):
        self.assertIn("nowhere.mp4: no such file", self.refuse("score", "nowhere.mp4", clip("ref.mkv")))

    def test_folder(self):
        self.assertIn("is a folder", self.refuse("score", clip("closed.mp4"), folder()))

    def test_no_video(self):
        text = fresh("no_video") / "text.mp4"
        text.write_text("no video at all\n" * 100)
        self.assertIn("text.mp4 cannot be read: ", self.refuse("score", text, clip("ref.mkv")))

    def test_unreadable(self):
        with tempfile.TemporaryDirectory() as place:
            paths = [pathlib.Path(place) / name for name in ("closed.mp4", "ref.mkv")]
            for path in paths:
                shutil.copy(clip(path.name), path)
            paths[0].chmod(0)
            pathlib.Path(place).chmod(0o755)
            user = 65534 if os.geteuid() == 0 else None  # root may read everything
            try:
                run = subprocess.run([COMMAND, "score", *paths, "--ffmpeg", FFMPEG], user=user, cwd="/", capture_output=True, text=True,
                                     timeout=TIMEOUT_SECONDS, check=False)
            except PermissionError as error:
                self.skipTest(f"SKIPPED: the command is in a folder that is root's alone ({error})")
            self.assertEqual((run.returncode, len(run_lines(run))), (1, 1), run.stderr)
            self.assertIn("closed.mp4 cannot be read: Permission denied", run.stderr)

    def test_truncated_header(self):
        path = fresh("truncated") / "closed.mp4"  # its index is at the end
        path.write_bytes(clip("closed.mp4").read_bytes()[:5000])
        self.assertIn("closed.mp4 cannot be read: ", self.refuse("score", path, clip("ref.mkv")))

    def test_truncated_stream(self):
        """It is shorter, and the log says so."""
        path = fresh("truncated_stream") / "closed.mkv"
        path.write_bytes(clip("cut.mkv").read_bytes()[:-4000])
        log = folder() / "truncated.json"
        run = command("score", path, clip("ref.mkv"), "-m", "psnr", "--parts", 3, "-o", log)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(comparable(log), comparable(single([path, clip("ref.mkv")], "metrics=psnr", "truncated_single.json")))

    def test_sizes(self):
        for parts in (1, 3):
            self.assertIn("scale first", self.refuse("score", clip("small.mp4"), clip("ref.mkv"), "--parts", parts))

    def test_metric(self):
        for parts in (1, 3):
            self.assertIn("nonsense", self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "nonsense", "--parts", parts, code=2))

    def test_one_video(self):
        self.assertIn("reference", self.refuse("score", clip("closed.mp4"), code=2))

    def test_options(self):
        for arguments in (["--parts", "0"], ["--subsample", "0"], ["--backend", "gpu"], ["--hwaccel", "maybe"], ["--nonsense"],
                          ["--max-dt", "nan"], ["--max-dt", "-1"], ["--max-dt", "1s"]):
            with self.subTest(arguments):
                self.assertIn(arguments[0], self.refuse("score", "a", "b", *arguments, code=2))

    def test_conditions(self):
        for condition in ("vmaf", "vmaf<", "vmaf.p5", "vmaf.p5<x", ".p5<3", "vmaf.p7<3"):
            with self.subTest(condition):
                self.assertIn(condition, self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "--fail-if", condition, code=2))

    def test_condition_on_what_is_not_scored(self):
        self.assertIn("psnr_y", self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--fail-if", "vmaf.p5<9", code=2))

    def test_ffmpeg_is_missing(self):
        self.assertIn("--ffmpeg", self.refuse("score", "a", "b", "--ffmpeg", "/nowhere/ffmpeg"))

    def test_ffmpeg_without_the_filter(self):
        program = ffmpeg_in(fresh("other"), "#!/bin/sh\necho 'Unknown filter'\n")
        self.assertIn("has no filter quality_cuda", self.refuse("score", "a", "b", "--ffmpeg", program))

    def test_output_cannot_be_written(self):
        for parts in (1, 3):
            error = self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", parts, "-o", "/nowhere/scores.json")
            self.assertIn("/nowhere", error)

    def test_no_space(self):
        """A record that does not fit is an error of its own, and the log that was there stays."""
        log = folder() / "kept.json"
        log.write_text("kept\n")
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 2, "-q", "-o", log,
                      environment={"TMPDIR": str(fresh("small_disk"))}, limit_bytes=20000)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"record=.* could not be written: File too large")
        self.assertEqual(len(run_lines(run)), 1, run.stderr)
        self.assertEqual(log.read_text(), "kept\n")

    def test_a_part_that_dies(self):
        """ffmpeg is killed: one line, and no temporary folder is left."""
        place = fresh("dying")
        program = ffmpeg_that(place, "*start_pts*", "kill -9 $$")
        (place / "tmp").mkdir()
        error = self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--parts", 3, "--ffmpeg", program,
                            environment={"TMPDIR": str(place / "tmp")})
        self.assertRegex(error, r"part [12] of .*ffmpeg ended with 137")
        self.assertEqual(list((place / "tmp").iterdir()), [])

    def test_a_part_that_records_nothing(self):
        """The merge, which waits for its record, ends too."""
        program = ffmpeg_that(fresh("silent"), "*part1.record*", "exit 0")
        error = self.refuse("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--parts", 3, "--ffmpeg", program)
        self.assertRegex(error, r"part 1 of .*ffmpeg ended without a record")


if __name__ == "__main__":
    unittest.main()
