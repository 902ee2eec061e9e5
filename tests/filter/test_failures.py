# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Mistakes of the user, and failures of the engine. The latter need the stand-in engine of fake_engine.c."""

import glob
import unittest

from harness import FilterTest, WithFakeEngine, ffmpeg, is_threaded


class Options(FilterTest):
    """All are found before a frame is decoded: nothing leaves, nothing is written."""

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=3)

    def refuse(self, option, *texts):
        run = self.score(self.clip, self.clip, options=option)
        self.assert_fails(run, *texts)
        self.assertEqual(run.out, [])
        self.assertIsNone(run.log)
        return run

    def test_metric(self):
        self.refuse("metrics=vmaff", "vmaff", "did you mean vmaf?")
        self.refuse("metrics=vmaf|nonsense", "nonsense", "psnr")

    def test_pool(self):
        for pool in ("harmonic", "harmonic_meanx", "MEAN", ""):
            self.refuse(f"pool={pool}", f"pool={pool} is not known; accepted: mean, harmonic_mean, min, max, p1")

    def test_log_format(self):
        self.refuse("log_fmt=yaml", "log_fmt=yaml is not known; accepted: json, xml, csv, sub")

    def test_colon_in_a_path(self):
        """lavfi takes what follows for the next option's value."""
        run = ffmpeg(["-i", self.clip, "-i", self.clip, "-lavfi", "quality_cuda=log_path=C:/log.json", "-f", "null", "-"], self.folder)
        # From FFmpeg 7 on it is lavfi that refuses it, before the filter is asked.
        self.assert_fails(run, *(() if is_threaded() else ("log_path=C ends at a colon", "escape the colon, log_path=C\\\\:/log.json")))
        self.refuse("metrics=vmaf:model='path=C\\:/vmaf.json'", 'path=C ends at a colon, and "/vmaf.json" follows')
        (self.folder / "C:").mkdir()
        self.assert_ok(self.score(self.clip, self.clip, options="log_path=C\\\\:/log.json"))
        self.assertTrue((self.folder / "C:/log.json").exists())

    def test_options_of_a_metric_that_is_not_there(self):
        self.refuse("metrics=vmaf:opts=psnr.foo=1", '"psnr" is not among the metrics (vmaf): ask for it too, metrics=vmaf+psnr')
        self.refuse("opts=psnr.foo=1", 'metric psnr has no option "foo"')
        self.refuse("opts=pnsr.foo=1", 'unknown metric "pnsr"; did you mean psnr?')

    def test_near_misses(self):
        """With what was meant, as the command says it; what is far from all has the list."""
        for option, said in (("metrics=ssimulacra", 'metrics: unknown metric "ssimulacra"; did you mean ssimulacra2?'),
                             ("metrics=vmaf+PSNR", 'unknown metric "PSNR"; did you mean psnr?'),
                             ("metrics=vmaf:model=v0.6.1ng", 'unknown model "v0.6.1ng"; did you mean vmaf_v0.6.1neg?'),
                             ("metrics=nonsense", 'unknown metric "nonsense", known are vmaf, all, '),
                             ("metrics=vmaf:model=nonsense", 'unknown model "nonsense", built in are vmaf_v0.6.1, ')):
            self.refuse(option, said)

    def test_pickled_model(self):
        for wish in ("vmaf_v0.6.1.pkl", "path=models/vmaf_v0.6.1.pkl"):
            self.refuse(f"metrics=vmaf:model={wish}", "pickled models of libvmaf before version 2 are not read", 'vmaf_v0.6.1.json"')

    def test_named_values(self):
        for option in ("sync=nearby", "eof_action=stop", "range=maybe", "backend=gpu", "align=end", "ts_sync_mode=floor"):
            self.refuse(option, option.split("=")[1])

    def test_ranges(self):
        for option in ("renditions=0", "renditions=17", "n_subsample=0", "max_dt=-1", "async_depth=-1"):
            self.refuse(option, "out of range")

    def test_unknown_option(self):
        self.refuse("metrc=vmaf", "Option not found")

    def test_unwritable_log(self):
        self.refuse("log_path=missing/log.json", "log_path=missing/log.json cannot be written: No such file or directory")
        self.refuse(f"log_path={self.folder}", "is a directory")

    def test_unwritable_statistics(self):
        self.refuse("stats_file=missing/stats.txt", "stats_file=missing/stats.txt cannot be written: No such file or directory")

    def test_no_gpu(self):
        if glob.glob("/dev/nvidia[0-9]*"):
            self.skipTest("SKIPPED: this machine has a GPU")
        self.refuse("backend=cuda")


