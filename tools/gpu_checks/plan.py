# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which parts of gpu-check run side by side, and how much of the time each may take.

Some parts need the machine for themselves: `errors` takes the GPU's memory, `memory` reads how much of it is used, `latency`
and `bench` measure time. The others keep the CPU's cores and the GPU busy together, first. What they take is not known before, so
the time that the parts alone cannot do without is kept for those, and these make do with what is left.
"""

import dataclasses
import time

PARTS = ["clips", "checks", "sanitizers", "goldens", "filter", "pipelines", "errors", "latency", "memory", "bench"]
ALONE = ("errors", "latency", "memory", "bench")
NEED_CLIPS = {"clips", "pipelines", "errors", "latency", "bench"}
LEAST_SECONDS = {"errors": 15, "latency": 12, "memory": 40, "bench": 120}  # of the parts alone, at their shortest
LEAST_CPUS = 8            # to run parts side by side
MIB_PER_SANITIZER = 2048  # of GPU memory
DEFAULT_BUDGET = 560      # seconds: ten minutes, less some for unpacking and starting


class Budget:
    """Seconds that a whole run may take; 0: as many as it needs."""

    def __init__(self, seconds, now=time.monotonic):
        self.seconds, self._now, self._start = seconds, now, now()

    def spent(self):
        return self._now() - self._start

    def left(self, kept=0.0):
        """Seconds until the end, less those that are kept for later parts."""
        return self.seconds - kept - self.spent() if self.seconds else float("inf")


def groups(wanted, cpus):
    """[[part, ...], ...]: the parts of a group run side by side, the groups one after the other."""
    together = [part for part in PARTS if part in wanted and part not in ALONE]
    alone = [[part] for part in ALONE if part in wanted]
    return ([together] if cpus >= LEAST_CPUS and together else [[part] for part in together]) + alone


def kept_after(group, wanted):
    """Seconds to keep for the parts that run alone after a group's."""
    later = ALONE[ALONE.index(group[-1]) + 1:] if group[-1] in ALONE else ALONE
    return sum(LEAST_SECONDS[part] for part in later if part in wanted)


def gpus(visible, count):
    """
    What CUDA_VISIBLE_DEVICES calls the GPUs that a process may use.

    @param visible  the variable, None if it is not set
    @param count    of the machine's GPUs
    """
    return visible.split(",") if visible else [str(number) for number in range(max(1, count))]


def sanitizers_at_once(cpus, gpu_mib, gpus=1):
    """Three quarters of the cores, for the rest has to do too; as many as the memory of so many GPUs holds, where that is known."""
    return max(1, min(cpus * 3 // 4, gpus * (gpu_mib // MIB_PER_SANITIZER) if gpu_mib else cpus))


# ---- how long the parts take that can be shorter -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Thoroughness:
    """Of `bench`."""
    repetitions: int     # of a row of quality_bench
    seconds: float       # of a repetition, about
    rounds: int          # of decoding alone and decoding with scores
    frames: float = 1.0  # share of the usual frames of a round

    def seconds_for(self, rows, usual_frames_seconds):
        """What it takes, about. A row needs a session, and finds out first how many pairs take its seconds."""
        row = 0.2 + 1.3 * self.seconds * (self.repetitions + 0.5)
        return rows * row + self.rounds * self.frames * usual_frames_seconds

    def __str__(self):
        return (f"{self.repetitions} repetitions of {self.seconds} s, {self.rounds} rounds of "
                f"{100 * self.frames:.0f} % of the frames end to end")


THOROUGH = Thoroughness(7, 0.5, 3)
QUICK = Thoroughness(3, 0.1, 1)
SHORTEST = Thoroughness(3, 0.05, 1, 0.5)
DEGREES = [THOROUGH, Thoroughness(5, 0.2, 3), Thoroughness(3, 0.1, 3), Thoroughness(3, 0.1, 1), Thoroughness(3, 0.05, 1), SHORTEST]


def thoroughness(rows, usual_frames_seconds, left):
    """The most thorough one that the time left allows, and the shortest one in any case."""
    return next((degree for degree in DEGREES if degree.seconds_for(rows, usual_frames_seconds) <= left), SHORTEST)


# Frames of `memory`. A process goes on taking memory in its first ten seconds or so, in which a GPU scores the short run.
LONG_RUN, SHORT_RUN = 100000, 20000
LONG_RUN_SECONDS = 120


def memory_frames(quick, left):
    return SHORT_RUN if quick or left < LONG_RUN_SECONDS else LONG_RUN
