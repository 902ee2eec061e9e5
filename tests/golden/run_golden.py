#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the scores that the real ffmpeg writes against libvmaf's, clip by clip.

Each golden clip (in <repository>/../shared/golden or $QC_SHARED/golden) is scored with the filter quality_cuda in several
configurations, and the JSON logs are compared with the recorded ones: every frame, pooled value and aggregate must be
equal to the last printed digit. Where libvmaf's own code paths differ, its plain C path counts; values that libvmaf
computes from uninitialised memory (pictures smaller than a metric's minimum) are not compared: there the filter has to
refuse.

Examples
  run_golden.py                              all clips, CPU backend
  run_golden.py --backend cuda --clips 'src01*,odd_*'
  run_golden.py --quick --keep /tmp/logs

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import concurrent.futures
import functools
import itertools
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from libvmaf_runs import (LISTED_METRICS, LISTED_RUNS, groups_of, jobs_of, never_compared,  # noqa: E402
                          scores_without_metric, smallest_missed, unsettled)
from support.golden_clips import Scorer, check_refusal, parse_arguments, report, run_script, tail  # noqa: E402
from support.golden_scores import (Comparer, first_frame_differences, missing_pooled, plain_c_differences,  # noqa: E402
                                   without_skipped_frames)
from support.metrics import read_metrics  # noqa: E402


class NotComparable(Exception):
    """The reference has no settled value here."""


def check(job, code, output, log, comparer, metrics):
    """None if all is as expected, else what is not."""
    clip, golden_data, golden_file, run = job
    golden_run = golden_data["runs"][run.golden]
    too_large = smallest_missed(clip, run, metrics)
    if too_large:
        return check_refusal(clip, code, output, too_large)
    if run.refused:
        return check_format_refusal(run, code, output) if run.metrics else check_clean_refusal(code, output)
    if code != 0:
        return f"ffmpeg ended with {code}:\n{tail(output)}"
    if not log.exists():
        return f"no log was written:\n{tail(output)}"
    with open(log, encoding="utf-8") as file:
        content = json.load(file)
    names = [name for name in run.compared(golden_run, metrics) if name not in unsettled(clip)]
    if not names:
        return "the golden run has nothing to compare with"
    frames = -(-clip["frames"] // int(run.options.get("n_subsample", 1)))
    if len(content["frames"]) != frames:
        return f"the log has {len(content['frames'])} frames, {frames} were scored"
    if golden_run.get("first_frames"):
        return "\n".join(first_frame_differences(golden_run, content)) or None
    if set(names) <= set(golden_run.get("unstable", [])):
        raise NotComparable("libvmaf computes all of it from memory that it never wrote")
    if "n_subsample" in run.options:
        golden_file = without_skipped_frames(golden_data, run, log.with_suffix(".golden.json"))
    equal, text = comparer.compare(golden_file, log, run, names)
    differences = [] if equal else [text]
    differences += missing_pooled(golden_run, content, run, names)
    differences += plain_c_differences(golden_run, content, run, names)
    return "\n".join(differences) or None


def check_clean_refusal(code, output):
    """A failure with a line of ours, not a crash and not a score."""
    if code == 0:
        return "accepted, although libvmaf refuses it or crashes"
    if code == "timeout" or code < 0 or "Parsed_quality_cuda" not in output:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    return None


def check_format_refusal(run, code, output):
    """What libvmaf does not score in this pixel format has to fail with a line that names the metric."""
    if code == 0:
        return "accepted, although libvmaf refuses this pixel format"
    if code == "timeout" or code < 0:
        return f"ended with {code} instead of a clean refusal:\n{tail(output)}"
    lines = [line for line in output.splitlines() if f"{run.metrics[0]} needs chroma planes" in line
             or f"{run.metrics[0]} takes pictures of at most" in line and "bits per sample" in line]
    return None if lines else f"no line says what {run.metrics[0]} refuses:\n{tail(output)}"


def cuda_bounds(metrics, asked):
    """How far CUDA may be from libvmaf, by score, where the descriptor of a metric that is asked for says so."""
    bounds = {}
    for metric in map(metrics.get, asked):
        if metric.cuda_bound["relative"]:
            raise ValueError(f"{metric.name}: relative bounds are not compared here")
        if metric.cuda_bound["absolute"]:
            bounds.update(dict.fromkeys(metric.outputs, metric.cuda_bound["absolute"]))
    return bounds


class Results:
    """Judges finished runs one by one, and counts."""

    def __init__(self, jobs, comparer, metrics):
        self.jobs, self.comparer, self.metrics = jobs, comparer, metrics
        self.passed, self.failures, self.skipped, self.compared = [], [], [], []

    def judge(self, number, code, output, log):
        clip, _, _, run = self.jobs[number]
        name = f"{clip['name']} / {run.golden} ({'+'.join(run.metrics)})"
        try:
            problem = check(self.jobs[number], code, output, log, self.comparer, self.metrics)
        except NotComparable as reason:
            self.skipped.append(f"{name}: {reason}")
            print(f"SKIPPED {name}: {reason}")
            return
        if not run.refused and not smallest_missed(clip, run, self.metrics):
            self.compared.append(run)
        if problem:
            self.fail(name, problem)
        else:
            self.passed.append(name)

    def fail(self, name, problem):
        self.failures.append(name)
        print(f"FAILED {name}\n{problem}")


def run_all(arguments, golden, clips, folder):
    metrics = read_metrics(arguments.build)
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    jobs, start = list(jobs_of(clips, golden, metrics, arguments)), time.monotonic()
    asked = sorted({name for _, _, _, run in jobs for name in run.metrics})
    comparer = Comparer(golden, {} if arguments.backend == "cpu" else cuda_bounds(metrics, asked))
    if not jobs:
        print("nothing to do: no clip and run match")
        report(arguments, [], ["nothing was selected"], [])
        return 1

    def score(group):
        runs = [jobs[number][3] for number in group]
        clip = jobs[group[0]][0]
        logs = [f"{number:04d}_{clip['name']}_{run.golden}.json" for number, run in zip(group, runs)]
        for log in logs:
            (folder / log).unlink(missing_ok=True)
        scored = scorer.score_group(clip, [run.options for run in runs], logs)
        return [(number, *result, folder / log) for number, result, log in zip(group, scored, logs)]

    results = Results(jobs, comparer, metrics)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for number, code, output, log in itertools.chain.from_iterable(pool.map(score, groups_of(jobs, metrics))):
            results.judge(number, code, output, log)
            if not arguments.keep:
                log.unlink(missing_ok=True)
                log.with_suffix(".golden.json").unlink(missing_ok=True)
    for name in never_compared(results.compared, arguments):
        results.fail(name, "no clip has golden scores that answer it")
    if arguments.quick:
        results.skipped.extend(f"{name}: not part of --quick" for name in (*LISTED_METRICS, *LISTED_RUNS))
    for name in sorted({name for _, data, _, _ in jobs for name in scores_without_metric(data["runs"].get("default", {}), metrics)}):
        results.fail(name, "golden scores that no metric of this build writes")
    print(f"{len(clips)} clips, {len(jobs)} runs in {time.monotonic() - start:.0f} s, "
          f"backend {arguments.backend}")
    report(arguments, results.passed, results.failures, results.skipped)
    return 1 if results.failures else 0


def main():
    arguments = parse_arguments(__doc__)
    return run_script(arguments, "manifest.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
