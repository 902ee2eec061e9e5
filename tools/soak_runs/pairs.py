# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which frames are compared with which, and what is counted: docs/reference/ffmpeg.md's rules, restated over whole lists of frames.

The filter sees its inputs frame by frame and never looks back; here all frames are known, and every main frame looks at all
frames of the other inputs. Nothing is shared with the filter but the words.
"""

import dataclasses
import math
from fractions import Fraction

HIGHEST_RATE = 1000
UNKNOWN_RATE_TOLERANCE = Fraction(20, 1000)  # seconds
RATE_FRAMES = 5
LONGEST_TAIL = 100       # frames that are read behind the main input's end
# The filter rounds distances to a microsecond where it holds them against the tolerance: nothing is predicted nearer than this.
UNSURE = Fraction(3, 10 ** 6)
EQUAL = Fraction(1, 10 ** 9)

BEFORE, GAP, ENDED, UNTIMED = "before", "gap", "ended", "untimed"


class Unsure(Exception):
    """A distance so near to the tolerance that the documentation does not say what happens."""


@dataclasses.dataclass(frozen=True)
class Rules:
    sync: str = "nearest"
    eof_action: str = "pass"
    max_dt: Fraction = Fraction(0)  # 0: not asked for
    align_start: bool = False
    n_subsample: int = 1
    allow_unpaired: bool = False


def rate_to_go_by(claimed, times, tick, sync):
    """The frame rate in 1/s, 0 if it is unknown. `times`: of the main input. `claimed`: 0 for no claim, then nothing is measured."""
    if claimed <= 0:
        return Fraction(0)
    if sync == "index":
        return claimed if claimed <= HIGHEST_RATE else Fraction(0)
    first = times[:RATE_FRAMES]
    steps = sorted(after - before for before, after in zip(first, first[1:]) if before is not None and after is not None)
    if not steps:
        return claimed if claimed <= HIGHEST_RATE else Fraction(0)
    median = (steps[(len(steps) - 1) // 2] + steps[len(steps) // 2]) / 2
    in_frames, slack = median * claimed, tick * claimed
    for bound in (in_frames - slack - Fraction(3, 2), in_frames + slack - Fraction(2, 3)):
        if abs(bound) < EQUAL:
            raise Unsure
    if claimed <= HIGHEST_RATE and in_frames - slack < Fraction(3, 2) and in_frames + slack > Fraction(2, 3):
        return claimed
    return 1 / median if 1 / median <= HIGHEST_RATE else Fraction(0)


def tolerance(max_dt, rate, claimed):
    if max_dt > 0:
        return max_dt
    half = Fraction(1, 2) / rate if rate > 0 else UNKNOWN_RATE_TOLERANCE
    return half if rate == claimed else min(half, UNKNOWN_RATE_TOLERANCE)


def is_within(distance, limit, at_limit=True):
    if abs(distance - limit) <= EQUAL:
        return at_limit
    if abs(distance - limit) <= UNSURE:
        raise Unsure
    return distance < limit


def partner(rules, limit, times, number, time, second):
    """Of one main frame among an input's frames: a number, or why there is none. Times are in ticks, `second` has so many of
    them; `limit`: the tolerance in seconds."""
    if rules.sync == "index":
        if number < len(times):
            return number
        return len(times) - 1 if rules.eof_action == "repeat" and times else ENDED
    if time is None:
        return UNTIMED
    timed = [index for index, other in enumerate(times) if other is not None]
    earlier = [index for index in timed if times[index] <= time]
    goes_on = len(earlier) < len(timed)
    if rules.sync == "floor":
        best = earlier[-1] if earlier else None
        if best is None:
            near = False
        elif rules.max_dt > 0:
            near = is_within(Fraction(time - times[best], second), limit)
        else:
            near = goes_on or is_within(Fraction(time - times[best], second), 2 * limit, at_limit=False)
    else:
        best = min(timed, key=lambda index: (abs(times[index] - time), times[index]), default=None)
        near = best is not None and is_within(Fraction(abs(times[best] - time), second), limit)
    if near:
        return best
    if not goes_on:
        return earlier[-1] if rules.eof_action == "repeat" and earlier else ENDED
    return GAP if earlier else BEFORE


@dataclasses.dataclass
class Decision:
    """What becomes of one main frame."""
    main: int
    disabled: bool
    partners: list         # of the reference, then of further renditions: numbers or reasons

    @property
    def is_pair(self):
        return isinstance(self.partners[0], int) and not self.disabled

    def has(self, rendition):
        """Whether the rendition has scores of it; 0 is the main input itself."""
        return self.is_pair and (rendition == 0 or isinstance(self.partners[rendition], int))


@dataclasses.dataclass
class Row:
    """A pair, as statistics and logs show it."""
    number: int            # among the pairs
    decision: Decision


class Account:
    """All that a run says of its pairs. `times`: exact seconds by input, None for a frame that has no stamp; of the main one, the
    reference, and further renditions."""

    def __init__(self, rules, claimed_rate, tick, times, is_disabled=lambda number: False):
        self.rules = rules
        self.second = math.lcm(*(time.denominator for each in times for time in each if time is not None))
        self.times = [self.in_ticks(each, rules.align_start) for each in times]
        self.rate = rate_to_go_by(claimed_rate, times[0], tick, rules.sync)
        self.max_dt = tolerance(rules.max_dt, self.rate, claimed_rate)
        self.decisions = []
        for number, time in enumerate(self.times[0]):
            partners = [partner(rules, self.max_dt, track, number, time, self.second) for track in self.times[1:]]
            if partners[0] == ENDED and rules.eof_action == "endall":
                break
            self.decisions.append(Decision(number, is_disabled(number), partners))

    def in_ticks(self, times, from_start):
        start = next((time for time in times if time is not None), 0) if from_start else 0
        return [None if time is None else int((time - start) * self.second) for time in times]

    def rows(self, left=None, rendition=0):
        """Those with scores, of the first `left` main frames."""
        pairs = [decision for decision in self.decisions[:left] if decision.is_pair]
        return [Row(number, decision) for number, decision in enumerate(pairs)
                if number % self.rules.n_subsample == 0 and decision.has(rendition)]

    def counts(self, left=None, rendition=0):
        """The log's "pairing". `left`: so many frames left before an early stop; None: the inputs ended."""
        decisions = self.decisions[:left]
        unpaired = [d for d in decisions if not d.is_pair]
        enabled = [d.partners[0] for d in unpaired if not d.disabled]
        lacking = [d.partners[rendition] for d in decisions if d.is_pair and not d.has(rendition)]
        pairs = [d for d in decisions if d.has(rendition)]
        found = {"frames": len(decisions), "paired": len(pairs), "scored": len(self.rows(left, rendition)),
                 "before_reference": enabled.count(BEFORE), "after_reference": enabled.count(ENDED), "gaps": enabled.count(GAP),
                 "disabled": len(unpaired) - len(enabled), "untimed": enabled.count(UNTIMED), "unscored": len(unpaired) + len(lacking),
                 "reference_repeated": self.repeated(decisions, 1), "reference_unused": self.unused(left, 1),
                 "reference_ended": None if left is not None or self.refused() else self.ends(1)}
        if rendition:
            found |= {"rendition_late": lacking.count(BEFORE), "rendition_gaps": lacking.count(GAP),
                      "rendition_ended": lacking.count(ENDED), "rendition_repeated": self.repeated(decisions, rendition + 1),
                      "rendition_unused": self.unused(left, rendition + 1)}
        distances = self.distances(pairs, rendition)
        found["max_abs_dt"] = max(map(abs, distances), default=0.0)
        found["mean_dt"] = sum(distances) / len(distances) if distances else 0.0
        return found | {"frame_rate": float(self.rate), "max_dt": float(self.max_dt)}

    def distances(self, pairs, rendition):
        """Of the reference's frames from the main input's, or of the rendition's."""
        if self.rules.sync == "index":
            return []
        return [(self.times[rendition + 1][d.partners[rendition]] - self.times[0][d.main]) / self.second for d in pairs]

    @staticmethod
    def used(decisions, track):
        """Numbers of the input's frames that pairs use, as often as they do."""
        return [d.partners[track - 1] for d in decisions if d.is_pair and isinstance(d.partners[track - 1], int)]

    def repeated(self, decisions, track):
        used = self.used(decisions, track)
        return len(used) - len(set(used))

    def unused(self, left, track):
        """Of the frames that were read: all of a run to the end, else those that were passed by for good."""
        if left is None:
            return min(len(self.times[track]), self.read(track) + LONGEST_TAIL) - len(set(self.used(self.decisions, track)))
        if left == 0:
            return 0
        return len(set(range(self.passed_by(left, track))) - set(self.used(self.decisions[:left - 1], track)))

    def asked(self):
        """So many main frames asked for a partner: with endall one more than those that left."""
        return min(len(self.decisions) + 1, len(self.times[0]))

    def read(self, track):
        """So many frames of the input have been read when the last main frame has got its answer."""
        times, asked = self.times[track], self.asked()
        if self.rules.sync == "index":
            return min(asked, len(times))
        if not asked:
            return 0
        last = max((time for time in self.times[0][:asked] if time is not None), default=None)
        if last is None:
            return 0
        return next((index + 1 for index, time in enumerate(times) if time is not None and time >= last), len(times))

    def ends(self, track):
        """Whether the input's end was reached; None where it ends just where reading does."""
        rest = len(self.times[track]) - self.read(track)
        return None if rest == LONGEST_TAIL else rest < LONGEST_TAIL

    def passed_by(self, left, track):
        """So many frames of the input lie before the one that is kept for the frame that left last."""
        times = self.times[track]
        if self.rules.sync == "index":
            return max(min(left - 2, len(times) - 1), 0)
        return max(sum(time <= self.times[0][left - 1] for time in times) - 1, 0)

    def lacks(self, rendition, left=None):
        """Frames that only the rendition withholds."""
        return sum(d.is_pair and not d.has(rendition) for d in self.decisions[:left])

    def mispaired(self, rendition, left=None):
        """How the error begins that says that a rendition has too few pairs; else None."""
        if self.rules.allow_unpaired:
            return None
        decisions = self.decisions[:left]
        switched = [False, *(d.disabled for d in decisions)]
        restarts = sum(before and not after for before, after in zip(switched, switched[1:]))
        paired = sum(d.has(rendition) for d in decisions)
        lost = sum(d.partners[0] in (GAP, UNTIMED) and not d.disabled or d.is_pair and d.partners[rendition] == GAP for d in decisions)
        return f"only {paired} of {paired + lost} frames" if lost > paired + restarts else None

    def refused(self, left=None):
        """How the error begins that ends a run whose main input has too few pairs, or none; else None."""
        decisions = self.decisions[:left]
        if self.rules.allow_unpaired or self.mispaired(0, left):
            return self.mispaired(0, left)
        meant = [d for d in decisions if not d.disabled]
        if any(d.is_pair for d in decisions) or not (meant or (left is None and not decisions)):
            return None
        return "no frame was scored"

    def fails(self, left=None):
        """Whether the run ends with an error: of its own, or of a further rendition that has too few pairs."""
        return bool(self.refused(left)) or any(self.mispaired(rendition, left) for rendition in range(1, len(self.times) - 1))
