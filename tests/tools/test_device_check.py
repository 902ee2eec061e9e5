# SPDX-License-Identifier: BSD-2-Clause-Patent
"""quality_bench --selftest, on a driver that is not there: kernels that compute pass, kernels that do nothing are found out."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import stand_in_driver  # noqa: E402
from support.metrics import read_metrics  # noqa: E402

PROGRAM = "tools/bench/quality_bench"
LINE = re.compile(r"(?m)^(.*?) +(\w+) +(ok|WRONG|FAILED|refused) +([\d.]+) ms(?:  (.*))?$")
ILLEGAL_ADDRESS = 700


class DeviceCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = stand_in_driver.build(PROGRAM, "tools/docs/metrics.json")

    def check(self, *arguments, **environment):
        """(exit status, [(what, layout, outcome, text)], all that was printed)"""
        done = subprocess.run([self.folder / PROGRAM, "--selftest", *arguments], text=True, timeout=300, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=stand_in_driver.environment(self.folder, **environment))
        return done.returncode, [(m[1], m[2], m[3], m[5]) for m in LINE.finditer(done.stdout)], done.stdout

    def test_every_metric_of_a_device_that_computes(self):
        code, lines, text = self.check()
        self.assertEqual({line[2] for line in lines}, {"ok"}, text)
        models = ["vmaf (vmaf_v0.6.1)", "vmaf_v1 (auto)"]
        metrics = [name for name in read_metrics(self.folder) if name != "skeleton"]
        self.assertEqual([line[0] for line in lines], [*metrics, *models, "all, at once"])
        self.assertIn(f"{len(lines)} right, 0 wrong, 0 failed", text)
        self.assertEqual(code, 0)

    def test_every_metric_of_a_device_that_does_not(self):
        code, lines, text = self.check(QC_STAND_IN_KERNELS="0")
        self.assertEqual({line[2] for line in lines}, {"WRONG"}, text)
        for name, _, _, message in lines[:-3]:
            self.assertIn(f"selftest: {name} of known pictures is not what it should be", message)
        self.assertIn(f"0 right, {len(lines)} wrong, 0 failed", text)
        self.assertEqual(code, 1)

    def test_what_is_asked_for_alone(self):
        code, lines, _ = self.check("-m", "psnr,vmaf|ciede", "-M", "vmaf_v0.6.1neg", "-l", "p010le,gray")
        self.assertEqual(code, 0)
        self.assertEqual([line[:3] for line in lines],
                         [("psnr", "p010le", "ok"), ("ciede", "p010le", "ok"), ("vmaf (vmaf_v0.6.1neg)", "p010le", "ok"),
                          ("vmaf|ciede, at once", "p010le", "ok"), ("psnr", "gray", "ok"), ("ciede", "gray", "refused"),
                          ("vmaf (vmaf_v0.6.1neg)", "gray", "ok"), ("vmaf|ciede, at once", "gray", "refused")])

    def test_a_device_that_fails_is_no_wrong_one(self):
        code, lines, text = self.check("-m", "psnr", QC_STAND_IN_FAIL=f"60,{ILLEGAL_ADDRESS},lost")
        self.assertEqual((code, [line[2] for line in lines]), (1, ["FAILED"]), text)
        self.assertIn("CUDA error 700", text)

    def test_nothing_checked_is_no_success(self):
        code, lines, _ = self.check("-m", "ciede", "-l", "gray")
        self.assertEqual((code, [line[2] for line in lines]), (1, ["refused"]))

    def test_what_it_does_not_take(self):
        for arguments, text in ((("-k", "cpu"), "--backend cpu: --selftest asks the GPU"), (("-j", "x.json"), "--json x.json: "),
                                (("-m", "nonsense"), 'unknown metric "nonsense"'),
                                (("-m", "vmaf", "-M", "nonsense"), 'unknown model "nonsense"')):
            with self.subTest(arguments):
                code, lines, said = self.check(*arguments)
                self.assertEqual((code, lines), (1, []))
                self.assertIn(text, said)
        code, lines, said = self.check(QC_STAND_IN_FAIL="1,100")
        self.assertEqual((code, lines), (1, []))
        self.assertIn("quality_bench: --selftest: ", said)


if __name__ == "__main__":
    unittest.main()
