# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What tools/fuzz makes of programs that find something, end early or cannot be built; and that every target is built."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import scripts  # noqa: E402


class Fuzz(unittest.TestCase):
    def setUp(self):
        self.fuzz = scripts.load("fuzz")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.fuzz.BUILD = pathlib.Path(folder.name)

    def run_code(self, code):
        with mock.patch.object(self.fuzz, "command_of", lambda target, seconds, seed: [sys.executable, "-c", code]):
            return self.fuzz.run("pairing", 1)

    def main(self, *arguments, **replaced):
        text = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.object(sys, "argv", ["fuzz", *arguments]))
            for name, value in replaced.items():
                stack.enter_context(mock.patch.object(self.fuzz, name, value))
            stack.enter_context(contextlib.redirect_stdout(text))
            return self.fuzz.main(), text.getvalue()

    def test_a_run_without_findings(self):
        passed, told = self.run_code("print('stat::number_of_executed_units: 1234')")
        self.assertTrue(passed)
        self.assertIn("fuzz pairing: 1234 executions", told)

    def test_a_finding(self):
        code = "print('#77\\tNEW cov: 1\\nTest unit written to /a/crash-1'); raise SystemExit(77)"
        passed, told = self.run_code(code)
        self.assertFalse(passed)
        self.assertRegex(told, r"77 executions in \d+ s, exit code 77; reproduce with /a/crash-1; the output is in ")

    def test_a_program_that_runs_nothing_fails(self):
        for code in ("pass", "raise SystemExit(1)"):
            passed, told = self.run_code(code)
            self.assertFalse(passed)
            self.assertIn("no input was kept", told)

    def test_without_clang(self):
        status, text = self.main(find_compilers=lambda: (None, "no clang"))
        self.assertEqual(status, 0)
        self.assertIn("SKIPPED fuzz pairing: no clang\n", text)
        self.assertTrue(text.endswith(f"0 passed, 0 failed, {len(self.fuzz.TARGETS)} skipped\n"), text)

    def test_what_cannot_be_built_fails(self):
        status, text = self.main("log", find_compilers=lambda: (("cc", "c++"), ""), build=lambda *_: "ninja failed")
        self.assertEqual(status, 1)
        self.assertEqual(text, "FAILED fuzz log: ninja failed\n0 passed, 1 failed, 0 skipped\n")

    def test_one_finding_among_others(self):
        status, text = self.main("log", "pairing", find_compilers=lambda: (("cc", "c++"), ""), build=lambda *_: "",
                                 run=lambda target, seconds, seed: (target == "log", target))
        self.assertEqual((status, text), (1, "PASSED log\nFAILED pairing\n1 passed, 1 failed, 0 skipped\n"))

    def test_the_cuda_backend_needs_compiled_kernels(self):
        self.fuzz.KERNELS = self.fuzz.ROOT / "build/there-are-none"
        built = []
        status, text = self.main("log", "plan", find_compilers=lambda: (("cc", "c++"), ""), run=lambda target, seconds, seed: (True, target),
                                 build=lambda _, targets, __: built.append(targets) or "")
        self.assertEqual((status, built), (0, [["log"]]))
        self.assertRegex(text, r"(?s)^SKIPPED fuzz plan: no compiled kernels in .*\nPASSED log\n1 passed, 0 failed, 1 skipped\n$")
        self.assertLess({"-Dcuda=enabled", "-Doptimization=1"}, set(self.fuzz.options_for(["log", "plan"], 10)))
        self.assertLess({"-Dcuda=disabled", "-Doptimization=0"}, set(self.fuzz.options_for(["log"], 10)))
        self.assertIn("-Doptimization=1", self.fuzz.options_for(["log"], 60))

    def test_every_target_is_built(self):
        text = (ROOT / "tests/fuzz/meson.build").read_text()
        lists = ", ".join(re.findall(r"fuzz_targets\w* = \[(.*?)\]", text))
        listed = set(lists.replace("'", "").split(", ")) | set(re.findall(r"executable\('fuzz_(\w+)'", text))
        self.assertEqual(listed, set(self.fuzz.TARGETS))
        self.assertIn(", ".join(self.fuzz.TARGETS), self.fuzz.__doc__)


if __name__ == "__main__":
    unittest.main()
