#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold what the real ffmpeg says of ColorVideoVDP against the reference implementation in double precision.

Every recorded case (in <repository>/../shared/golden or $QC_SHARED/golden) is a run of the filter quality_cuda with its display,
padding, matrix and frame rate. The clip's JOD has to agree within 1e-6 on the CPU and 1e-4 on CUDA, frames' values within the
bound of the metric's descriptor.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.golden_clips import Scorer, parse_arguments, report, run_script, tail  # noqa: E402
from support.metrics import read_metrics  # noqa: E402

LARGEST_DIFFERENCE = {"cpu": 1e-6, "cuda": 1e-4}  # in JOD
PRINTED = 5e-7  # half a unit of the log's last digit


def options_of(case):
    """Raw video has no tags: matrix and range are said, as is the frame rate, which clips do not have."""
    options = {"display": case["display"], "matrix": "bt2020" if case["matrix"] == "2020" else "bt709"}
    if case["kind"] == "video":
        options.update(fps=repr(case["fps"]), padding=case["padding"])
    return {"metrics": "cvvdp", "opts": "|".join(f"cvvdp.{name}={value}" for name, value in options.items())}


def repeated(clip, times, folder):
    """A clip whose files hold the clip's a few times over."""
    longer = dict(clip)
    for side in ("ref", "dis"):
        longer[side] = folder / f"repeated_{clip[side]}"
        longer[side].write_bytes((folder / "clips" / clip[side]).read_bytes() * times)
    return longer


def compare(case, log, limit, bound):
    with open(log, encoding="utf-8") as file:
        written = json.load(file)
    jod, problems = written["aggregate_metrics"].get("cvvdp"), []
    if jod is None or not abs(jod - case["jod"]) <= limit + PRINTED:
        problems.append(f"recorded {case['jod']!r} JOD, log {jod!r}")
    values = [frame["metrics"]["cvvdp_frame"] for frame in written["frames"]]
    if len(values) != len(case["z"]):
        problems.append(f"{len(values)} frames in the log, {len(case['z'])} recorded")
    for number, (value, expected) in enumerate(zip(values, case["z"])):
        if not abs(value - expected) <= bound["absolute"] + bound["relative"] * abs(expected) + PRINTED:
            problems.append(f"frame {number}: recorded {expected!r}, log {value!r}")
    return problems, abs(jod - case["jod"]) if jod is not None else float("inf")


def run_all(arguments, golden, clips, folder):
    cpu_bound = {"absolute": 2e-5, "relative": 1e-6}  # of a frame's value; 2e-5 are less than 1e-6 JOD
    bound = cpu_bound if arguments.backend == "cpu" else read_metrics(arguments.build)["cvvdp"].cuda_bound
    limit = LARGEST_DIFFERENCE["cpu" if arguments.backend == "cpu" else "cuda"]
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    by_name = {clip["name"]: clip for clip in clips}
    with open(golden / "cvvdp/golden.json", encoding="utf-8") as file:
        cases = [case for case in json.load(file)["cases"] if case["clip"] in by_name]
    passed, failures, largest = [], [], 0.0

    def score(case):
        clip = by_name[case["clip"]]
        if "repeat" in case:
            clip = repeated(clip, case["repeat"], folder)
        log = f"cvvdp_{case['name']}.json"
        (folder / log).unlink(missing_ok=True)
        return (*scorer.score(clip, options_of(case), log), folder / log)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for case, (code, output, log) in zip(cases, pool.map(score, cases)):
            if code != 0 or not log.exists():
                problems = [f"ffmpeg ended with {code}:\n{tail(output)}"]
            else:
                problems, difference = compare(case, log, limit, bound)
                largest = max(largest, difference)
            (failures if problems else passed).append(case["name"])
            if problems:
                print(f"FAILED {case['name']}: " + "\n    ".join(problems))
    print(f"{len(cases)} cases, largest difference {largest:.3g} JOD, backend {arguments.backend}")
    report(arguments, passed, failures if cases else ["no case was selected"], [])
    return 1 if failures or not cases else 0


def main():
    arguments = parse_arguments(__doc__)
    return run_script(arguments, "cvvdp/golden.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
