# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The first screen of a report: which encode is better and by how much, whether that holds, and where it is worst."""

import base64
import os
import pty
import random
import re
import shutil
import statistics
import subprocess
import unittest

from made_logs import MOTION, cuts, made_log, said_once, run
from test_compare import MersenneTwister, percentile
from test_report import Reported, bd_rate
from workbench import COMMAND, FFMPEG, TIMEOUT_SECONDS, clip, command, ffmpeg_that, single

LENGTHS = [40, 75, 30, 110, 55, 20, 90, 64, 33, 48]
RATES = [400, 800, 1500, 3200, 6000, 9000]
LEVELS = {"x264": [61.25, 74.5, 83.75, 91.5, 95.125, 96], "svtav1": [66.5, 79.25, 88.5, 94.75, 96.5, 97.25]}


def made_ladder(place, codec, title="", levels=None, **head):
    """Logs of a ladder, whose encodes gain and lose together from scene to scene. @return {kbit/s: (log, scores)}"""
    logs = {}
    for rate, level in zip(RATES, levels or LEVELS[codec]):
        source, vmaf = random.Random(title + codec), []
        for length in LENGTHS:
            scene = level + source.gauss(0, 0.8)
            vmaf += [round(min(100, scene + source.gauss(0, 0.2)), 6) for _ in range(length)]
        logs[rate] = (made_log(place / f"{title}{codec}_{rate}.json", {MOTION: cuts(LENGTHS), "vmaf": vmaf}, **head), vmaf)
    return logs


class Summarised(Reported):
    def ladder(self, codec, title="", levels=None, **head):
        return made_ladder(self.place, codec, title, levels, **head)

    def logs(self, *ladders):
        return [log for ladder in ladders for log, _ in ladder.values()], ",".join(str(rate) for ladder in ladders for rate in ladder)

    def verdicts(self):
        return re.findall(r"<li>(.*?)</li>", re.search(r'<ul class="verdicts">(.*?)</ul>', self.page.read_text(), re.S)[1])


