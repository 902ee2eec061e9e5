# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The filter in further lines of FFmpeg than the one in build/ffmpeg: the suite "lines" of run_suites.py.

Each is built lean, beside the other, from the source that the machine's archives have; a line that they do not have is SKIPPED.
"""
import os
import re
import subprocess

from outcome import BUILD, FFMPEG, ROOT, Outcome, run_apart

NO_SOURCE = 3  # exit status of tools/build-ffmpeg


def supported_lines():
    """The newest first."""
    return re.findall(r"(?m)^Line: (.*)\nPackage: ffmpeg$", (ROOT / "tools/ffmpeg-sources").read_text(encoding="utf-8"))


def line_of(ffmpeg):
    """"9.0" of the program's "ffmpeg version 9.0.2 ..."; "" of what does not say so, such as a development version."""
    words = subprocess.run([ffmpeg, "-version"], capture_output=True, text=True).stdout.split()[2:3]
    found = re.match(r"n?(\d+\.\d+)", words[0]) if words else None
    return found[1] if found else ""


def lines(level):
    """The oldest line; all with --all."""
    outcome = Outcome()
    if not FFMPEG.exists():
        return Outcome(failed=["lines: no build/ffmpeg/bin/ffmpeg (tools/setup)"])
    own, others = line_of(FFMPEG), supported_lines()
    print(f"   build/ffmpeg is FFmpeg {own or 'of no released line'}", flush=True)
    for line in others:
        name = f"FFmpeg {line}"
        if line == own:
            continue  # that is the suite "filter"
        if level == "quick":
            outcome.skip(name, "not part of --quick")
        elif level != "all" and line != others[-1]:
            outcome.skip(name, "with tools/test --all only")
        elif build(outcome, line, name):
            outcome.add(run_in(line, name, level))
    return outcome


def build(outcome, line, name):
    """@return whether build/ffmpeg-LINE is there and new"""
    done = subprocess.run([ROOT / "tools/build-ffmpeg", "--ffmpeg", line, "--lean", "--beside"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", env={**os.environ, "QC_JOBS": "2"})
    print(done.stdout, end="", flush=True)
    if done.returncode == NO_SOURCE:
        outcome.skip(name, (done.stdout.strip().splitlines() or [""])[-1])
    elif done.returncode != 0:
        outcome.failed.append(f"{name}: tools/build-ffmpeg ended with {done.returncode}")
    return done.returncode == 0


def run_in(line, name, level):
    """tests/filter; with --all the golden scores too."""
    programs, found = BUILD / f"ffmpeg-{line}/bin", Outcome()
    environment = {"QC_FFMPEG": str(programs / "ffmpeg"), "QC_FFPROBE": str(programs / "ffprobe")}
    for suite in ["filter", "golden"] if level == "all" else ["filter"]:
        outcome, _, text = run_apart(suite, level, environment)
        print(text, end="", flush=True)
        found.add(outcome)
    found.failed = [f"{name}: {each}" for each in found.failed]
    found.skipped = [f"{name}: {each}" for each in found.skipped]
    found.durations = [(seconds, f"{name}: {each}") for seconds, each in found.durations]
    return found
