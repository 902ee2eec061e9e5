# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The speed tables of docs/design/performance.md: the engine alone, and ffmpeg from NVDEC to scores."""

import contextlib
import json
import os
import re
import statistics
import time

from gpu_checks import ladder, plan
from gpu_checks.clips import NoClip
from gpu_checks.pipelines import HARDWARE
from gpu_checks.report import last_lines, say

# Clips, frames (which a clip is repeated for), metrics.
END_TO_END = [("1080p.hevc", 7200, "all"), ("1080p.h264", 3600, "vmaf+ssimulacra2"), ("1080p.h264", 3600, "vmaf"), ("2160p.h264", 1440, "vmaf")]
END_TO_END_SECONDS = 55 + ladder.SECONDS  # of a round over these and a ladder, about


def benched(every_metric, quick):
    """Arguments of quality_bench; the long ones are left out with --quick. The first has all metrics one by one and at once."""
    parts = ",".join(every_metric)
    short = [["-m", parts + ",vmaf,all", "-b", "1,4,16"],
             ["-m", "vmaf", "-M", "vmaf_v1.0.16_3d0h", "-b", "1,4,16", "-l", "nv12,p010le"],
             ["-m", "ssimulacra2", "-o", "ssimulacra2.prune=1", "-s", "1920x1080,3840x2160"]]
    long = [["-m", parts + ",vmaf", "-s", "3840x2160", "-l", "nv12,p010le", "-b", "4,16"],
            ["-m", parts + ",vmaf", "-l", "p010le"], ["-u", "-m", "vmaf,ssimulacra2"], ["-m", "vmaf", "-c", "6"]]
    return short + ([] if quick else long)


def rows_of(runs):
    """How many rows quality_bench prints for these arguments: every combination of what its lists name."""
    def product(arguments):
        rows = 1
        for option, values in zip(arguments, arguments[1:]):
            rows *= len(values.split(",")) if option in ("-m", "-s", "-l", "-b") else 1
        return rows
    return sum(map(product, runs))


def degree_for(context, rows):
    """How thorough what is still to be measured can be: rows of quality_bench, then all of end_to_end(). Says so when it changes."""
    degree = plan.QUICK if context.quick else plan.thoroughness(rows, END_TO_END_SECONDS, context.left())
    if context.numbers.get("bench_degree") != str(degree):
        why = "" if degree == plan.THOROUGH else " (--quick)" if context.quick else f" (--budget leaves {context.left():.0f} s)"
        say(f"bench: {degree}{why}")
        context.numbers["bench_degree"] = str(degree)
    return degree


def bench(context):
    context.numbers["bench"] = []
    runs = benched(context.words_of_metrics(), context.quick)
    for number, arguments in enumerate(runs):
        degree = degree_for(context, rows_of(runs[number:]))
        repetitions = {"repetitions": degree.repetitions, "seconds": degree.seconds}
        path = os.path.join(context.out, f"bench-{number}.json")
        with contextlib.suppress(OSError):
            os.remove(path)
        name = "bench " + " ".join(arguments)
        done = context.run([context.tool("tools", "bench", "quality_bench"), "-k", "cuda", *arguments, "-j", path,
                            "-r", str(degree.repetitions), "-d", str(degree.seconds)])
        say(done.stdout)
        if context.report.check(name, done.returncode == 0 and os.path.exists(path), "" if done.returncode == 0 else last_lines(done.stdout)):
            with open(path, encoding="utf-8") as file:
                context.numbers["bench"] += [dict(row, arguments=" ".join(arguments), **repetitions) for row in json.load(file)]
    sum_of_parts(context, " ".join(runs[0]))
    degree = degree_for(context, rows=0)
    end_to_end(context, degree)
    ladder.speed(context, degree, frames_per_second, looped_clip)


def sum_of_parts(context, arguments):
    """All metrics at once against one after the other, by batch size."""
    rows = [row for row in context.numbers["bench"] if row["arguments"] == arguments]
    name = "all metrics cost less than their sum"
    if not rows:
        context.report.add(name, "failed", "nothing was measured")
    for batch in sorted({row["batch"] for row in rows}):
        time_of = {row["metrics"]: row["us_per_pair_median"] for row in rows if row["batch"] == batch}
        parts = [time_of.get(word) for word in context.words_of_metrics()]
        if "all" not in time_of or None in parts:
            context.report.add(f"{name}, batch {batch}", "failed", "not every metric was measured")
            continue
        context.report.check(f"{name}, batch {batch}", time_of["all"] < sum(parts),
                             f"{time_of['all']:.1f} us a pair, the parts {sum(parts):.1f}")


def end_to_end(context, degree):
    """Frames per second of NVDEC alone and of NVDEC with scores, on looped clips, by turns."""
    for clip, frames, metrics in END_TO_END:
        name = f"end to end {clip} {metrics}"
        try:
            looped = [looped_clip(context, f"{side}_{clip}", frames * degree.frames) for side in ("dist", "ref")]
        except NoClip as reason:
            context.report.add(name, reason.outcome, str(reason))
            continue
        decode, scored = [], []
        for _ in range(degree.rounds):
            decode.append(frames_per_second(context, looped, "[0:v]null[a];[1:v]nullsink", ["-map", "[a]"]))
            scored.append(frames_per_second(context, looped, f"quality_cuda=backend=cuda:metrics={metrics}", []))
        origin = context.clips.origin(f"ref_{clip}")
        context.numbers[name] = {"decode_fps": decode, "scored_fps": scored, "clips": origin}
        middle = [statistics.median(values) for values in (decode, scored)]
        context.report.check(name, min(decode + scored) > 0,
                             f"decoding alone {middle[0]:.0f} fps ({min(decode):.0f} to {max(decode):.0f}), scored {middle[1]:.0f} "
                             f"fps ({min(scored):.0f} to {max(scored):.0f}), {100 * middle[1] / max(middle[0], 1):.1f} %, {origin}")


def frames_per_second(context, clips, graph, maps):
    command = [context.ffmpeg, "-hide_banner", "-nostdin", "-benchmark"]
    for clip in clips:
        command += [*HARDWARE, "-i", clip]
    command += ["-lavfi", graph, *maps, "-f", "null", "-"]
    start = time.monotonic()
    done = context.run(command, timeout=200)
    seconds = time.monotonic() - start
    frames = re.findall(r"frame=\s*(\d+)", done.stdout)
    return int(frames[-1]) / seconds if frames and done.returncode == 0 else 0.0


def looped_clip(context, name, frames):
    """A clip repeated until it has about so many frames: elementary streams concatenate."""
    times = max(1, round(frames / context.clips.frames(name)))
    path = os.path.join(context.out, f"x{times}_{name}")
    with open(context.clips.path(name), "rb") as source:
        data = source.read()
    with open(path, "wb") as target:
        for _ in range(times):
            target.write(data)
    return path
