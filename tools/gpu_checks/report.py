# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What every part of gpu-check uses: running a command, and writing down what came of a check."""

import subprocess


class Report:
    def __init__(self):
        self.entries = []

    def add(self, name, outcome, detail=""):
        self.entries.append({"name": name, "outcome": outcome, "detail": detail})
        print(f"{outcome.upper():8} {name}" + (f": {detail}" if detail else ""), flush=True)

    def check(self, name, good, detail=""):
        self.add(name, "passed" if good else "failed", detail)
        return good

    def count(self, outcome):
        return sum(entry["outcome"] == outcome for entry in self.entries)


def run(command, timeout=900, **options):
    """Runs a command; a time-out is a failure with its output so far."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=timeout, **options)
    except subprocess.TimeoutExpired as late:
        output = late.stdout.decode("utf-8", "replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        return subprocess.CompletedProcess(command, 124, output + f"\ntimed out after {timeout} s")


def last_lines(text, count=6):
    return " | ".join(line for line in text.strip().splitlines()[-count:])


def refused_cleanly(done):
    """Whether a program said no by itself: neither success, nor a time-out, nor a signal."""
    return done.returncode > 0 and done.returncode != 124
