# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A page of each title, and one that lists them: who is in one title, what a line says, how soon a thousand are there."""

import re
import shutil
import unittest

from made_logs import MOTION, cuts, made_log, run, said_once
from page import Page
from test_report import EVIL, HAS_PAGE, Reported
from test_report_page import SECONDS_TO_OPEN, Shown
from workbench import clip, command

HEAD = ["title", "verdict", "encodes", "mean", "worst scene", "where", "findings"]
MANY = 1000


def title_log(path, level, **head):
    path.parent.mkdir(parents=True, exist_ok=True)
    return made_log(path, {MOTION: cuts([25, 50]), "vmaf": [level - (5 if i >= 25 else 0) for i in range(75)]}, **head)


class Index(Reported):
    def setUp(self):
        super().setUp()
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        self.runs, self.pages = self.place / "runs", self.place / "pages"

    def index(self, *logs, code=0):
        outcome = run("report", *(logs or [self.runs]), "--index", self.pages)
        self.assertEqual((outcome.returncode, outcome.stdout), (code, ""), outcome.stderr)
        text = (self.pages / "index.html").read_text(encoding="utf-8")
        rows = re.findall(r"<tr>(.*?)</tr>", text, re.S)
        plain = [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]
        self.assertEqual(plain[0], HEAD)
        return plain[1:], outcome.stderr

    def test_the_worst_first(self):
        for name, level in (("good", 95), ("bad", 60), ("fair", 80)):
            title_log(self.runs / f"{name}.json", level)
        rows, said = self.index()
        self.assertEqual([row[0] for row in rows], ["bad", "fair", "good"])
        self.assertEqual(rows[0][1:], ["bad, vmaf 56.67 on average; 5 % of its frames are at 55.00 or below", "1", "56.67 vmaf", "55.00 vmaf",
                                       "bad at 0:01.0, frames 25-74", "0"])
        for row in rows:
            self.assertIn("Worst scenes", Page(self.pages / f"{row[0]}.html").words())
        self.assertNotIn("finding", said)

    def test_logs_of_one_folder_or_one_reference_are_one_title(self):
        for title in ("sea", "park"):
            for codec, level in (("x264", 80), ("svtav1", 90)):
                title_log(self.runs / title / f"{codec}.json", level)
        for k, name in enumerate(("closed.mp4", "open.mkv")):
            outcome = command("score", clip(name), clip("ref.mkv"), "-m", "psnr", "--parts", "1", "-o", self.runs / f"scored{k}.json")
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
        rows, _ = self.index()
        self.assertEqual(sorted((row[0], row[2]) for row in rows), [("park", "2"), ("ref", "2"), ("sea", "2")])
        self.assertEqual(sorted(path.name for path in self.pages.iterdir()), ["index.html", "park.html", "ref.html", "sea.html"])

    def test_findings_are_said_and_counted(self):
        pairing = {"frames": 75, "paired": 70, "scored": 70, "unscored": 5, "max_abs_dt": 0.0, "frame_rate": 25, "max_dt": 0.02}
        title_log(self.runs / "whole.json", 90)
        title_log(self.runs / "torn.json", 95, complete=False, reason="disk full", pairing=pairing)
        rows, said = self.index()
        findings = {row[0]: int(row[-1]) for row in rows}
        self.assertEqual(findings["whole"], 0)
        self.assertGreater(findings["torn"], 0)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("torn: ")]), findings["torn"])
        self.assertIn("1 of 2 titles have findings", Page.words(self.opened()))

    def opened(self):
        text = (self.pages / "index.html").read_text(encoding="utf-8")
        (self.place / "read.html").write_text(text.replace("</main>", '</main><script id="index">{}</script>'), encoding="utf-8")
        return Page(self.place / "read.html")

    def test_what_is_no_log_is_left_out_and_what_fails_has_a_line(self):
        title_log(self.runs / "good.json", 90)
        (self.runs / "plan.json").write_text('{"titles": []}')
        rows, said = self.index()
        self.assertEqual([row[0] for row in rows], ["good"])
        self.assertIn("left out: ", said)
        self.assertIn("plan.json", said)
        rows, said = self.index(self.runs / "good.json", self.runs / "plan.json", code=1)
        self.assertEqual([row[0] for row in rows], ["plan", "good"])
        self.assertTrue(rows[0][1].startswith("no page: "), rows)
        self.assertIn("plan has no page: ", said)
        shutil.rmtree(self.runs)
        self.runs.mkdir()
        said_once(self, run("report", self.runs, "--index", self.pages), 1, "has no logs")

    def test_a_folder_asks_for_an_index(self):
        """The remedy that is printed, literally."""
        title_log(self.runs / "good.json", 90)
        outcome = run("report", self.runs, "-o", self.page)
        said_once(self, outcome, 2, "--index FOLDER makes a page of each title")
        remedy = re.search(r"--index FOLDER", outcome.stderr)[0].replace("FOLDER", str(self.pages)).split()
        self.assertEqual(run("report", self.runs, *remedy).returncode, 0)
        said_once(self, run("report", self.runs, "--index", self.pages, "-o", self.page), 2, "--index with -o")

    def test_names_are_text(self):
        title_log(self.runs / EVIL.replace("/", "_") / "x.json", 90)
        self.index()
        text = (self.pages / "index.html").read_text(encoding="utf-8")
        self.assertEqual(text.count("<script>"), 1)
        self.assertNotIn("<img", text)
        self.assertEqual([path.name for path in self.pages.iterdir() if not re.fullmatch(r"[\w-]+\.html", path.name)], [])


