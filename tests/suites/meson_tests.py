# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs the tests of a build folder of meson. Those written with GoogleTest are counted case by case."""
import glob
import json
import os
import subprocess
import time
import xml.etree.ElementTree

from outcome import ROOT, Outcome

LINES_OF_A_FAILURE = 30  # of the compiler or linker


def run_meson_tests(build, about, options=(), environment=None, targets=("meson-test-prereq",)):
    """
    @param about        what stands before the names of failures that no test has
    @param options      of `meson test`
    @param environment  further variables
    @param targets      what is built before
    """
    outcome, build = Outcome(), str(build)
    environment = {**os.environ, **(environment or {})}
    for stale in glob.glob(build + "/*.xml") + glob.glob(build + "/meson-logs/testlog*"):
        os.unlink(stale)
    start = time.monotonic()
    made = subprocess.run(["ninja", "-C", build, *targets], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        print(*made.stdout.splitlines()[-LINES_OF_A_FAILURE:], sep="\n", flush=True)
        outcome.failed.append(f"{about}: the tests were not built")
        return outcome
    outcome.durations.append((time.monotonic() - start, f"{about}: building the tests"))
    status = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *options], cwd=ROOT,
                            env=environment).returncode
    log, junit = build + "/meson-logs/testlog.json", build + "/meson-logs/testlog.junit.xml"
    if not os.path.exists(log) or not os.path.exists(junit):
        outcome.failed.append(f"{about}: meson test ended with {status} and left no log")
        return outcome
    failed_programs = read_meson_log(log, outcome)
    failed_by_case = read_junit(junit, outcome)
    # A program that crashed has no case that failed.
    outcome.failed += [f"{name}: {result}" for name, result in failed_programs.items()
                       if not any(belongs_to(case, name) for case in failed_by_case)]
    if status != 0 and not outcome.failed:
        outcome.failed.append(f"{about}: meson test ended with {status}")
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
