# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Logs of other layouts than JSON: a report and a comparison read them too, and say what they do not hold."""

import csv
import io
import json
import random
import re
import unittest

from made_logs import MOTION, cuts, made_log, run, said_once
from page import Page
from test_report import HAS_PAGE
from workbench import clip, command, ffmpeg, folder, fresh, single

LENGTHS = [40, 75, 30, 110, 55]
LACKS = {"jsonl": "lines of JSON do not hold", "xml": "XML does not hold", "csv": "CSV holds the scores of frames and nothing else"}


def filters_log(videos, options, layout, path):
    """As a person would have the filter write it."""
    inputs = [item for video in (videos[0], videos[-1], *videos[1:-1]) for item in ("-i", video)]
    graph = "".join(f"[{i}:v:0]" for i in range(len(videos))) + f"quality_cuda={options}:log_path={path}:log_fmt={layout}"
    ffmpeg(*inputs, "-lavfi", graph + (f":renditions={len(videos) - 1}" if len(videos) > 2 else ""), "-fps_mode", "passthrough", "-f", "null", "-")
    return path


class Layouts(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.page = self.place / "report.html"

    def table(self, log):
        outcome = run("report", log, "--csv", "-", "-q")
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        return list(csv.DictReader(io.StringIO(outcome.stdout)))

    def report(self, *arguments):
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        outcome = command("report", *arguments, "-o", self.page)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return Page(self.page), outcome.stderr

    def assert_scores(self, log, expected, rendition="0"):
        """The same frames and scores as a JSON log of the same run."""
        rows = [row for row in self.table(log) if row["rendition"] == rendition]
        frames = json.loads(expected.read_text())["frames"]
        self.assertEqual([int(row["frame"]) for row in rows], [frame["frameNum"] for frame in frames])
        for row, frame in zip(rows, frames, strict=True):
            for score, value in frame["metrics"].items():
                self.assertAlmostEqual(float(row[score]), value, delta=1.1e-6, msg=f"{score} of frame {row['frame']}")

    def assert_pools(self, page, expected):
        pooled = json.loads(expected.read_text())["pooled_metrics"]
        for score in ("vmaf", "psnr_y"):
            row = page.tables[score][1]
            for text, pool in zip(row[2:], ("mean", "harmonic_mean", "min", "max", "p1", "p5", "p50", "stddev"), strict=True):
                self.assertAlmostEqual(float(text), pooled[score][pool], delta=2.1e-6, msg=f"{score} {pool}")


class OfThisFilter(Layouts):
    def setUp(self):
        super().setUp()
        self.videos = [clip("closed.mp4"), clip("ref.mkv")]
        self.expected = single(self.videos, "metrics=vmaf+psnr", "layouts.json")

    def log(self, layout, options="metrics=vmaf+psnr"):
        return filters_log(self.videos, options, layout, self.place / f"log.{layout}")

    def test_same_scores(self):
        for layout in LACKS:
            with self.subTest(layout):
                self.assert_scores(self.log(layout), self.expected)

    def test_whatever_the_file_is_called(self):
        log = filters_log(self.videos, "metrics=vmaf+psnr", "csv", self.place / "log.json")
        self.assert_scores(log, self.expected)

    def test_page(self):
        for layout, lack in LACKS.items():
            with self.subTest(layout):
                page, notes = self.report(self.log(layout))
                self.assert_pools(page, self.expected)
                self.assertIn(lack, page.words())
                self.assertIn(lack, notes)
                rows = dict(page.tables["What the log of log says"])
                self.assertIn(lack, rows["layout"])
                self.assertEqual("engine" in rows, layout == "xml")
                self.assertEqual("No problem" in page.words(), layout == "xml")

    def test_json_lacks_nothing(self):
        page, notes = self.report(self.expected)
        self.assertEqual(dict(page.tables["What the log of layouts says"])["layout"], "JSON")
        self.assertNotIn("not hold", notes)

    def test_end_of_lines(self):
        log = self.log("jsonl")
        lines = log.read_text().splitlines(keepends=True)
        self.assertEqual(json.loads(lines[-1])["type"], "end")
        log.write_text("".join(lines[:-1]))
        page, _ = self.report(log)
        self.assertIn("the log is not complete: the log has no line of the run's end", page.words())
        log.write_text("".join(lines[:40] + lines[39:-1]) + lines[-1].replace('"dropped": 0', '"dropped": 7'))
        page, _ = self.report(log)
        self.assertIn("7 lines of the log were dropped", page.words())
        self.assertNotIn("no line of the run's end", page.words())
        self.assert_scores(log, self.expected)  # a line that was sent again counts once

    def test_every_other_frame(self):
        expected = single(self.videos, "metrics=psnr:n_subsample=3", "layouts_some.json")
        for layout in LACKS:
            with self.subTest(layout):
                self.assert_scores(self.log(layout, "metrics=psnr:n_subsample=3"), expected)

    def test_ladder_in_lines(self):
        videos = [clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")]
        expected = single(videos, "metrics=psnr", "layouts_ladder.json")
        log = filters_log(videos, "metrics=psnr", "jsonl", self.place / "ladder.jsonl")
        self.assert_scores(log, expected, "0")
        other = expected.with_name("layouts_ladder.rendition1.json")
        self.assert_scores(log, other, "1")
        page, _ = self.report(log)
        self.assertEqual([each["label"] for each in page.index["encodes"]],
                         ["ladder, rendition 0, 160x120", "ladder, rendition 1, 160x120"])
        self.assertEqual(page.tables["psnr_y"][2][2], f'{json.loads(other.read_text())["pooled_metrics"]["psnr_y"]["mean"]:.6f}')

    def test_lines_of_score_are_the_filters(self):
        """Times of both frames too, in parts as in one, and of a ladder; half a frame apart they are two numbers."""
        for name, videos, parts in (("pair", ["closed.mp4", "ref.mkv"], 3), ("pair", ["closed.mp4", "ref.mkv"], 1),
                                    ("delayed", ["delayed.mkv", "ref.mkv"], 1), ("ladder", ["closed.mp4", "short.mp4", "ref.mkv"], 2)):
            with self.subTest(name, parts=parts):
                videos = [clip(each) for each in videos]
                expected = filters_log(videos, "metrics=psnr", "jsonl", self.place / f"{name}.jsonl").read_text().splitlines()
                own = self.place / "own.jsonl"
                outcome = command("score", *videos, "-m", "psnr", "--parts", parts, "-o", own)
                self.assertEqual(outcome.returncode, 0, outcome.stderr)
                lines = own.read_text().splitlines()
                self.assertEqual(json.loads(lines[0])["type"], "begin")
                self.assertEqual(lines[1:-1], expected[:-1])
                self.assertEqual(json.loads(lines[-1])["scores"], json.loads(expected[-1])["scores"])

    def test_comparison_with_json(self):
        for layout, lack in LACKS.items():
            with self.subTest(layout):
                outcome = run("compare", self.expected, self.log(layout), "--json", "--scene-frames", "15")
                self.assertEqual(outcome.returncode, 0, outcome.stderr)
                found = json.loads(outcome.stdout)
                self.assertEqual({each["score"]: each["verdict"] for each in found["scores"]}["vmaf"], "equal")
                self.assertEqual(len([note for note in found["notes"] if lack in note and "was not looked at" in note]), 1)

    def test_what_differs_is_still_refused(self):
        other = filters_log([clip("closed.mp4"), clip("ref_25_of_50.mkv")], "metrics=vmaf+psnr", "csv", self.place / "other.csv")
        said_once(self, run("compare", self.expected, other), 1, "cannot be compared: their references differ")
        some = self.log("csv", "metrics=vmaf:n_subsample=2")
        said_once(self, run("compare", self.expected, some), 1, "cannot be compared: they have 150 and 75 frames")

    def test_damage_at_random(self):
        """A table or one line, whatever the file has become."""
        pieces = [b"<", b">", b'"', b"'", b"/>", b"</VMAF>", b",", b"\n", b"{", b"}", b"&", b"&#0;", b"nan", b"-1e308", b"frameNum", b"\x00",
                  b"\xff", b"=", b"Frame"]
        codes = set()
        for layout in LACKS:
            data, damaged = self.log(layout, "metrics=psnr:n_subsample=10").read_bytes(), self.place / "damaged"
            for seed in range(40):
                source = random.Random(f"{layout} {seed}")
                changed = bytearray(data)
                for _ in range(source.randint(1, 3)):
                    at = source.randrange(len(changed))
                    changed[at:at + source.choice([0, 0, 1, 7, 60])] = source.choice(pieces)
                damaged.write_bytes(changed)
                with self.subTest(f"{layout} {seed}"):
                    for arguments in (["report", damaged, "-q", "--csv", self.place / "x.csv", *(["-o", self.page] if HAS_PAGE else [])],
                                      ["compare", damaged, damaged]):
                        outcome = run(*arguments)
                        self.assertIn(outcome.returncode, (0, 1), outcome.stderr)
                        self.assertEqual(len(outcome.stderr.splitlines()), outcome.returncode, outcome.stderr)
                        codes.add((layout, outcome.returncode))
        self.assertEqual(codes, {(layout, code) for layout in LACKS for code in (0, 1)})

    def test_rate_of_lines(self):
        self.assertEqual([row["time"] for row in self.table(self.log("jsonl"))[:3]], ["0.000000", "0.040000", "0.080000"])
        self.assertEqual(self.table(self.log("csv"))[2]["time"], "")


class OfLibvmaf(Layouts):
    """As ../shared/specs/logs.md has them, with what only libvmaf does."""

    SCORES = {MOTION: cuts(LENGTHS), "vmaf": [80 + i % 17 for i in range(sum(LENGTHS))], "psnr_y": [30 + i % 7 for i in range(sum(LENGTHS))]}

    def expected(self):
        return made_log(self.place / "expected.json", self.SCORES)

    def test_xml(self):
        frames = "".join(f'    <frame frameNum="{i}" ' + "".join(f'{name}="{values[i]:.6f}" ' for name, values in self.SCORES.items()) + "/>\n"
                         for i in range(310))
        log = self.place / "libvmaf.xml"
        log.write_text('<VMAF version="3.2.0">\n  <params qualityWidth="576" qualityHeight="324" />\n  <fyi fps="64.57" />\n  <frames>\n' + frames +
                       '  </frames>\n  <pooled_metrics>\n    <metric name="vmaf" min="80.000000" max="96.000000" mean="87.5" harmonic_mean="87.4"/>\n'
                       '  </pooled_metrics>\n  <aggregate_metrics apsnr_y="33.113422" />\n</VMAF>\n')
        self.assert_scores(log, self.expected())
        log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes())  # as some editors begin a text
        self.assert_scores(log, self.expected())
        page, _ = self.report(log)
        self.assertEqual(page.tables["vmaf"][1][2:4], ["87.500000", "87.400000"])
        rows = dict(page.tables["What the log of libvmaf says"])
        self.assertEqual((rows["version"], rows["fps"], rows["params / qualityWidth"], rows["aggregate_metrics / apsnr_y"]),
                         ("3.2.0", "64.57", "576", "33.113422"))

    def test_csv(self):
        log = self.place / "libvmaf.csv"
        log.write_text("Frame," + "".join(f"{name}," for name in self.SCORES) + "\n" +
                       "".join(f"{i}," + "".join(f"{values[i]:.6f}," for values in self.SCORES.values()) + "\n" for i in range(310)))
        self.assert_scores(log, self.expected())
        log.write_bytes(log.read_bytes().replace(b",\n", b"\r\n"))  # as a spreadsheet would write it
        self.assert_scores(log, self.expected())

    def test_no_numbers(self):
        log = self.place / "odd.csv"
        log.write_text("Frame,vmaf,psnr_y,\n0,9.000000,inf,\n1,,-nan,\n2,7.500000,31.000000,\n")
        self.assertEqual([(row["vmaf"], row["psnr_y"]) for row in self.table(log)], [("9.000000", ""), ("", ""), ("7.500000", "31.000000")])
        log = self.place / "odd.xml"
        log.write_text('<?xml version="1.0"?>\n<!-- kept by hand -->\n<VMAF>\n<fyi engine="a &lt;b&gt; &amp; &#x3bb;" />\n<frames>'
                       '<frame frameNum="0" vmaf="nan" psnr_y="-inf" /><frame frameNum="4" vmaf="7.5" /></frames>\n</VMAF>')
        self.assertEqual([(row["frame"], row["vmaf"], row["psnr_y"]) for row in self.table(log)], [("0", "", ""), ("4", "7.500000", "")])
        page, _ = self.report(log)
        self.assertEqual(dict(page.tables["What the log of odd says"])["engine"], "a <b> & λ")

    def test_nothing_of_it_is_markup(self):
        log = self.place / "evil.csv"
        log.write_text("Frame,<script>x</script>,\n" + "".join(f"{i},{i % 9},\n" for i in range(60)))
        self.report(log)
        self.assertIsNone(re.search(r"<script>x", self.page.read_text()))

    def test_two_of_them(self):
        text = "Frame,vmaf,\n" + "".join(f"{i},{80 + i % 17},\n" for i in range(310))
        a, b = self.place / "a.csv", self.place / "b.csv"
        a.write_text(text)
        b.write_text(text)
        outcome = run("compare", a, b)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("equal", outcome.stdout)


if __name__ == "__main__":
    unittest.main()