class Verdicts(Summarised):
    def setUp(self):
        super().setUp()
        self.old, self.new = self.ladder("x264"), self.ladder("svtav1")

    def test_three_questions_of_twelve_encodes(self):
        """Names that differ in numbers alone make the ladders."""
        logs, rates = self.logs(self.old, self.new)
        page = self.report(*logs, "--bit-rates", rates, "--resamples", 100)
        which, sound, worst = self.verdicts()
        expected = bd_rate(*([(rate, statistics.fmean(vmaf)) for rate, (_, vmaf) in each.items()] for each in (self.old, self.new)))
        self.assertRegex(which, rf"^svtav1 needs {-expected:.1f} % less rate than x264 at equal vmaf "
                                r"\(\d+\.\d to \d+\.\d, 95 % interval over scenes\)$")
        self.assertTrue(sound.startswith("Nothing speaks against the scores: every frame"), sound)
        self.assertRegex(worst, r"^Worst: x264_400 at \d:\d\d\.\d, frames \d+ to \d+, vmaf \d\d\.\d\d on average, \d\d\.\d\d at frame \d+$")
        text = page.words()
        self.assertTrue(text.index("svtav1 needs") < text.index("Rate and distortion") < text.index("Score over time"))
        self.assertIn("x264 and svtav1: 12 encodes", text)
        self.assertIn("vmaf by vmaf_v0.6.1", text)

    def test_interval_against_an_independent_calculation(self):
        logs, rates = self.logs(self.old, self.new)
        page = self.report(*logs, "--bit-rates", rates, "--resamples", 100, "--seed", 3)
        starts, numbers, found = [sum(LENGTHS[:k]) for k in range(len(LENGTHS))], MersenneTwister(3), []
        for _ in range(100):
            drawn = [numbers() * len(LENGTHS) >> 32 for _ in LENGTHS]
            frames = [i for k in drawn for i in range(starts[k], starts[k] + LENGTHS[k])]
            found.append(bd_rate(*([(rate, statistics.fmean(vmaf[i] for i in frames)) for rate, (_, vmaf) in each.items()]
                                   for each in (self.old, self.new)), steps=300))
        row = next(row for caption, table in page.tables.items() if caption.startswith("BD-rate against x264") for row in table[1:])
        low, high = map(float, re.search(r"\((\S+) to (\S+)\)", row[2]).groups())
        self.assertAlmostEqual(low, percentile(found, 2.5), delta=0.02)
        self.assertAlmostEqual(high, percentile(found, 97.5), delta=0.02)

    def test_no_clear_difference(self):
        """As much better in one half of the scenes as worse in the other."""
        same = {}
        for rate, (_, vmaf) in self.old.items():
            moved = [round(value + (1 if i % 2 else -1) * 0.2, 6) for i, value in enumerate(vmaf)]
            begin = 0
            for k, length in enumerate(LENGTHS):
                for i in range(begin, begin + length):
                    moved[i] = vmaf[i] + (1.5 if k % 2 else -1.5)
                begin += length
            same[rate] = (made_log(self.place / f"other_{rate}.json", {MOTION: cuts(LENGTHS), "vmaf": moved}), moved)
        logs, rates = self.logs(self.old, same)
        self.report(*logs, "--bit-rates", rates)
        self.assertRegex(self.verdicts()[0], r"^other takes about as much rate as x264 at equal vmaf: \S+ % \(-\S+ to \+\d\S*, ")

    def test_pair_without_rates(self):
        self.report(self.old[400][0])
        self.assertRegex(self.verdicts()[0], r"^x264_400, vmaf 61\.\d\d on average; 5 % of its frames are at \d+\.\d\d or below$")
        self.report(self.old[400][0], self.new[400][0])
        self.assertRegex(self.verdicts()[0], r"^Best on average: svtav1_400, vmaf 66\.\d\d; worst: x264_400, vmaf 61\.\d\d$")

    def test_averages_over_titles(self):
        other = [self.ladder(codec, "b_", [level - 3 - k for k, level in enumerate(LEVELS[codec][:5])]) for codec in ("x264", "svtav1")]
        for each in other:
            each.pop(9000, None)
        logs, rates = self.logs(self.old, self.new, *other)
        names = ",".join(["x264"] * 6 + ["svtav1"] * 6 + ["x264"] * 5 + ["svtav1"] * 5)
        page = self.report(*logs, "--bit-rates", rates, "--ladders", names, "--titles", ",".join(["park"] * 12 + ["sea"] * 10))
        pairs = ((self.old, self.new), other)
        expected = [bd_rate(*([(rate, statistics.fmean(vmaf)) for rate, (_, vmaf) in each.items()] for each in pair)) for pair in pairs]
        table = page.tables["BD-rate against x264, on average over titles"]
        self.assertEqual(table[1], ["svtav1", "vmaf", f"{statistics.fmean(expected):+.2f} %", "2"])
        rows = next(table for caption, table in page.tables.items() if caption.startswith("BD-rate against x264: "))[1:]
        self.assertEqual([row[:3] for row in rows], [["svtav1", "park", "vmaf"], ["svtav1", "sea", "vmaf"]])
        self.assertTrue(self.verdicts()[0].endswith("on average over 2 titles"))
        said_once(self, run("report", *logs, "--titles", "a,b", "-o", self.page), 2, "--titles=a,b has 2 names: there are 22 logs")


class Findings(Summarised):
    def test_banner(self):
        """What the filter warned of stands at the top, once for all encodes that have it."""
        warning = "the reference is 5 frames ahead: use align=auto"
        logs, _ = self.logs(self.ladder("x264", warnings=[warning]))
        odd = self.made("odd.json", warnings=["ranges differ"], complete=False, reason="interrupted: Interrupt")
        page = self.report(*logs, odd)
        text = page.words()
        for part in ("x264_400, x264_800, x264_1500 and 3 more: " + warning, "odd: ranges differ", "odd: the log is not complete: interrupted"):
            self.assertEqual(text.count(part), 1, part)
            self.assertLess(text.index(part), text.index("Score over time"))
        self.assertIn("speak against the scores, in red above", self.verdicts()[1])

    def test_a_misaligned_run(self):
        shifted = single([clip("late.mkv"), clip("ref.mkv")], "metrics=psnr:sync=index:max_dt=9", "summary_shifted.json")
        page = self.report(shifted)
        self.assertEqual("Nothing speaks against the scores" in page.words(), not re.search(r'"warnings": \[\s*"', shifted.read_text()))

    def test_none(self):
        page = self.report(self.made())
        self.assertNotIn(("div", {"class": "banner"}), [(tag, {"class": attributes.get("class")}) for tag, attributes in page.elements])

    def test_encodes_that_do_not_go_together(self):
        page = self.report(self.made("a.json"), self.made("b.json", reference_format="yuv420p10le"))
        self.assertIn('b: not to be held against a: pixel formats of the reference differ: "yuv420p" and "yuv420p10le"', page.words())


