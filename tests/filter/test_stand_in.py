# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The CUDA backend inside ffmpeg on a driver that is not there (tests/device/stand_in.hpp): frames in memory, scored by
the real kernels, emulated; and what comes of a run whose GPU fails in the middle.
"""

import shutil
import subprocess
import unittest

from harness import REPOSITORY, FilterTest

BUILD = REPOSITORY / "build"
OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700


class StandIn(FilterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("ninja") is None or not (BUILD / "build.ninja").exists():
            raise unittest.SkipTest("SKIPPED: no build folder to build the driver in")
        targets = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], capture_output=True, text=True, check=False)
        if "tests/libcuda.so.1:" not in targets.stdout:
            raise unittest.SkipTest("SKIPPED: this build has no CUDA backend")
        subprocess.run(["ninja", "-C", BUILD, "tests/libcuda.so.1"], capture_output=True, check=True)

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=12)
        self.distorted = self.worse(self.reference)

    def score_on_stand_in(self, options="", fail=None, kernels=True):
        environment = {"LD_LIBRARY_PATH": str(BUILD / "tests"), "QC_STAND_IN_SEED": "1", "QC_STAND_IN_REPORT": "report.txt"}
        if not kernels:
            environment["QC_STAND_IN_KERNELS"] = "0"
        if fail is not None:
            environment["QC_STAND_IN_FAIL"] = fail
        run = self.score(self.distorted, self.reference, options=f"backend=cuda{options}", environment=environment)
        facts = (self.folder / "report.txt").read_text().splitlines()
        self.calls = int(facts[0].split()[1])
        self.assertEqual(facts[3:], [], "broken rules of the driver")
        return run, dict(line.split(" ", 1) for line in facts[:3])

    def test_scores_equal_the_cpu(self):
        metrics = ":metrics=vmaf|psnr|float_ssim"
        expected = self.score(self.distorted, self.reference, options="backend=cpu" + metrics)
        run, facts = self.score_on_stand_in(metrics)
        self.assert_ok(run)
        self.assertEqual(run.log["frames"], expected.log["frames"])
        self.assertEqual(run.tagged, expected.tagged)
        self.assertEqual(facts["held"], "0")

    def test_self_test(self):
        run, _ = self.score_on_stand_in(":selftest=1:metrics=vmaf|ssimulacra2")
        self.assert_ok(run)
        run, facts = self.score_on_stand_in(":selftest=1:metrics=vmaf|psnr", kernels=False)
        self.assert_fails(run, "selftest: ", "this GPU or its driver computes wrongly", "backend=cpu")
        self.assertEqual(run.out, [])
        self.assertEqual(facts["held"], "0")

    def test_the_device_is_lost_in_the_middle(self):
        whole, _ = self.score_on_stand_in(":async_depth=1")
        self.assert_ok(whole)
        run, facts = self.score_on_stand_in(":async_depth=1", f"{self.calls // 2},{ILLEGAL_ADDRESS},lost")
        self.assert_fails(run, "CUDA error 700", "backend=cpu")
        self.assertFalse(run.log["complete"])
        frames = run.log["frames"]
        self.assertGreater(len(frames), 0)
        self.assertLess(len(frames), 12)
        self.assertEqual(frames, whole.log["frames"][: len(frames)])
        self.assertEqual(facts["held"], "0")

    def test_single_calls_fail(self):
        """Every 23rd call. Either nothing is missing, or the run says what failed; it never hangs."""
        whole, _ = self.score_on_stand_in()
        for call in range(1, self.calls, 23):
            with self.subTest(call=call):
                run, facts = self.score_on_stand_in(fail=f"{call},{OUT_OF_MEMORY}")
                if run.code == 0:
                    self.assertEqual(run.log["frames"], whole.log["frames"])
                else:
                    self.assert_fails(run, "failed")
                self.assertLessEqual(int(facts["held"]), 1)


if __name__ == "__main__":
    unittest.main()
