#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs every suite of tests that this machine can run, and adds up what they say. Called by tools/test.

Suites, in order
  lint      clang-format, style, clang-tidy (tools/lint)
  engine    meson test: unit tests, CPU against CUDA, golden scores of the engine alone; one count per case
  tools     tests/tools: what the scripts here decide, without a GPU; and that a metric is added as CONTRIBUTING.md tells
  filter    tests/filter against the real ffmpeg
  cli       tests/cli: the command quality-cuda with the real ffmpeg
  lines     tests/suites/ffmpeg_lines.py: tests/filter in the oldest line of FFmpeg too; with --all in each, and its golden scores
  golden    tests/golden/run_*.py: golden scores through the real ffmpeg
  fuzz      tools/fuzz: every target of tests/fuzz for a few seconds
  clang     tests/suites/other_builds.py: what clang makes of the engine, of run/ and cli/, with their tests; scores of both compilers
  sanitizers, arm64   tests/suites/other_builds.py: the engine and the filter built otherwise, with --all only
  packages  tests/suites/package_builds.py: the tarball and the Debian packages, with --all only
  gpu       tools/gpu-check: everything that needs a GPU

Behind the engine's suite, which builds all that they need, tools, filter, cli, lines, golden and clang run side by side, one more at once than there
are cores, for each keeps one busy, or waits; their output is shown when they are done.

A suite that cannot run is SKIPPED, with the reason, and counted. The last line reads "N passed, N failed, N skipped";
the exit status is 1 if anything failed.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

import ffmpeg_lines
import other_builds
import package_builds
from meson_tests import belongs_to, run_meson_tests  # noqa: F401 (belongs_to is tested as a part of this)
from outcome import BUILD, FFMPEG, ROOT, Outcome, run_apart, run_reporting_script

FUZZ_SECONDS = 10  # for each target: a minute in all
FUZZ_TARGETS_OF_CPU = sorted({path.stem for path in (ROOT / "tests/fuzz").glob("*.cpp")} - {"plan"})
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


def cli(_level):
    if not (BUILD / "cli/quality-cuda").exists():
        return Outcome(failed=["cli: no build/cli/quality-cuda (tools/setup)"])
    os.environ.setdefault("QC_FFMPEG", str(FFMPEG))
    return python_tests(ROOT / "tests/cli")


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
    command = [sys.executable, "tools/fuzz", "--seconds", str(FUZZ_SECONDS), "--jobs", str(os.cpu_count()), "--seed", str(FUZZ_SEED)]
    if level == "all":
        return run_reporting_script("fuzz", command)
    outcome = run_reporting_script("fuzz", command + FUZZ_TARGETS_OF_CPU)
    outcome.skip("fuzz plan", "with tools/test --all only: every kernel is compiled for the host")
    return outcome


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


SUITES = {"lint": lint, "engine": engine, "tools": tools, "filter": filter_suite, "cli": cli, "lines": ffmpeg_lines.lines,
          "golden": golden, "fuzz": fuzz, "clang": other_builds.clang, "sanitizers": other_builds.sanitizers, "arm64": other_builds.arm64,
          "packages": package_builds.packages, "gpu": gpu}
SIDE_BY_SIDE = ("tools", "filter", "cli", "lines", "golden", "clang")

# ---- running --------------------------------------------------------------------------------------------------------


def run_suite(name, level):
    """@return (outcome, seconds)"""
    start = time.monotonic()
    outcome = SUITES[name](level)
    if not any(outcome.counts()):
        outcome.failed.append(f"{name}: nothing was tested")
    return outcome, time.monotonic() - start


def run_all(names, level):
    """In order; @return {name: (outcome, seconds)}"""
    found, left = {}, list(names)
    while left:
        together = [name for name in left if name in SIDE_BY_SIDE] if "engine" in found and left[0] in SIDE_BY_SIDE else []
        if len(together) > 1:
            print(f"\n== Suites {', '.join(together)}, side by side", flush=True)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1) as pool:
                for name, (outcome, seconds, text) in zip(together, pool.map(lambda name: run_apart(name, level), together)):
                    print(text, end="", flush=True)
                    found[name] = outcome, seconds
        else:
            together = left[:1]
            print(f"\n== Suite {left[0]}", flush=True)
            found[left[0]] = run_suite(left[0], level)
            print(f"-- {left[0]}: {found[left[0]][1]:.0f} s", flush=True)
        left = [name for name in left if name not in together]
    return found

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


def tell(path, outcome, seconds):
    """To run_apart()."""
    pathlib.Path(path).write_text(json.dumps({"outcome": dataclasses.asdict(outcome), "seconds": seconds}))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=["quick", "default", "all"], default="default")
    parser.add_argument("--tell", help=argparse.SUPPRESS)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)} (default: all)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.suites if name not in SUITES]
    if unknown:
        parser.error(f"unknown suite {unknown[0]}; there are {', '.join(SUITES)}")
    os.environ["QC_TEST_LEVEL"] = arguments.level  # some tests do more or less by it
    # A shell's background job ignores SIGINT, and so would all that it starts; tests send it, and want it to be heard.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = run_all(arguments.suites or SUITES, arguments.level)
    outcomes, seconds = ({name: each[i] for name, each in found.items()} for i in (0, 1))
    if arguments.tell:
        return tell(arguments.tell, *found[arguments.suites[0]])
    print_report(outcomes, seconds)
    passed, failed, skipped = (sum(counts) for counts in zip(*(o.counts() for o in outcomes.values())))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
