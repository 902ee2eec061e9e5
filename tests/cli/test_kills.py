# SPDX-License-Identifier: BSD-2-Clause-Patent
"""`score` and `report`, killed at any time: what they write is what was there before, or whole. tests/cli/test_shards.py does so with shards
and merges."""

import json
import os
import random
import signal
import subprocess
import time
import unittest

from workbench import COMMAND, FFMPEG, clip, command, comparable, fresh, single

KILLS = 150 if os.environ.get("QC_TEST_LEVEL") == "all" else 8  # of each


class Kills(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"

    def kill_often(self, arguments, check, clear):
        """Until so many were killed. @param check is called after each; @param clear takes away what was written, now and then"""
        chance, seconds, killed, ended = random.Random(arguments[0]), 1.0, 0, 0
        arguments = [COMMAND, *map(str, arguments), "-q", "--ffmpeg", str(FFMPEG)]
        while killed < KILLS:
            with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "TMPDIR": str(self.place)}) as process:
                time.sleep(chance.uniform(0, seconds))
                process.kill()
                said = process.stderr.read()
            was_killed = process.returncode == -signal.SIGKILL
            self.assertTrue(was_killed or (process.returncode, said) == (0, ""), said)
            killed, ended = killed + was_killed, ended + (not was_killed)
            seconds *= 1.1 if was_killed else 0.8  # so that it is killed early and late, on a busy machine too
            check()
            if chance.random() < 0.3:
                clear()
        print(f"(killed {killed}, ended {ended}) ", end="")
        run = subprocess.run(arguments, capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        check()

    def test_score(self):
        expected = comparable(single([clip("open.mp4"), clip("ref.mkv")], "metrics=psnr", "killed.json"))
        commands = self.log.with_name("scores.json.commands")

        def check():
            if self.log.exists():
                self.assertEqual(comparable(self.log), expected)
            if commands.exists():
                self.assertEqual(len(json.loads(commands.read_text())["parts"]), 3)

        self.kill_often(["score", clip("open.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 3, "-o", self.log], check,
                        lambda: self.log.unlink(missing_ok=True))
        self.assertTrue(self.log.exists() and commands.exists())

    def test_report(self):
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "vmaf+psnr", "-o", self.log, "-q")
        self.assertEqual(run.returncode, 0, run.stderr)
        outputs = {option: self.place / name for option, name in (("-o", "page.html"), ("--csv", "table.csv"), ("--png", "plot.png"))}
        arguments = ["report", self.log, *(item for pair in outputs.items() for item in pair)]
        self.assertEqual(command(*arguments).returncode, 0)
        expected = {path: path.read_bytes() for path in outputs.values()}
        log = self.log.read_bytes()

        def check():
            self.assertEqual(self.log.read_bytes(), log)
            for path, content in expected.items():
                if path.exists():
                    self.assertEqual(path.read_bytes(), content, path)

        self.kill_often(arguments, check, lambda: [path.unlink(missing_ok=True) for path in expected])
        self.assertTrue(all(path.exists() for path in expected))


if __name__ == "__main__":
    unittest.main()
