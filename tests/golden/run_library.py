#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Hold what libvmaf.so.3 of this build says against libvmaf's own scores, to the last digit that reports print.

Each run of a golden clip is a list of what was asked of libvmaf's functions. The same is asked of ours, the same pictures are
read, and every score of every pair, and every pooled one, has to be equal. What libvmaf refused, crashed on or computed from
memory that it never wrote is left out. Scores that are equal there, but not in every bit, are counted and named.

The last line reads "N passed, N failed, N skipped"; exit status 1 if anything failed.
"""
import argparse
import fnmatch
import json
import lzma
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from libvmaf_runs import is_undefined, unsettled  # noqa: E402
from support import libvmaf_library as vmaf  # noqa: E402

SPECIAL = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
LARGEST = 240 * 240  # samples of a picture, unless --all
OVERFLOWS = "_csf_1"  # in libvmaf, whose code paths then all differ
SMALL = 40  # below, some metrics refuse pictures that libvmaf reads beyond


def number(value):
    return SPECIAL.get(value, value)


INEXACT = {}  # how many scores of a name were equal as printed only


def same(name, found, expected):
    if found == expected or (found != found and expected != expected):
        return True
    INEXACT[name] = INEXACT.get(name, 0) + 1
    return f"{found:.6f}" == f"{expected:.6f}"


def planes(clip, data):
    """Each picture's planes, as FFmpeg writes them."""
    width, height, fmt = clip["width"], clip["height"], clip["chroma"]
    sample = 2 if clip["bit_depth"] > 8 else 1
    chroma = (0 if fmt == "400" else (-(-width // 2) if fmt != "444" else width) * (-(-height // 2) if fmt == "420" else height)) * sample
    sizes = [width * height * sample] + ([chroma] * 2 if chroma else [])
    at = 0
    while at < len(data):
        found = []
        for size in sizes:
            found.append(data[at:at + size])
            at += size
        yield found


def ask(context, items):
    for item in items:
        if "model" in item:
            context.use_model(item["model"], item.get("name"), item.get("flags"), item.get("collection", False))
        elif "feature" in item:
            context.use_feature(item["feature"], **item.get("options", {}))


def accepted(run, clip):
    """What libvmaf computed: items that it did not refuse, of metrics that say the same every time."""
    refused = [{k: v for k, v in item.items() if k in ("feature", "options", "model", "name")} for item in run.get("refused", [])]
    items = []
    for item in run["items"]:
        if {k: v for k, v in item.items() if k in ("feature", "options", "model", "name")} not in refused and not is_undefined(item, clip):
            items.append(item)
    return items


def pairs(golden, clip):
    read = [lzma.decompress((golden / "clips" / f"{pathlib.Path(clip[side]).name}.xz").read_bytes()) for side in ("ref", "dis")]
    return zip(planes(clip, read[0]), planes(clip, read[1]))


def predict(context, frames, every):
    for index in range(0, frames, every):
        for name in context.models:
            context.model(name, index)
        for name in context.collections:
            context.collection(name, index)


def differences(context, run, clip, frames, every):
    """Between the multiples of n_subsample libvmaf has scores of some metrics; here there are none."""
    compared = 0
    for name, metric in run["metrics"].items():
        if name in run.get("unstable", []) or name in unsettled(clip) or OVERFLOWS in name and name.startswith("integer"):
            continue
        expected = metric.get("scalar", metric)
        values = expected["values"] if isinstance(expected, dict) else expected
        for index, value in enumerate(values[:frames]):
            if value is None or index % every:
                continue
            compared += 1
            try:
                found = context.feature(name, index)
            except vmaf.Failed as failure:
                yield f"{name}[{index}]: {failure}, {value} is expected"
                break
            if not same(name, found, number(value)):
                yield f"{name}[{index}]: {found!r}, {value!r} is expected"
                break
        else:
            pooled = expected.get("pooled", {}) if isinstance(expected, dict) else {}
            for method, value in pooled.items() if None not in values else ():
                found = context.pooled_feature(name, method, 0, frames - 1)
                if not same(name, found, number(value)):
                    yield f"{name}: {method} is {found!r}, {value!r} is expected"
    if compared == 0:
        yield "nothing was compared"


def check(library, golden, clip, run, threads):
    """@return problems as text, or None if there is nothing to compare"""
    items = accepted(run, clip)
    if not items or not run["metrics"] or run.get("first_frames"):
        return None
    every = next((item["n_subsample"] for item in run["items"] if "n_subsample" in item), 0)
    with vmaf.Context(library, threads, every, 0) as context:
        try:
            ask(context, items)
            for reference, distorted in pairs(golden, clip):
                shape = clip["chroma"], clip["bit_depth"], clip["width"], clip["height"]
                context.read(*(context.picture(*shape, side) for side in (reference, distorted)))
            context.flush()
            predict(context, context.pictures, every or 1)
        except vmaf.Failed as failure:
            too_small = min(clip["width"], clip["height"]) < SMALL and "vmaf_read_pictures" in str(failure)
            return None if too_small else str(failure)
        return "\n".join(differences(context, run, clip, context.pictures, every or 1))


def chroma_of(pix_fmt):
    return next((form for form in ("420", "422", "444") if form in pix_fmt), "400")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--clips", default="*", help="names, joined by commas; * and ? are taken")
    parser.add_argument("--runs", default="*", help="likewise")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="changes nothing")
    parser.add_argument("--all", action="store_true", help="large clips, too")
    arguments = parser.parse_args()
    golden = pathlib.Path(os.environ.get("QC_SHARED", ROOT.parent / "shared")) / "golden"
    if not golden.is_dir():
        print(f"SKIPPED: {golden} is not there\n0 passed, 0 failed, 1 skipped")
        return 0
    library = vmaf.load(arguments.build)
    counts = [0, 0, 0]
    for path in sorted((golden / "libvmaf").glob("*.json")):
        if not any(fnmatch.fnmatch(path.stem, pattern) for pattern in arguments.clips.split(",")):
            continue
        clip = json.loads(path.read_text(encoding="utf-8"))
        clip["chroma"], clip["name"] = chroma_of(clip["pix_fmt"]), path.stem
        if clip["width"] * clip["height"] > LARGEST and not arguments.all:
            continue
        for name, run in clip["runs"].items():
            if not any(fnmatch.fnmatch(name, pattern) for pattern in arguments.runs.split(",")):
                continue
            problem = check(library, golden, clip, run, arguments.threads)
            counts[2 if problem is None else 1 if problem else 0] += 1
            if problem:
                print(f"FAILED {path.stem} / {name}\n{problem}", flush=True)
    if INEXACT:
        print("equal as printed, not in every bit:", ", ".join(f"{name} ({count})" for name, count in sorted(INEXACT.items())))
    print(f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main())
