# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Many processes on one GPU: decoders begin and end while others score, which is when calls of the driver get into each other's way."""

import concurrent.futures
import os
import shlex
import time

from gpu_checks.pipelines import HARDWARE, metrics_of, read_json
from gpu_checks.report import last_lines

REFERENCE = "ref_1080p.h264"
RENDITIONS = ["dist_1080p.h264", "dist_720p.h264"]
PROCESSES = 8   # at once
SECONDS = 20
TIMEOUT = 120   # of one


def scores(context, clips, number):
    """One run of ffmpeg. Returns (process, frames of each rendition)."""
    log = os.path.join(context.out, f"crowd{number}.json")
    inputs = [word for clip in clips for word in [*HARDWARE, "-i", clip]]
    graph = f"quality_cuda=backend=cuda:metrics=vmaf:renditions={len(RENDITIONS)}:scale=bicubic:log_path={log}"
    done = context.run([context.ffmpeg, "-hide_banner", "-nostdin", *inputs, "-lavfi", graph, "-f", "null", "-"], timeout=TIMEOUT)
    return done, [metrics_of(read_json(path)) for path in (log, log.replace(".json", ".rendition1.json"))]


def repeat(context, clips, number, alone, end):
    """Runs until `end`. Returns (how many, what was wrong)."""
    count, wrong = 0, []
    while time.monotonic() < end:
        done, found = scores(context, clips, number)
        count += 1
        if done.returncode != 0:
            wrong.append(f"exit {done.returncode}: {last_lines(done.stdout, 3)}")
        elif found != alone:
            wrong.append("other scores")
    return count, wrong


def crowd(context, name):
    clips = [context.clips.path(clip) for clip in (RENDITIONS[0], REFERENCE, *RENDITIONS[1:])]
    first, alone = scores(context, clips, 0)
    if not context.report.check(f"{name}: alone", first.returncode == 0 and all(alone), last_lines(first.stdout, 3) if first.returncode else
                                f"{[len(frames) for frames in alone]} frames"):
        return
    end = time.monotonic() + SECONDS
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        results = list(pool.map(lambda number: repeat(context, clips, number, alone, end), range(PROCESSES)))
    runs, wrong = sum(count for count, _ in results), [text for _, texts in results for text in texts]
    context.report.check(name, runs >= PROCESSES and not wrong, f"{runs} runs, {PROCESSES} at once, "
                         + (f"{len(wrong)} wrong: {shlex.join(wrong[:3])}" if wrong else "each with the scores of one alone"))
