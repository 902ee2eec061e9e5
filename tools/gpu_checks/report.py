# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What every part of gpu-check uses: running a command, and writing down what came of a check."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

TIMED_OUT = 124
_printing = threading.Lock()
_running = set()
_ending = threading.Event()


def say(text):
    """One print of one thread; parts run side by side."""
    with _printing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


class Report:
    """What one part found."""

    def __init__(self):
        self.entries = []

    def add(self, name, outcome, detail=""):
        self.entries.append({"name": name, "outcome": outcome, "detail": detail})
        say(f"{outcome.upper():8} {name}" + (f": {detail}" if detail else ""))

    def check(self, name, good, detail=""):
        self.add(name, "passed" if good else "failed", detail)
        return good

    def count(self, outcome):
        return sum(entry["outcome"] == outcome for entry in self.entries)


def end_group(process):
    """Ends a process that leads a session of its own, with all that it has started: a sanitizer's child keeps its pipes open."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def end_all():
    """Ends whatever still runs, and lets nothing begin; for a check that is ended itself."""
    _ending.set()
    for process in list(_running):
        end_group(process)


def _refuse_at_the_end():
    if _ending.is_set():
        raise RuntimeError("ended from outside")


@contextlib.contextmanager
def started(command, **options):
    """A process that does not outlive this one."""
    _refuse_at_the_end()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options) as process:
        _running.add(process)
        try:
            _refuse_at_the_end()  # end_all() may have come between, and not have seen it
            yield process
        finally:
            if process.poll() is None:
                end_group(process)
            _running.discard(process)


def run(command, timeout=900, **options):
    """Runs a command; a time-out is a failure with its output so far."""
    timeout = max(timeout, 0.1)
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
            return subprocess.CompletedProcess(command, process.returncode, output)
        except subprocess.TimeoutExpired:
            end_group(process)
            output, _ = process.communicate()
            return subprocess.CompletedProcess(command, TIMED_OUT, f"{output}\ntimed out after {timeout:.1f} s")


def last_lines(text, count=6):
    return " | ".join(line for line in text.strip().splitlines()[-count:])


def unittest_results(text):
    """[(test, where it is, "ok", "FAIL", "ERROR" or "skipped ...")] of what `python -m unittest -v` prints. A class that is
    skipped as a whole says so by its setUpClass."""
    return re.findall(r"^(test_\w+|setUpClass) \(([\w.]+)\)(?:\n.*?)? \.\.\. (?:.*\n)*?.*?(ok|FAIL|ERROR|skipped .*)$", text, re.MULTILINE)


def refused_cleanly(done):
    """Whether a program said no by itself: neither success, nor a time-out, nor a signal."""
    return done.returncode > 0 and done.returncode != TIMED_OUT
