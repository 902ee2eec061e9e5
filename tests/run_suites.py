#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs every suite of tests that this machine can run, and adds up what they say. Called by tools/test.

Suites, in order
  lint      clang-format, style, clang-tidy (tools/lint)
  tools     tests/tools: what the scripts here decide, without a GPU; and that a metric is added as CONTRIBUTING.md tells
  engine    meson test: unit tests, CPU against CUDA, golden scores of the engine alone; one count per case
  filter    tests/filter against the real ffmpeg
  golden    tests/golden/run_*.py: golden scores through the real ffmpeg
  gpu       tools/gpu-check: everything that needs a GPU

A suite that cannot run is SKIPPED, with the reason, and counted. The last line reads "N passed, N failed, N skipped";
the exit status is 1 if anything failed.
"""
import argparse
import collections
import dataclasses
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
FFMPEG = BUILD / "ffmpeg/bin/ffmpeg"
CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


@dataclasses.dataclass
class Outcome:
    """What a suite found. Names of failed and skipped checks are listed at the end."""

    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    skipped: list = dataclasses.field(default_factory=list)
    durations: list = dataclasses.field(default_factory=list)  # (seconds, name)

    def skip(self, name, reason):
        self.skipped.append(f"{name}: {reason}")

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.durations += other.durations

    def counts(self):
        return self.passed, len(self.failed), len(self.skipped)


def run_reporting_script(name, command):
    """Runs a script that ends with the closing line, shows its output and takes over its counts."""
    outcome, lines, start = Outcome(), [], time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        for line in process.stdout:
            print("   " + line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    outcome.durations.append((time.monotonic() - start, name))
    totals = CLOSING_LINE.match(lines[-1]) if lines else None
    if not totals:
        outcome.failed.append(f"{name}: ended with {process.returncode} and without its closing line")
        return outcome
    outcome.passed = int(totals[1])
    failures = [line.split("FAILED ", 1)[1].strip() for line in lines if line.startswith("FAILED ")]
    skips = [line.split("SKIPPED ", 1)[1].strip() for line in lines if line.startswith("SKIPPED ")]
    outcome.failed = named(failures, int(totals[2]), f"{name}: failure")
    outcome.skipped = named(skips, int(totals[3]), f"{name}: skipped")
    if process.returncode != 0 and not outcome.failed:
        outcome.failed.append(f"{name}: ended with {process.returncode} although nothing failed")
    return outcome


def named(names, count, unnamed):
    """Exactly `count` names: several findings of one check are one failure."""
    return (names + [f"{unnamed} {i + 1}" for i in range(len(names), count)])[:count]


# ---- suites ---------------------------------------------------------------------------------------------------------


def lint(level):
    choices = ["--format", "--style"] + ([] if level == "quick" else ["--tidy"]) + (["--tests"] if level == "all" else [])
    outcome = run_reporting_script("lint", [sys.executable, "tools/lint"] + choices)
    if level == "quick":
        outcome.skip("clang-tidy", "not part of --quick")
    return outcome


def engine(_level):
    """Meson's tests. Those written with GoogleTest are counted case by case."""
    outcome = Outcome()
    if not (BUILD / "build.ninja").exists():
        outcome.failed.append("engine: not built (tools/setup)")
        return outcome
    for stale in glob.glob(str(BUILD / "*.xml")) + glob.glob(str(BUILD / "meson-logs/testlog*")):
        os.unlink(stale)
    start = time.monotonic()
    if subprocess.run(["ninja", "-C", str(BUILD), "meson-test-prereq"], cwd=ROOT, stdout=subprocess.DEVNULL).returncode != 0:
        outcome.failed.append("engine: the tests were not built")
        return outcome
    outcome.durations.append((time.monotonic() - start, "engine: building the tests"))
    status = subprocess.run(["meson", "test", "-C", str(BUILD), "--no-rebuild", "--print-errorlogs"], cwd=ROOT).returncode
    log, junit = BUILD / "meson-logs/testlog.json", BUILD / "meson-logs/testlog.junit.xml"
    if not log.exists() or not junit.exists():
        outcome.failed.append(f"engine: meson test ended with {status} and left no log")
        return outcome
    failed_programs = read_meson_log(log, outcome)
    failed_by_case = read_junit(junit, outcome)
    # A program that crashed has no case that failed.
    outcome.failed += [f"{name}: {result}" for name, result in failed_programs.items()
                       if not any(belongs_to(case, name) for case in failed_by_case)]
    if status != 0 and not outcome.failed:
        outcome.failed.append(f"engine: meson test ended with {status}")
    return outcome


def belongs_to(case, program):
    """Whether a case, as read_junit() names it, is one of this program: "motion_v2: A.B" is none of motion."""
    return case == program or case.startswith(program + ": ")


def read_meson_log(path, outcome):
    failed = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            test = json.loads(line)
            name = test["name"].split(" / ")[-1].strip()
            outcome.durations.append((test["duration"], f"meson test {name}"))
            if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL"):
                failed[name] = test["result"]
    return failed


def read_junit(path, outcome):
    """Counts cases; returns the names of those that failed, as "program: Suite.Case"."""
    failed = []
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        program = suite.get("name", "").split(".")
        for case in suite.iter("testcase"):
            # A program that is not a GoogleTest is a case of its own in the project's suite.
            alone = len(program) < 2
            name = case.get("name") if alone else f"{program[1]}: {case.get('classname')}.{case.get('name')}"
            for counted in case.findall("./properties/property[@name='cases']"):
                print(f"   {name}: {counted.get('value')} cases")
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif skipped is not None:
                outcome.skip(name, (skipped.get("message") or "no reason given").strip().splitlines()[-1])
            elif case.get("status") == "notrun":
                outcome.skip(name, "disabled")
            else:
                outcome.passed += 1
    outcome.failed += failed
    return failed


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


SUITES = {"lint": lint, "tools": tools, "engine": engine, "filter": filter_suite, "golden": golden, "gpu": gpu}

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
