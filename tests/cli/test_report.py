# SPDX-License-Identifier: BSD-2-Clause-Patent
"""quality-cuda report without a browser: what is in the page, the table and the plot."""

import csv
import io
import json
import math
import os
import random
import shutil
import unittest

from made_logs import BROKEN_LOGS, MOTION, cuts, made_log, run, said_once
from page import Page
from workbench import COMMAND, clip, command, ffmpeg, ffmpeg_that, folder, fresh, interrupt, rendition_logs, single

LENGTHS = [40, 75, 30, 110, 55]
HAS_PAGE = COMMAND.exists() and b"Score over time" in COMMAND.read_bytes()
EVIL = "</script><script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\">'\"><!--&amp;"


def frames_of(log):
    return json.loads(log.read_text())["frames"]


def interpolated(points):
    """A function through points: Hermite's cubics with the slopes of Fritsch and Butland. @return it, and its domain"""
    x, y = zip(*sorted(points))
    h = [x[k + 1] - x[k] for k in range(len(x) - 1)]
    d = [(y[k + 1] - y[k]) / h[k] for k in range(len(h))]

    def at_end(h0, h1, d0, d1):
        slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
        if slope * d0 <= 0:
            return 0
        return 3 * d0 if d0 * d1 < 0 and abs(slope) > 3 * abs(d0) else slope

    m = [at_end(h[0], h[1], d[0], d[1])]
    for k in range(1, len(h)):
        w = 2 * h[k] + h[k - 1], h[k] + 2 * h[k - 1]
        m.append(0 if d[k - 1] * d[k] <= 0 else sum(w) / (w[0] / d[k - 1] + w[1] / d[k]))
    m.append(at_end(h[-1], h[-2], d[-1], d[-2]))

    def value(at):
        k = max(k for k in range(len(h)) if x[k] <= at or k == 0)
        t = (at - x[k]) / h[k]
        return ((1 + 2 * t) * (1 - t) ** 2 * y[k] + t * (1 - t) ** 2 * h[k] * m[k]
                + t * t * (3 - 2 * t) * y[k + 1] + t * t * (t - 1) * h[k] * m[k + 1])

    return value, x[0], x[-1]


def bd_rate(base, other, steps=4000):
    """Per cent, by the trapezoid rule. @param base,other (kbit/s, score)"""
    f, f_low, f_high = interpolated([(score, math.log(rate)) for rate, score in base])
    g, g_low, g_high = interpolated([(score, math.log(rate)) for rate, score in other])
    low, high = max(f_low, g_low), min(f_high, g_high)
    values = [g(low + (high - low) * k / steps) - f(low + (high - low) * k / steps) for k in range(steps + 1)]
    return 100 * (math.exp((sum(values) - (values[0] + values[-1]) / 2) / steps) - 1)


class Reported(unittest.TestCase):
    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.page = self.place / "report.html"

    def report(self, *arguments, notes=0):
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        outcome = command("report", *arguments, "-o", self.page)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
        self.assertEqual(len([line for line in outcome.stderr.splitlines() if "no pictures" not in line]), notes, outcome.stderr)
        return Page(self.page)

    def made(self, name="log.json", **head):
        return made_log(self.place / name, {MOTION: cuts(LENGTHS), "vmaf": [80 + i % 17 for i in range(sum(LENGTHS))]}, **head)