class Thousand(Shown):
    """Made of one that the command made, for a thousand runs of it would take their time."""

    def test_opens_orders_and_searches(self):
        for name in ("one", "two"):
            title_log(self.place / "runs" / f"{name}.json", 90)
        pages = self.place / "pages"
        self.assertEqual(run("report", self.place / "runs", "--index", pages).returncode, 0)
        text = (pages / "index.html").read_text(encoding="utf-8")
        begin, end = text.index("<tbody>") + len("<tbody>"), text.index("</tbody>")
        row = text[begin:end].split("</tr>")[0] + "</tr>"
        rows = [row.replace("one", f"title {k}").replace('data-order="85.000000"', f'data-order="{k * 7919 % MANY / 10:.6f}"') for k in range(MANY)]
        (pages / "index.html").write_text(text[:begin] + "\n".join(rows) + text[end:], encoding="utf-8")
        times = [self.browser.open(pages / "index.html") / 1000 for _ in range(3)]
        self.assertEqual(self.browser.complaints(), [])
        self.assertLess(min(times), SECONDS_TO_OPEN * self.browser.slowness(), times)
        first = "document.querySelector('#titles tbody tr:not([hidden]) th').textContent"
        press = "[...document.querySelectorAll('#titles thead button')].find((e) => e.textContent === '%s').click()"
        self.look(press % "worst scene")
        self.assertEqual(self.look(first), "title 0")
        self.look(press % "worst scene")
        self.assertEqual(self.look(first), f"title {next(k for k in range(MANY) if k * 7919 % MANY == MANY - 1)}")
        self.assertEqual(self.look("document.querySelector('[aria-sort]').getAttribute('aria-sort')"), "descending")
        self.look(press % "title")
        self.assertEqual(self.look("[...document.querySelectorAll('#titles tbody th')].slice(0, 12).map((e) => e.textContent)"),
                         [f"title {k}" for k in range(12)])
        self.look("(() => { const s = document.getElementById('search'); s.value = 'TITLE 77'; s.dispatchEvent(new Event('input')); })()")
        self.assertEqual((self.text("found"), self.look(first)), (f"19 of {MANY}", "title 77"))
        self.browser.show(width=360, height=740, mobile=True)
        self.assertEqual(self.look("document.documentElement.scrollWidth"), 360)


if __name__ == "__main__":
    unittest.main()
