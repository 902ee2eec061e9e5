#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the SSIMULACRA 2 scores that the real ffmpeg writes against the recorded ones of the definition.

The golden clips and YUV pairs (in <repository>/../shared/golden or $QC_SHARED/golden) are scored with the filter
quality_cuda under every recorded option and preset, all of a clip in one run. The CPU backend computes what was recorded
and has to agree to the printed digit; CUDA within the bound of the metric's descriptor. Pictures that are too small
have to be refused.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import functools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.golden_clips import parse_arguments, run_script  # noqa: E402
from support.metrics import read_metrics  # noqa: E402
from support.recorded_scores import Job, recorded_clips, run_jobs  # noqa: E402

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


def job_of(clip, runs, frames):
    return Job(clip, instances(runs), {key: score_name(options) for key, options in runs.items()}, frames)


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
        yield job_of(clip, runs, [{key: entry[key] for key in runs}])


def clip_jobs(golden, clips, metric):
    for clip, frames in recorded_clips(golden / "ssimulacra2/clips.json", clips, metric):
        if frames is None:
            yield job_of(clip, {"ref64": CLIP_RUNS["ref64"]}, None)
        else:
            yield job_of(clip, {k: said_to_be_limited(clip, o) for k, o in CLIP_RUNS.items() if k in frames[0]}, frames)


def run_all(arguments, golden, clips, folder):
    metric = read_metrics(arguments.build)["ssimulacra2"]
    jobs = list(clip_jobs(golden, clips, metric)) + list(pair_jobs(golden / "ssimulacra2"))
    return run_jobs(metric, jobs, 100.0, {"absolute": 1e-6, "relative": 0.0}, arguments, folder)


def main():
    arguments = parse_arguments(__doc__)
    return run_script(arguments, "ssimulacra2/clips.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
