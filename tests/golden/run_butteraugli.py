#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the Butteraugli scores that the real ffmpeg writes against the recorded ones of the definition.

The golden clips (in <repository>/../shared/golden or $QC_SHARED/golden) are scored with the filter quality_cuda, all norms at once.
The CPU backend computes what was recorded and has to agree to the printed digit; CUDA within the bound of the metric's descriptor.
Pictures that are too small have to be refused.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.golden_clips import Scorer, check_refusal, parse_arguments, report, run_script, tail  # noqa: E402
from support.metrics import read_metrics  # noqa: E402

# Recorded score: the filter's.
SCORES = {"ref64_max": "butteraugli", "ref64_3norm": "butteraugli_3norm", "N3": "butteraugli_norm3", "N2": "butteraugli_norm2"}


def options_for(clip):
    """FFmpeg 9.0 tags gray video as full range if nothing else is said, 5.1 does not; the recorded scores are those of limited range."""
    return {"matrix": "bt709", **({"range": "limited"} if clip["pix_fmt"].startswith("gray") else {})}


def suffix(options):
    aliases = {"matrix": "mat", "range": "rng"}
    return "".join(f"_{aliases[o]}_{v}" for o, v in sorted(options.items()))


def instance(options):
    feature = "name=butteraugli:subscores=norms" + "".join(f":{o}={v}" for o, v in options.items())
    return {"metrics": "butteraugli", "feature": feature}


def jobs_of(golden, clips, metric):
    with open(golden / "butteraugli/clips.json", encoding="utf-8") as file:
        recorded = {entry["clip"]: entry["frames"] for entry in json.load(file)["clips"]}
    for clip in clips:
        if min(clip["width"], clip["height"]) < metric.smallest(clip["pix_fmt"]):
            yield clip, None
        elif clip["name"] in recorded:
            yield clip, recorded[clip["name"]]


def tolerance(score, bound):
    """Printed digits of the same arithmetic, or on CUDA the metric's bound. Identical pictures score 0 on both."""
    return 0.0 if score == 0.0 else bound["absolute"] + bound["relative"] * score


def compare(options, frames, scored, log, bound):
    """`frames`: recorded scores, of the first of the `scored` frames of a clip or of all."""
    with open(log, encoding="utf-8") as file:
        written = {frame["frameNum"]: frame["metrics"] for frame in json.load(file)["frames"]}
    problems, largest = [], 0.0
    if not frames or len(written) != scored:
        problems.append(f"{len(written)} of {scored} frames in the log, {len(frames)} recorded")
    for number, expected in enumerate(frames):
        for key, score in SCORES.items():
            actual = written.get(number, {}).get(score + suffix(options))
            if actual is None:
                problems.append(f"frame {number}: no {score + suffix(options)}")
                continue
            largest = max(largest, abs(actual - expected[key]))
            if not abs(actual - expected[key]) <= tolerance(expected[key], bound):
                problems.append(f"frame {number} {key}: recorded {expected[key]!r}, log {actual!r}")
    return problems, len(frames) * len(SCORES), largest


def run_all(arguments, golden, clips, folder):
    metric = read_metrics(arguments.build)["butteraugli"]
    bound = {"absolute": 1e-6, "relative": 1e-6} if arguments.backend == "cpu" else metric.cuda_bound
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    jobs = list(jobs_of(golden, clips, metric))
    passed, failures, compared, largest = [], [], 0, 0.0

    def score(numbered):
        number, (clip, _) = numbered
        log = f"{number:04d}.json"
        (folder / log).unlink(missing_ok=True)
        return (*scorer.score(clip, instance(options_for(clip)), log), folder / log)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (clip, frames), (code, output, log) in zip(jobs, pool.map(score, enumerate(jobs))):
            if frames is None:
                problem = check_refusal(clip, code, output, [metric.smallest(clip["pix_fmt"])])
                problems = [problem] if problem else []
            elif code != 0 or not log.exists():
                problems = [f"ffmpeg ended with {code}:\n{tail(output)}"]
            else:
                problems, count, difference = compare(options_for(clip), frames, clip.get("frames", len(frames)), log, bound)
                compared, largest = compared + count, max(largest, difference)
            (failures if problems else passed).append(clip["name"])
            if problems:
                print(f"FAILED {clip['name']}: " + "\n    ".join(problems))
    print(f"{len(jobs)} runs of ffmpeg, {compared} scores, largest difference {largest:.3g}, "
          f"backend {arguments.backend}")
    report(arguments, passed, failures, [])
    return 1 if failures else 0


def main():
    arguments = parse_arguments(__doc__)
    return run_script(arguments, "butteraugli/clips.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
