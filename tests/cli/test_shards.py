# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Plans: shards that are done stay done, whatever is killed when."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from workbench import COMMAND, FFMPEG, clip, command, comparable, fresh, single

KILLS = 250 if os.environ.get("QC_TEST_LEVEL") == "all" else 20


class Shards(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.plan = self.place / "plan.json"
        self.log = self.place / "scores.json"

    def do(self, *arguments):
        run = command(*arguments)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def make_plan(self, parts=3, metrics="vmaf"):
        return int(self.do("plan", self.plan, clip("open.mp4"), clip("ref.mkv"), "-m", metrics, "--parts", parts, "-o", self.log))

    def results(self):
        return sorted(path.name for path in self.place.glob("plan.json.shards/*"))

    def assert_equals_single(self, metrics="vmaf"):
        expected = single([clip("open.mp4"), clip("ref.mkv")], f"metrics={metrics}", f"shards_{metrics}.json")
        self.assertEqual(comparable(self.log), comparable(expected))

    def test_merged_equals_single(self):
        count = self.make_plan()
        self.assertEqual(count, 3)
        for number in (2, 0, 1):
            self.assertEqual(self.do("shard", self.plan, number), f"shard {number}: done\n")
        self.assertEqual(self.results(), ["0.record", "1.record", "2.record"])
        self.do("merge", self.plan)
        self.assert_equals_single()

    def check_one_part(self, name):
        self.assertEqual(int(self.do("plan", self.plan, clip(name), clip("ref.mkv"), "-m", "psnr", "--parts", 4, "-o", self.log)), 1)
        self.do("shard", self.plan, 0)
        self.do("merge", self.plan)
        self.assertEqual(comparable(self.log), comparable(single([clip(name), clip("ref.mkv")], "metrics=psnr", f"one_part_{name}.json")))

    def test_one_part(self):
        self.check_one_part("plain.avi")

    def test_what_a_whole_run_alone_can_tell(self):
        """The merge moves what the run moves, and finds what it finds."""
        for name, told in (("delayed.mkv", '"start_correction": 0.021'), ("as_24.mp4", '"other_length": true')):
            with self.subTest(name):
                self.check_one_part(name)
                self.assertIn(told, self.log.read_text())
                self.setUp()

    def test_what_is_done_is_skipped(self):
        self.make_plan()
        self.do("shard", self.plan, 1)
        before = (self.place / "plan.json.shards/1.record").stat()
        self.assertEqual(self.do("shard", self.plan, 1), "shard 1: done before\n")
        after = (self.place / "plan.json.shards/1.record").stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))

    def test_what_is_missing_is_said(self):
        self.make_plan()
        self.do("shard", self.plan, 1)
        run = command("merge", self.plan)
        self.assertEqual(run.returncode, 1)
        self.assertIn("missing shards: 0 2 (2 of 3)", run.stderr)
        self.assertFalse(self.log.exists())

    def test_damage_is_mended(self):
        self.make_plan()
        for number in range(3):
            self.do("shard", self.plan, number)
        record = self.place / "plan.json.shards/1.record"
        whole = record.read_bytes()
        for damaged in (whole[:-1], whole[:len(whole) // 2], b"", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]):
            record.write_bytes(damaged)
            self.assertIn("missing shards: 1 ", command("merge", self.plan).stderr)
            self.assertEqual(self.do("shard", self.plan, 1), "shard 1: done\n")
        self.do("merge", self.plan)
        self.assert_equals_single()

    def test_changed_input(self):
        distorted = self.place / "distorted.mp4"
        shutil.copy(clip("open.mp4"), distorted)
        self.do("plan", self.plan, distorted, clip("ref.mkv"), "-m", "psnr", "--parts", 2, "-o", self.log)
        for number in range(2):
            self.do("shard", self.plan, number)
        shutil.copy(clip("closed.mp4"), distorted)
        self.assertIn("missing shards: 0 1 ", command("merge", self.plan).stderr)

    def test_another_plan_of_the_same_name(self):
        self.make_plan(metrics="psnr")
        for number in range(3):
            self.do("shard", self.plan, number)
        self.make_plan(metrics="psnr+ssim")
        self.assertIn("missing shards: 0 1 2 ", command("merge", self.plan).stderr)

    def test_catalogue(self):
        """Titles are merged as their shards are done."""
        titles = self.place / "titles.json"
        logs = [self.place / f"{name}.json" for name in ("a", "b")]
        titles.write_text(json.dumps([
            {"distorted": [str(clip("open.mp4"))], "reference": str(clip("ref.mkv")), "log": str(logs[0])},
            {"distorted": [str(clip("mpeg2.ts")), str(clip("plain.avi"))], "reference": str(clip("ref.mkv")), "log": str(logs[1])}]))
        self.assertEqual(int(self.do("plan", self.plan, "--titles", titles, "-m", "psnr", "--parts", 2)), 3)
        for number in range(2):
            self.do("shard", self.plan, number)
        run = command("merge", self.plan)
        self.assertEqual((run.returncode, run.stdout), (1, "titles merged: 1 of 2\n"))
        self.assertTrue(logs[0].exists() and not logs[1].exists())
        self.do("shard", self.plan, 2)
        self.assertEqual(self.do("merge", self.plan), "titles merged: 2 of 2\n")
        expected = single([clip("mpeg2.ts"), clip("plain.avi"), clip("ref.mkv")], "metrics=psnr", "catalogue.json")
        self.assertEqual(comparable(logs[1]), comparable(expected))
        self.assertEqual(comparable(logs[1].with_name("b.rendition1.json")), comparable(expected.with_name("catalogue.rendition1.json")))

    def seconds_of(self, *arguments):
        start = time.monotonic()
        self.do(*arguments)
        return time.monotonic() - start

    def kill_two(self, steps, delays):
        """Side by side. @return for each its exit code"""
        processes = [subprocess.Popen([COMMAND, *map(str, step), "--ffmpeg", FFMPEG], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                     for step in steps]
        codes = []
        for step, process, delay in zip(steps, processes, delays):
            time.sleep(delay)
            process.kill()
            said = process.communicate()[1]
            codes.append(process.returncode)
            if process.returncode > 0:  # what ends by itself has done its work, or lacks what others were to do
                self.assertEqual(step[0], "merge", said)
                self.assertIn("missing shards: ", said)
        return codes

    def test_random_kills(self):
        """Shards and merges are killed at any time, beside each other: nothing is lost, nothing doubled."""
        chance = random.Random(20)
        count = self.make_plan(parts=4, metrics="psnr")
        seconds = {"shard": max(self.seconds_of("shard", self.plan, number) for number in range(count)), "merge": self.seconds_of("merge", self.plan)}
        killed, ended = {"shard": 0, "merge": 0}, {"shard": 0, "merge": 0}
        while sum(killed.values()) < KILLS:
            missing = [number for number in range(count) if f"{number}.record" not in self.results()]
            steps = [["shard", self.plan, chance.choice(missing)] for _ in range(2)] if missing else []
            steps = chance.sample([*steps, ["merge", self.plan], ["merge", self.plan]], 2)
            codes = self.kill_two(steps, [chance.uniform(0, 1.2 * seconds[step[0]]) for step in steps])
            for step, code in zip(steps, codes):
                was_killed = code == -signal.SIGKILL
                (killed if was_killed else ended)[step[0]] += 1
                seconds[step[0]] *= 1.1 if was_killed else 0.9  # so that about half of them are killed, on a busy machine too
            if self.log.exists():
                self.assert_equals_single("psnr")
            if chance.random() < 0.3:
                self.log.unlink(missing_ok=True)
            if not missing and chance.random() < 0.6:  # so that there is always something left to do
                for number in chance.sample(range(count), 2):
                    (self.place / f"plan.json.shards/{number}.record").unlink()
        print(f"(killed {killed}, ended {ended}) ", end="")
        for number in range(count):
            self.do("shard", self.plan, number)
        self.do("merge", self.plan)
        self.assert_equals_single("psnr")

    def test_broken_plans(self):
        self.make_plan()
        plan = json.loads(self.plan.read_text())
        damaged = {"": "no plan", "{": "no plan", "[]": "no plan", '{"a": 1}': "no plan",
                   json.dumps({**plan, "quality_cuda_plan": 99}): "another version", json.dumps({**plan, "titles": []}): "damaged",
                   json.dumps({**plan, "shards": [{"title": 0}]}): "damaged", json.dumps({**plan, "titles": [{"inputs": 3}]}): "damaged"}
        for text, said in damaged.items():
            self.plan.write_text(text)
            for arguments in (["shard", self.plan, 0], ["merge", self.plan]):
                with self.subTest(text=text[:40], command=arguments[0]):
                    run = command(*arguments)
                    self.assertEqual(run.returncode, 1, run.stdout)
                    self.assertIn(said, run.stderr)
                    self.assertEqual(run.stderr.count("\n"), 1)

    def test_number_of_a_shard(self):
        self.make_plan()
        for number in (3, -1):
            run = command("shard", self.plan, number)
            self.assertEqual(run.returncode, 2)
            self.assertIn("0..2", run.stderr)


if __name__ == "__main__":
    unittest.main()
