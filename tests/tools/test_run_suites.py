# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What run_suites makes of suites that crash, say nothing, or test nothing."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "suites"))
import run_suites  # noqa: E402


def exit_status_of(suite):
    """Of run_suites with this one suite; and what it printed."""
    text = io.StringIO()
    with mock.patch.dict(run_suites.SUITES, {"mine": suite}), mock.patch.object(sys, "argv", ["run_suites", "mine"]), \
            contextlib.redirect_stdout(text):
        return run_suites.main(), text.getvalue()


class Suites(unittest.TestCase):
    def test_a_suite_that_tests_nothing_fails(self):
        status, text = exit_status_of(lambda level: run_suites.Outcome())
        self.assertEqual(status, 1)
        self.assertIn("mine: nothing was tested", text)

    def test_a_suite_that_passes(self):
        status, text = exit_status_of(lambda level: run_suites.Outcome(passed=1))
        self.assertEqual(status, 0)
        self.assertTrue(text.endswith("1 passed, 0 failed, 0 skipped\n"))
        self.assertRegex(text, r"-- mine: \d+ s\n")

    def test_suites_side_by_side(self):
        inner = run_suites.Outcome(passed=2, failed=["b: wrong"], skipped=["c: no c"], durations=[(1.5, "a")])
        engine = run_suites.Outcome(passed=1, durations=[(0.5, "e")])
        apart = []

        def run_apart(name, level):
            apart.append(name)
            return inner, 3.0, f"output of {name}\n"
        text = io.StringIO()
        with mock.patch.object(run_suites, "run_apart", run_apart), mock.patch.object(run_suites, "run_suite", lambda *_: (engine, 1.0)), \
                contextlib.redirect_stdout(text):
            found = run_suites.run_all(["engine", "tools", "fuzz", "golden"], "default")
            self.assertEqual(run_suites.run_all(["tools", "golden"], "default").keys(), {"tools", "golden"})
        self.assertEqual(sorted(apart), ["golden", "tools"], "where the engine's suite has not built what they need, none runs apart")
        self.assertEqual(found, {"engine": (engine, 1.0), "tools": (inner, 3.0), "golden": (inner, 3.0), "fuzz": (engine, 1.0)})
        self.assertIn("output of tools\noutput of golden\n", text.getvalue())

    def test_a_suite_in_a_process_of_its_own(self):
        outcome, seconds, text = run_suites.run_apart("fuzz", "quick")
        self.assertEqual((outcome.counts(), outcome.skipped), ((0, 0, 1), ["fuzz: not part of --quick"]))
        self.assertIn("== Suite fuzz", text)
        self.assertGreater(seconds, 0)
        outcome, _, text = run_suites.run_apart("no-such-suite", "default")
        self.assertEqual(outcome.counts(), (0, 1, 0))
        self.assertIn("no-such-suite: ended with 2 and told nothing", outcome.failed)
        self.assertIn("unknown suite", text)

    def test_a_script_without_its_closing_line_fails(self):
        for code in ("print('1 passed')", "pass", "raise SystemExit(0)"):
            with contextlib.redirect_stdout(io.StringIO()):
                outcome = run_suites.run_reporting_script("mine", [sys.executable, "-c", code])
            self.assertEqual(outcome.counts(), (0, 1, 0), code)

    def test_a_script_that_ends_badly_fails(self):
        code = "print('1 passed, 0 failed, 0 skipped'); raise SystemExit(3)"
        with contextlib.redirect_stdout(io.StringIO()):
            outcome = run_suites.run_reporting_script("mine", [sys.executable, "-c", code])
        self.assertEqual(outcome.counts(), (1, 1, 0))

    def test_a_crash_is_not_covered_by_a_program_of_a_longer_name(self):
        self.assertTrue(run_suites.belongs_to("motion: Motion.Still", "motion"))
        self.assertTrue(run_suites.belongs_to("docs are current", "docs are current"))
        self.assertFalse(run_suites.belongs_to("motion_v2: Motion.Still", "motion"))

    def test_python_tests_are_counted(self):
        code = ("import unittest\n"
                "class T(unittest.TestCase):\n"
                "    def test_a(self): pass\n"
                "    def test_b(self): self.fail('b')\n"
                "    def test_c(self): self.skipTest('SKIPPED: no c')\n"
                "    def test_d(self):\n"
                "        with self.subTest(1): self.fail('d')\n")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            (pathlib.Path(folder) / "test_inner.py").write_text(code)
            outcome = run_suites.python_tests(pathlib.Path(folder))
        self.assertEqual(outcome.counts(), (1, 2, 1))
        self.assertTrue(outcome.skipped[0].endswith("test_c: no c"), outcome.skipped)

    def test_without_clang_its_suite_is_skipped(self):
        with mock.patch.object(run_suites.other_builds.shutil, "which", lambda name: None):
            self.assertEqual(run_suites.other_builds.clang("default").skipped, ["clang: clang is not installed (tools/setup --fuzz)"])
        self.assertEqual(run_suites.other_builds.clang("quick").skipped, ["clang: not part of --quick"])

    def test_scores_of_two_builds_are_compared_bit_by_bit(self):
        """A score that differs fails, and so does a build that prints fewer."""
        other_builds = run_suites.other_builds
        for ours, theirs, counts in (("psnr 0x1p+0\\nssim 0x1p-1", "psnr 0x1p+0\\nssim 0x1p-1", (1, 0, 0)),
                                     ("psnr 0x1p+0", "psnr 0x1.0000000000001p+0", (0, 1, 0)), ("psnr 0x1p+0\\n", "", (0, 1, 0))):
            with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
                root, outcome = pathlib.Path(name), run_suites.Outcome()
                for build, text in (("build", ours), ("build/other", theirs)):
                    program = root / build / "tests/score_bits"
                    program.parent.mkdir(parents=True)
                    program.write_text(f"#!/bin/sh\nprintf '{text}'\n")
                    program.chmod(0o755)
                with mock.patch.multiple(other_builds, ROOT=root, BUILD=root / "build", run_logged=lambda *_: True):
                    other_builds.compare_bits(outcome, "the same", root / "build/other")
            self.assertEqual(outcome.counts(), counts, (ours, theirs))


if __name__ == "__main__":
    unittest.main()
