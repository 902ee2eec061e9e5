#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs every suite of tests that this machine can run, and adds up what they say. Called by tools/test.

Suites, in order
  lint      clang-format, style, clang-tidy (tools/lint)
  tools     tests/tools: what the scripts here decide, without a GPU; and that a metric is added as CONTRIBUTING.md tells
  engine    meson test: unit tests, CPU against CUDA, golden scores of the engine alone; one count per case
  filter    tests/filter against the real ffmpeg
  golden    tests/golden/run_*.py: golden scores through the real ffmpeg
  fuzz      tools/fuzz: every target of tests/fuzz for a few seconds
  sanitizers, arm64   tests/other_builds.py: the engine and the filter built otherwise, with --all only
  gpu       tools/gpu-check: everything that needs a GPU

A suite that cannot run is SKIPPED, with the reason, and counted. The last line reads "N passed, N failed, N skipped";
the exit status is 1 if anything failed.
"""
import argparse
import collections
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import other_builds
from meson_tests import belongs_to, run_meson_tests  # noqa: F401 (belongs_to is tested as a part of this)
from outcome import BUILD, FFMPEG, ROOT, Outcome, run_reporting_script

FUZZ_SECONDS = 10  # for each target: a minute in all
FUZZ_SEED = 1  # what breaks here was broken by a change, not found by chance: that is what longer runs are for

# ---- suites ---------------------------------------------------------------------------------------------------------


def lint(level):
    choices = ["--format", "--style"] + ([] if level == "quick" else ["--tidy"]) + (["--thorough"] if level == "all" else [])
    outcome = run_reporting_script("lint", [sys.executable, "tools/lint"] + choices)
    if level == "quick":
        outcome.skip("clang-tidy", "not part of --quick")
    return outcome


def engine(_level):
    if not (BUILD / "build.ninja").exists():
        return Outcome(failed=["engine: not built (tools/setup)"])
    return run_meson_tests(BUILD, "engine")


class RecordingResult(unittest.TextTestResult):
    """Remembers names and durations."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.passed, self.seconds, self.started = 0, [], 0.0

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.seconds.append((time.monotonic() - self.started, test.id()))
        super().stopTest(test)

    def addSuccess(self, test):
        self.passed += 1
        super().addSuccess(test)


def filter_suite(_level):
    if not FFMPEG.exists():
        return Outcome(failed=["filter: no build/ffmpeg/bin/ffmpeg (tools/setup)"])
    os.environ.setdefault("QC_FFMPEG", str(FFMPEG))
    os.environ.setdefault("QC_FFPROBE", str(FFMPEG.with_name("ffprobe")))
    return python_tests(ROOT / "tests/filter")


def tools(_level):
    return python_tests(ROOT / "tests/tools")


def python_tests(folder):
    """All test_*.py of a folder, counted test by test."""
    outcome = Outcome()
    sys.path.insert(0, str(folder))
    tests = unittest.TestLoader().discover(str(folder), pattern="test_*.py", top_level_dir=str(folder))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=RecordingResult).run(tests)
    outcome.passed = result.passed + len(result.expectedFailures)
    outcome.failed = [test.id() for test, _ in result.failures + result.errors] \
        + [f"{test.id()}: passed unexpectedly" for test in result.unexpectedSuccesses]
    for test, reason in result.skipped:
        outcome.skip(test.id(), reason.removeprefix("SKIPPED: "))
    outcome.durations = result.seconds
    return outcome


def golden(level):
    outcome = Outcome()
    for script in sorted((ROOT / "tests/golden").glob("run_*.py")):
        command = [sys.executable, str(script)] + (["--quick"] if level == "quick" else [])
        outcome.add(run_reporting_script(f"golden {script.stem}", command))
    return outcome


def fuzz(level):
    if level == "quick":
        outcome = Outcome()
        outcome.skip("fuzz", "not part of --quick")
        return outcome
    return run_reporting_script("fuzz", [sys.executable, "tools/fuzz", "--seconds", str(FUZZ_SECONDS), "--seed", str(FUZZ_SEED)])


def gpu(level):
    outcome, script = Outcome(), ROOT / "tools/gpu-check"
    if not script.exists():
        outcome.skip("gpu", "tools/gpu-check is not there")
    elif not has_gpu():
        outcome.skip("gpu", "no usable NVIDIA GPU on this machine")
    else:
        return run_reporting_script("gpu", [str(script)] + (["--quick"] if level == "quick" else []))
    return outcome


def has_gpu():
    if not glob.glob("/dev/nvidia[0-9]*"):
        return False
    program = shutil.which("nvidia-smi")
    return program is not None and subprocess.run([program, "-L"], capture_output=True).returncode == 0


SUITES = {"lint": lint, "tools": tools, "engine": engine, "filter": filter_suite, "golden": golden, "fuzz": fuzz,
          "sanitizers": other_builds.sanitizers, "arm64": other_builds.arm64, "gpu": gpu}

# ---- report ---------------------------------------------------------------------------------------------------------


def print_report(outcomes, seconds):
    print("\n== Report")
    slowest = sorted((d for o in outcomes.values() for d in o.durations), reverse=True)[:25]
    if slowest:
        print("slowest:")
        for duration, name in slowest:
            print(f"  {duration:7.1f} s  {name}")
    print_grouped("skipped", [s for o in outcomes.values() for s in o.skipped])
    print_grouped("FAILED", [f for o in outcomes.values() for f in o.failed])
    print(f"{'suite':<10}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>9}")
    for name, outcome in outcomes.items():
        print(f"{name:<10}" + "".join(f"{n:>8}" for n in outcome.counts()) + f"{seconds[name]:>9.0f}")


def print_grouped(title, names, at_most=60):
    """Lists names; of many with the same reason only how many they are."""
    if not names:
        return
    print(f"{title}:")
    by_reason = collections.OrderedDict()
    for name in names:
        by_reason.setdefault(name.rpartition(": ")[2] if title == "skipped" else name, []).append(name)
    for reason, group in list(by_reason.items())[:at_most]:
        print(f"  {group[0]}" if len(group) == 1 else f"  {len(group)} checks: {reason}")
    if len(by_reason) > at_most:
        print(f"  ... and {len(by_reason) - at_most} more")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=["quick", "default", "all"], default="default")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)} (default: all)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.suites if name not in SUITES]
    if unknown:
        parser.error(f"unknown suite {unknown[0]}; there are {', '.join(SUITES)}")
    os.environ["QC_TEST_LEVEL"] = arguments.level  # some tests do more or less by it
    outcomes, seconds = {}, {}
    for name in arguments.suites or SUITES:
        print(f"\n== Suite {name}", flush=True)
        start = time.monotonic()
        outcomes[name] = SUITES[name](arguments.level)
        if not any(outcomes[name].counts()):
            outcomes[name].failed.append(f"{name}: nothing was tested")
        seconds[name] = time.monotonic() - start
        print(f"-- {name}: {seconds[name]:.0f} s", flush=True)
    print_report(outcomes, seconds)
    passed, failed, skipped = (sum(counts) for counts in zip(*(o.counts() for o in outcomes.values())))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
