# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`quality-cuda verify`: what was altered is told, and what was not is not."""

import hashlib
import json
import pathlib
import shutil
import unittest

from made_logs import run
from workbench import FFMPEG, command, ffmpeg, fresh

FRAMES = 12
SOURCE = f"testsrc2=s=64x48:r=25,trim=end_frame={FRAMES}"
METRICS = "psnr+vmaf"


def quoted(path):
    """As the command writes it down."""
    return "'" + str(path).replace("'", "'\\''") + "'"


def verify(log, *more):
    return run("verify", log, *more)


class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = fresh("verify_made")
        ffmpeg("-f", "lavfi", "-i", SOURCE, "-c:v", "ffv1", cls.made / "ref.mkv")
        ffmpeg("-i", cls.made / "ref.mkv", "-c:v", "mpeg4", "-q:v", "9", cls.made / "dist.mkv")

    def setUp(self):
        """Of each test's own: the files are changed."""
        self.place = fresh("verify_" + self.id().rpartition(".")[2]) / "it's a $(place)"  # of commands that a shell would take
        self.place.mkdir()
        self.videos = [shutil.copy(self.made / name, self.place) for name in ("dist.mkv", "ref.mkv")]
        self.log = self.score("scores.json")

    def score(self, name, *more):
        """Each command once, then its files anew: most tests alter nothing but the log."""
        log = self.place / name
        outcome = command("score", *self.videos, "-m", METRICS, "-o", log, "-q", *more)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return log

    def edit(self, old, new, path=None):
        path = path or self.log
        text = pathlib.Path(path).read_text(encoding="utf-8")
        self.assertIn(old, text)
        pathlib.Path(path).write_text(text.replace(old, new, 1), encoding="utf-8")

    def checks(self, log=None, *more, code=0):
        outcome = verify(log or self.log, "--json", *more)
        self.assertEqual(outcome.returncode, code, outcome.stdout + outcome.stderr)
        found = json.loads(outcome.stdout)
        self.assertEqual(found["holds"], code != 3)
        return {each["check"]: (each["holds"], each["text"]) for each in found["checks"]}

    def test_nothing_is_wrong(self):
        outcome = verify(self.log)
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        self.assertEqual([line.split()[1] for line in outcome.stdout.splitlines()], ["holds"] * 7)
        self.assertEqual(verify(self.log, "--strict").returncode, 0)

    def test_other_layouts(self):
        for name, unknown in (("scores.xml", set()), ("scores.jsonl", set()), ("scores.csv", {"end", "frames", "pooled", "models", "version"})):
            with self.subTest(name):
                checks = self.checks(self.score(name), "--again")
                self.assertEqual({check for check, (holds, _) in checks.items() if holds is None}, unknown, checks)
                self.assertTrue(checks["again"][0])

    def test_provenance(self):
        for name in ("scores.json", "scores.jsonl"):
            log = self.score(name)
            head = json.loads(log.read_text() if name == "scores.json" else log.read_text().splitlines()[0])
            made = head["provenance"]
            self.assertEqual((made["backend"], made["device"], made["driver"]), ("cpu", None, None))
            self.assertEqual(made["engine"], made["filter"])
            self.assertRegex(made["commit"], r"^([0-9a-f]{40}(-dirty)?|unknown)$")
            self.assertTrue(made["ffmpeg"])
            self.assertRegex(head["model_checksums"]["vmaf"], "^[0-9a-f]{64}$")

    def test_checksum_of_the_log(self):
        made = json.loads(self.log.with_name("scores.json.commands").read_text())
        self.assertEqual(made["sha256"], hashlib.sha256(self.log.read_bytes()).hexdigest())

    def test_a_digit_of_a_frame(self):
        """The last one: no mean of printed digits tells it, the log's checksum and a second run do."""
        frame = json.loads(self.log.read_text())["frames"][3]["metrics"]
        text = f"{frame['psnr_y']:.6f}"
        other = text[:-1] + str((int(text[-1]) + 1) % 10)
        self.edit(f'"psnr_y": {text}', f'"psnr_y": {other}')
        checks = self.checks(None, "--again", code=3)
        self.assertEqual(checks["bytes"], (False, "the log was changed after it was written"))
        self.assertEqual(checks["again"][0], False)
        self.assertIn(f"psnr_y of frame 3 is {other}, and again {text}", checks["again"][1])

    def test_a_digit_without_the_commands(self):
        self.log.with_name("scores.json.commands").unlink()
        self.assertIsNone(self.checks()["bytes"][0])
        self.assertEqual(verify(self.log, "--strict").returncode, 4)
        text = f"{json.loads(self.log.read_text())['frames'][3]['metrics']['vmaf']:.6f}"
        digit = text.index(".") + 2
        self.edit(f'"vmaf": {text}', f'"vmaf": {text[:digit]}{(int(text[digit]) + 5) % 10}{text[digit + 1:]}')
        found = self.checks(code=3)["pooled"]
        self.assertFalse(found[0])
        self.assertRegex(found[1], r"^(min|max|mean) of vmaf is \d+\.\d+, and that of the frames \d+\.\d+$")

    def test_a_digit_of_a_pooled_value(self):
        pools = json.loads(self.log.read_text())["pooled_metrics"]["psnr_y"]
        for pool, value in pools.items():
            text = f"{value:.6f}"
            before = self.log.read_text()
            at = before.index('"pooled_metrics"')
            at = before.index(f'"{pool}": {text}', before.index('"psnr_y"', at))
            changed = text[:-2] + str((int(text[-2]) + 3) % 10) + text[-1]
            self.log.write_text(before[:at] + before[at:].replace(text, changed, 1))
            found = self.checks(code=3)["pooled"][1]
            self.assertTrue(found.startswith(f"{pool} of psnr_y is {changed}, and that of the frames {text[:-2]}"), found)
            self.log.write_text(before)

    def test_a_frame_that_is_missing(self):
        for number, where in ((5, "; frame 5 is missing"), (FRAMES - 1, "")):
            log = json.loads(self.log.read_text())
            del log["frames"][number]
            other = self.place / "other.json"
            other.write_text(json.dumps(log))
            self.assertEqual(self.checks(other, code=3)["frames"], (False, f"{FRAMES - 1} frames, and {FRAMES} were scored{where}"))

    def test_a_log_that_ends_early(self):
        self.edit('"complete": true', '"complete": false')
        self.edit('"reason": null', '"reason": "the program got SIGINT"')
        self.assertEqual(self.checks(code=3)["end"], (False, "the log is not complete: the program got SIGINT"))
        self.log.write_text(self.log.read_text()[:-20])
        self.assertEqual(verify(self.log).returncode, 1)

    def test_a_file_that_changed(self):
        with open(self.videos[0], "ab") as file:
            file.write(b"x")
        checks = self.checks(None, "--again", code=3)
        self.assertEqual(checks["files"], (False, f"{self.videos[0]} is not the file that was scored"))
        self.assertNotIn("again", checks)
        pathlib.Path(self.videos[0]).unlink()
        self.assertIsNone(self.checks()["files"][0])

    def test_a_model_that_changed(self):
        checksum = json.loads(self.log.read_text())["model_checksums"]["vmaf"]
        self.edit(checksum, "0" * 64)
        self.assertEqual(self.checks(code=3)["models"], (False, "the model vmaf_v0.6.1 is another one than that of the log"))

    def test_another_version(self):
        self.edit('"engine": "0.1.0", "commit"', '"engine": "0.0.9", "commit"')
        self.log.with_name("scores.json.commands").unlink()
        checks = self.checks()
        self.assertIsNone(checks["version"][0])
        self.assertRegex(checks["version"][1], r"^made by version 0\.0\.9, and this one is \d")

    def test_the_commands_are_a_strangers(self):
        """They choose what is scored. No program of theirs is run, and no filter, unless one says so."""
        beside = self.log.with_name("scores.json.commands")
        made = json.loads(beside.read_text())
        planted = self.place / "planted"
        planted.write_text(f"#!/bin/sh\ntouch \"$(dirname \"$0\")/was_run\"\n")
        planted.chmod(0o755)
        typed = made["commands"][0].replace(f" --ffmpeg {FFMPEG}", "")
        place, planted = quoted(self.place), quoted(planted)
        for more, code in (((f" --ffmpeg {planted}; touch {place}/was_run"), 0), (f" --ffmpeg {planted}", 0), (" --filter ref:null", 1)):
            made["commands"] = [typed + more]
            beside.write_text(json.dumps(made))
            outcome = run("verify", self.log, "--again", "--ffmpeg", FFMPEG)
            self.assertEqual(outcome.returncode, code, outcome.stdout + outcome.stderr)
            self.assertFalse((self.place / "was_run").exists(), more)
        self.assertIn("--trust-command accepts it", outcome.stderr)
        self.assertEqual(run("verify", self.log, "--again", "--trust-command", "--ffmpeg", FFMPEG).returncode, 0)

    def test_again_needs_to_know_how(self):
        self.log.with_name("scores.json.commands").unlink()
        outcome = verify(self.log, "--again")
        self.assertEqual(outcome.returncode, 1)
        self.assertEqual(outcome.stderr, f"quality-cuda: --again: there is no {self.log}.commands\n")


if __name__ == "__main__":
    unittest.main()