class Table(Summarised):
    def test_one_row_for_each_encode(self):
        old, new = self.ladder("x264"), self.ladder("svtav1")
        logs, rates = self.logs(old, new)
        mixed, order = logs[::2] + logs[1::2], rates.split(",")
        page = self.report(*mixed, "--bit-rates", ",".join(order[::2] + order[1::2]))
        rows = page.tables["Encodes"]
        self.assertEqual(rows[0], ["encode", "kbit/s", "frames", "vmafvmaf_v0.6.1"])
        self.assertEqual(rows[1], ["mean", "p5", "min"])
        names = [f"{codec}_{rate}" for codec in ("x264", "svtav1") for rate in (400, 1500, 6000, 800, 3200, 9000)]
        self.assertEqual([row[0] for row in rows[2:]], names)
        row = next(row for row in rows if row[0] == "svtav1_800")
        vmaf = new[800][1]
        self.assertEqual(row[1:], ["800", str(len(vmaf)), f"{statistics.fmean(vmaf):.2f}", f"{percentile(vmaf, 5):.2f}", f"{min(vmaf):.2f}"])

    def test_colour_is_the_ladder_and_dash_the_rung(self):
        logs, _ = self.logs(self.ladder("x264"), self.ladder("svtav1"))
        page = self.report(*logs)
        self.assertEqual([(each["colour"], each["dash"]) for each in page.index["encodes"]], [(k, rung) for k in range(2) for rung in range(6)])
        self.assertEqual([(each["name"], each["colour"]) for each in page.index["ladders"]], [("x264", 0), ("svtav1", 1)])
        single_ones = self.report(*logs, "--ladders", ",".join(f"l{k}" for k in range(12)))
        self.assertEqual([each["colour"] for each in single_ones.index["encodes"]], list(range(12)))

    def test_small_scores_have_more_decimals(self):
        ssim = [0.98 + 0.001 * (i % 7) for i in range(100)]
        log = made_log(self.place / "ssim.json", {"float_ssim": ssim, "psnr_y": [40.5] * 100})
        page = self.report(log)
        row = page.tables["Encodes"][2]
        self.assertEqual(row[-6:], [f"{statistics.fmean(ssim):.4f}", "0.9800", "0.9800", "40.50", "40.50", "40.50"])
        self.assertEqual(page.tables["Encodes"][0][-1], "psnr_y, dB")

    def test_empty_sections_are_left_out(self):
        page = self.report(self.made())
        ids = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
        links = {attributes.get("href") for tag, attributes in page.elements if tag == "a"}
        self.assertEqual(ids, {"summary", "time", "distribution", "worst", "pairing", "provenance"})
        self.assertEqual(links, {f"#{name}" for name in ids})

    def test_shares(self):
        vmaf = [79.0] * 10 + [85.0] * 30 + [92.0] * 40 + [95.0] * 15 + [99.0] * 5
        page = self.report(made_log(self.place / "log.json", {"vmaf": vmaf, "psnr_y": vmaf}))
        self.assertEqual(page.tables["Share of frames by vmaf"][1], ["log", "5.0 %", "60.0 %", "90.0 %"])
        self.assertNotIn("Share of frames by psnr_y", self.report(self.place / "log.json", "--metric", "psnr_y").tables)

    def test_pairs_without_columns_of_zeros(self):
        row = self.report(self.made()).tables["How frames were paired"][0]
        self.assertEqual(row, ["encode", "frames", "paired", "scored", "largest distance, s"])


