# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Memory over a long run: what a process holds while its frames flow.

A process that begins still takes memory, and one that ends already gives it back; neither says anything of growth. So only
samples between FIRST and LAST of the run count, and the middle of the first third of that stretch is held against the
middle of its last third. Pages of files do not count: the system loads and drops them as it likes.
"""

import contextlib
import dataclasses
import os
import re
import statistics
import subprocess
import time

from gpu_checks import plan
from gpu_checks.report import run, say, started

FIRST, LAST = 0.10, 0.95  # shares of the run's frames
LEAST_SAMPLES = 4         # in each of the outer thirds
LARGEST_GROWTH = 0.01     # of what the first third holds
# The C library gives each new thread one of many arenas, and keeps what each of them ever held: where threads come and go, memory
# that nobody holds rises for hours to a bound. In one arena what is given back is used again.
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}


@dataclasses.dataclass(frozen=True)
class Sample:
    frame: int         # that had left when the memory had been read
    resident_kib: int
    own_kib: int       # of it: except for pages of files
    gpu_mib: int


def outer_thirds(samples, frames):
    """Those of the first and of the last third of what counts of a run."""
    begin, end = FIRST * frames, LAST * frames
    third = (end - begin) / 3
    return [s for s in samples if begin <= s.frame <= begin + third], [s for s in samples if end - third <= s.frame <= end]


def middles(name, *parts):
    return [statistics.median(getattr(s, name) for s in part) for part in parts]


def judge(samples, frames):
    """(None or what is wrong, what was found as text). `frames`: of the whole run."""
    early, late = outer_thirds(samples, frames)
    found = f"{len(samples)} samples, {len(early)} early, {len(late)} late"
    if min(len(early), len(late)) < LEAST_SAMPLES:
        return f"too few samples, {LEAST_SAMPLES} in each of the outer thirds are needed", found
    resident, own, gpu = (middles(name, early, late) for name in ("resident_kib", "own_kib", "gpu_mib"))
    grown = []
    for unit, (first, last), whole in (("KiB of its own", own, resident[0]), ("MiB of GPU memory", gpu, gpu[0])):
        found += f"; {first:.0f} to {last:.0f} {unit}"
        if min(first, last, whole) <= 0:
            grown.append(f"{unit} could not be read")
        elif last - first > whole * LARGEST_GROWTH:
            grown.append(f"{unit} grew by {100 * (last - first) / whole:.1f} %")
    return ", ".join(grown) or None, f"{found}; {resident[0]:.0f} KiB resident"


def gpu_memory_mib():
    device = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    done = run(["nvidia-smi", *(["-i", device] if device else []), "--query-gpu=memory.used", "--format=csv,noheader,nounits"], timeout=30)
    match = re.search(r"\d+", done.stdout) if done.returncode == 0 else None
    return int(match.group()) if match else 0


def facts_of(pid):
    """What the system says of a process, by name: sizes in KiB, and counts. Empty when it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+)", file.read(), re.MULTILINE)}
    except OSError:
        return {}


def held_by(pid):
    """(resident, its own) memory, KiB; zeroes when it is gone."""
    facts = facts_of(pid)
    resident = facts.get("VmRSS", 0)
    return resident, resident - facts.get("RssFile", 0)


def last_frame(progress):
    """Of a file that ffmpeg's -progress writes; -1 before the first report."""
    try:
        with open(progress, encoding="utf-8") as file:
            frames = re.findall(r"^frame=(\d+)", file.read(), re.MULTILINE)
    except OSError:
        frames = []
    return int(frames[-1]) if frames else -1


def sample(command, progress, timeout, read_gpu=gpu_memory_mib):
    """Runs a command. Returns (exit status, samples), as many as can be read: a fast GPU needs only seconds for the run."""
    with contextlib.suppress(OSError):
        os.remove(progress)
    samples = []
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **ONE_ARENA}) as process:
        start = time.monotonic()
        while process.poll() is None:
            time.sleep(0.02)
            held, gpu = held_by(process.pid), read_gpu()
            frame = last_frame(progress)
            if process.poll() is None and frame >= 0:
                samples.append(Sample(frame, *held, gpu))
            if time.monotonic() - start > timeout:
                process.kill()
    return process.returncode, samples


def check(context):
    """100,000 frames through ffmpeg; fewer with --quick, or where little time is left."""
    frames = plan.memory_frames(context.quick, context.left())
    if frames != plan.LONG_RUN:
        say(f"memory: {frames} frames instead of {plan.LONG_RUN} (" + ("--quick)" if context.quick else f"--budget leaves {context.left():.0f} s)"))
    # Small pictures: how many of them wait in FFmpeg's queues rises, up to a bound, whenever a thread is held up.
    source = "testsrc2=size=320x180:rate=50"
    progress = os.path.join(context.out, "progress.txt")
    command = [context.ffmpeg, "-hide_banner", "-nostdin", "-v", "info", "-stats_period", "0.05", "-f", "lavfi", "-i", source,
               "-f", "lavfi", "-i", source,
               "-lavfi", f"[0:v]noise=alls=4[d];[d][1:v]quality_cuda=backend=cuda:log_path={context.out}/long.json",
               "-frames:v", str(frames), "-progress", progress, "-f", "null", "-"]
    timeout = min(500, context.left())
    status, samples = sample(command, progress, timeout)
    wrong, found = judge(samples, frames)
    if status != 0:
        wrong = f"ffmpeg ended with {status} (it had {timeout:.0f} s)"
    context.numbers["memory"] = {"frames": frames, "samples": [dataclasses.astuple(s) for s in samples]}
    context.report.check("memory stays flat", wrong is None, f"{wrong}; {found}" if wrong else f"{frames} frames, {found}")
