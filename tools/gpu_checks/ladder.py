# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A ladder from NVDEC, scaled on the GPU: the recipe as it stands, and what it costs beside decoding."""

import os
import pathlib
import re
import shlex
import statistics

from gpu_checks.clips import NoClip
from gpu_checks.pipelines import metrics_of, read_json, score, traced
from gpu_checks.report import last_lines, say

RECIPE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/ladder.md"
SOURCE = "ref_1080p.h264"
RENDITIONS = ["dist_1080p.h264", "dist_720p.h264", "dist_540p.h264"]
SMALLEST_PICTURE = 960 * 540  # bytes of its luma: what is copied between host and GPU has to be smaller
FRAMES = 1200         # of each stream that is measured
SECONDS = 15          # of a round, about


def function_of(page):
    """The shell function that a recipe is."""
    return re.search(r"(?ms)^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"))[1]


def differing(found, alone):
    """What of two runs' frames is not the same, in a few words."""
    if len(found) != len(alone):
        return f"{len(found)} frames against {len(alone)}"
    places = [(number, key, one.get(key), other.get(key)) for number, (one, other) in enumerate(zip(found, alone))
              for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
    first = ", ".join(f"frame {number} {key} {one} against {other}" for number, key, one, other in places[:4])
    return f"{len({place[0] for place in places})} frames differ: {first}"


def recipe(context, name):
    """Decoded, scaled and scored on the GPU, each rendition as in a run of its own."""
    source, *renditions = [context.clips.path(clip) for clip in (SOURCE, *RENDITIONS)]
    trace, log = os.path.join(context.out, "ladder-trace.json"), os.path.join(context.out, "ladder.json")
    # Of ffmpeg alone: a shell that is traced would leave a trace of its own.
    wanted = {name: value for name, value in traced(context, trace).items() if os.environ.get(name) != value}
    ffmpeg = ["env", *(f"{name}={value}" for name, value in wanted.items()), os.path.abspath(context.ffmpeg)]
    command = f"ffmpeg() {{ {shlex.join(ffmpeg)} \"$@\"; }}\n{function_of(RECIPE)}\nladder \"$@\""
    done = context.run(["bash", "-c", command, "ladder", source, *renditions], timeout=120, cwd=context.out)
    counted = read_json(trace) or {}
    copied = [counted.get(direction, {}).get("largest", 0) for direction in ("host_to_device", "device_to_host")]
    found = [metrics_of(read_json(log.replace(".json", f".rendition{k}.json") if k else log)) for k in range(len(renditions))]
    def scored_alone(rendition):
        return score(context, rendition, source, (True, True), "metrics=vmaf:scale=bicubic")[1]

    alone = [scored_alone(rendition) for rendition in renditions]
    same = [bool(one) and one == other for one, other in zip(found, alone)]
    for k, is_same in enumerate(same):
        if not is_same:  # which of the two is it that does not repeat?
            again = "does" if scored_alone(renditions[k]) == alone[k] else "does not"
            say(f"   rendition {k}: {differing(found[k], alone[k])}; the run of its own {again} repeat")
    in_place = counted.get("graph_launches", 0) > 0 and all(largest < SMALLEST_PICTURE for largest in copied)
    context.report.check(name, done.returncode == 0 and in_place and all(same), f"{[len(one) for one in found]} frames, as in runs of their own: "
                         f"{same}, largest copies {copied} bytes" + ("" if done.returncode == 0 else f"; {last_lines(done.stdout)}"))


def speed(context, degree, frames_per_second, looped_clip):
    """Two renditions of each size against decoding the same streams alone, by turns."""
    name = "end to end, a ladder of seven streams"
    try:
        clips = [looped_clip(context, clip, FRAMES * degree.frames) for clip in (SOURCE, *(each for each in RENDITIONS for _ in range(2)))]
    except NoClip as reason:
        context.report.add(name, reason.outcome, str(reason))
        return
    clips = [*clips[1:2], clips[0], *clips[2:]]  # the filter's order: the first rendition, the reference, the others
    inputs = "".join(f"[{number}:v]" for number in range(len(clips)))
    alone = ";".join(f"[{number}:v]{'null[a]' if number == 0 else 'nullsink'}" for number in range(len(clips)))
    decode, scored = [], []
    for _ in range(degree.rounds):
        decode.append(frames_per_second(context, clips, alone, ["-map", "[a]"]))
        options = f"backend=cuda:metrics=vmaf:renditions={len(clips) - 1}:scale=bicubic"
        scored.append(frames_per_second(context, clips, f"{inputs}quality_cuda={options}", []))
    context.numbers[name] = {"decode_fps": decode, "scored_fps": scored, "clips": context.clips.origin(SOURCE)}
    middle = [statistics.median(values) for values in (decode, scored)]
    found = [f"{fps:.0f} fps ({min(values):.0f} to {max(values):.0f})" for fps, values in zip(middle, (decode, scored))]
    context.report.check(name, min(decode + scored) > 0, f"decoding alone {found[0]}, scored {found[1]}, "
                         f"{middle[0] / max(middle[1], 1):.3f} times the time, {context.clips.origin(SOURCE)}")