class EngineFailures(WithFakeEngine):
    def check_incomplete(self, run, frames):
        self.assert_fails(run, f"INCOMPLETE after {frames} frames")
        self.assertNotIn("VMAF score", run.text)
        self.assertIs(run.log["complete"], False)
        self.assertEqual(run.log["end"], "failure")
        self.assertEqual([frame["frameNum"] for frame in run.log["frames"]], list(range(frames)))
        self.assertEqual([row["n"] for row in run.stats], list(range(frames)))

    def test_in_mid_stream(self):
        """What was final before the failure is kept; with a lag of 1 the row before the failing frame is not."""
        for status in (-4, -5, -7):
            run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_FAIL_AT": "7", "QC_FAKE_FAIL_STATUS": str(status)})
            self.check_incomplete(run, 6)
            self.assertTrue(run.messages("scoring failed: forced failure at frame 7"))

    def test_at_the_first_frame(self):
        run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_FAIL_AT": "0"})
        self.check_incomplete(run, 0)

    def check_passed(self, run, scored, frames=20):
        """The whole video came out, and nobody takes it for scored."""
        self.assert_ok(run)
        self.assertEqual(len(run.out), frames)
        self.assertEqual([tags.get("unscored") for _, tags in run.tagged], [None] * scored + ["failure"] * (frames - scored))
        self.assertEqual([row["n"] for row in run.stats], list(range(scored)))
        self.assert_counts(run, frames=frames, scored=scored, unscored=frames - scored, failed=frames - scored)
        self.assertEqual((run.log["complete"], run.log["end"]), (False, "failure"))
        self.assertTrue(run.messages("the video goes on without scores"))

    def test_the_video_goes_on(self):
        for wish in ("pass", "cpu"):
            for at, scored in ((0, 0), (7, 6), (19, 18)):
                run = self.fake_score(self.clip, self.clip, options=f"on_error={wish}", environment={"QC_FAKE_FAIL_AT": str(at)})
                self.check_passed(run, scored)
                self.assertEqual(run.log["reason"], f"scoring failed: forced failure at frame {at}")

    def test_the_video_goes_on_with_renditions(self):
        short = self.source(frames=4)
        run = self.fake_score(self.clip, self.clip, short, options="renditions=2:on_error=pass",
                              environment={"QC_FAKE_FAIL_AT": "7"})
        self.check_passed(run, 6)
        pairing = run.log_named("log.rendition1.json")["pairing"]
        self.assertEqual((pairing["frames"], pairing["scored"]), (20, 4))
        self.assertEqual(pairing["scored"] + pairing["unscored"], 20)

    def test_the_video_goes_on_without_a_log(self):
        """The scores are lost, and that is said."""
        for status in (-6, -7):
            run = self.fake_score(self.clip, self.clip, options="on_error=pass", environment={"QC_FAKE_LOG_STATUS": str(status)})
            self.assert_ok(run)
            self.assertEqual(len(run.out), 20)
            self.assertTrue(run.messages("could not be written"))

    def test_a_video_that_ends_early_goes_on(self):
        run = self.fake_score(self.clip, self.clip, options="on_error=pass", environment={"QC_FAKE_FAIL_AT": "3"},
                              output=("-frames:v", "5"))
        self.assert_ok(run)
        self.assertEqual(len(run.out), 5)
        self.assertFalse(run.log["complete"])

    def test_at_creation(self):
        for status, text in ((-3, "-3"), (-4, "-4"), (-5, "-5")):
            run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_CREATE_STATUS": str(status)}, options="metrics=psnr")
            self.assert_fails(run, f"forced failure {text} of the session")
            self.assertIsNone(run.log)

    def test_memory_is_tried_again_with_fewer_frames(self):
        run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_CREATE_STATUS": "-4"})
        self.assertTrue(run.messages("trying again with fewer frames at once"))

    def test_log_that_cannot_be_written_at_the_end(self):
        """The scores are not lost with it, but the exit code says that something is missing."""
        run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_LOG_STATUS": "-6"})
        self.assert_fails(run, "log log.json could not be written", "VMAF score: 100.000000")
        self.assertEqual(len(run.stats), 20)

    def test_other_abi(self):
        library = {**self.fake_engine(), "QC_FAKE_ABI": "99"}
        self.assert_fails(self.score(self.clip, self.clip, environment=library), "has ABI 99", "rebuild FFmpeg")


