# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The CUDA backend inside ffmpeg on a driver that is not there (tests/device/stand_in.hpp): frames in memory, scored by
the real kernels, emulated; and what comes of a run whose GPU fails in the middle.
"""

import sys
import unittest

from harness import REPOSITORY, FilterTest

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import stand_in_driver  # noqa: E402

OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700


class StandIn(FilterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.build = stand_in_driver.build()

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=12)
        self.distorted = self.worse(self.reference)

    def score_on_stand_in(self, options="", fail=None, kernels=True, **arguments):
        environment = {"LD_LIBRARY_PATH": str(self.build / "tests/device"), "QC_STAND_IN_SEED": "1", "QC_STAND_IN_REPORT": "report.txt"}
        if not kernels:
            environment["QC_STAND_IN_KERNELS"] = "0"
        if fail is not None:
            environment["QC_STAND_IN_FAIL"] = fail
        run = self.score(self.distorted, self.reference, options=f"backend=cuda{options}", environment=environment, **arguments)
        facts = (self.folder / "report.txt").read_text().splitlines()
        self.calls = int(facts[0].split()[1])
        self.assertEqual(facts[3:], [], "broken rules of the driver")
        return run, dict(line.split(" ", 1) for line in facts[:3])

    def test_scores_equal_the_cpu(self):
        metrics = ":metrics=vmaf|psnr|float_ssim"
        run = self.score(self.distorted, self.reference, options="backend=cpu" + metrics)
        expected, tagged = run.log["frames"], run.tagged
        run, facts = self.score_on_stand_in(metrics)
        self.assert_ok(run)
        self.assertEqual(run.log["frames"], expected)
        self.assertEqual(run.tagged, tagged)
        self.assertEqual(facts["held"], "0")

    def test_scaled_scores_equal_the_cpu(self):
        self.distorted = self.worse(self.source(frames=12, size="110x90"))
        options = ":metrics=vmaf|psnr:scale=lanczos"
        run = self.score(self.distorted, self.reference, options="backend=cpu" + options)
        self.assert_ok(run)
        expected, said = run.log["frames"], run.log["conventions"]
        run, facts = self.score_on_stand_in(options + ":selftest=1")
        self.assert_ok(run)
        self.assertEqual((run.log["frames"], run.log["conventions"]), (expected, said))
        self.assertEqual(facts["held"], "0")

    def test_scores_of_a_region_equal_the_cpu(self):
        small = self.worse(self.source(frames=12, size="110x90"))
        for options in (":roi=22|10|101|97", ":scale=bicubic:roi=22|10|101|97"):
            with self.subTest(options=options):
                self.distorted = small if "scale" in options else self.worse(self.reference)
                options += ":metrics=vmaf|psnr|cvvdp"
                run = self.score(self.distorted, self.reference, options="backend=cpu" + options)
                self.assert_ok(run)
                expected = [{name: value for name, value in frame["metrics"].items() if name != "cvvdp_frame"} for frame in run.log["frames"]]
                run, facts = self.score_on_stand_in(options + ":selftest=1")
                self.assert_ok(run)
                found = [{name: value for name, value in frame["metrics"].items() if name != "cvvdp_frame"} for frame in run.log["frames"]]
                self.assertEqual(found, expected)
                self.assertEqual(facts["held"], "0")

    def test_more_frames_are_held_for_a_metric_that_takes_long(self):
        for options, frames in ((":metrics=vmaf", 8), (":metrics=vmaf|butteraugli", 12), (":metrics=cvvdp", 12), (":metrics=cvvdp:async_depth=3", 3)):
            with self.subTest(options=options):
                run, _ = self.score_on_stand_in(options, kernels=False, verbosity="verbose")
                self.assertIn(f"up to {frames} distorted frames are held", run.text)

    def test_self_test(self):
        run, _ = self.score_on_stand_in(":selftest=1:metrics=vmaf|ssimulacra2|butteraugli")
        self.assert_ok(run)
        run, facts = self.score_on_stand_in(":selftest=1:metrics=vmaf|psnr", kernels=False)
        self.assert_fails(run, "selftest: ", "this GPU or its driver computes wrongly", "backend=cpu")
        self.assertEqual(run.out, [])
        self.assertEqual(facts["held"], "0")

    def test_the_device_is_lost_in_the_middle(self):
        whole, _ = self.score_on_stand_in(":async_depth=1")
        self.assert_ok(whole)
        expected = whole.log["frames"]
        run, facts = self.score_on_stand_in(":async_depth=1", f"{self.calls // 2},{ILLEGAL_ADDRESS},lost")
        self.assert_fails(run, "CUDA error 700", "backend=cpu")
        self.assertFalse(run.log["complete"])
        frames = run.log["frames"]
        self.assertGreater(len(frames), 0)
        self.assertLess(len(frames), 12)
        self.assertEqual(frames, expected[: len(frames)])
        self.assertEqual(facts["held"], "0")

    def lose_device(self, options, later=0, depth=1):
        """The run of a scorer whose GPU is lost in the middle, or so many sixteenths later, and the log's frames of one that is whole."""
        options = f":metrics=vmaf:async_depth={depth}{options}"
        whole, _ = self.score_on_stand_in(options)
        self.assert_ok(whole)
        expected = whole.log["frames"]
        run, facts = self.score_on_stand_in(options, f"{self.calls * (8 + later) // 16},{ILLEGAL_ADDRESS},lost")
        self.assertEqual(facts["held"], "0")
        self.assert_ok(run)
        return run, expected

    def assert_marked(self, run, scored):
        """Every frame left; those without scores say why and are counted."""
        self.assertEqual(len(run.tagged), 12)
        for number, (_, tags) in enumerate(run.tagged):
            self.assertEqual("unscored" not in tags, number in scored, (number, tags))
            self.assertEqual(tags.get("unscored", "failure"), "failure")
            self.assertEqual("vmaf" in tags, number in scored)
        pairing = run.log["pairing"]
        self.assertEqual((pairing["frames"], pairing["scored"], pairing["unscored"], pairing["failed"]),
                         (12, len(scored), 12 - len(scored), 12 - len(scored)))
        self.assertEqual([frame["frameNum"] for frame in run.log["frames"]], sorted(scored))
        self.assertFalse(run.log["complete"])
        self.assertIn("CUDA error 700", run.log["reason"])

    def test_the_video_goes_on_without_scores(self):
        run, expected = self.lose_device(":on_error=pass")
        self.assertIn("on_error=pass: the video goes on without scores", run.text)
        self.assertIn("INCOMPLETE", run.text)
        scored = {frame["frameNum"] for frame in run.log["frames"]}
        self.assertEqual(scored, set(range(len(scored))))
        self.assertTrue(0 < len(scored) < 12, scored)
        self.assert_marked(run, scored)
        self.assertEqual(run.log["frames"], expected[: len(scored)])
        self.assertEqual(run.log["end"], "failure")

    def test_the_cpu_goes_on(self):
        # No frame needs be under way when the device is lost; which call that is depends on how the frames come. With two in a
        # queue there mostly is one, and some follow.
        for later in range(5):
            run, whole = self.lose_device(":on_error=cpu", later, depth=2)
            if run.pairing["failed"]:
                break
        self.assertIn("on_error=cpu: the CPU backend goes on", run.text)
        self.assertIn("frames without scores because scoring failed:", run.text)
        scored = {frame["frameNum"] for frame in run.log["frames"]}
        self.assertTrue({0, 11} <= scored and len(scored) < 12, scored)
        self.assert_marked(run, scored)
        self.assertEqual(run.log["end"], "end of stream")
        self.assertRegex(run.log["engine"], r"^CUDA on .*; from frame \d+ on: CPU: ")
        lost = set(range(12)) - scored
        for frame in run.log["frames"]:
            expected = dict(whole[frame["frameNum"]]["metrics"])
            if frame["frameNum"] in (min(lost) - 1, max(lost) + 1):  # nothing is compared across the gap
                for key in [key for key in expected if "motion" in key or key == "vmaf"]:
                    del expected[key], frame["metrics"][key]
            self.assertEqual(frame["metrics"], expected, frame["frameNum"])

    def test_any_call_may_fail_under_a_video(self):
        """Every 29th call: the whole video comes out, with the right scores or marked."""
        whole = self.score_on_stand_in(":metrics=psnr:on_error=cpu")[0].tagged
        for call in range(1, self.calls, 29):
            for wish in ("pass", "cpu"):
                with self.subTest(call=call, wish=wish):
                    run, facts = self.score_on_stand_in(f":metrics=psnr:on_error={wish}", f"{call},{ILLEGAL_ADDRESS},lost")
                    self.assert_ok(run)
                    self.assertEqual(len(run.tagged), 12)
                    self.assertEqual(facts["held"], "0")
                    for (_, tags), (_, expected) in zip(run.tagged, whole):
                        self.assertIn(tags, ({"unscored": "failure"}, expected))
                    missing = sum("unscored" in tags for _, tags in run.tagged)
                    self.assertEqual(run.log["pairing"]["failed"], missing)
                    self.assertEqual(run.log["pairing"]["scored"], 12 - missing)

    def test_without_a_gpu_from_the_start(self):
        run, _ = self.score_on_stand_in(":on_error=cpu", f"1,{OUT_OF_MEMORY},lost")
        self.assert_ok(run)
        self.assertTrue(run.log["complete"])
        self.assertEqual(len(run.log["frames"]), 12)
        run, _ = self.score_on_stand_in(":on_error=pass", f"1,{OUT_OF_MEMORY},lost")
        self.assert_ok(run)
        self.assert_marked_all(run)

    def assert_marked_all(self, run):
        self.assertEqual([tags for _, tags in run.tagged], [{"unscored": "failure"}] * 12)
        self.assertEqual((run.log["frames"], run.log["complete"]), ([], False))
        self.assertEqual(run.log["pairing"]["failed"], 12)

    def test_single_calls_fail(self):
        """Every 23rd call. Either nothing is missing, or the run says what failed; it never hangs."""
        expected = self.score_on_stand_in()[0].log["frames"]
        for call in range(1, self.calls, 23):
            with self.subTest(call=call):
                run, facts = self.score_on_stand_in(fail=f"{call},{OUT_OF_MEMORY}")
                if run.code == 0:
                    self.assertEqual(run.log["frames"], expected)
                else:
                    self.assert_fails(run, "failed")
                self.assertLessEqual(int(facts["held"]), 1)


if __name__ == "__main__":
    unittest.main()
