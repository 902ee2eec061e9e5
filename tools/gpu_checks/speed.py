# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The speed tables of docs/performance.md: the engine alone, and ffmpeg from NVDEC to scores."""

import contextlib
import json
import os
import re
import statistics
import time

from gpu_checks.pipelines import HARDWARE
from gpu_checks.report import last_lines, run

# Clips, how often they are repeated, metrics.
END_TO_END = [("1080p.hevc", 24, "all"), ("1080p.h264", 12, "vmaf+ssimulacra2"), ("1080p.h264", 12, "vmaf"), ("2160p.h264", 12, "vmaf")]


def benched(every_metric, quick):
    """Arguments of quality_bench; the long ones are left out with --quick. The first has all metrics one by one and at once."""
    parts = ",".join(every_metric)
    short = [["-m", parts + ",vmaf,all", "-b", "1,4,16"],
             ["-m", "vmaf", "-M", "vmaf_v1.0.16_3d0h", "-b", "1,4,16", "-l", "nv12,p010le"],
             ["-m", "ssimulacra2", "-o", "ssimulacra2.prune=1", "-s", "1920x1080,3840x2160"]]
    long = [["-m", parts + ",vmaf", "-s", "3840x2160", "-l", "nv12,p010le", "-b", "4,16"],
            ["-m", parts + ",vmaf", "-l", "p010le"], ["-u", "-m", "vmaf,ssimulacra2"]]
    return short + ([] if quick else long)

def bench(context):
    context.numbers["bench"] = []
    repetitions = ["-r", "3", "-d", "0.1"] if context.quick else []
    runs = benched(context.words_of_metrics(), context.quick)
    for number, arguments in enumerate(runs):
        path = os.path.join(context.out, f"bench-{number}.json")
        with contextlib.suppress(OSError):
            os.remove(path)
        name = "bench " + " ".join(arguments)
        done = run([context.tool("tools", "bench", "quality_bench"), "-k", "cuda", *arguments, "-j", path, *repetitions], timeout=900)
        print(done.stdout)
        if context.report.check(name, done.returncode == 0 and os.path.exists(path), "" if done.returncode == 0 else last_lines(done.stdout)):
            with open(path, encoding="utf-8") as file:
                context.numbers["bench"] += [dict(row, arguments=" ".join(arguments)) for row in json.load(file)]
    sum_of_parts(context, " ".join(runs[0]))
    end_to_end(context)


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


def end_to_end(context):
    """Frames per second of NVDEC alone and of NVDEC with scores, on looped clips, by turns."""
    for clip, times, metrics in END_TO_END:
        name = f"end to end {clip} {metrics}"
        clips = [context.bench_clip(f"{side}_{clip}") for side in ("dist", "ref")]
        if not all(map(os.path.exists, clips)):
            context.report.add(name, "skipped", "the clips are not there")
            continue
        looped = [repeat_clip(path, context.out, times) for path in clips]
        decode, scored = [], []
        for _ in range(1 if context.quick else 3):
            decode.append(frames_per_second(context, looped, "[0:v]null[a];[1:v]nullsink", ["-map", "[a]"]))
            scored.append(frames_per_second(context, looped, f"quality_cuda=backend=cuda:metrics={metrics}", []))
        context.numbers[name] = {"decode_fps": decode, "scored_fps": scored}
        middle = [statistics.median(values) for values in (decode, scored)]
        context.report.check(name, min(decode + scored) > 0,
                             f"decoding alone {middle[0]:.0f} fps ({min(decode):.0f} to {max(decode):.0f}), scored {middle[1]:.0f} "
                             f"fps ({min(scored):.0f} to {max(scored):.0f}), {100 * middle[1] / max(middle[0], 1):.1f} %")


def frames_per_second(context, clips, graph, maps):
    command = [context.ffmpeg, "-hide_banner", "-nostdin", "-benchmark"]
    for clip in clips:
        command += [*HARDWARE, "-i", clip]
    command += ["-lavfi", graph, *maps, "-f", "null", "-"]
    start = time.monotonic()
    done = run(command, timeout=200)
    seconds = time.monotonic() - start
    frames = re.findall(r"frame=\s*(\d+)", done.stdout)
    return int(frames[-1]) / seconds if frames and done.returncode == 0 else 0.0


def repeat_clip(clip, folder, times):
    """Elementary streams concatenate."""
    path = os.path.join(folder, f"x{times}_" + os.path.basename(clip))
    with open(clip, "rb") as source:
        data = source.read()
    with open(path, "wb") as target:
        for _ in range(times):
            target.write(data)
    return path
