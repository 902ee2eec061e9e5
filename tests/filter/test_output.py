# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What leaves the filter: untouched frames, metadata on the very frame, statistics, log, summary, help."""

import math
import re
import unittest

from harness import FFMPEG, FilterTest, ffmpeg


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
        for key in ("version", "frames", "pooled_metrics", "aggregate_metrics", "complete", "pairing", "end"):
            self.assertIn(key, log)
        self.assertIs(log["complete"], True)
        self.assertEqual(log["end"], "end of stream")
        self.assertEqual([frame["frameNum"] for frame in log["frames"]], list(range(12)))
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

    def test_commands(self):
        """flush_log writes what there is, marked as incomplete; the end of the run replaces it."""
        run = self.score(self.distorted, self.reference, before={0: "sendcmd=c='0.3 quality_cuda flush_log'"}, verbosity="verbose",
                         options="async_depth=1")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("log written to log.json")), 2, run.text)
        self.assertTrue(run.log["complete"])

    def test_score_command(self):
        run = self.score(self.distorted, self.reference, before={0: "sendcmd=c='0.3 quality_cuda score'"}, verbosity="verbose",
                         options="async_depth=1")
        self.assert_ok(run)
        self.assertRegex(run.text, r"Command reply .*(psnr_y|mad):\d+\.\d{6}")


class Help(FilterTest):
    def test_every_option_is_explained(self):
        run = ffmpeg(["-h", "filter=quality_cuda"], self.folder)
        self.assert_ok(run)
        for text in ("#0: main (video)", "#1: reference (video)"):
            self.assertIn(text, run.stdout)
        for option in ("metrics", "model", "bitdepth", "feature", "opts", "pool", "n_subsample", "subsample", "n_threads", "renditions", "sync",
                       "ts_sync_mode", "max_dt", "align", "eof_action", "shortest", "range", "backend", "device", "async_depth",
                       "stats_file", "log_path", "log_fmt"):
            line = re.search(rf"^   {option} +<\w+> +\S+ (.+)$", run.stdout, re.MULTILINE)
            self.assertIsNotNone(line, option)
            self.assertTrue("default" in line[1] or line[1].startswith("same as"), line[0])

    def test_listed(self):
        self.assertIn(" quality_cuda ", ffmpeg(["-filters"], self.folder).stdout)
        self.assertTrue(FFMPEG.exists())


if __name__ == "__main__":
    unittest.main()