class Models(Reported):
    def test_different_ones_share_nothing(self):
        logs, points = [], [(400, 61.25), (800, 74.5), (1500, 83.75), (3200, 91.5)]
        for number, model in enumerate(("vmaf_v0.6.1", "vmaf_v1.0.16_3d0h")):
            for rate, score in points:
                logs.append(made_log(self.place / f"{number}_{rate}.json", {"vmaf": [score - 1, score + 1]},
                                     models=[{"name": "vmaf", "model": model}]))
        rates = ",".join(str(rate) for _ in range(2) for rate, _ in points)
        page = self.report(*logs, "--ladders", ",".join("aaaabbbb"), "--bit-rates", rates, notes=1)
        old, new = "vmaf (vmaf_v0.6.1)", "vmaf (vmaf_v1.0.16_3d0h)"
        self.assertEqual({each["score"] for each in page.index["series"]}, {old, new})
        self.assertEqual([sorted(each["means"]) for each in page.index["encodes"]], [[old]] * 4 + [[new]] * 4)
        self.assertIn("vmaf is made by different models, vmaf_v0.6.1 and vmaf_v1.0.16_3d0h", page.words())
        rows = [row for caption, table in page.tables.items() if caption.startswith("BD-rate") for row in table]
        self.assertEqual([row for row in rows if "%" in " ".join(row)], [])
        same = self.report(*logs[:4], *logs[:4], "--ladders", ",".join("aaaabbbb"), "--bit-rates", rates)
        self.assertEqual({each["score"] for each in same.index["series"]}, {"vmaf"})

    def test_an_inner_feature_opens_no_page(self):
        log = single([clip("large.mp4"), clip("large_ref.mkv")], "model=version=vmaf_v1.0.16_3d0h", "report_v1.json")
        page = self.report(log)
        self.assertEqual(page.index["score"], "vmaf")
        self.assertEqual([each["score"] for each in page.index["series"] if each["headline"]], ["vmaf"])
        self.assertIn("vmaf_v1.0.16_3d0h", page.words())


class Packets(Summarised):
    def scored(self):
        log = self.place / "scores.json"
        outcome = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", "1", "-o", log)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return log

    def test_bit_rate_and_key_frames(self):
        page = self.report(self.scored(), "--thumbnails", 0)
        encode, entry = page.index["encodes"][0], page.index["rates"][0]
        raw = base64.b64decode(page.scripts[entry["id"]])
        self.assertEqual(entry["kind"], "millionths")
        rates = [int.from_bytes(raw[i:i + 4], "little", signed=True) / 1e6 for i in range(0, len(raw), 4)]
        probed = subprocess.run([FFMPEG.with_name("ffprobe"), "-v", "error", "-show_entries", "packet=pts,size,flags", "-of", "csv=p=0",
                                 clip("closed.mp4")],
                                capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS).stdout.split()
        packets = sorted((int(pts), int(size), "K" in flags) for pts, size, flags in (line.split(",") for line in probed))
        for rate, (_, size, _) in zip(rates, packets, strict=True):
            self.assertAlmostEqual(rate, size * 8 * 25 / 1e6, places=6)
        keys = memoryview(base64.b64decode(page.scripts[encode["keys"]])).cast("d").tolist()
        self.assertEqual(keys, [i for i, packet in enumerate(packets) if packet[2]])
        self.assertGreater(len(keys), 4)
        self.assertAlmostEqual(statistics.fmean(rates) * 1000, encode["kbits"], delta=1)

    def test_pictures_of_a_former_report(self):
        """Taken once; a changed file is another one."""
        log, forbidden = self.scored(), ffmpeg_that(self.place, "*filter_complex*", "exit 1")
        first = self.report(log).images()
        self.assertGreater(len(first), 0)
        self.assertEqual(self.report(log, "--ffmpeg", forbidden).images(), first)
        shutil.rmtree(os.environ["XDG_CACHE_HOME"])
        self.assertEqual(self.report(log, "--ffmpeg", forbidden).images(), [])

    def test_damaged_cache(self):
        log = self.scored()
        first = self.report(log).images()
        for path in (self.place.parent / "cache/quality-cuda/pictures").iterdir():
            path.write_bytes(path.read_bytes()[:-7])
        self.assertEqual(self.report(log).images(), first)

    def test_progress_on_a_terminal(self):
        log = self.scored()
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
        own, other = pty.openpty()
        with subprocess.Popen([COMMAND, "report", log, "-o", self.page, "--ffmpeg", FFMPEG], stderr=other) as process:
            os.close(other)
            said = b""
            try:
                while data := os.read(own, 4096):
                    said += data
            except OSError:  # its end
                pass
            self.assertEqual(process.wait(), 0)
        os.close(own)
        pictures = len(re.findall(rb'class="pictures"', self.page.read_bytes()))
        for part in (b"reading logs: 0 of 1", b"reading files: 0 of 2", b"reading files: 2 of 2",
                     b"pictures: 0 of ", b"pictures: %d of %d" % (pictures, pictures)):
            self.assertIn(part, said)
        self.assertTrue(said.endswith(b"\r\033[K"), said[-40:])


if __name__ == "__main__":
    unittest.main()
