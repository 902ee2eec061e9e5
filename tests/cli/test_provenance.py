# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands that made a log lie beside it, and the report shows them; the log stays the filter's own."""

import json
import os
import shlex
import shutil
import subprocess
import unittest

from made_logs import run, said_once
from page import Page
from test_report import HAS_PAGE
from workbench import COMMAND, FRAMES, TIMEOUT_SECONDS, clip, command, comparable, ffmpeg, fresh, single


class Beside(unittest.TestCase):
    def setUp(self):
        self.place = fresh("provenance_" + self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"
        self.beside = self.place / "scores.json.commands"
        self.videos = [clip("closed.mp4"), clip("ref.mkv")]

    def score(self, *more):
        outcome = command("score", *self.videos, "-m", "psnr", *more, "-o", self.log)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)


class Commands(Beside):
    def rows(self, *arguments):
        """What the page says of the log, as a list of pairs: parts have a row each."""
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        page = self.place / "report.html"
        outcome = run("report", self.log, "-q", "-o", page, *arguments)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        table = next(table for caption, table in Page(page).tables.items() if caption.startswith("What the log of "))
        return [tuple(row) for row in table]

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


class Files(Beside):
    """Which files were scored stands beside the log, and nobody is asked for them again."""

    def setUp(self):
        super().setUp()
        self.videos = [self.place / path.name for path in self.videos]
        for path in self.videos:
            shutil.copy(clip(path.name), path)

    def page(self, *arguments):
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        outcome = command("report", self.log, "-o", self.place / "report.html", *arguments)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return Page(self.place / "report.html"), outcome.stderr

    def test_record(self):
        self.score("--parts", 1)
        files = json.loads(self.beside.read_text())["files"]
        self.assertEqual([each["path"] for each in files], [str(path) for path in self.videos])
        self.assertEqual([each["bytes"] for each in files], [path.stat().st_size for path in self.videos])
        self.assertEqual([(each["codec"], each["width"], each["height"]) for each in files], [("h264", 160, 120), ("ffv1", 160, 120)])
        raw = self.place / "raw.h264"
        ffmpeg("-i", self.videos[0], "-c", "copy", "-f", "rawvideo", raw)
        self.assertAlmostEqual(files[0]["bit_rate"], raw.stat().st_size * 8 / (FRAMES / 25), delta=0.01 * files[0]["bit_rate"])

    def test_a_merged_log_has_its_files(self):
        """As score's, and believed only as long as the files are those that were planned."""
        plan = self.place / "plan.json"
        self.assertEqual(command("plan", plan, *self.videos, "-m", "psnr", "--parts", 2, "-o", self.log).returncode, 0)
        for number in range(2):
            self.assertEqual(command("shard", plan, number).returncode, 0)
        merged = command("merge", plan, "--json")
        files = json.loads(self.beside.read_text())["files"]
        self.score("--parts", 2)
        self.assertEqual(files, json.loads(self.beside.read_text())["files"])
        video = json.loads(merged.stdout)[0]["renditions"][0]["video"]
        self.assertEqual((video["codec"], video["bit_rate"]), ("h264", round(files[0]["bit_rate"])))

    def test_a_file_that_changed_before_it_was_scored(self):
        plan = self.place / "plan.json"
        self.assertEqual(command("plan", plan, *self.videos, "-m", "psnr", "--parts", 1, "-o", self.log).returncode, 0)
        shutil.copy(clip("open.mp4"), self.videos[0])
        self.assertEqual(command("shard", plan, 0).returncode, 0)
        merged = command("merge", plan)
        said = f"note: {self.videos[0]} has changed since it was planned: its codec and bit rate are not recorded\n"
        self.assertEqual((merged.returncode, merged.stderr), (0, said))
        files = json.loads(self.beside.read_text())["files"]
        self.assertEqual([each["codec"] for each in files], ["", "ffv1"])
        self.assertEqual(files[0]["bytes"], self.videos[0].stat().st_size)

    def test_nothing_is_asked_twice(self):
        self.score("--parts", 2)
        page, said = self.page()
        self.assertEqual(said, "")
        self.assertGreater(len(page.images()), 0)
        files = json.loads(self.beside.read_text())["files"]
        self.assertEqual(page.index["encodes"][0]["label"], "closed.mp4")
        self.assertAlmostEqual(page.index["encodes"][0]["kbits"], files[0]["bit_rate"] / 1000, delta=0.001)
        rows = dict(page.tables["What the log of closed.mp4 says"])
        self.assertEqual(rows["distorted video"], f"{self.videos[0]} (unchanged since it was scored)")

    def test_of_a_ladder(self):
        """Each rendition has its own file."""
        self.videos.insert(1, clip("open.mkv"))
        self.score("--parts", 1)
        page, said = self.page()
        self.assertEqual(said, "")
        self.assertEqual([each["label"] for each in page.index["encodes"]], ["closed.mp4", "open.mkv"])
        self.assertEqual({alt.partition(",")[0] for alt, _ in page.images() if not alt.startswith(("diff", "ref"))}, {"closed.mp4", "open.mkv"})

    def test_of_a_plan(self):
        plan = self.place / "plan.json"
        self.assertEqual(command("plan", plan, *self.videos, "-m", "psnr", "-o", self.log).returncode, 0)
        for arguments in (("shard", plan, 0), ("merge", plan)):
            self.assertEqual(command(*arguments).returncode, 0)
        page, said = self.page()
        self.assertEqual((said, page.index["encodes"][0]["label"]), ("", "closed.mp4"))
        self.assertGreater(len(page.images()), 0)
        self.assertGreater(page.index["encodes"][0]["kbits"], 0)

    def test_moved_together(self):
        self.score("--parts", 1)
        moved = self.place.with_name(self.place.name + "_moved")
        shutil.rmtree(moved, ignore_errors=True)
        self.place.rename(moved)
        self.place.mkdir()
        self.log = moved / self.log.name
        page, said = self.page()
        self.assertEqual(said, "")
        self.assertEqual(dict(page.tables["What the log of closed.mp4 says"])["distorted video"],
                         f"{moved / 'closed.mp4'} (unchanged since it was scored)")

    def test_changed_or_gone(self):
        self.score("--parts", 1)
        rate = json.loads(self.beside.read_text())["files"][0]["bit_rate"]
        with self.videos[0].open("r+b") as file:
            file.seek(-9, 2)
            file.write(b"#")
        for reason, act in (("has changed since it was scored", self.videos[0].unlink), ("is not there any more", lambda: None)):
            page, said = self.page()
            self.assertIn(f"note: {self.log}: {self.videos[0]} {reason}, so there are no pictures of it\n", said)
            self.assertEqual(page.images(), [])
            self.assertIn(f"closed.mp4: {self.videos[0]} {reason}", page.words())
            self.assertAlmostEqual(page.index["encodes"][0]["kbits"], rate / 1000, delta=0.001)  # as it was then
            act()

    def test_another_file_of_the_same_length(self):
        self.score("--parts", 1)
        for option, other in (("--distorted", clip("open.mkv")), ("--reference", clip("ref.mp4"))):
            outcome = command("report", self.log, "-o", self.place / "report.html", option, other)
            said_once(self, outcome, 1, f"{option}={other} is not the file that {self.log} was made of")
        same = self.place / "renamed.mp4"
        self.videos[0].rename(same)
        page, said = self.page("--distorted", same)
        self.assertEqual((said, page.index["encodes"][0]["label"]), ("", "renamed.mp4"))
        self.assertGreater(len(page.images()), 0)

    def test_older_record(self):
        """One that names no files asks for them as before."""
        self.score("--parts", 1)
        made = json.loads(self.beside.read_text())
        del made["files"]
        self.beside.write_text(json.dumps(made))
        page, said = self.page()
        self.assertIn("its files are not known", said)
        self.assertEqual(page.images(), [])
        page, said = self.page("--distorted", self.videos[0], "--reference", self.videos[1])
        self.assertGreater(len(page.images()), 0)


if __name__ == "__main__":
    unittest.main()
