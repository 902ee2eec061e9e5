# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands of docs/guide, as they stand there."""

import glob
import json
import os
import re
import socket
import subprocess
import unittest

from harness import FFMPEG, REPOSITORY, TIMEOUT_SECONDS, FilterTest, ffmpeg, is_threaded

RECIPES = REPOSITORY / "docs/guide"


def commands_of(page):
    """The blocks of a page that are for a shell."""
    return re.findall(r"(?ms)^```sh\n(.*?)^```$", (RECIPES / page).read_text(encoding="utf-8"))


def has(kind, name):
    return f" {name} " in subprocess.run([FFMPEG, "-v", "error", f"-{kind}"], capture_output=True, text=True, check=True).stdout


class RecipeTest(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=50)
        self.distorted = self.worse(self.reference)
        for name, path in (("reference.mp4", self.remuxed()), ("distorted.mp4", self.distorted), ("source.mkv", self.remux(self.reference, "mkv"))):
            (self.folder / name).symlink_to(path)

    def remuxed(self):
        """FFV1 does not go into MP4."""
        path = self.clips / "reference.mp4"
        if not path.exists():
            self.assert_ok(ffmpeg(["-i", self.reference, "-c:v", "mpeg4", "-q:v", "1", path], self.clips))
        return path

    def environment_for(self, **more):
        """With this ffmpeg as "ffmpeg"; no recipe names a backend."""
        return {**os.environ, "PATH": f"{FFMPEG.resolve().parent}:{os.environ['PATH']}", **more}

    def shell(self, command, **more):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment_for(**more), capture_output=True, text=True,
                              timeout=TIMEOUT_SECONDS, check=False)

    def vmaf_of(self, distorted, reference, options=""):
        """Of each frame, by a plain command."""
        plain = f"[0:v][1:v]quality_cuda=vmaf:log_path=plain.json{options}"
        self.assert_ok(ffmpeg(["-v", "error", "-i", self.folder / distorted, "-i", self.folder / reference, "-lavfi", plain, "-f", "null", "-"],
                              self.folder))
        return self.vmaf_in("plain.json")

    def vmaf_in(self, log):
        return [frame["metrics"]["vmaf"] for frame in json.loads((self.folder / log).read_text())["frames"]]

    def run_recipe(self, command, **more):
        done = self.shell(command, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class ActingOnScores(RecipeTest):
    def setUp(self):
        super().setUp()
        self.printed, self.probed, self.pictures, self.alerts, self.labelled = commands_of("acting_on_scores.md")

    def scores(self):
        self.run_recipe(self.printed)
        return [float(value) for value in re.findall(r"(?m)^lavfi\.quality_cuda\.psnr_y=(.*)$", (self.folder / "frames.txt").read_text())]

    def test_metadata_and_ffprobe(self):
        printed = self.scores()
        self.assertEqual(len(printed), 50)
        self.run_recipe(self.probed)
        frames = json.loads((self.folder / "frames.json").read_text())["frames"]
        self.assertEqual([float(frame["tags"]["lavfi.quality_cuda.psnr_y"]) for frame in frames], printed)

    def test_frames_below_a_threshold(self):
        below = sum(score < 33 for score in self.scores())
        self.assertTrue(0 < below < 50, below)
        self.run_recipe(self.pictures)
        self.assertEqual(len(list(self.folder.glob("bad*.png"))), below)

    def test_alerts(self):
        scores, active, row = self.scores(), 0, 0
        for score in scores:
            row = row + 1 if score < 34 else 0
            active += row > 10  # 0.4 s of 25 frames a second
        self.assertGreater(active, 0)
        self.run_recipe(self.alerts)
        run = ffmpeg(["-v", "error", "-i", self.folder / "alerts.mkv", "-f", "framemd5", "out.framemd5"], self.folder)
        self.assertEqual(len(run.out), active)

    def test_drawn(self):
        if not has("filters", "drawtext"):
            self.skipTest("SKIPPED: this FFmpeg has no drawtext")
        self.run_recipe(self.labelled)
        self.assertTrue((self.folder / "labelled.mp4").exists())


class QualityGate(RecipeTest):
    def gate(self, *arguments):
        function, = commands_of("quality_gate.md")
        return self.shell(f"{function}\nquality_gate {' '.join(arguments)}")

    def test_exit_codes(self):
        passed, failed = self.gate("source.mkv", "source.mkv", "90"), self.gate("distorted.mp4", "reference.mp4", "99")
        self.assertEqual((passed.returncode, failed.returncode), (0, 1), passed.stderr + failed.stderr)
        self.assertRegex(failed.stdout, r"^VMAF \d+\.\d+ of at least 99$")
        for arguments in (("missing.mp4", "reference.mp4", "1"), ("distorted.mp4", "reference.mp4", "1", "median")):
            self.assertEqual(self.gate(*arguments).returncode, 2)

    def test_another_pooling(self):
        scores = self.vmaf_of("distorted.mp4", "reference.mp4")
        mean, worst = (float(self.gate("distorted.mp4", "reference.mp4", "0", pool).stdout.split()[1]) for pool in ("mean", "p5"))
        self.assertLess(worst, mean)
        self.assertAlmostEqual(mean, sum(scores) / len(scores), places=4)


class Maps(RecipeTest):
    def brightest(self, pictures):
        """The largest mean of a picture."""
        self.assert_ok(ffmpeg(["-v", "error", "-y", "-i", self.folder / pictures, "-pix_fmt", "gray", "-f", "rawvideo", "map.gray"], self.folder))
        samples, size = (self.folder / "map.gray").read_bytes(), 176 * 144
        return max(sum(samples[i:i + size]) / size for i in range(0, len(samples), size))

    def frames_of(self, name):
        probe = [FFMPEG.parent / "ffprobe", "-v", "error", "-select_streams", "v", "-count_frames", "-show_entries",
                 "stream=width,height,nb_read_frames", "-of", "csv=p=0", self.folder / name]
        return subprocess.run(probe, capture_output=True, text=True, check=True).stdout.strip()

    def test_videos_and_pictures(self):
        stacked, three, blended, pictures = commands_of("maps.md")
        for command in (stacked, three, blended, pictures):
            self.run_recipe(command)
        self.assertEqual(self.frames_of("stacked.mp4"), "176,288,50")
        self.assertEqual(self.frames_of("three.mp4"), "176,432,50")
        self.assertEqual(self.frames_of("blended.mp4"), "176,144,50")
        self.assertEqual(len(list(self.folder.glob("map*.png"))), 50)
        # The map of a video against itself is black, and that of this one is not.
        self.assertGreater(self.brightest("map%03d.png"), 20)
        self.assertEqual(self.run_recipe(pictures.replace("distorted.mp4", "reference.mp4").replace("map%03d", "same%03d")).returncode, 0)
        self.assertLess(self.brightest("same%03d.png"), 2)


class EncoderQa(RecipeTest):
    def test_scores_and_file(self):
        if not is_threaded():
            self.skipTest("SKIPPED: this FFmpeg has no -dec")
        if not has("encoders", "libx264"):
            self.skipTest("SKIPPED: this FFmpeg has no libx264")
        command, = commands_of("encoder_qa.md")
        done = self.run_recipe(command)
        self.assertIn("VMAF score: ", done.stderr)
        log = json.loads((self.folder / "scores.json").read_text())
        self.assertEqual((len(log["frames"]), log["complete"]), (50, True))
        self.assertEqual(self.vmaf_in("scores.json"), self.vmaf_of("encoded.mkv", "source.mkv"))


class Ladder(RecipeTest):
    def score(self, **environment):
        self.assert_ok(ffmpeg(["-i", self.reference, "-vf", "scale=88:72", "-c:v", "mpeg4", "-q:v", "4", "small.mp4"], self.folder))
        function, = commands_of("ladder.md")
        done = self.run_recipe(f"{function}\nladder reference.mp4 distorted.mp4 small.mp4", **environment)
        self.assertRegex(done.stderr, r"(?m)\b1 +main1 +88x72 -> 176x144 .* complete ")
        renditions = json.loads((self.folder / "ladder.json").read_text())["renditions"]
        self.assertEqual([(each["width"], each["scored"], each["end"]) for each in renditions], [(176, 50, "complete"), (88, 50, "complete")])
        self.assertEqual(self.vmaf_in("ladder.json"), self.vmaf_of("distorted.mp4", "reference.mp4"))
        self.assertEqual(self.vmaf_in("ladder.rendition1.json"), self.vmaf_of("small.mp4", "reference.mp4", ":scale=bicubic"))
        return done.stderr

    def test_decoded_by_the_cpu(self):
        self.score(GPU="")

    def test_as_it_stands(self):
        if not glob.glob("/dev/nvidia[0-9]*"):
            self.skipTest("SKIPPED: no GPU")
        self.score()


class LiveRelay(RecipeTest):
    def scores_of_files(self, sender):
        """Time and score of each frame of what the sender sends, written into files."""
        to_files = re.sub(r'"udp://127\.0\.0\.1:\$(\w+)[^"]*"', r"\1.ts", sender).replace(" -re ", " ")
        self.run_recipe(to_files)
        score = ["-v", "error", "-copyts", "-i", "DISTORTED_PORT.ts", "-i", "REFERENCE_PORT.ts",
                 "-lavfi", "[0:v][1:v]quality_cuda=psnr:log_fmt=jsonl:log_path=files.jsonl", "-f", "null", "-"]
        self.assert_ok(ffmpeg(score, self.folder))
        lines = [json.loads(line) for line in (self.folder / "files.jsonl").read_text().splitlines()]
        return [(line["pts_time"], line["scores"]["psnr_y"]) for line in lines if "scores" in line and line["type"] == "frame"]

    def test_sender_and_monitor(self):
        sender, monitor = commands_of("live_relay.md")
        ports = []
        for _ in range(2):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.bind(("127.0.0.1", 0))
                ports.append(str(probe.getsockname()[1]))
        environment = {"REFERENCE_PORT": ports[0], "DISTORTED_PORT": ports[1]}
        with subprocess.Popen(["bash", "-c", "exec " + sender], cwd=self.folder, env=self.environment_for(**environment)) as process:
            try:
                done = self.run_recipe(monitor, **environment)
                self.assertEqual(process.wait(TIMEOUT_SECONDS), 0)  # by itself
            finally:
                process.kill()
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        whole = [line for line in lines if line["type"] == "window" and line["scored"] == 25]
        self.assertGreaterEqual(len(whole), 3, done.stderr)
        self.assertEqual(lines[-1]["type"], "end")
        self.assertGreater(lines[-1]["scored"], 50, done.stderr)
        self.assertEqual([line for line in lines if line["type"] == "alert"], [])
        of_files = self.scores_of_files(sender)
        self.assertEqual(len(of_files), 500)
        for line in whole:
            values = [value for time, value in of_files if line["start"] - 0.001 < time < line["end"] - 0.001]
            self.assertAlmostEqual(line["scores"]["psnr_y"]["mean"], sum(values) / len(values), places=4)
            self.assertGreater(line["scores"]["psnr_y"]["mean"], 31)  # pairs of frames one apart are at 25


class Pages(unittest.TestCase):
    def test_each_is_listed(self):
        """Those that have no test of their own are run by tests/cli/test_documentation.py."""
        listed = re.findall(r"\]\(guide/(\w+\.md)\)", (RECIPES.parent / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(sorted(set(listed)), sorted(path.name for path in RECIPES.glob("*.md")))


if __name__ == "__main__":
    unittest.main()
