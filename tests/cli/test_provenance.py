# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands that made a log lie beside it, and the report shows them; the log stays the filter's own."""

import json
import os
import shlex
import subprocess
import unittest

from made_logs import run, said_once
from page import Page
from test_report import HAS_PAGE
from workbench import COMMAND, TIMEOUT_SECONDS, clip, command, comparable, fresh, single


class Commands(unittest.TestCase):
    def setUp(self):
        self.place = fresh("provenance_" + self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"
        self.beside = self.place / "scores.json.commands"
        self.videos = [clip("closed.mp4"), clip("ref.mkv")]

    def score(self, *more):
        outcome = command("score", *self.videos, "-m", "psnr", *more, "-o", self.log)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def rows(self, *arguments):
        """What the page says of the log, as a list of pairs: parts have a row each."""
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        page = self.place / "report.html"
        outcome = run("report", self.log, "-q", "-o", page, *arguments)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return [tuple(row) for row in Page(page).tables["What the log of scores says"]]

    def assert_typed(self, text, *words):
        typed = shlex.split(text)
        self.assertEqual(typed[:2], [str(COMMAND), words[0]])
        self.assertEqual(set(map(str, words)) - set(typed), set())

    def test_in_parts(self):
        self.score("--parts", 3)
        self.assertEqual(comparable(self.log), comparable(single(self.videos, "metrics=psnr", "provenance.json")))
        made = json.loads(self.beside.read_text())
        self.assertEqual(len(made["commands"]), 1)
        self.assert_typed(made["commands"][0], "score", *self.videos, "--parts", "3")
        self.assertEqual((made["folder"], len(made["parts"])), (os.getcwd(), 3))
        self.assertEqual(["-ss" in shlex.split(part) for part in made["parts"]], [False, True, True])
        self.assertRegex(made["merge"], r"^libquality_cuda \d")
        rows = self.rows()
        for row in (("command", made["commands"][0]), ("in folder", os.getcwd()), ("part 1", made["parts"][1]), ("merged by", made["merge"])):
            self.assertIn(row, rows)

    def test_in_one_part(self):
        """The command of ffmpeg can be typed again, and makes the same log."""
        self.videos = [clip("closed.mp4"), self.place / "it's a 'name'.mkv"]
        os.link(clip("ref.mkv"), self.videos[1])
        self.score("--parts", 1)
        made = json.loads(self.beside.read_text())
        self.assertEqual((len(made["parts"]), made["merge"]), (1, ""))
        self.assertIn(("scored by", made["parts"][0]), self.rows())
        before = comparable(self.log)
        self.log.unlink()
        subprocess.run(made["parts"][0], shell=True, check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
        self.assertEqual(comparable(self.log), before)

    def test_of_a_plan(self):
        plan = self.place / "plan.json"
        self.assertEqual(command("plan", plan, *self.videos, "-m", "psnr", "--parts", 2, "-o", self.log).returncode, 0)
        for number in (1, 0):
            self.assertEqual(command("shard", plan, number).returncode, 0)
        self.assertFalse(self.beside.exists())
        self.assertEqual(command("merge", plan).returncode, 0)
        made = json.loads(self.beside.read_text())
        self.assert_typed(made["commands"][0], "plan", plan, *self.videos)
        self.assert_typed(made["commands"][1], "merge", plan)
        for number, part in enumerate(made["parts"]):
            self.assertIn(f"{plan}.shards/{number}.record", part)
            self.assertEqual("-ss" in shlex.split(part), number == 1)
        self.assertEqual([value for name, value in self.rows() if name == "command"], made["commands"])
        self.assertEqual(command("shard", plan, 0).stdout, "shard 0: done before\n")

    def test_not_known(self):
        self.score("--parts", 1)
        other = self.log.read_text().replace('"complete": true', '"complete": false')
        for change, reason in ((lambda: self.log.write_text(other), "is of another log"), (lambda: self.beside.write_text("{"), "is damaged"),
                               (self.beside.unlink, "there is no")):
            change()
            row = dict(self.rows())["command"]
            self.assertTrue(row.startswith("not known: "), row)
            self.assertIn(reason, row)

    def test_told(self):
        self.score("--parts", 1)
        self.beside.unlink()
        self.assertEqual(dict(self.rows("--command", "ffmpeg -i <a> & b"))["command"], "ffmpeg -i <a> & b")
        said_once(self, run("report", self.log, "--command", "a", "--command", "b", "--csv", "-"), 2, "--command is given 2 times: there are 1 logs")

    def test_without_a_log(self):
        outcome = command("score", *self.videos, "-m", "psnr", "--parts", 2)
        self.assertEqual((outcome.returncode, list(self.place.iterdir())), (0, []))


if __name__ == "__main__":
    unittest.main()
