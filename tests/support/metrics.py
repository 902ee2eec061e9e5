# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The metrics of a build, as its descriptors have them: names, smallest pictures, bounds. No script keeps a list of its own.

The build writes them to tools/docs/metrics.json in its folder (tools/docs/metric_table --json), so that scripts on another
machine need that one file.
"""

import dataclasses
import json
import os
import pathlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def build_folder():
    """$QC_BUILD, or build/ of this repository."""
    return pathlib.Path(os.environ.get("QC_BUILD", REPOSITORY / "build"))


def chroma_of(pixel_format):
    """Key of smallest_side for a pixel format of the golden clips."""
    if "gray" in pixel_format:
        return "4:0:0"
    for digits in ("420", "422", "444"):
        if digits in pixel_format:
            return ":".join(digits)
    raise ValueError(f"{pixel_format}: the chroma sampling is not known")


@dataclasses.dataclass(frozen=True)
class Metric:
    name: str
    short_name: str
    smallest_side: dict  # of a square picture with default options, by chroma ("4:2:0"); 0: accepts none
    cuda_bound: dict     # how far CUDA may be from the CPU backend: absolute + relative x |score|
    outputs: list        # names in logs, before what options append

    def smallest(self, pixel_format):
        return self.smallest_side[chroma_of(pixel_format)]


def read_metrics(build=None):
    """{name: Metric} in the registry's order."""
    path = pathlib.Path(build or build_folder()) / "tools/docs/metrics.json"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: build the target metric_list (tools/setup does)")
    with open(path, encoding="utf-8") as file:
        metrics = [Metric(**entry) for entry in json.load(file)]
    if not metrics:
        raise ValueError(f"{path} has no metrics")
    return {metric.name: metric for metric in metrics}


def words(metrics):
    """What `metrics=` takes for each: its name, or, where that is another metric's short name, its own short name."""
    short_names = {metric.short_name for metric in metrics.values()}
    return [metric.short_name if metric.name in short_names else metric.name for metric in metrics.values()]
