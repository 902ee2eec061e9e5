# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The golden clips, ffmpeg's runs over them, and what every script about them does alike: options, report, unpacking.

Golden clips lie in <repository>/../shared/golden or $QC_SHARED/golden; they are no part of this repository.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from support.metrics import build_folder

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FRAME_RATE = 25
TIMEOUT_S = 600
LARGEST_QUICK = 700_000  # luma samples of all frames of a clip that --quick takes


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def read_clips(golden, arguments):
    """Entries of the manifest that were asked for."""
    with open(golden / "manifest.json", encoding="utf-8") as file:
        clips = [c for c in json.load(file)["clips"] if matches(c["name"], arguments.clips.split(","))]
    if arguments.quick:
        clips = [c for c in clips if c["width"] * c["height"] * c["frames"] <= LARGEST_QUICK]
    return clips


def raw_input(clip, path):
    """Options of ffmpeg that read one side of a clip."""
    return ["-f", "rawvideo", "-pix_fmt", clip["pix_fmt"], "-s", f"{clip['width']}x{clip['height']}",
            "-r", str(FRAME_RATE), "-i", str(path)]


class Scorer:
    """Runs ffmpeg on raw clips."""

    def __init__(self, ffmpeg, clips, backend, folder):
        self.ffmpeg, self.clips, self.backend, self.folder = ffmpeg, clips, backend, folder

    def filter_of(self, options, log):
        # One thread a run: the clips are small, several runs share the machine.
        options = {**options, "log_path": log, "backend": self.backend, "n_threads": "1"}
        return "quality_cuda=" + ":".join(f"{k}={quoted(v)}" for k, v in options.items())

    def score(self, clip, options, log):
        return self.play(clip, self.filter_of(options, log))

    def score_group(self, clip, runs, logs):
        """[(exit status, output)] of runs that should all succeed: in one process, or each in its own if that fails.
        `runs`: the filter's options of each."""
        if len(runs) > 1:
            references = "".join(f"[r{i}]" for i in range(len(runs)))
            chain = [f"[1:v]split={len(runs)}{references}"]
            for i, (run, log) in enumerate(zip(runs, logs)):
                chain.append(f"[{f'd{i}' if i else '0:v'}][r{i}]{self.filter_of(run, log)}[d{i + 1}]")
            code, output = self.play(clip, ";".join(chain), ("-map", f"[d{len(runs)}]"))
            if code == 0:
                return [(code, output)] * len(runs)
            for log in logs:
                (self.folder / log).unlink(missing_ok=True)
        return [self.score(clip, run, log) for run, log in zip(runs, logs)]

    def play(self, clip, graph, maps=()):
        command = [self.ffmpeg, "-hide_banner", "-nostdin", "-v", "info", "-nostats"]
        for side in ("dis", "ref"):
            command += raw_input(clip, self.clips / clip[side])
        command += ["-lavfi", graph, *maps, "-f", "null", "-"]
        try:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", timeout=TIMEOUT_S)
            return done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            return "timeout", f"no end after {TIMEOUT_S} s"


def quoted(value):
    """Escapes an option value: once for the filter's options, then quoted for the filter graph."""
    return "'" + value.replace("\\", "\\\\").replace(":", "\\:") + "'"


def tail(text, lines=6):
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])


def check_refusal(clip, code, output, smallest):
    """Below a metric's smallest picture the run has to fail with a line that says what arrived and what is needed."""
    if code == 0:
        return f"accepted, although pictures below {max(smallest)}x{max(smallest)} have no defined score"
    if code == "timeout" or code < 0:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    size = f"{clip['width']}x{clip['height']}"
    limits = "|".join(f"{n}x{n}" for n in smallest)
    lines = [line for line in output.splitlines() if size in line and re.search(rf"(?<!\d)({limits})(?!\d)", line)]
    return None if lines else f"no line names both {size} and the smallest size ({limits}):\n{tail(output)}"


# ---- what the scripts have in common --------------------------------------------------------------------------------


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ffmpeg", default=os.environ.get("QC_FFMPEG", str(REPOSITORY / "build/ffmpeg/bin/ffmpeg")),
                        help="program to test (default: %(default)s)")
    parser.add_argument("--build", default=str(build_folder()), help="whose list of metrics counts (default: %(default)s)")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda", "auto"])
    parser.add_argument("--shared", default=os.environ.get("QC_SHARED", str(REPOSITORY.parent / "shared")), metavar="DIR",
                        help="where golden/ lies (default: %(default)s)")
    parser.add_argument("--clips", default="*", metavar="PATTERNS", help="clips to take, comma-separated shell patterns")
    parser.add_argument("--runs", default="*", metavar="PATTERNS", help="golden runs to take")
    parser.add_argument("--quick", action="store_true", help="small clips, default metrics and models only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many ffmpeg at once (default: one per core)")
    parser.add_argument("--keep", metavar="DIR", help="keep unpacked clips and logs there")
    parser.add_argument("--json", metavar="FILE", help="write the counts and failures there")
    return parser.parse_args()


def skip_all(reason, arguments):
    print(f"SKIPPED golden scores through ffmpeg: {reason}")
    report(arguments, [], [], [reason])
    return 0


def report(arguments, passed, failures, skipped):
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"passed": len(passed), "failed": failures, "skipped": skipped}, file, indent=1)
    print(f"{len(passed)} passed, {len(failures)} failed, {len(skipped)} skipped")


def run_script(arguments, needed, work):
    """Calls work(golden, clips, folder) with the clips unpacked in folder/clips; its result is the exit status."""
    golden = pathlib.Path(arguments.shared).resolve() / "golden"
    if not (golden / needed).exists():
        return skip_all(f"no {needed} in {golden}", arguments)
    if not os.access(arguments.ffmpeg, os.X_OK):
        print(f"no ffmpeg at {arguments.ffmpeg}: run tools/setup")
        report(arguments, [], ["no ffmpeg"], [])
        return 1
    clips = read_clips(golden, arguments)
    if not clips:
        print("nothing to do: no clip matches")
        report(arguments, [], ["nothing was selected"], [])
        return 1
    with tempfile.TemporaryDirectory(prefix="qc_golden_") as temporary:
        folder = pathlib.Path(arguments.keep or temporary).resolve()
        unpacked = unpack(golden, clips, folder / "clips")
        if unpacked.returncode != 0:
            print(unpacked.stdout)
            report(arguments, [], ["unpacking the clips"], [])
            return 1
        return work(golden, clips, folder)


def unpack(golden, clips, folder):
    """Unpacks the clips; names of several may refer to one file."""
    command = [sys.executable, str(golden / "unpack_clips.py"), str(folder)] + [c["name"] for c in clips]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
