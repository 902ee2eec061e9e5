# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How long a live stream's frames wait for their scores: both inputs read at 60 frames a second, NVDEC, 1080p, VMAF and
SSIMULACRA 2. Each frame prints a line when it comes to the filter and when it leaves it.

The pace is that of reading (-re), which has threads of its own from FFmpeg 7 on; a filter that paces would keep the graph's only
thread asleep while scores are there. Up to FFmpeg 6 that thread reads, decodes and filters, and frames come several at once.

A frame leaves with its scores when as many later ones have come as the metrics look at, and one more; so what counts is how long
after that one's coming it left."""

import re
import statistics
import subprocess
import time

from gpu_checks.pipelines import HARDWARE
from gpu_checks.report import last_lines, started
from gpu_checks.speed import looped_clip

RATE, SECONDS = 60, 5
LOOK_AHEAD = 1     # frames: VMAF's motion wants the frame behind
BEYOND = 1         # frames that are held beyond those
LATE = 0.01        # share of the frames that may leave later: this is no system for real time
FIRST = RATE       # frames that are not judged: the decoders begin with several at once, and the first five decide the rate
LINE = re.compile(r"(main|reference|out)=")


def events_of(lines):
    """{"main" | "reference" | "out": [seconds of its frames]} of (seconds, line)."""
    found = {"main": [], "reference": [], "out": []}
    for seconds, line in lines:
        match = LINE.match(line)
        if match:
            found[match[1]].append(seconds)
    return found


def waits_of(events):
    """[(seconds from a pair's arrival to its scores, seconds of these behind the arrival that it had to wait for)] of its frames."""
    arrived = [max(pair) for pair in zip(events["main"], events["reference"])]
    awaited = arrived[LOOK_AHEAD + BEYOND:]
    return [(gone - come, gone - last) for come, last, gone in zip(arrived, awaited, events["out"])]


def command_for(ffmpeg, distorted, reference):
    """Marks are tags of the frames: those of the distorted ones would show again behind the filter, under another name."""
    def marked(name):
        return f"metadata=mode=add:key={name}:value=1,{printed(name)}"

    def printed(key):
        return f"metadata=mode=print:key={key}:file=pipe\\\\:1:direct=1"

    inputs = []
    for clip in (distorted, reference):
        inputs += [*HARDWARE, "-re", "-r", str(RATE), "-i", clip]
    graph = (f"[0:v]{marked('main')}[d];[1:v]{marked('reference')}[r];[d][r]quality_cuda=backend=cuda:metrics=vmaf+ssimulacra2,"
             f"metadata=mode=select:key=lavfi.quality_cuda.vmaf,{marked('out')}")
    return [ffmpeg, "-hide_banner", "-nostdin", "-nostats", *inputs, "-lavfi", graph, "-f", "null", "-"]


def has_threads(ffmpeg):
    """Whether inputs, decoders and graph have threads of their own, as from FFmpeg 7 on, which brought loopback decoders."""
    done = subprocess.run([ffmpeg, "-hide_banner", "-dec", "0:0"], capture_output=True, text=True, errors="replace", check=False)
    return "Unrecognized option 'dec'" not in done.stdout + done.stderr


def check(context, name):
    if not has_threads(context.ffmpeg):
        context.report.add(name, "skipped", "this ffmpeg reads, decodes and filters in one thread, so that frames come several at once")
        return
    command = command_for(context.ffmpeg, *(looped_clip(context, clip, RATE * SECONDS) for clip in ("dist_1080p.h264", "ref_1080p.h264")))
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        lines = [(time.monotonic(), line) for line in process.stdout]
    waits = waits_of(events_of(lines))[FIRST:]
    if process.returncode != 0 or len(waits) < RATE:
        context.report.add(name, "failed", f"exit {process.returncode}, {len(waits)} frames: {last_lines(''.join(line for _, line in lines))}")
        return
    milliseconds, behind = (sorted(1000 * wait[i] for wait in waits) for i in (0, 1))
    late = sum(wait > 1000 / RATE for wait in behind)
    context.numbers[name] = {"milliseconds": milliseconds, "behind": behind}
    context.report.check(name, late <= LATE * len(waits),
                         f"{len(waits)} frames at {RATE} a second, median {statistics.median(milliseconds):.1f} ms, 99 % below "
                         f"{milliseconds[len(milliseconds) * 99 // 100]:.1f}, longest {milliseconds[-1]:.1f}; behind the arrival of the next but "
                         f"one, which VMAF's look-ahead and the queue want: median {statistics.median(behind):.1f}, longest {behind[-1]:.1f}; "
                         f"{late} later than the next frame")