class EngineTiming(WithFakeEngine):
    def check_complete(self, run):
        self.assert_ok(run)
        self.assertEqual(len(run.out), 20)
        self.assertEqual([pts for pts, _ in run.out], sorted({pts for pts, _ in run.out}))
        for index, (time, scores) in enumerate(run.tagged):
            self.assertEqual(float(scores["lag"]), index)
            self.assertAlmostEqual(time, index / 25, delta=1e-6)

    def test_slow_scores(self):
        for depth in (1, 4, 60):
            run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_DELAY_US": "2000"}, options=f"async_depth={depth}")
            self.check_complete(run)
            self.assertEqual(len(run.tagged), 20)

    def test_scores_that_wait_for_later_frames(self):
        """A metric that looks ahead delays frames beyond async_depth, but not without bound."""
        for lag, depth in ((0, 1), (3, 1), (5, 8), (6, 1)):
            run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_LAG": str(lag)}, options=f"async_depth={depth}")
            self.check_complete(run)
            self.assertEqual(len(run.tagged), 20, f"lag {lag}, depth {depth}")

    def test_reference_that_ends_makes_scores_final(self):
        run = self.fake_score(self.clip, self.source(frames=10), environment={"QC_FAKE_LAG": "2"}, options="async_depth=1")
        self.check_complete(run)
        self.assertEqual(len(run.tagged), 10)

    def test_long_pause_makes_scores_final(self):
        """The last frame before a pause of more than eight frames need not wait for the next pair, and keeps its scores."""
        long = self.source(frames=60)
        for depth in (1, 8, 30):
            run = self.fake_score(long, long, options=f"async_depth={depth}:enable=not(between(n\\,10\\,49))")
            self.assert_ok(run)
            self.assertEqual(len(run.out), 60)
            self.assertEqual([pts for pts, _ in run.out], sorted({pts for pts, _ in run.out}))
            self.assertFalse(run.messages("leaves without its scores"))
            self.assertEqual((len(run.log["frames"]), len(run.stats), len(run.tagged)), (20, 20, 20))
            for time, scores in run.tagged:
                index = round(time * 25)
                self.assertEqual(float(scores["lag"]), index if index < 10 else index - 40)

    def test_missing_rows_are_reported(self):
        """With a lag longer than queue and look-ahead together, frames leave early, and every score still reaches the log."""
        run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_LAG": "15"}, options="async_depth=1")
        self.assert_ok(run)
        self.assertEqual(len(run.out), 20)
        self.assertEqual(len(run.log["frames"]), 20)
        self.assertLess(len(run.tagged), 20)


if __name__ == "__main__":
    unittest.main()
