#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the scores of the filter under the name libvmaf against libvmaf's, with the words that programs send.

As run_golden.py, which has the comparison, but with the options and defaults of libvmaf's filter (docs/reference/libvmaf_alias.md): each
small golden clip with chroma is scored with the strings that programs send, and with the deprecated options.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from libvmaf_runs import MODEL_FEATURES, Run  # noqa: E402
from run_golden import NotComparable, check  # noqa: E402
from support.golden_clips import Scorer, parse_arguments, report, run_script  # noqa: E402
from support.golden_scores import Comparer  # noqa: E402
from support.metrics import read_metrics  # noqa: E402

VMAF = {"vmaf": "vmaf_v0.6.1"}
# Options of the filter, and the golden run that answers them.
RUNS = [
    ("", Run("models_v0", MODEL_FEATURES, {}, ("integer_vif_scale[0-3]", "integer_adm2", "integer_motion2", "vmaf_v0.6.1"), VMAF)),
    ("shortest=true:ts_sync_mode=nearest:n_threads=2", Run("models_v0", MODEL_FEATURES, {}, ("vmaf_v0.6.1",), VMAF)),
    ("shortest=1:repeatlast=0:psnr=1:ssim=1", Run("default", MODEL_FEATURES + ("psnr", "float_ssim"), {}, ("psnr_y", "float_ssim"))),
    ("ms_ssim=1", Run("default", MODEL_FEATURES + ("float_ms_ssim",), {}, ("float_ms_ssim",))),
    ("phone_model=1", Run("models_flags", MODEL_FEATURES, {}, ("vmaf_v0.6.1+enable_transform",),
                          {"vmaf": "vmaf_v0.6.1+enable_transform"})),
]


class AliasScorer(Scorer):
    def filter_of(self, options, log):
        return f"libvmaf=log_fmt=json:log_path={log}{':' + options if options else ''}"


def has_alias(ffmpeg):
    run = subprocess.run([ffmpeg, "-hide_banner", "-h", "filter=libvmaf"], capture_output=True, text=True, check=False)
    return "quality_cuda" in run.stdout


def jobs_of(clips, golden):
    for clip in clips:
        golden_file = golden / "libvmaf" / f"{clip['name']}.json"
        if clip["pix_fmt"].startswith("gray") or not golden_file.exists():
            continue
        golden_data = json.loads(golden_file.read_text(encoding="utf-8"))
        for options, run in RUNS:
            if run.golden in golden_data["runs"]:
                yield options, (clip, golden_data, golden_file, run)


def run_all(arguments, golden, clips, folder):
    if not has_alias(arguments.ffmpeg):
        print("SKIPPED: this ffmpeg was configured without --enable-libquality-cuda-aliases, or has libvmaf's own filter")
        report(arguments, [], [], ["libvmaf"])
        return 0
    metrics, comparer = read_metrics(arguments.build), Comparer(golden, {})
    scorer = AliasScorer(os.path.abspath(arguments.ffmpeg), folder / "clips", None, folder)
    passed, failures, skipped = [], [], []

    jobs = list(jobs_of(clips, golden))

    def score(numbered):
        number, (options, job) = numbered
        log = f"{number:04d}.json"
        return (*scorer.score(job[0], options, log), folder / log)

    def judge(options, job, code, output, log):
        name = f"{job[0]['name']} / libvmaf{'=' + options if options else ''}"
        try:
            problem = check(job, code, output, log, comparer, metrics)
        except NotComparable as reason:
            return skipped.append(f"{name}: {reason}")
        if problem:
            print(f"FAILED {name}\n{problem}")
        return (failures if problem else passed).append(name)

    # Comparing takes standard output for itself: in one thread.
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (options, job), scored in zip(jobs, pool.map(score, enumerate(jobs))):
            judge(options, job, *scored)
    report(arguments, passed, failures, skipped)
    return 1 if failures or not passed else 0


def main():
    arguments = parse_arguments(__doc__)
    arguments.quick = True  # what large clips show, run_golden.py has shown
    return run_script(arguments, "manifest.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
