# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the golden scripts of metrics share whose scores were recorded, frame by frame, with the metric's definition.

A job is a clip, the filter's options for it, the names {recorded score: the filter's} and the recorded frames, of the
first of the clip's frames or of all; None for frames where the filter has to refuse the clip.
"""
import collections
import concurrent.futures
import json
import os

from support.golden_clips import Scorer, check_refusal, report, tail

Job = collections.namedtuple("Job", "clip options names frames")


def recorded_clips(path, clips, metric):
    """Clips and their recorded frames: None where the metric refuses pictures so small; a clip that was not recorded is left out."""
    with open(path, encoding="utf-8") as file:
        recorded = {entry["clip"]: entry["frames"] for entry in json.load(file)["clips"]}
    for clip in clips:
        if min(clip["width"], clip["height"]) < metric.smallest(clip["pix_fmt"]):
            yield clip, None
        elif clip["name"] in recorded:
            yield clip, recorded[clip["name"]]


def tolerance(score, perfect, bound):
    """Printed digits of the same arithmetic, or on CUDA the metric's bound. Identical pictures have the perfect score on both."""
    return 0.0 if score == perfect else bound["absolute"] + bound["relative"] * abs(score)


def compare(job, log, perfect, bound):
    """@return problems, as text, the number of scores and the largest difference"""
    with open(log, encoding="utf-8") as file:
        written = {frame["frameNum"]: frame["metrics"] for frame in json.load(file)["frames"]}
    scored = job.clip.get("frames", len(job.frames))
    problems, largest = [], 0.0
    if not job.names or not job.frames or len(written) != scored:
        problems.append(f"{len(written)} of {scored} frames in the log, {len(job.frames)} recorded, {len(job.names)} scores of each")
    for number, expected in enumerate(job.frames):
        for key, name in job.names.items():
            actual = written.get(number, {}).get(name)
            if actual is None:
                problems.append(f"frame {number}: no {name}")
                continue
            largest = max(largest, abs(actual - expected[key]))
            if not abs(actual - expected[key]) <= tolerance(expected[key], perfect, bound):
                problems.append(f"frame {number} {key}: recorded {expected[key]!r}, log {actual!r}")
    return problems, len(job.frames) * len(job.names), largest


def run_jobs(metric, jobs, perfect, cpu_bound, arguments, folder):
    """Runs all jobs of a metric. On CUDA the bound of its descriptor counts. @return the exit status"""
    bound = cpu_bound if arguments.backend == "cpu" else metric.cuda_bound
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    passed, failures, compared, largest = [], [], 0, 0.0

    def score(numbered):
        number, job = numbered
        log = f"{number:04d}.json"
        (folder / log).unlink(missing_ok=True)
        return (*scorer.score(job.clip, job.options, log), folder / log)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for job, (code, output, log) in zip(jobs, pool.map(score, enumerate(jobs))):
            clip = job.clip
            if job.frames is None:
                problem = check_refusal(clip, code, output, [metric.smallest(clip["pix_fmt"])])
                problems = [problem] if problem else []
            elif code != 0 or not log.exists():
                problems = [f"ffmpeg ended with {code}:\n{tail(output)}"]
            else:
                problems, count, difference = compare(job, log, perfect, bound)
                compared, largest = compared + count, max(largest, difference)
            (failures if problems else passed).append(clip["name"])
            if problems:
                print(f"FAILED {clip['name']}: " + "\n    ".join(problems))
    print(f"{len(jobs)} runs of ffmpeg, {compared} scores, largest difference {largest:.3g}, backend {arguments.backend}")
    report(arguments, passed, failures, [])
    return 1 if failures else 0
