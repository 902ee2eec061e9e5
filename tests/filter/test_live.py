# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the filter says while the run goes on: lines for files and receivers, alerts, the file for Prometheus."""

import json
import math
import os
import re
import subprocess
import threading
import time
import unittest

from harness import FFMPEG, FilterTest, Run, ffmpeg, make

LINES = "log_fmt=jsonl:log_path=lines.jsonl"
SCORES = ("psnr_y", "psnr_cb", "psnr_cr")


def escaped(text):
    """As a value in the description of a graph."""
    return text.replace("\\", "\\\\").replace(":", "\\\\:")


def percentile(values, percent):
    """As the engine's pooling: between the two nearest ranks, in proportion."""
    ordered = sorted(values)
    rank = percent * (len(ordered) - 1) / 100
    low, high = math.floor(rank), math.ceil(rank)
    return ordered[low] if low == high else ordered[low] * (high - rank) + ordered[high] * (rank - low)


class LiveTest(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=75)
        self.distorted = self.worse(self.reference)

    def lines(self, name="lines.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def of_type(self, kind, name="lines.jsonl"):
        return [line for line in self.lines(name) if line["type"] == kind]


class Frames(LiveTest):
    def test_a_line_for_each_frame(self):
        run = self.score(self.distorted, self.reference, options=LINES)
        self.assert_ok(run)
        frames = self.of_type("frame")
        self.assertEqual(len(frames), 75)
        for number, (line, row) in enumerate(zip(frames, run.stats, strict=True)):
            self.assertEqual(line["n"], number)
            self.assertEqual((line["pts_time"], line["ref_pts_time"]), (row["pts_time"], row["ref_pts_time"]))
            self.assertEqual(line["scores"], {name: row[name] for name in SCORES})
        end, = self.of_type("end")
        self.assertEqual(self.lines()[-1], end)
        self.assertEqual((end["end"], end["complete"], end["reason"]), ("end of stream", True, None))
        self.assertEqual((end["frames"], end["scored"], end["unscored"], end["dropped"]), (75, 75, 0, 0))
        mean = sum(row["psnr_y"] for row in run.stats) / 75
        self.assertAlmostEqual(end["scores"]["psnr_y"]["mean"], mean, delta=1e-6)
        self.assertTrue(run.messages("log_path=lines.jsonl: lines:76 dropped:0 receivers:1"), run.text)

    def test_frames_without_scores(self):
        run = self.score(self.distorted, self.reference, options=LINES + ":n_subsample=2:enable='lt(t,2)'")
        self.assert_ok(run)
        frames = self.of_type("frame")
        self.assertEqual([line.get("unscored") for line in frames[:4]], [None, "subsample", None, "subsample"])
        self.assertEqual({line["unscored"] for line in frames[50:]}, {"disabled"})
        self.assertEqual(len(frames), 75)

    def test_frames_without_a_partner(self):
        self.assert_ok(self.score(self.distorted, self.reference, options=LINES, before={1: "trim=start_frame=5"}))
        self.assertEqual([line.get("unscored") for line in self.of_type("frame")[:6]], ["unpaired"] * 5 + [None])

    def test_renditions(self):
        run = self.score(self.distorted, self.reference, self.reference, options=LINES + ":renditions=2")
        self.assert_ok(run)
        first = self.of_type("frame")[0]["scores"]
        self.assertEqual(set(first), {*SCORES, *(f"1.{name}" for name in SCORES)})
        self.assertEqual((first["1.psnr_y"] >= 60, first["psnr_y"] >= 60), (True, False))

    def test_an_early_stop(self):
        """What did not leave has no line."""
        run = self.score(self.distorted, self.reference, options=LINES, after="trim=end_frame=10")
        self.assert_ok(run)
        self.assertEqual(len(self.of_type("frame")), len(run.stats))
        self.assertEqual(self.lines()[-1]["end"], "stopped early")

    def test_a_failure(self):
        """A change of size in mid-stream ends the run; the lines say so."""
        run = self.score(self.changing(20), self.source(frames=40), before_inputs=(("-reinit_filter", "0"),), options=LINES)
        self.assert_fails(run, "changed from 176x144")
        end = self.lines()[-1]
        self.assertEqual((end["type"], end["end"], end["complete"], end["scored"]), ("end", "failure", False, 20))
        self.assertIn("changed from 176x144", end["reason"])

    def test_a_second_graph_appends(self):
        """The command line makes graphs anew where a stream changes: the file goes on."""
        run = self.score(self.changing(20), self.source(frames=40), before={0: "scale=176:144"}, options=LINES)
        self.assert_ok(run)
        self.assertEqual(len(self.of_type("end")), 2)
        self.assertEqual(sum("n" in line for line in self.of_type("frame")), len(run.stats))
        self.assertIn("log_path=lines.jsonl belongs to an earlier filter of this run; appending", run.text)

    def test_two_filters_at_a_time(self):
        graph = (f"[0:v]split[a][b];[1:v]split[r][s];[a][r]quality_cuda=psnr:backend=cpu:{LINES},nullsink;"
                 f"[b][s]quality_cuda=psnr:backend=cpu:{LINES}")
        run = ffmpeg(["-v", "info", "-i", self.distorted, "-i", self.reference, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertEqual((len(self.of_type("frame")), len(self.of_type("frame", "lines.2.jsonl"))), (75, 75))


class Windows(LiveTest):
    def check(self, lines, rows, length):
        """Windows of the lines against the rows of stats_file."""
        expected = {}
        for row in rows:
            expected.setdefault(int((row["pts_time"] + 1e-9) / length), []).append(row)
        self.assertEqual([line["start"] for line in lines], [round(number * length, 6) for number in expected])
        for line, inside in zip(lines, expected.values(), strict=True):
            self.assertEqual((line["frames"], line["scored"], round(line["end"] - line["start"], 6)), (len(inside), len(inside), length))
            for name in SCORES:
                values, found = [row[name] for row in inside], line["scores"][name]
                self.assertEqual(found["count"], len(values))
                self.assertEqual(found["min"], min(values))
                self.assertAlmostEqual(found["mean"], sum(values) / len(values), delta=1.1e-6)
                self.assertAlmostEqual(found["p5"], percentile(values, 5), delta=1.1e-6)

    def test_against_an_own_computation(self):
        for text, length in (("1", 1), ("1s", 1), ("400ms", 0.4), ("0.33", 0.33), ("10", 10)):
            run = self.score(self.distorted, self.reference, options=f"{LINES}:window={text}")
            self.assert_ok(run)
            self.assertEqual(self.of_type("frame"), [])
            self.check(self.of_type("window"), run.stats, length)

    def test_frames_without_scores_count(self):
        run = self.score(self.distorted, self.reference, options=f"{LINES}:window=1:n_subsample=5:enable='lt(t,2)'")
        self.assert_ok(run)
        self.assertEqual([(line["frames"], line["scored"]) for line in self.of_type("window")], [(25, 5), (25, 5), (25, 0)])
        self.assertEqual(self.of_type("window")[2]["scores"], {})

    def test_a_gap_in_the_stream(self):
        """Windows without any frame are not there."""
        shift = "setpts='if(gte(N,30),PTS+10/TB,PTS)'"
        self.assert_ok(self.score(self.distorted, self.reference, options=f"{LINES}:window=1", before={0: shift, 1: shift}))
        self.assertEqual([(line["start"], line["frames"]) for line in self.of_type("window")], [(0, 25), (1, 5), (11, 20), (12, 25)])

    def test_a_stream_that_does_not_begin_at_zero(self):
        shift = "setpts=PTS+7.5/TB"
        self.assert_ok(self.score(self.distorted, self.reference, options=f"{LINES}:window=1", before={0: shift, 1: shift}))
        first = self.of_type("window")[0]
        self.assertEqual((first["start"], first["end"], first["frames"]), (7.5, 8.5, 25))

    def test_the_ending_asks_for_lines(self):
        self.assert_ok(self.score(self.distorted, self.reference, options="log_path=lines.jsonl:window=1"))
        self.assertEqual([line["type"] for line in self.lines()], ["window"] * 3 + ["end"])
        self.assert_ok(self.score(self.distorted, self.reference, options="log_path=report.jsonl:log_fmt=json"))
        self.assertEqual(len(json.loads((self.folder / "report.jsonl").read_text())["frames"]), 75)

    def test_nobody_would_see_them(self):
        self.assert_fails(self.score(self.distorted, self.reference, options="window=1"),
                          "window=1s needs log_fmt=jsonl or metrics_file")
        self.assert_fails(self.score(self.distorted, self.reference, options=LINES + ":window=301"), "window", "0 - 300")


class Alerts(LiveTest):
    """The second of three seconds is bad."""

    NOISE = "noise=alls=60:allf=t:enable='between(t,0.99,1.99)'"

    def watch(self, alert, **arguments):
        run = self.score(self.reference, self.reference, options=f"{LINES}:alert={escaped(alert)}", before={0: self.NOISE}, **arguments)
        self.assert_ok(run)
        return run

    def events(self):
        return [(line["event"], line["alert"], line["pts_time"], line["since"]) for line in self.of_type("alert")]

    def tagged(self, run):
        """Times of the frames that carry an alert, with its value."""
        return {time: keys["alert"] for time, keys in run.tagged if "alert" in keys}

    def test_beginning_and_end(self):
        run = self.watch("psnr_y<40:500ms")
        self.assertEqual(self.events(), [("begin", "psnr_y<40", 1.52, 1.0), ("end", "psnr_y<40", 2.0, 1.0)])
        self.assertEqual(self.tagged(run), {round(n / 25, 2): "psnr_y<40" for n in range(38, 50)})
        self.assertRegex(run.text, r"alert psnr_y<40 begins at 1\.520 s: \d+\.\d{6}, since 1\.000 s")
        self.assertRegex(run.text, r"alert psnr_y<40 ends at 2\.000 s: since 1\.000 s, worst \d+\.\d{6}")
        frames = self.of_type("frame")
        self.assertEqual([round(line["pts_time"] * 25) for line in frames if line["alerts"]], list(range(38, 50)))
        worst = min(line["scores"]["psnr_y"] for line in frames[25:50])
        self.assertEqual(self.of_type("alert")[1]["worst"], worst)

    def test_at_once(self):
        self.watch("psnr_y<40")
        self.assertEqual(self.events(), [("begin", "psnr_y<40", 1.0, 1.0), ("end", "psnr_y<40", 2.0, 1.0)])

    def test_not_long_enough(self):
        run = self.watch("psnr_y<40:2s")
        self.assertEqual(self.events(), [])
        self.assertEqual(self.tagged(run), {})

    def scores(self):
        return [line["scores"]["psnr_y"] for line in self.of_type("frame")]

    def test_the_mean_of_a_stretch(self):
        """Every fourth frame is good: no row of bad ones lasts, and the mean of ten frames is low all the same."""
        self.NOISE = "noise=alls=60:allf=t:enable='between(t,0.99,1.99)*gt(mod(n,4),0)'"
        run = self.watch("psnr_y<40@0.4|mean(psnr_y)<44:0.4|min(psnr_y)<40@0.4>=60@0.2")
        scores = self.scores()
        frames = [n for n in range(10, 75) if sum(scores[n - 9:n + 1]) / 10 < 44]
        self.assertTrue(frames and frames[0] > 25 and max(scores[26:49]) == 60, scores)
        first, last = frames[0] / 25, (frames[-1] + 1) / 25
        events = self.events()
        since = round(first - 0.36, 2)
        self.assertEqual([each for each in events if "mean" in each[1]],
                         [("begin", "mean(psnr_y)<44@0.4", first, since), ("end", "mean(psnr_y)<44@0.4", last, since)])
        self.assertEqual([each for each in events if each[1].startswith("psnr_y")], [])
        # The last bad frame is number 49: nine frames later it is still among the latest ten, and five more have to be good.
        self.assertEqual([(each[0], each[2]) for each in events if "min" in each[1]], [("begin", 1.0), ("end", 2.56)])
        self.assertIn("mean(psnr_y)<44@0.4", self.tagged(run)[first])
        begin, = (line for line in self.of_type("alert") if line["alert"].startswith("mean") and line["event"] == "begin")
        self.assertAlmostEqual(begin["value"], sum(scores[frames[0] - 9:frames[0] + 1]) / 10, places=5)

    def test_several(self):
        run = self.watch("psnr_y<40@0.2|psnr_cb>=1")
        self.assertEqual(self.events(), [("begin", "psnr_cb>=1", 0.0, 0.0), ("begin", "psnr_y<40", 1.2, 1.0), ("end", "psnr_y<40", 2.0, 1.0),
                                         ("end", "psnr_cb>=1", 2.96, 0.0)])
        self.assertEqual(self.tagged(run)[1.2], "psnr_y<40|psnr_cb>=1")
        self.assertEqual(self.tagged(run)[0.0], "psnr_cb>=1")
        self.assertEqual(self.of_type("alert")[-1]["reason"], "the run ends")

    def test_with_windows(self):
        self.assert_ok(self.score(self.reference, self.reference, options=LINES + ":window=1:alert=psnr_y<40", before={0: self.NOISE}))
        self.assertEqual([line["type"] for line in self.lines()], ["window", "alert", "window", "alert", "window", "end"])

    def test_without_lines(self):
        run = self.score(self.reference, self.reference, options="alert=psnr_y<40@0.5", before={0: self.NOISE})
        self.assert_ok(run)
        self.assertEqual(len(self.tagged(run)), 12)
        self.assertTrue(run.messages("alert psnr_y<40: times:1"), run.text)

    def test_of_a_rendition(self):
        run = self.score(self.reference, self.reference, self.reference, options=LINES + ":renditions=2:alert=1.psnr_y<40",
                         before={2: self.NOISE})
        self.assert_ok(run)
        self.assertEqual(self.events()[0][:3], ("begin", "1.psnr_y<40", 1.0))

    def test_between_scores(self):
        """Frames without scores between two that meet the condition are no end of it, if they are not too many."""
        self.assert_ok(self.score(self.reference, self.reference, options=LINES + ":n_subsample=10:alert=psnr_y<40@0.4",
                                  before={0: self.NOISE}))
        self.assertEqual(self.events(), [("begin", "psnr_y<40", 1.6, 1.2), ("end", "psnr_y<40", 2.0, 1.2)])
        self.assert_ok(self.score(self.reference, self.reference, options=LINES + ":n_subsample=10:alert=psnr_y<40@0.3",
                                  before={0: self.NOISE}))
        self.assertEqual(self.events(), [])

    def test_other_filters_can_act_on_it(self):
        run = self.watch("psnr_y<40@0.5", after="metadata=mode=select:key=lavfi.quality_cuda.alert")
        self.assertEqual(len(run.out), 12)
        run = self.watch("psnr_y<40@0.5", after="metadata=mode=select:key=lavfi.quality_cuda.alert:value=psnr_y:function=starts_with")
        self.assertEqual(len(run.out), 12)

    def test_an_earlier_filters_alert_is_not_this_ones(self):
        graph = ("[0:v]noise=alls=60:allf=t,split[a][b];[1:v]split=3[r][s][x];[x]nullsink;[a][r]quality_cuda=psnr:backend=cpu:alert=psnr_y<40[c];"
                 "[b]nullsink;[c][s]quality_cuda=psnr:backend=cpu:alert=psnr_y>100,metadata=print:file=metadata.txt")
        run = ffmpeg(["-v", "info", "-i", self.reference, "-i", self.reference, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertIn("alert psnr_y<40 begins", run.text)
        self.assertEqual(self.tagged(run), {})

    def test_refusals(self):
        for value, texts in (("vmaf", ["alert=vmaf: vmaf: a comparison (< <= > >=) is missing; accepted: conditions like vmaf<80:2s"]),
                             ("<80", ["a score is missing"]), ("vmaf<", ["there is no number behind the comparison"]),
                             ("vmaf<x", ["there is no number"]), ("vmaf<80@", ["the duration is none"]),
                             ("vmaf<80@-1", ["the duration is none"]), ("vmaf<80@2h", ["the duration is none"]),
                             ("vmaf<80 or less", ["the duration is none"]),
                             ("mean(vmaf)<80", ["the length of the stretch of time is missing"]),
                             ("median(vmaf)<80@1", ["there are mean, min, max, p5 and p95"]), ("vmaf<80>75", ["its end has to be the other way"]),
                             ("psnr_y<40|", ["a score is missing"]),
                             ("psnr_y<40|psnr_y<40@2", ["has psnr_y<40 twice"]),
                             ("vmaf<80", ["alert=vmaf<80: there is no score vmaf; accepted: psnr_y, psnr_cb, psnr_cr"]),
                             ("1.psnr_y<80", ["there is no score 1.psnr_y; accepted: psnr_y"])):
            with self.subTest(alert=value):
                self.assert_fails(self.score(self.reference, self.reference, options=f"alert='{escaped(value)}'"), *texts)


class Prometheus(LiveTest):
    """Files in the text format of Prometheus, read by its rules."""

    LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
    SAMPLE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)\{{({LABEL}(?:,{LABEL})*)\}} (NaN|[+-]Inf|-?\d+(?:\.\d+)?)")

    def parse(self, text):
        """{(name, labels): value}; every family has its help and type before its samples, and stands in one piece."""
        self.assertTrue(text.endswith("\n"), text)
        samples, described, family = {}, {}, None
        for line in text.splitlines():
            if line.startswith("# HELP "):
                family = line.split(" ", 3)[2]
                self.assertNotIn(family, described)
                described[family] = None
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertEqual((name, described[name]), (family, None))
                self.assertIn(kind, ("gauge", "counter"))
                self.assertEqual(kind == "counter", name.endswith("_total"))
                described[name] = kind
            else:
                match = self.SAMPLE.fullmatch(line)
                self.assertTrue(match, line)
                self.assertEqual(match[1], family)
                self.assertNotIn((match[1], match[2]), samples)
                samples[match[1], match[2]] = float(match[3])
        self.assertNotIn(None, described.values())
        return samples

    def test_what_it_says(self):
        run = self.score(self.distorted, self.reference, options="metrics_file=main.prom:window=1:alert=psnr_y<35|psnr_cb>1")
        self.assert_ok(run)
        samples = self.parse((self.folder / "main.prom").read_text())
        plain = {name[len("quality_cuda_"):]: value for (name, labels), value in samples.items() if labels == 'stream="main"'}
        self.assertEqual(plain, {"running": 0, "frames_total": 75, "scored_frames_total": 75, "passed_frames_total": 0,
                                 "realtime_passed_frames_total": 0, "dropped_lines_total": 0, "window_start_seconds": 2,
                                 "window_end_seconds": 3})
        values = [row["psnr_y"] for row in run.stats[50:]]
        labels = 'stream="main",rendition="0",score="psnr_y"'
        self.assertAlmostEqual(samples["quality_cuda_score_mean", labels], sum(values) / 25, delta=1.1e-6)
        self.assertEqual(samples["quality_cuda_score_min", labels], min(values))
        self.assertAlmostEqual(samples["quality_cuda_score_p5", labels], percentile(values, 5), delta=1.1e-6)
        self.assertEqual(samples["quality_cuda_alerts_total", 'stream="main",alert="psnr_cb>1"'], 1)
        self.assertEqual(samples["quality_cuda_alert_active", 'stream="main",alert="psnr_cb>1"'], 0)

    def test_renditions_and_unscored_frames(self):
        self.assert_ok(self.score(self.distorted, self.reference, self.reference, options="metrics_file=m.prom:renditions=2:n_subsample=5"))
        samples = self.parse((self.folder / "m.prom").read_text())
        self.assertEqual(samples["quality_cuda_score_min", 'stream="m",rendition="1",score="psnr_y"'], 60)
        self.assertEqual(samples["quality_cuda_passed_frames_total", 'stream="m"'], 60)

    def test_a_name_that_needs_escapes(self):
        self.assert_ok(self.score(self.distorted, self.reference, options="metrics_file='a\"b.c.prom'"))
        samples = self.parse((self.folder / 'a"b.c.prom').read_text())
        self.assertIn(("quality_cuda_running", 'stream="a\\"b.c"'), samples)

    def test_it_is_never_seen_half_written(self):
        path = self.folder / "m.prom"
        graph = "[0:v][1:v]quality_cuda=psnr:backend=cpu:metrics_file=m.prom:window=40ms"
        process = subprocess.Popen([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-re", "-i", self.distorted, "-i", self.reference,
                                    "-lavfi", graph, "-f", "null", "-"], cwd=self.folder)
        seen, inodes = [], set()
        try:
            while process.poll() is None:
                if path.exists():
                    inodes.add(path.stat().st_ino)
                    seen.append(self.parse(path.read_text()))
                self.assertLessEqual({name for name in os.listdir(self.folder) if name.endswith(".prom")}, {"m.prom"})
        finally:
            process.kill()
            process.wait()
        self.assertEqual(process.returncode, 0)
        frames = [samples["quality_cuda_frames_total", 'stream="m"'] for samples in seen]
        self.assertEqual(frames, sorted(frames))
        self.assertGreater(len(set(frames)), 10)
        self.assertGreater(len(inodes), 1)
        self.assertEqual(os.listdir(self.folder), ["m.prom"])

    def test_mode_and_links(self):
        (self.folder / "real").mkdir()
        path, link = self.folder / "real/m.prom", self.folder / "link.prom"
        path.write_text("old")
        path.chmod(0o640)
        link.symlink_to(path)
        self.assert_ok(self.score(self.distorted, self.reference, options="metrics_file=link.prom"))
        self.assertTrue(link.is_symlink())
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.parse(path.read_text())

    def test_two_filters(self):
        graph = ("[0:v]split[a][b];[1:v]split[r][s];[a][r]quality_cuda=psnr:backend=cpu:metrics_file=m.prom,nullsink;"
                 "[b][s]quality_cuda=psnr:backend=cpu:metrics_file=m.prom")
        run = ffmpeg(["-v", "info", "-i", self.distorted, "-i", self.reference, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertIn("metrics_file=m.prom belongs to another filter of this run; this one writes m.2.prom", run.text)
        for name in ("m.prom", "m.2.prom"):
            self.parse((self.folder / name).read_text())

    def test_refusals(self):
        os.mkfifo(self.folder / "fifo")
        for value, text in (("nowhere/m.prom", "metrics_file=nowhere/m.prom cannot be written: No such file or directory"),
                            ("fifo", "metrics_file=fifo is no regular file"), ("/dev/null", "is no regular file"),
                            (".", "metrics_file=. is a directory"), ("log.json", "is the same file as log_path"),
                            ("stats.txt", "metrics_file=stats.txt is the same file as stats_file")):
            with self.subTest(metrics_file=value):
                self.assert_fails(self.score(self.distorted, self.reference, options=f"metrics_file={value}"), text)

    def test_a_folder_that_vanishes(self):
        """The video goes on; the exit code is not zero."""
        folder = self.folder / "gone"
        folder.mkdir()
        remover = threading.Thread(target=lambda: (time.sleep(1), folder.rmdir() if not os.listdir(folder) else
                                                   ((folder / "m.prom").unlink(), folder.rmdir())))
        graph = "[0:v][1:v]quality_cuda=psnr:backend=cpu:metrics_file=gone/m.prom:window=1.5"
        remover.start()
        process = subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "info", "-re", "-i", self.distorted, "-i", self.reference,
                                  "-lavfi", graph, "-f", "framemd5", "out.framemd5"], cwd=self.folder, capture_output=True, text=True)
        remover.join()
        run = Run(process, self.folder)
        self.assert_fails(run, "metrics_file=gone/m.prom cannot be written: No such file or directory")
        self.assert_whole_video(run, 75)


if __name__ == "__main__":
    unittest.main()
