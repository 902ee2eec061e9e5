#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the SSIMULACRA 2 scores that the real ffmpeg writes against the recorded ones of the definition.

The golden clips and YUV pairs (in <repository>/../shared/golden or $QC_SHARED/golden) are scored with the filter
quality_cuda under every recorded option and preset, all of a clip in one run. The CPU backend computes what was recorded
and has to agree to the printed digit; CUDA within the bound of the metric's descriptor. Pictures that are too small
have to be refused.

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

# Recorded score: options of the filter's instance. In the order of their names, as they appear in the names of scores.
CLIP_RUNS = {
    "ref64": {"matrix": "bt709"},
    "ref64_pruned_0.01": {"matrix": "bt709", "prune": "1"},
    "ref64_preset_libvmaf_fork": {"preset": "vmaf-fork"},
}
PAIR_RUNS = {
    "ref64_default": {},
    "ref64_default_pruned_0.01": {"prune": "1"},
    "ref64_chroma_nearest": {"chroma": "nearest"},
    "ref64_chroma_bilinear": {"chroma": "bilinear"},
    "ref64_transfer_srgb": {"transfer": "srgb"},
    "ref64_noclip": {"gamut": "extend"},
    "ref64_loc_center": {"chroma_loc": "center"},
    "ref64_loc_topleft": {"chroma_loc": "topleft"},
    "ref64_preset_ssimulacra2_rs": {"preset": "rs"},
    "ref64_preset_vship_unverified": {"preset": "vship"},
    "ref64_preset_libvmaf_fork": {"preset": "vmaf-fork"},
}
ALIASES = {"chroma": "chr", "chroma_loc": "loc", "gamut": "gam", "matrix": "mat", "preset": "pre", "primaries": "prim",
           "prune": "pru", "range": "rng", "transfer": "trc"}


def score_name(options):
    return "ssimulacra2" + "".join(f"_{ALIASES[o]}_{v}" for o, v in sorted(options.items()))


def instances(runs):
    """Options of the filter for several configurations of the metric in one run."""
    features = ["name=ssimulacra2" + "".join(f":{o}={v}" for o, v in options.items()) for options in runs.values()]
    return {"metrics": "ssimulacra2", "feature": "|".join(features)}


def tagged(entry, options):
    """The tags of a YUV pair as options, where the run sets no others; raw video has no tags."""
    matrix = "bt709" if entry["matrix"] == "bt709" else "bt601"
    return {"matrix": matrix, "range": entry["range"], "primaries": "bt709", "transfer": "bt1886",
            "chroma_loc": "left", **options} if options.get("preset") != "vmaf-fork" else \
        {"matrix": matrix, "range": entry["range"], **options}


def said_to_be_limited(clip, options):
    """FFmpeg 9.0 tags gray video as full range if nothing else is said, 5.1 does not; the recorded scores are those of limited range."""
    return {**options, "range": "limited"} if clip["pix_fmt"].startswith("gray") and "preset" not in options else options


def pixel_format(entry):
    sampling = {(1, 1): "420", (1, 0): "422", (0, 0): "444"}[entry["log2_chroma_w"], entry["log2_chroma_h"]]
    return f"yuv{sampling}p" + ("" if entry["bit_depth"] == 8 else f"{entry['bit_depth']}le")


def pair_jobs(folder):
    with open(folder / "golden.json", encoding="utf-8") as file:
        entries = json.load(file)["yuv"]
    for entry in entries:
        clip = {"name": entry["ref"], "pix_fmt": pixel_format(entry), "width": entry["width"],
                "height": entry["height"], "ref": folder / entry["ref"], "dis": folder / entry["dis"]}
        runs = {key: tagged(entry, options) for key, options in PAIR_RUNS.items()}
        yield clip, runs, [{key: entry[key] for key in runs}]


def clip_jobs(golden, clips, metric):
    with open(golden / "ssimulacra2/clips.json", encoding="utf-8") as file:
        recorded = {entry["clip"]: entry["frames"] for entry in json.load(file)["clips"]}
    for clip in clips:
        if min(clip["width"], clip["height"]) < metric.smallest(clip["pix_fmt"]):
            yield clip, {"ref64": CLIP_RUNS["ref64"]}, None
        elif clip["name"] in recorded:
            frames = recorded[clip["name"]]
            yield clip, {k: said_to_be_limited(clip, o) for k, o in CLIP_RUNS.items() if k in frames[0]}, frames


def tolerance(score, bound):
    """Printed digits of the same arithmetic, or on CUDA the metric's bound. Identical pictures score 100 on both."""
    if score == 100.0:
        return 0.0
    return bound["absolute"] + bound["relative"] * abs(score)


def compare(runs, frames, scored, log, bound):
    """`frames`: recorded scores, of the first of the `scored` frames of a clip or of all."""
    with open(log, encoding="utf-8") as file:
        written = {frame["frameNum"]: frame["metrics"] for frame in json.load(file)["frames"]}
    problems, largest = [], 0.0
    if not runs or not frames or len(written) != scored:
        problems.append(f"{len(written)} of {scored} frames in the log, {len(frames)} recorded, {len(runs)} scores of each")
    for number, expected in enumerate(frames):
        for key, options in runs.items():
            actual = written.get(number, {}).get(score_name(options))
            if actual is None:
                problems.append(f"frame {number}: no {score_name(options)}")
                continue
            largest = max(largest, abs(actual - expected[key]))
            if not abs(actual - expected[key]) <= tolerance(expected[key], bound):
                problems.append(f"frame {number} {key}: recorded {expected[key]!r}, log {actual!r}")
    return problems, len(frames) * len(runs), largest


def run_all(arguments, golden, clips, folder):
    metric = read_metrics(arguments.build)["ssimulacra2"]
    bound = {"absolute": 1e-6, "relative": 0.0} if arguments.backend == "cpu" else metric.cuda_bound
    scorer = Scorer(os.path.abspath(arguments.ffmpeg), folder / "clips", arguments.backend, folder)
    jobs = list(clip_jobs(golden, clips, metric)) + list(pair_jobs(golden / "ssimulacra2"))
    passed, failures, compared, largest = [], [], 0, 0.0

    def score(numbered):
        number, (clip, runs, _) = numbered
        log = f"{number:04d}.json"
        (folder / log).unlink(missing_ok=True)
        return (*scorer.score(clip, instances(runs), log), folder / log)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (clip, runs, frames), (code, output, log) in zip(jobs, pool.map(score, enumerate(jobs))):
            if frames is None:
                problem = check_refusal(clip, code, output, [metric.smallest(clip["pix_fmt"])])
                problems = [problem] if problem else []
            elif code != 0 or not log.exists():
                problems = [f"ffmpeg ended with {code}:\n{tail(output)}"]
            else:
                problems, count, difference = compare(runs, frames, clip.get("frames", len(frames)), log, bound)
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
    return run_script(arguments, "ssimulacra2/clips.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
