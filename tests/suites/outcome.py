# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a suite of tests found, and how scripts tell it."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def run_reporting_script(name, command, environment=None):
    """Runs a script that ends with the closing line, shows its output and takes over its counts.

    @param environment  further variables
    """
    outcome, lines, start = Outcome(), [], time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env={**os.environ, **(environment or {})}) as process:
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


def run_apart(name, level, environment=None):
    """A suite of run_suites.py in a process of its own.

    @param environment  further variables
    @return             (outcome, seconds, its output)
    """
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "outcome.json"
        done = subprocess.run([sys.executable, str(ROOT / "tests/suites/run_suites.py"), "--level", level, "--tell", str(path), name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env={**os.environ, **(environment or {})})
        if not path.exists():
            return Outcome(failed=[f"{name}: ended with {done.returncode} and told nothing"]), 0.0, done.stdout
        told = json.loads(path.read_text())
    outcome = Outcome(**told["outcome"])
    outcome.durations = [tuple(each) for each in outcome.durations]
    return outcome, told["seconds"], done.stdout


def named(names, count, unnamed):
    """Exactly `count` names: several findings of one check are one failure."""
    return (names + [f"{unnamed} {i + 1}" for i in range(len(names), count)])[:count]
