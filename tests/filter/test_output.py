# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What leaves the filter: untouched frames, metadata on the very frame, statistics, log, summary, help."""

import glob
import json
import math
import re
import unittest
import xml.etree.ElementTree

from harness import FilterTest, ffmpeg, make


class Frames(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(rate="30000/1001", frames=30)
        self.distorted = self.worse(self.reference)

    def test_main_passes_untouched(self):
        run = self.score(self.distorted, self.reference)
        self.assert_ok(run)
        plain = ffmpeg(["-i", self.distorted, "-fps_mode", "passthrough", "-f", "framemd5", "plain.framemd5"], self.folder)
        self.assert_ok(plain)
        expected = [line for line in (self.folder / "plain.framemd5").read_text().splitlines()]
        found = [line for line in (self.folder / "out.framemd5").read_text().splitlines()]
        self.assertEqual(found, expected)

    def test_metadata_statistics_and_log_agree(self):
        run = self.score(self.distorted, self.reference)
        self.assert_ok(run)
        frames, stats, tagged = run.log["frames"], run.stats, run.tagged
        self.assertEqual((len(frames), len(stats), len(tagged)), (30, 30, 30))
        keys = set(stats[0]) - {"n", "pts_time", "ref_pts_time"}
        self.assertTrue(keys & {"psnr_y", "mad"})
        for index, (frame, line, (time, scores)) in enumerate(zip(frames, stats, tagged)):
            self.assertEqual((frame["frameNum"], line["n"], int(scores["n"])), (index, index, index))
            self.assertAlmostEqual(time, line["pts_time"], delta=1e-4)
            self.assertAlmostEqual(line["pts_time"], index * 1001 / 30000, delta=1e-4)
            for key in keys:
                self.assertEqual(float(scores[key]), line[key])
                self.assertAlmostEqual(frame["metrics"][key], line[key], delta=5.1e-7)
        self.assertGreater(len({line["psnr_y"] if "psnr_y" in line else line["mad"] for line in stats}), 5)

    def test_a_second_filter_replaces_the_scores_of_the_first(self):
        graph = "[1:v]split[r0][r1];[0:v][r0]quality_cuda=metrics=psnr:backend=cpu[a];"
        graph += "[a][r1]quality_cuda=metrics=psnr:opts=psnr.min_sse=0.5:backend=cpu,metadata=print:file=metadata.txt[out]"
        run = ffmpeg(["-i", self.reference, "-i", self.reference, "-lavfi", graph, "-map", "[out]", "-f", "null", "-"], self.folder)
        self.assertEqual(run.code, 0, run.text)
        lines = (self.folder / "metadata.txt").read_text().splitlines()
        keys = [line.split("=")[0] for line in lines if line.startswith("lavfi.")]
        self.assertEqual(len(run.tagged), 30)
        self.assertEqual(len(keys), 30 * len(set(keys)))
        self.assertEqual({float(scores["psnr_y"]) for _, scores in run.tagged}, {96.0})  # without the option it is 60

    def test_scores_belong_to_their_frame(self):
        """One damaged frame must be the one that carries the bad score, for every queue length."""
        for depth in (1, 3, 8, 40):
            run = self.score(self.reference, self.reference, before={0: "drawbox=c=red:t=fill:enable=eq(n\\,13)"},
                             options=f"async_depth={depth}")
            self.assert_ok(run)
            bad = [time for (time, scores) in run.tagged if not self.is_identical(scores)]
            self.assertEqual(len(bad), 1)
            self.assertAlmostEqual(bad[0], 13 * 1001 / 30000, delta=1e-4)

    def test_values_have_six_decimals(self):
        run = self.score(self.distorted, self.reference)
        self.assert_ok(run)
        self.assertEqual([len(scores) > 1 for _, scores in run.tagged], [True] * 30)
        for _, scores in run.tagged:
            for key, value in scores.items():
                if key != "n":
                    self.assertRegex(value, r"^-?\d+\.\d{6}$", key)

    def test_timeline(self):
        run = self.score(self.distorted, self.reference, options="enable=between(n\\,10\\,19)")
        self.assert_ok(run)
        self.assertEqual(len(run.out), 30)
        self.assert_counts(run, frames=30, paired=10, disabled=20, unscored=20)
        self.assertEqual([round(row["pts_time"] * 30000 / 1001) for row in run.stats], list(range(10, 20)))

    def test_subsample(self):
        for option in ("n_subsample=3", "subsample=3"):
            run = self.score(self.distorted, self.reference, options=option)
            self.assert_ok(run)
            self.assertEqual(len(run.out), 30)
            self.assertEqual([round(time * 30000 / 1001) for time, _ in run.tagged], list(range(0, 30, 3)))
            self.assertEqual([frame["frameNum"] for frame in run.log["frames"]], list(range(0, 30, 3)))
            self.assert_counts(run, paired=30, scored=10)


class Logs(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=12)
        self.distorted = self.worse(self.reference)

    def test_json(self):
        run = self.score(self.distorted, self.reference)
        log = run.log
        self.assertGreaterEqual(int(log["version"].split(".")[0]), 3)  # of the libvmaf that it is like
        self.assertRegex(log["quality_cuda_version"], r"^\d+\.\d+\.\d+$")
        for key in ("version", "frames", "pooled_metrics", "aggregate_metrics", "complete", "pairing", "end"):
            self.assertIn(key, log)
        self.assertIs(log["complete"], True)
        self.assertEqual(log["end"], "end of stream")
        self.assertEqual([frame["frameNum"] for frame in log["frames"]], list(range(12)))
        self.assertEqual(set(log["pooled_metrics"]), set(log["frames"][0]["metrics"]))
        for name, pooled in log["pooled_metrics"].items():
            values = [frame["metrics"][name] for frame in log["frames"]]
            self.assertAlmostEqual(pooled["min"], min(values), delta=1e-6)
            self.assertAlmostEqual(pooled["max"], max(values), delta=1e-6)
            self.assertAlmostEqual(pooled["mean"], math.fsum(values) / 12, delta=1e-6)

    def test_vmaf_score_line(self):
        """Wrappers look for this line of libvmaf; the number is the chosen pool of the log's frames."""
        for pool, expected in (("mean", lambda v: math.fsum(v) / len(v)), ("min", min), ("max", max),
                               ("harmonic_mean", lambda v: len(v) / math.fsum(1 / (x + 1) for x in v) - 1)):
            run = self.score(self.distorted, self.reference, options=f"metrics=vmaf:pool={pool}")
            self.assert_ok(run)
            values = [frame["metrics"]["vmaf"] for frame in run.log["frames"]]
            found = re.findall(r"VMAF score: ([0-9.]+)$", run.text, re.MULTILINE)
            self.assertEqual(len(found), 1, run.text)
            self.assertAlmostEqual(float(found[0]), expected(values), delta=1e-5)

    def test_score_lines_of_several_models(self):
        """One line reads like libvmaf's, that of the first model, and no number of a collection's members does."""
        models = "version=vmaf_b_v0.6.3|version=vmaf_v0.6.1neg:name=neg|version=vmaf_v0.6.1"
        run = self.score(self.distorted, self.reference, options=f"metrics=vmaf:model={models.replace(':', chr(92) * 2 + ':')}:pool=min")
        self.assert_ok(run)
        pooled = {name: pools["min"] for name, pools in run.log["pooled_metrics"].items()}
        self.assertIn("vmaf_0020", pooled)
        lines = [re.sub(r"^\[.*?\] ", "", line) for line in run.messages("score")]
        found = [line.split(": ") for line in lines if re.search("^(VMAF score|score of)", line)]
        self.assertEqual([(name, float(value)) for name, value in found],
                         [("score of neg", pooled["neg"]), ("score of vmaf_v0.6.1", pooled["vmaf_v0.6.1"]), ("VMAF score", pooled["vmaf"])])

    def test_score_lines_of_renditions(self):
        run = self.score(self.distorted, self.reference, self.reference, options="metrics=vmaf:renditions=2")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("score of vmaf, rendition 1: ")), 1)
        self.assertEqual(len(run.messages("VMAF score: ")), 1)
        self.assertGreater(run.text.index("VMAF score: "), run.text.index("score of vmaf, rendition 1: "))

    def test_score_of_a_whole_video(self):
        """A metric that pools in a way of its own: its line, in the log too, before the one that wrappers look for, which is the last."""
        run = self.score(self.distorted, self.reference, options="metrics=vmaf+cvvdp:opts=cvvdp.display=standard_fhd")
        self.assert_ok(run)
        found = re.findall(r"CVVDP score: ([0-9.]+)$", run.text, re.MULTILINE)
        self.assertEqual(found, [f"{run.log['aggregate_metrics']['cvvdp']:.6f}"])
        self.assertLess(float(found[0]), 10)
        self.assertEqual(run.log["conventions"]["cvvdp"]["display"], "standard_fhd")
        self.assertTrue(all(frame["metrics"]["cvvdp_frame"] > 0 for frame in run.log["frames"]))
        self.assertLess(run.text.index("CVVDP score: "), run.text.index("VMAF score: "))

    def test_the_lack_of_a_gpu_is_said_once(self):
        if glob.glob("/dev/nvidia[0-9]*"):
            self.skipTest("SKIPPED: this machine has a GPU")
        two = "quality_cuda=psnr[a];[2:v][3:v]quality_cuda=psnr[b]"
        arguments = [*["-i", self.distorted, "-i", self.reference] * 2, "-lavfi", f"[0:v][1:v]{two}", "-map", "[a]", "-map", "[b]", "-f", "null", "-"]
        run = ffmpeg(arguments, self.folder)
        self.assert_ok(run)
        self.assertEqual(len(run.messages("scoring on the CPU: ")), 1, run.text)
        self.assertFalse(ffmpeg(["-v", "warning", *arguments], self.folder).messages("scoring on the CPU: "))

    def test_statistics_on_standard_output(self):
        run = ffmpeg(["-i", self.distorted, "-i", self.reference, "-lavfi", "quality_cuda=psnr:backend=cpu:f=-", "-f", "null", "-"],
                     self.folder)
        self.assert_ok(run)
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 12)
        self.assertTrue(lines[0].startswith("n:0 pts_time:0.000000 ref_pts_time:0.000000 "))

    def test_log_to_a_device(self):
        run = ffmpeg(["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi",
                      "quality_cuda=psnr:backend=cpu:log_path=/dev/stdout", "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertIn('"frames"', run.stdout)

    def test_two_filters_with_one_log(self):
        graph = ("[0:v]split[a][b];[1:v]split[r][q];[a][r]quality_cuda=psnr:backend=cpu:log_path=log.json[x];"
                 "[b]hue=s=0[c];[c][q]quality_cuda=psnr:backend=cpu:log_path=log.json[y]")
        run = ffmpeg(["-i", self.distorted, "-i", self.reference, "-lavfi", graph, "-map", "[x]", "-map", "[y]", "-f", "null", "-"],
                     self.folder)
        self.assert_ok(run)
        logs = [run.log_named(name) for name in ("log.json", "log.2.json")]
        self.assertEqual([len(log["frames"]) for log in logs], [12, 12])
        self.assertTrue(run.messages("this one writes log.2.json"))

    def test_a_later_process_replaces_the_log(self):
        self.score(self.distorted, self.reference)
        run = self.score(self.reference, self.reference)
        self.assert_ok(run)
        self.assertIsNone(run.log_named("log.2.json"))
        self.assert_all_identical(run)
        self.assertEqual(len(run.stats), 12)

    def test_a_finished_log_stays_finished(self):
        """Another part of the graph goes on, and sends commands."""
        sources = [part for length in (0.4, 0.4, 4) for part in ("-f", "lavfi", "-i", f"testsrc2=s=64x64:r=25:d={length}")]
        graph = ("[0:v][1:v]quality_cuda=metrics=psnr:backend=cpu:log_path=log.json[a];"
                 "[2:v]sendcmd=c='3.5 quality_cuda flush_log'[b]")
        run = ffmpeg([*sources, "-lavfi", graph, "-map", "[a]", "-f", "null", "-", "-map", "[b]", "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertEqual((run.log["complete"], run.log["end"], len(run.log["frames"])), (True, "end of stream", 10))

    def test_commands(self):
        """flush_log writes what there is, marked as incomplete; the end of the run replaces it. Sent by a frame that has its scores: one
        on its way in may come before there is anything to write."""
        run = self.score(self.distorted, self.reference, after="sendcmd=c='0.3 quality_cuda flush_log'", verbosity="verbose",
                         options="async_depth=1")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("log written to log.json")), 2, run.text)
        self.assertTrue(run.log["complete"])

    def test_score_command(self):
        run = self.score(self.distorted, self.reference, after="sendcmd=c='0.3 quality_cuda score'", verbosity="verbose",
                         options="async_depth=1")
        self.assert_ok(run)
        self.assertRegex(run.text, r"Command reply .*(psnr_y|mad):\d+\.\d{6}")


class LogFormats(FilterTest):
    """The same scores in every layout: that of log_fmt, whatever the file is called, else that of its ending."""

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=7)
        self.distorted = self.worse(self.reference)
        self.frames = self.score(self.distorted, self.reference, options="n_subsample=3").log["frames"]
        self.assertEqual([frame["frameNum"] for frame in self.frames], [0, 3, 6])

    def text_in(self, name):
        run = self.score(self.distorted, self.reference, options=f"n_subsample=3:log_fmt={name}")
        self.assert_ok(run)
        return (self.folder / "log.json").read_text()

    def check(self, rows):
        self.assertEqual([number for number, _ in rows], [0, 3, 6])
        for frame, (_, scores) in zip(self.frames, rows):
            self.assertEqual({key: float(value) for key, value in scores.items()}, frame["metrics"])

    def test_xml(self):
        root = xml.etree.ElementTree.fromstring(self.text_in("xml"))
        self.assertEqual(root.tag, "VMAF")
        self.assertEqual(root.find("params").attrib, {"qualityWidth": "176", "qualityHeight": "144"})
        self.assertEqual(root.find("fyi").attrib["complete"], "true")
        rows = [dict(frame.attrib) for frame in root.find("frames")]
        self.check([(int(row.pop("frameNum")), row) for row in rows])
        pooled = {metric.attrib["name"]: metric.attrib for metric in root.find("pooled_metrics")}
        values = [frame["metrics"]["psnr_y"] for frame in self.frames]
        self.assertEqual(set(pooled), set(self.frames[0]["metrics"]))
        self.assertAlmostEqual(float(pooled["psnr_y"]["mean"]), math.fsum(values) / 3, delta=1e-6)
        self.assertEqual(float(pooled["psnr_y"]["min"]), min(values))

    def test_csv(self):
        lines = [line.split(",") for line in self.text_in("csv").splitlines()]
        self.assertEqual({len(line) for line in lines}, {5})
        self.assertEqual((lines[0][0], lines[0][-1]), ("Frame", ""))
        self.check([(int(line[0]), dict(zip(lines[0][1:-1], line[1:-1]))) for line in lines[1:]])

    def test_sub(self):
        rows = []
        for line in self.text_in("sub").splitlines():
            parts = re.fullmatch(r"\{(\d+)\}\{(\d+)\}frame: (\d+)\|(.*)\|", line).groups()
            self.assertEqual((int(parts[1]), parts[2]), (int(parts[0]) + 1, parts[0]))
            rows.append((int(parts[0]), dict(item.split(": ") for item in parts[3].split("|"))))
        self.check(rows)


    def test_layout_of_the_ending(self):
        for name, start in (("log.xml", "<VMAF "), ("log.XML", "<VMAF "), ("a.b.csv", "Frame,"), ("log.sub", "{0}{1}frame: 0|"),
                            ("log.json", "{\n"), ("log.log", "{\n"), ("xml", "{\n"), ("x.xmlx", "{\n")):
            run = self.score(self.distorted, self.reference, options=f"log_path={name}")
            self.assert_ok(run)
            self.assertTrue((self.folder / name).read_text().startswith(start), name)
        run = self.score(self.distorted, self.reference, options="log_path=log.xml:log_fmt=json")
        self.assert_ok(run)
        self.assertEqual(len(json.loads((self.folder / "log.xml").read_text())["frames"]), 7)

    def test_columns_in_libvmafs_order(self):
        """That in which its first scores come: a model's features before others, and those that lag behind the others."""
        adm = ["adm2", "aim", "adm3", *(f"adm_scale{n}" for n in range(4))]
        vif = [f"vif_scale{n}" for n in range(4)]
        integer = ([f"integer_{name}" for name in adm] + ["VMAF_integer_feature_motion_sad_score"] + [f"integer_{name}" for name in vif],
                   ["integer_motion2", "integer_motion3"])
        plain = adm + ["motion2", "motion"] + vif
        for options, columns in ((":metrics=vmaf", integer[0] + integer[1] + ["vmaf"]),
                                 (":metrics=vmaf:feature=name=float_psnr", integer[0] + ["float_psnr"] + integer[1] + ["vmaf"]),
                                 (":metrics=vmaf:model=vmaf_float_v0.6.1", plain + ["motion3", "vmaf"]),
                                 (":metrics=vmaf:model=vmaf_float_v0.6.1|vmaf_v0.6.1",
                                  plain + integer[0] + ["motion3"] + integer[1] + ["vmaf", "vmaf_v0.6.1"])):
            for distorted in (self.distorted, make(self.clips, "one.mp4", self.distorted, "-frames:v", "1", "-c:v", "mpeg4")):
                self.assert_ok(self.score(distorted, self.reference, options="log_path=log.csv" + options))
                lines = (self.folder / "log.csv").read_text().splitlines()
                self.assertEqual(lines[0].split(","), ["Frame", *columns, ""])
                frames = self.score(distorted, self.reference, options=options[1:]).log["frames"]
                self.assertEqual(list(frames[0]["metrics"]), columns)
                self.assertEqual([[float(value) for value in line.split(",")[1:-1]] for line in lines[1:]],
                                 [list(frame["metrics"].values()) for frame in frames])


class StatisticsOfOthers(FilterTest):
    def lines(self, name):
        return [line.rstrip() for line in (self.folder / name).read_text().splitlines()]

    def test_psnr_as_ffmpegs_own_filter_writes_it(self):
        reference = self.source(frames=5)
        distorted = self.worse(reference)
        for name in ("yuv420p", "yuv444p10le", "gray", "nv12"):
            before = {0: f"format={name}", 1: f"format={name}"}
            run = self.score(distorted, reference, before=before, options="stats_format=psnr")
            self.assert_ok(run)
            theirs = "yuv420p" if name == "nv12" else name
            graph = f"[0:v]format={theirs}[a];[1:v]format={theirs}[b];[a][b]psnr=stats_file=theirs.txt"
            self.assert_ok(ffmpeg(["-i", distorted, "-i", reference, "-lavfi", graph, "-f", "null", "-"], self.folder))
            self.assertEqual(len(self.lines("stats.txt")), 5)
            self.assertEqual(self.lines("stats.txt"), self.lines("theirs.txt"), name)

    def test_psnr_of_identical_pictures(self):
        clip = self.source(frames=2)
        run = self.score(clip, clip, options="stats_format=psnr")
        self.assert_ok(run)
        self.assertEqual(self.lines("stats.txt")[1], "n:2 mse_avg:0.00 mse_y:0.00 mse_u:0.00 mse_v:0.00 psnr_avg:inf "
                                                     "psnr_y:inf psnr_u:inf psnr_v:inf")

    def test_skipped_frames_have_no_line(self):
        clip = self.source(frames=5)
        self.assert_ok(self.score(clip, clip, options="stats_format=psnr:n_subsample=2"))
        self.assertEqual([line.split()[0] for line in self.lines("stats.txt")], ["n:1", "n:3", "n:5"])

    def test_refusals(self):
        clip = self.source(frames=2)
        for options, text in (("stats_format=vmaf", "stats_format=vmaf is not known; accepted: scores, psnr, ssim"),
                              ("stats_format=psnr:stats_file=", "stats_format=psnr needs stats_file"),
                              ("metrics=vif:stats_format=psnr", "stats_format=psnr needs the score mse_y of the metric psnr"),
                              ("stats_format=psnr:opts=psnr.enable_mse=false", "leave its option enable_mse on"),
                              ("stats_format=ssim", "stats_format=ssim needs the score float_ssim"),
                              ("stats_format=psnr:renditions=2", "describes one distorted input")):
            run = self.score(clip, clip, options=options)
            self.assert_fails(run, text)
            self.assertIsNone(run.log)


class Metrics(FilterTest):
    def test_short_names(self):
        clip = self.source(frames=3)
        run = self.score(clip, clip, options="metrics=moment|psnr:opts=psnr.enable_chroma=false")
        self.assert_ok(run)
        self.assertEqual(set(run.log["frames"][0]["metrics"]),
                         {"psnr_y", "float_moment_ref1st", "float_moment_ref2nd", "float_moment_dis1st", "float_moment_dis2nd"})


class Pauses(FilterTest):
    """Behind a pause of more than eight frames the next pair is scored like a stream's first."""

    def scores(self, *inputs, **arguments):
        run = self.score(*inputs, **arguments)
        self.assert_ok(run)
        return run, [frame["metrics"] for frame in run.log["frames"]]

    def test_both_sides_are_streams_of_their_own(self):
        reference = self.source(frames=40)
        distorted = self.worse(reference)
        run, scores = self.scores(distorted, reference, options="metrics=vmaf:async_depth=1:enable=not(between(n\\,10\\,29))")
        self.assertEqual((len(run.out), len(run.tagged), len(scores)), (40, 20, 20))
        self.assertEqual(scores[:10], self.scores(distorted, reference, before={0: "trim=end_frame=10"}, options="metrics=vmaf")[1])
        self.assertEqual(scores[10:], self.scores(distorted, reference, before={0: "trim=start_frame=30"}, options="metrics=vmaf")[1])
        self.assertEqual(scores[10]["integer_motion2"], 0.0)
        self.assertGreater(scores[9]["integer_motion2"], 0.0)

    def test_a_short_gap_is_none(self):
        clip = self.source(frames=30)
        run = self.score(clip, clip, options="metrics=motion:enable=not(between(n\\,10\\,17))")
        self.assert_ok(run)
        self.assertGreater(run.log["frames"][10]["metrics"]["integer_motion2"], 0.0)
        self.assertEqual(len(run.tagged), 22)


class Help(FilterTest):
    def test_every_option_is_explained(self):
        run = ffmpeg(["-h", "filter=quality_cuda"], self.folder)
        self.assert_ok(run)
        for text in ("#0: main (video)", "#1: reference (video)"):
            self.assertIn(text, run.stdout)
        for option in ("metrics", "model", "bitdepth", "feature", "opts", "pool", "n_subsample", "subsample", "n_threads", "renditions", "sync",
                       "ts_sync_mode", "max_dt", "allow_unpaired", "align", "eof_action", "shortest", "repeatlast", "range", "backend", "device",
                       "async_depth", "on_unsupported", "stats_file", "stats_format", "log_path", "log_fmt", "window", "log_queue", "alert",
                       "metrics_file", "realtime"):
            self.assertRegex(run.stdout, rf"(?m)^   {option} +<\w+> ")
        options = re.search(r"(?s)quality_cuda AVOptions:\n(.*?)(\n\n|\Z)", run.stdout)[1]
        lines = re.findall(r"(?m)^   (\w+) +<\w+> +\S+ *(.*)$", options)
        self.assertGreater(len(lines), 25)
        for option, explanation in lines:
            self.assertTrue("default" in explanation or explanation.startswith("same as"), f"{option}: {explanation}")
            words = re.sub(r"\((from|default)[^)]*\)", "", explanation).split()  # without what FFmpeg adds by itself
            self.assertGreater(len(words), 2, f"{option}: {explanation}")

    def test_listed(self):
        self.assertIn(" quality_cuda ", ffmpeg(["-filters"], self.folder).stdout)


if __name__ == "__main__":
    unittest.main()