class Values(Reported):
    def assert_values(self, page, encode, log):
        frames = frames_of(log)
        self.assertEqual(page.frames(encode), [frame["frameNum"] for frame in frames])
        for score in frames[0]["metrics"]:
            values, step = page.values(encode, score)
            self.assertEqual(step, 1)
            for value, frame in zip(values, frames, strict=True):
                self.assertAlmostEqual(value, frame["metrics"][score], delta=5.1e-7)

    def assert_pools(self, page, label, log):
        for score, pools in json.loads(log.read_text())["pooled_metrics"].items():
            if score not in page.tables:
                continue
            row = next(row for row in page.tables[score] if row[0].startswith(label))
            self.assertEqual(row[2:], [f"{pools[pool]:.6f}" for pool in ("mean", "harmonic_mean", "min", "max", "p1", "p5", "p50", "stddev")])

    def test_pair(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=vmaf+psnr", "report_pair.json")
        page = self.report(log)
        self.assert_values(page, 0, log)
        self.assertEqual({"vmaf", "psnr_y", "psnr_cb", "psnr_cr"} - set(page.tables), set())
        self.assert_pools(page, "report_pair", log)
        self.assertEqual(page.open_tags, [])

    def test_ladder(self):
        log = single([clip("closed.mp4"), clip("open.mkv"), clip("short.mp4"), clip("ref.mkv")], "metrics=psnr", "report_ladder.json")
        page = self.report(log)
        self.assertEqual(len(page.index["encodes"]), 3)
        for k, each in enumerate(rendition_logs(log, 3)):
            self.assert_values(page, k, each)
            self.assert_pools(page, f"report_ladder, rendition {k}", each)
        self.assertIn("NOT COMPLETE", page.words())
        self.assertIn("rendition 2, 160x120: 60 frames come after the rendition ends", page.words())

    def test_further_rendition_alone(self):
        log = single([clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")], "metrics=psnr", "report_further.json")
        other = rendition_logs(log, 2)[1]
        self.assert_values(self.report(other), 0, other)

    def test_rendition_without_its_log(self):
        log = single([clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")], "metrics=psnr", "report_lost.json")
        rendition_logs(log, 2)[1].unlink()
        page = self.report(log, notes=1)
        self.assertEqual(len(page.index["encodes"]), 1)
        self.assertIn("report_lost.rendition1.json is not there", page.words())

    def test_every_other_frame(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr:n_subsample=4", "report_subsample.json")
        page = self.report(log)
        self.assert_values(page, 0, log)

    def test_numbers_of_all_kinds(self):
        values = [0, -1.5, 2147.483646, 99.9999995, 1e-7, None, 12345.678901]
        log = made_log(self.place / "log.json", {"small": values[:6] + [1], "large": values, "huge": [1e15, -1e15, None, 0, 1, 2, 3]},
                       frames=[0, 1, 5, 6, 100, 4000, 10 ** 15])
        page = self.report(log)
        for score in ("small", "large", "huge"):
            for value, frame in zip(page.values(0, score)[0], frames_of(log), strict=True):
                expected = frame["metrics"][score]
                if expected is None:
                    self.assertTrue(math.isnan(value))
                else:
                    self.assertAlmostEqual(value, expected, delta=5.1e-7)
        self.assertEqual(page.frames(0)[-1], 10 ** 15)

    def test_too_many_frames_for_one_page(self):
        """Features of models are means then, the model's score is whole."""
        count, names = 60000, [f"integer_adm_scale{k}" for k in range(4)]
        source = random.Random(1)
        rows = {name: [round(source.random(), 6) for _ in range(count)] for name in [*names, "vmaf"]}
        logs = [made_log(self.place / f"{k}.json", rows) for k in range(2)]
        page = self.report(*logs * 14, "--thumbnails", 0)
        self.assertEqual(page.values(3, "vmaf"), (rows["vmaf"], 1))
        means, step = page.values(3, names[0])
        self.assertGreater(step, 1)
        for k, mean in enumerate(means):
            part = rows[names[0]][k * step:(k + 1) * step]
            self.assertAlmostEqual(mean, sum(part) / len(part), delta=1e-6)


class Sections(Reported):
    def test_worst_scenes_first(self):
        vmaf = [90.0] * sum(LENGTHS)
        for begin, length, loss in ((40, 75, 7), (255, 55, 12)):
            for i in range(begin, begin + length):
                vmaf[i] -= loss
        vmaf[60] = 11.5
        log = made_log(self.place / "log.json", {MOTION: cuts(LENGTHS), "vmaf": vmaf})
        rows = self.report(log).tables["Worst scenes of log by vmaf"][1:]
        self.assertEqual([row[0] for row in rows[:2]], ["255-309", "40-114"])
        self.assertEqual(rows[0][1:4], ["0:10.2", "78.00", "78.00"])
        self.assertEqual(rows[1][3:5], ["11.50", "60"])

    def test_pairing_problems(self):
        log = single([clip("closed.mp4"), clip("ref_gap.mkv")], "metrics=psnr:allow_unpaired=1", "report_gap.json")
        counts = json.loads(log.read_text())["pairing"]
        self.assertGreater(counts["gaps"], 0)
        page = self.report(log)
        self.assertIn(f"report_gap: {counts['gaps']} frames fall into gaps of the reference", page.words())
        row = dict(zip(*page.tables["How frames were paired"]))
        for key in ("frames", "paired", "scored", "unscored", "gaps"):
            self.assertEqual(row[key], str(counts[key]))

    def test_no_problem(self):
        self.assertIn("No problem: every frame was compared", self.report(self.made()).words())

    def test_findings(self):
        page = self.report(self.made(alignment={"watched": 310, "findings": [{"kind": "offset", "frame": 12, "time": 0.48, "offset": -5}]}))
        self.assertIn("log: the pictures do not fit (offset) from frame 12 on, offset -5", page.words())

    def test_provenance(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=vmaf+ssimulacra2", "report_provenance.json")
        head = json.loads(log.read_text())
        rows = dict(self.report(log).tables["What the log of report_provenance says"])
        self.assertEqual(rows["engine"], head["engine"])
        self.assertEqual(rows["models / 0 / model"], "vmaf_v0.6.1")
        for key, value in head["conventions"]["ssimulacra2"].items():
            self.assertEqual(rows[f"conventions / ssimulacra2 / {key}"], value)

    def test_comparison(self):
        a, b = self.made("a.json"), made_log(self.place / "b.json", {MOTION: cuts(LENGTHS), "vmaf": [83 + i % 13 for i in range(310)]})
        found = json.loads(run("compare", a, b, "--json").stdout)["scores"][0]
        page = self.report(a, b, "--compare")
        row = dict(zip(*page.tables["B against A"][:2]))
        self.assertEqual(row["mean B"], f"{found['mean_b']:.2f}")
        self.assertEqual(row["difference"], f"{found['difference']:+.2f}")
        self.assertEqual(row["verdict"], found["verdict"])
        self.assertIn("{:+.2f} to {:+.2f}".format(*found["interval"]), page.words())
        said_once(self, run("report", a, b, "--compare", "--seed", "x", "-o", self.page), 2, "--seed")
        said_once(self, run("report", a, "--compare", "-o", self.page), 2, "--compare")

    def test_a_refused_comparison_has_its_page(self):
        """The banner names what differs, as the console does; other pairs are compared all the same."""
        models = {"models": [{"name": "vmaf", "model": "vmaf_v0.6.1neg"}]}
        a, other, b = self.made("a.json"), self.made("c.json", reference_format="gray", **models), self.made("b.json")
        what = 'models differ: vmaf: "vmaf_v0.6.1" and "vmaf_v0.6.1neg"; pixel formats of the reference differ: "yuv420p" and "gray"'
        said_once(self, run("compare", a, other), 1, what)
        self.page.unlink(missing_ok=True)
        said_once(self, command("report", a, other, b, "--compare", "-o", self.page, "--labels", "A,C,B"), 1, f"c.json cannot be compared: {what}")
        page = Page(self.page)
        banner = page.words().partition("All statistics")[0]
        self.assertEqual(banner.count(f"C: not to be held against A: {what}"), 1, banner)
        self.assertIn(f"Not compared: {what}.", page.words())
        self.assertIn("B against A", page.tables)
        said_once(self, command("report", a, other, "--compare", "-q", "--csv", self.place / "x.csv"), 1, "cannot be compared")
        self.assertTrue((self.place / "x.csv").exists())


class Ladders(Reported):
    BASE = [(400, 61.25), (800, 74.5), (1500, 83.75), (3200, 91.5), (6000, 95.125)]
    OTHER = [(300, 60.5), (700, 76.25), (1300, 84.5), (2500, 90.75)]

    def ladders(self, *ladders):
        logs, names, rates = [], [], []
        for number, points in enumerate(ladders):
            for rate, score in points:
                logs.append(made_log(self.place / f"{number}_{rate}.json", {"vmaf": [score - 1, score + 1]}))
                names.append(f"codec{number}")
                rates.append(str(rate))
        page = self.report(*logs, "--ladders", ",".join(names), "--bit-rates", ",".join(rates))
        return next((table for caption, table in page.tables.items() if caption.startswith("BD-rate against codec0")), None), page

    def test_against_an_independent_calculation(self):
        table, _ = self.ladders(self.BASE, self.OTHER)
        self.assertEqual(table[1][:2], ["codec1", "vmaf"])
        self.assertEqual(table[1][2], f"{bd_rate(self.BASE, self.OTHER):+.2f} %")
        self.assertEqual(table[1][3], "61.25 to 90.75")

    def test_same_scores_at_other_rates(self):
        """What is known without any interpolation."""
        table, _ = self.ladders(self.BASE, [(rate * 0.8, score) for rate, score in self.BASE], [(rate * 2, score) for rate, score in self.BASE])
        self.assertEqual([row[2] for row in table[1:]], ["-20.00 %", "+100.00 %"])

    def test_too_few_points(self):
        table, _ = self.ladders(self.BASE, self.OTHER[:3])
        self.assertEqual(table[1][2], "-")
        self.assertIn("has 3 points with rate and score, and at least 4 are needed", table[1][3])

    def test_no_overlap(self):
        table, _ = self.ladders(self.BASE, [(rate, score / 2) for rate, score in self.OTHER])
        self.assertEqual(table[1][2:], ["-", "the curves reach no score in common"])

    def test_not_monotone(self):
        table, _ = self.ladders(self.BASE, [*self.OTHER, (2600, 80)])
        self.assertEqual(table[1][2:], ["-", "the score of the other curve does not get better with every higher rate"])

    def test_one_ladder(self):
        table, page = self.ladders(self.BASE)
        self.assertIsNone(table)
        self.assertIn("BD-rate compares ladders, and there is one.", page.words())

    def test_rates_of_files(self):
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "report_rate.json")
        page = self.report(log, "--distorted", clip("closed.mp4"), "--reference", clip("ref.mkv"), "--thumbnails", 0)
        raw = self.place / "raw.h264"
        ffmpeg("-i", clip("closed.mp4"), "-c", "copy", "-f", "rawvideo", raw)
        expected = raw.stat().st_size * 8 / (150 / 25) / 1000
        self.assertAlmostEqual(page.index["encodes"][0]["kbits"], expected, delta=0.01 * expected)

    def test_no_rate(self):
        self.assertNotIn("Rate and distortion", self.report(self.made()).words())


class Pictures(Reported):
    """A clip whose frames tell their number: in the upper half the luma of frame n is 16 + n; in the lower one something moves."""

    SOURCE = ("testsrc2=s=128x96:r=25,format=yuv420p,geq=lum='if(lt(Y,48),16+N,lum(X,Y))':cb=128:cr=128,setparams=range=tv,"
              "trim=end_frame=150")

    def make(self, name, *arguments, source=SOURCE):
        path = self.place / name
        ffmpeg("-f", "lavfi", "-i", source, *arguments, path)
        return path

    def score(self, distorted, reference, options="psnr"):
        return single([distorted, reference], "metrics=" + options, f"{self.place.name}.json")

    def luma(self, jpeg):
        path, raw = self.place / "picture.jpg", self.place / "picture.gray"
        path.write_bytes(jpeg)
        ffmpeg("-i", path, "-vf", "scale=in_range=full:out_range=full,format=gray,crop=iw:ih/2-8:0:0", "-f", "rawvideo", raw)
        data = raw.read_bytes()
        return sum(data) / len(data)

    def assert_pictures(self, page, offset=0):
        """Luma of limited range is stretched in a picture."""
        images = page.images()
        self.assertGreater(len(images), 0)
        self.assertEqual(len(images) % 3, 0)
        for alt, jpeg in images:
            if not alt.startswith("difference"):
                number = int(alt.rpartition(" ")[2]) + (offset if alt.startswith("reference") else 0)
                self.assertAlmostEqual(self.luma(jpeg), number * 255 / 219, delta=1.7, msg=alt)

    def show(self, log, distorted, reference, **options):
        return self.report(log, "--distorted", distorted, "--reference", reference, "--scene-frames", "15", "--thumbnails", "6", **options)

    def test_frames_are_the_right_ones(self):
        for name, arguments in (("d.mp4", ["-c:v", "libx264", "-qp", "8", "-bf", "3", "-g", "60"]), ("d.mkv", ["-c:v", "ffv1", "-g", "1"]),
                                ("d.ts", ["-c:v", "libx264", "-qp", "8", "-bf", "2", "-g", "40"]),
                                ("late.mkv", ["-c:v", "ffv1", "-output_ts_offset", "3.7"]), ("plain.avi", ["-c:v", "ffv1"])):
            with self.subTest(name):
                distorted, reference = self.make(name, *arguments), self.make("ref.mkv", "-c:v", "ffv1", "-g", "10")
                self.assert_pictures(self.show(self.score(distorted, reference), distorted, reference))

    def test_a_reference_that_begins_earlier(self):
        distorted = self.make("cut.mkv", "-c:v", "ffv1", "-g", "7", source=self.SOURCE + ",select='gte(n,30)',setpts=PTS-STARTPTS")
        reference = self.make("ref.mkv", "-c:v", "ffv1", "-g", "10")
        log = self.score(distorted, reference, "psnr:align=auto:watch=0")
        offset = json.loads(log.read_text())["alignment"]["auto"]["offset"]
        self.assertEqual(offset, -30)
        page = self.show(log, distorted, reference)
        for alt, jpeg in page.images():
            if not alt.startswith("difference"):
                self.assertAlmostEqual(self.luma(jpeg), (int(alt.rpartition(" ")[2]) + 30) * 255 / 219, delta=1.7, msg=alt)

    def test_gaps_do_not_shift(self):
        """frameNum counts pairs: behind a gap of the reference it is no longer the number of the frame."""
        distorted = self.make("d.mkv", "-c:v", "ffv1", "-g", "9")
        reference = self.make("gap.mkv", "-c:v", "ffv1", "-g", "5", "-fps_mode", "vfr", source=self.SOURCE + ",select='not(between(n,40,69))'")
        log = self.score(distorted, reference, "psnr:allow_unpaired=1")
        page = self.show(log, distorted, reference)
        shown = set()
        for alt, jpeg in page.images():
            if not alt.startswith("difference"):
                number = int(alt.rpartition(" ")[2])
                shown.add(number >= 40)
                self.assertAlmostEqual(self.luma(jpeg), (number + (30 if number >= 40 else 0)) * 255 / 219, delta=1.7, msg=alt)
        self.assertEqual(shown, {True, False})

    def test_difference(self):
        distorted = self.make("d.mkv", "-c:v", "ffv1", source=self.SOURCE.replace("16+N", "26+N"))
        reference = self.make("ref.mkv", "-c:v", "ffv1")
        for alt, jpeg in self.show(self.score(distorted, reference), distorted, reference).images():
            if alt.startswith("difference"):
                self.assertAlmostEqual(self.luma(jpeg), 4 * 10 * 255 / 219, delta=4)

    def test_other_files_make_no_pictures(self):
        distorted, reference = self.make("d.mkv", "-c:v", "ffv1"), self.make("ref.mkv", "-c:v", "ffv1")
        short = self.make("short.mkv", "-c:v", "ffv1", source=self.SOURCE.replace("150", "149"))
        page = self.show(self.score(distorted, reference), distorted, short)
        self.assertEqual(page.images(), [])
        self.assertIn("its files make other pairs than the log has, by whatever sync: 149 pairs, 0 frames", page.words())
        self.assertIn("and the log has 150 pairs, 0 frames", page.words())

    def test_other_rules_of_pairing(self):
        """The n-th with the n-th, and the newest that is not later: as the log's counts tell."""
        half = ",setpts=PTS+0.02/TB"  # of a frame: to the stamps a reference frame is as near as its neighbour
        for sync, source, offset in (("index", self.SOURCE + ",trim=start_frame=20", 20), ("floor", self.SOURCE + half, -1)):
            with self.subTest(sync):
                distorted = self.make(f"d_{sync}.mkv", "-c:v", "ffv1", "-g", "9")
                reference = self.make(f"ref_{sync}.mkv", "-c:v", "ffv1", "-g", "10", "-copyts", "-avoid_negative_ts", "disabled", source=source)
                log = self.score(distorted, reference, f"psnr:watch=0:sync={sync}")
                scored = json.loads(log.read_text())["pairing"]["scored"]
                self.assertEqual(scored, {"index": 130, "floor": 150}[sync])
                self.assert_pictures(self.show(log, distorted, reference), offset)

    def filtered(self, graph, layout):
        """@return a log of the two clips behind filters, and the clips"""
        distorted, reference = self.make("d.mkv", "-c:v", "ffv1", "-g", "9"), self.make("ref.mkv", "-c:v", "ffv1", "-g", "10")
        log = self.place / f"log.{layout}"
        ffmpeg("-i", distorted, "-i", reference, "-lavfi", f"{graph}quality_cuda=psnr:watch=0:allow_unpaired=1:log_path={log}:log_fmt={layout}",
               "-fps_mode", "passthrough", "-f", "null", "-")
        return log, distorted, reference

    def test_frames_that_a_filter_dropped(self):
        """A log as JSON does not say which frames they were, lines of JSON do."""
        graph = "[0:v]select='not(between(n\\,40\\,69))'[a];[a][1:v]"
        page = self.show(*self.filtered(graph, "json"))
        self.assertEqual(page.images(), [])
        self.assertIn("filters before the scorer that change stamps or frames", page.words())
        images = self.show(*self.filtered(graph, "jsonl"), notes=1).images()
        self.assertGreater(len(images), 0)
        for alt, jpeg in images:
            if not alt.startswith("difference"):
                number = int(alt.rpartition(" ")[2])
                self.assertAlmostEqual(self.luma(jpeg), (number + (30 if number >= 40 else 0)) * 255 / 219, delta=1.7, msg=alt)

    def test_stamps_that_a_filter_changed(self):
        """Both by the same: pairs are those of the files, but their stamps are not."""
        graph = "[0:v]setpts=PTS+0.01/TB[a];[1:v]setpts=PTS+0.01/TB[b];[a][b]"
        self.assert_pictures(self.show(*self.filtered(graph, "json")))
        page = self.show(*self.filtered(graph, "jsonl"), notes=1)
        self.assertEqual(page.images(), [])
        self.assertIn("where the log has frame 0: filters before the scorer that change stamps", page.words())

    def test_without_files(self):
        page = self.report(self.made())
        self.assertEqual(page.images(), [])
        self.assertIn("its files are not known (--reference and --distorted name them, or --plan)", page.words())

    def test_plan_names_the_files(self):
        distorted, reference = self.make("d.mkv", "-c:v", "ffv1"), self.make("ref.mkv", "-c:v", "ffv1")
        log = self.place / "scores.json"
        planned = command("plan", self.place / "plan.json", distorted, reference, "-m", "psnr", "-o", log)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        shutil.copy(self.score(distorted, reference), log)
        page = self.report(log, "--plan", self.place / "plan.json", "--scene-frames", "15")
        self.assert_pictures(page)
        self.assertEqual(page.index["encodes"][0]["label"], "d.mkv")
        self.assertGreater(page.index["encodes"][0]["kbits"], 0)


class Strangers(Reported):
    def test_nothing_of_a_log_is_markup(self):
        scores = {MOTION: cuts(LENGTHS), "vmaf": [80 + i % 9 for i in range(310)], EVIL: [i % 5 for i in range(310)]}
        head = {"reason": EVIL, "complete": False, "engine": EVIL, EVIL: EVIL, "models": [{"name": "vmaf", "model": EVIL}],
                "conventions": {EVIL: {EVIL: EVIL}}, "alignment": {"findings": [{"kind": EVIL, "frame": 3}]}}
        a = made_log(self.place / "a <b onclick=x>&lt;.json", scores, **head)
        b = made_log(self.place / "b.json", scores, **head)
        harmless = self.report(self.made())
        evil = self.report(a, b, "--compare", "--labels", EVIL + ",<i>", "--ladders", EVIL + ",<u>")
        allowed = {tag for tag, _ in harmless.elements}
        self.assertEqual({tag for tag, _ in evil.elements} - allowed, {"h3"})  # of comparisons
        self.assertEqual([attributes for _, attributes in evil.elements if any(name.startswith("on") for name in attributes)], [])
        runs = lambda page: [kind for tag, attributes in page.elements if tag == "script" and (kind := attributes.get("type")) != "text/plain"]
        self.assertEqual(runs(evil), runs(harmless))
        self.assertEqual(evil.index["encodes"][0]["label"], EVIL)
        self.assertIn(EVIL, " ".join("".join(evil.text).split()))
        policy = next(attributes["content"] for _, attributes in evil.elements if attributes.get("http-equiv") == "Content-Security-Policy")
        self.assertRegex(policy, r"default-src 'none'; .*script-src 'sha256-[^ ]+' 'sha256-[^ ]+'$")

    def test_markers_of_the_page_in_a_log(self):
        marker = "<!--data--> <!--worst--> <!--provenance-->"
        page = self.report(self.made(engine=marker), "--labels", marker)
        self.assertEqual(dict(page.tables[f"What the log of {marker} says"])["engine"], marker)

    def test_broken_logs(self):
        for name, (text, part) in BROKEN_LOGS.items():
            with self.subTest(name):
                broken = self.place / f"{name}.json"
                broken.write_bytes(text)
                said_once(self, run("report", broken, "--csv", self.place / "x.csv"), 1, part)
        self.assertFalse((self.place / "x.csv").exists())

    def test_damage_at_random(self):
        """A report or one line, whatever the file has become."""
        log = single([clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")], "metrics=psnr:n_subsample=10", "report_damage.json")
        data, damaged, codes = log.read_bytes(), self.place / "damaged.json", set()
        pieces = [b'"frames"', b"{", b"}", b"[", b"null", b"-1e308", b"1e15", b'"vmaf"', b"9007199254740993", b"true", b'"', b",", b"\x00", b"\xff"]
        for seed in range(80):
            source = random.Random(seed)
            changed = bytearray(data)
            for _ in range(source.randint(1, 3)):
                at = source.randrange(len(changed))
                number = next((k for k in range(at, len(changed)) if chr(changed[k]).isdigit()), at)
                end = next((k for k in range(number, len(changed)) if not chr(changed[k]).isdigit()), number)
                place = [slice(at, at), slice(at, at + source.randint(1, 40)), slice(number, end)][source.randrange(3)]
                changed[place] = source.choice(pieces)
            damaged.write_bytes(changed)
            with self.subTest(seed):
                for arguments in (["report", damaged, "-q", "--csv", self.place / "x.csv", *(["-o", self.page] if HAS_PAGE else [])],
                                  ["compare", damaged, damaged]):
                    outcome = run(*arguments)
                    self.assertIn(outcome.returncode, (0, 1), outcome.stderr)
                    self.assertEqual(len(outcome.stderr.splitlines()), outcome.returncode, outcome.stderr)
                    codes.add(outcome.returncode)
        self.assertEqual(codes, {0, 1})

    def test_a_head_of_other_types(self):
        self.report(self.made(models={"a": 1}, pairing=7, alignment={"findings": 3, "auto": []}, complete="x", renditions={"a": []}, reason=9,
                              distorted_stream=[1], pooled_metrics=[]))
        self.report(self.made(renditions=[None], pairing={"frames": "x", "gaps": 1e300}, models=[3, None]))


class Tables(Reported):
    def test_csv(self):
        log = single([clip("closed.mp4"), clip("open.mkv"), clip("ref.mkv")], "metrics=psnr", "report_csv.json")
        made = self.made()
        table = self.place / "all.csv"
        self.assertEqual(command("report", log, made, "--csv", table, "--labels", 'a,"b" c,d').returncode, 0)
        rows = list(csv.DictReader(io.StringIO(table.read_text(), newline="")))
        expected = [(each, k, frame) for k, each in enumerate([*rendition_logs(log, 2), made]) for frame in frames_of(each)]
        self.assertEqual(len(rows), len(expected))
        for row, (path, k, frame) in zip(rows, expected):
            self.assertEqual((row["log"], row["label"], int(row["frame"])), (str(path), ("a", '"b" c', "d")[k], frame["frameNum"]))
            self.assertEqual(row["rendition"], str(k % 2))
            self.assertEqual(row["time"], f"{frame['frameNum'] / 25:.6f}")
            for score in ("psnr_y", "vmaf", MOTION):
                value = frame["metrics"].get(score)
                self.assertEqual(row[score], "" if value is None else f"{value:.6f}")

    def test_csv_to_standard_output(self):
        outcome = run("report", self.made(), "--csv", "-")
        self.assertEqual(len(list(csv.reader(io.StringIO(outcome.stdout)))), 311)

    def test_png(self):
        if not shutil.which("rsvg-convert"):
            self.skipTest("SKIPPED: no rsvg-convert (librsvg2-bin)")
        plot, raw = self.place / "plot.png", self.place / "plot.rgb"
        low = made_log(self.place / "low.json", {"vmaf": [20.0] * 310})
        self.assertEqual(run("report", self.made(), low, "--png", plot, "--labels", "<a>&,b").returncode, 0)
        ffmpeg("-i", plot, "-pix_fmt", "rgb24", "-f", "rawvideo", raw)
        colours = {}
        data = raw.read_bytes()
        width = 1600
        for at in range(0, len(data), 3):
            colours.setdefault(data[at:at + 3], []).append(at // 3 // width)
        # Lines in the colours of the first and the second series, the first one above.
        first, second = colours[bytes.fromhex("0072b2")], colours[bytes.fromhex("d55e00")]
        self.assertLess(min(first), min(second))
        self.assertGreater(min(len(first), len(second)), 300)

    def test_png_without_its_program(self):
        bare = fresh("bare_path")
        said_once(self, run("report", self.made(), "--png", self.place / "x.png", environment={"PATH": str(bare)}), 1, "needs rsvg-convert")


class Interrupted(Reported):
    def test_nothing_temporary_is_left(self):
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        log = single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "report_interrupted.json")
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)  # what former reports took
        started, temporary = self.place / "started", self.place / "tmp"
        program = ffmpeg_that(self.place, "*filter_complex*", f"touch {started}; exec sleep 300")
        arguments = ["report", log, "-o", self.page, "--distorted", clip("closed.mp4"), "--reference", clip("ref.mkv"), "--ffmpeg", program]
        done = interrupt(arguments, temporary, started.exists)
        self.assertEqual(done, (1, "quality-cuda: interrupted: Interrupt\n"))
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertFalse(self.page.exists())


class WithoutPage(Reported):
    @unittest.skipIf(HAS_PAGE, "SKIPPED: this quality-cuda has the report's page")
    def test_it_says_what_is_missing(self):
        said_once(self, run("report", self.made(), "-o", self.page), 1, "libjs-dygraphs")
        self.assertEqual(run("report", self.made(), "--csv", "-").returncode, 0)


class Options(Reported):
    def test_mistakes(self):
        log = self.made()
        page = ["-o", self.page] if HAS_PAGE else ["--csv", self.place / "x.csv"]
        for arguments, code, part in (
                ([log], 2, "-o FILE, --csv FILE or --png FILE is accepted"), (page, 2, "logs is required"),
                ([log, *page, "--metric", "psnr"], 2, "--metric=psnr: the logs have no such score; " + MOTION + ", vmaf are accepted"),
                ([log, *page, "--labels", "a,b"], 2, "--labels=a,b has 2 names: there are 1 encodes"),
                ([log, *page, "--labels", ","], 2, "one of the names is empty"),
                ([log, *page, "--ladders", "a,b"], 2, "--ladders=a,b has 2 names: there are 1 logs"),
                ([log, *page, "--bit-rates", "1,2"], 2, "--bit-rates=1,2 has 2 rates"),
                ([log, *page, "--bit-rates", "x"], 2, "'x' is no rate; kbit/s above 0"), ([log, *page, "--bit-rates", "0"], 2, "'0' is no rate"),
                ([log, *page, "--bit-rates", "nan"], 2, "'nan' is no rate"), ([log, *page, "--bit-rates", "1e99"], 2, "'1e99' is no rate"),
                ([log, *page, "--distorted", log, "--distorted", log], 2, "--distorted is given 2 times"),
                ([log, *page, "--distorted", "nowhere.mp4"], 1, "--distorted=nowhere.mp4 is no file"),
                ([log, *page, "--reference", folder()], 1, "is no file"), ([log, *page, "--plan", log], 1, "is no plan of quality-cuda"),
                ([log, *page, "--plan", "nowhere"], 1, "nowhere cannot be read"),
                ([log, *page, "--plan", log, "--distorted", log], 2, "--plan and --distorted both name files"),
                ([log, *page, "--thumbnails", "11"], 2, "--thumbnails"), ([log, *page, "--threshold", "x"], 2, "--threshold=x"),
                ([log, "--csv", "/nowhere/x.csv"], 1, "/nowhere/x.csv cannot be written: "),
                ([log, *page, "--ffmpeg", "/nowhere/ffmpeg"], 1, "--ffmpeg names another")):
            with self.subTest(arguments):
                said_once(self, run("report", *arguments), code, part)

    def test_full_disk(self):
        if not HAS_PAGE:
            self.skipTest("SKIPPED: quality-cuda was built without the report's page (libjs-dygraphs)")
        self.page.write_text("kept")
        outcome = command("report", self.made(), "-o", self.page, "-q", limit_bytes=50000)
        said_once(self, outcome, 1, "cannot be written: File too large")
        self.assertEqual(self.page.read_text(), "kept")
        self.assertEqual([path.name for path in self.place.glob("*unfinished*")], [])

    def test_metric(self):
        page = self.report(self.made(), "--metric", MOTION)
        self.assertEqual(page.index["score"], MOTION)


if __name__ == "__main__":
    unittest.main()
