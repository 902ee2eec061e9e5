#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold the Butteraugli scores that the real ffmpeg writes against the recorded ones of the definition.

The golden clips (in <repository>/../shared/golden or $QC_SHARED/golden) are scored with the filter quality_cuda, all norms at once.
The CPU backend computes what was recorded and has to agree to the printed digit; CUDA within the bound of the metric's descriptor.
Pictures that are too small have to be refused.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.golden_clips import parse_arguments, run_script  # noqa: E402
from support.metrics import read_metrics  # noqa: E402
from support.recorded_scores import Job, recorded_clips, run_jobs  # noqa: E402

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


def run_all(arguments, golden, clips, folder):
    metric = read_metrics(arguments.build)["butteraugli"]
    jobs = []
    for clip, frames in recorded_clips(golden / "butteraugli/clips.json", clips, metric):
        options = options_for(clip)
        jobs.append(Job(clip, instance(options), {key: name + suffix(options) for key, name in SCORES.items()}, frames))
    return run_jobs(metric, jobs, 0.0, {"absolute": 1e-6, "relative": 1e-6}, arguments, folder)


def main():
    arguments = parse_arguments(__doc__)
    return run_script(arguments, "butteraugli/clips.json", functools.partial(run_all, arguments))


if __name__ == "__main__":
    sys.exit(main())
