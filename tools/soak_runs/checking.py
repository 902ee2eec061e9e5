# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Holds what a graph left against what the plain computation says."""

import hashlib
import math
import os
import re
import signal

from soak_runs import graphs, pictures
from soak_runs.running import OLD_LOG, read_log

HALF_A_DIGIT = 1.01e-6     # of six decimals, with both sides rounded
HALF_A_CENT = 0.0051       # of two decimals
INFINITE_IF_EQUAL = ("xpsnr", "psnr_hvs")


class Wrong(Exception):
    pass


def require(good, text):
    if not good:
        raise Wrong(text)


def equal(found, expected, what):
    if isinstance(found, list) and isinstance(expected, list) and found != expected:
        at = next((index for index, (one, other) in enumerate(zip(found, expected)) if one != other), min(len(found), len(expected)))
        raise Wrong(f"{what}: {len(found)} of them, expected {len(expected)}; number {at} is {found[at:at + 1]}, not {expected[at:at + 1]}")
    require(found == expected, f"{what}: {found!r}, expected {expected!r}")


def near(found, expected, slack, what):
    found = float(found)
    require(found == expected or abs(found - expected) <= slack, f"{what}: {found!r}, expected {expected!r}")


class Check:
    """Of one filter of a graph. Collects nothing: the first thing that is wrong ends it."""

    def __init__(self, graph, number, outcome):
        self.graph, self.number, self.outcome = graph, number, outcome
        self.instance = graph.filters[number]
        self.account = graph.account(self.instance)
        self.inputs = [graph.inputs[index] for index in self.instance.inputs]
        self.depth = pictures.scored_depth([each.layout for each in self.inputs], self.instance.bitdepth)

    # ---- what the plain computation says -----------------------------------------------------------------------------

    @property
    def renditions(self):
        return len(self.inputs) - 1

    def main_of(self, rendition):
        return self.inputs[rendition + 1 if rendition else 0]

    def sides(self, row, rendition):
        """(layout, picture) of the distorted and of the reference frame."""
        number = row.decision.partners[rendition] if rendition else row.decision.main
        distorted, reference = self.main_of(rendition), self.inputs[1]
        return ((distorted.layout, distorted.pictures[number]),
                (reference.layout, reference.pictures[row.decision.partners[0]]))

    def expected_scores(self, row, rendition):
        sides = self.sides(row, rendition)
        scores, metrics = {}, self.instance.metrics.split("+")
        if "psnr" in metrics:
            scores |= pictures.psnr_scores(self.graph.size, self.depth, *sides)
        if "moment" in metrics:
            scores |= pictures.moment_scores(self.graph.size, self.depth, *sides)
        return scores

    def left(self):
        """So many frames leave before an early end; None if all do."""
        if self.graph.ending == "frames":
            return self.graph.stop + 1
        if self.graph.ending != "time":
            return None
        times = self.inputs[0].times
        within = sum(time - times[0] < self.graph.stop for time in times)
        return within + 1 if within < len(self.account.decisions) else None

    # ---- scores ------------------------------------------------------------------------------------------------------

    def check_scores(self, found, row, rendition, prefix, where):
        """found: {key: value or text}."""
        for key, expected in self.expected_scores(row, rendition).items():
            require(prefix + key in found, f"{where}: no {prefix}{key}")
            # 16-bit samples are squared in single precision, as libvmaf does.
            slack = expected * 1e-6 if key.endswith("2nd") and self.depth > 12 else HALF_A_DIGIT
            near(found[prefix + key], expected, slack, f"{where}: {prefix}{key}")
        for key, value in found.items():
            is_number = value is not None and math.isfinite(float(value))
            require(is_number or key.startswith(INFINITE_IF_EQUAL, len(prefix)), f"{where}: {key} is {value}")
        if self.instance.metrics in graphs.IDENTICAL_SCORES:
            metric, identical = self.instance.metrics, graphs.IDENTICAL_SCORES[self.instance.metrics]
            first, second = self.sides(row, rendition)
            same = not any(pictures.squared_errors(self.graph.size, self.depth, first, second)) and \
                first[1].fine << (self.depth - first[0].depth) == second[1].fine << (self.depth - second[0].depth)
            value = float(found[prefix + metric])
            require((value == identical) == same, f"{where}: {metric} is {value}, the pictures are {'equal' if same else 'different'}")

    def check_log_rows(self, log, left, rendition, name):
        rows = self.account.rows(left, rendition)
        equal([number for number, _ in log.rows], [row.number for row in rows], f"{name}: numbers of its frames")
        for (number, scores), row in zip(log.rows, rows):
            self.check_scores(scores, row, rendition, "", f"{name} frame {number}")
        for key, pooled in (log.pooled or {}).items():
            values = [scores[key] for _, scores in log.rows]
            if not values or None in values:
                continue
            for kind, value in (("min", min(values)), ("max", max(values)), ("mean", math.fsum(values) / len(values))):
                near(pooled[kind], value, 2e-6, f"{name}: {kind} of {key}")

    def check_stats(self, left):
        rows, lines = self.account.rows(left), self.outcome.stats(self.number)
        if self.instance.stats_format == "psnr":
            equal([int(line["n"]) for line in lines], [row.number + 1 for row in rows], "stats_file: numbers of its lines")
            for line, row in zip(lines, rows):
                for key, value in pictures.psnr_line(self.graph.size, self.depth, *self.sides(row, 0)).items():
                    near(line[key], value, HALF_A_CENT, f"stats_file line {line['n']}: {key}")
            return
        equal([int(line["n"]) for line in lines], [row.number for row in rows], "stats_file: numbers of its lines")
        for line, row in zip(lines, rows):
            where = f"stats_file line {line['n']}"
            near(line["pts_time"], float(self.inputs[0].times[row.decision.main]), HALF_A_DIGIT, f"{where}: pts_time")
            self.check_row(line, row, where)

    def check_row(self, found, row, where):
        """Of stats_file or metadata: scores of all renditions."""
        near(found["ref_pts_time"], float(self.inputs[1].times[row.decision.partners[0]]), HALF_A_DIGIT, f"{where}: ref_pts_time")
        for rendition in range(self.renditions):
            prefix = f"{rendition}." if rendition else ""
            own = {key: value for key, value in found.items() if key.startswith(prefix) and key not in ("n", "pts_time", "ref_pts_time")
                   and (prefix or not re.match(r"\d+\.", key))}
            if row.decision.has(rendition):
                require(own, f"{where}: no scores of rendition {rendition}")
                self.check_scores(own, row, rendition, prefix, where)
            else:
                equal(own, {}, f"{where}: scores of rendition {rendition}, which has no frame")

    def check_metadata(self, left):
        rows, tagged = self.account.rows(left), self.outcome.tagged(self.number)
        early = len(re.findall("leaves without its scores", self.outcome.text))
        require(len(rows) - early <= len(tagged) <= len(rows), f"metadata: {len(tagged)} frames, expected {len(rows)} less {early}")
        by_number = {row.number: row for row in rows}
        require(early == 0 or self.instance.metrics not in ("psnr", "psnr+moment"), "metadata: psnr waits for no later frame")
        for frame in tagged:
            require(int(frame.get("n", -1)) in by_number, f"metadata: frame {frame.get('n')} is no pair with scores")
            self.check_row(frame, by_number.pop(int(frame["n"])), f"metadata of frame {frame['n']}")

    def check_frames(self, left):
        """Those that left are the main input's, untouched."""
        main = self.inputs[0]
        count = len(self.account.decisions) if left is None else left
        if left is not None:
            count -= 1  # the frame behind the end is looked at, and dropped
        sums = [hashlib.md5(pictures.picture_bytes(main.layout, self.graph.size, picture)).hexdigest()
                for picture in main.pictures[:count]]
        equal(self.outcome.out(self.number), sums, "frames that left")

    # ---- counts ------------------------------------------------------------------------------------------------------

    def check_pairing(self, pairing, left, rendition, name):
        for key, expected in self.account.counts(left, rendition).items():
            found = pairing.get(key)  # XML leaves out what is null
            if isinstance(expected, float):
                near(found, expected, 2e-6, f"{name}: {key}")
            else:
                equal(found, expected, f"{name}: {key}")

    def check_end(self, log, left, rendition, name):
        refused = self.account.refused(left)
        of_its_own = refused or (rendition and self.account.mispaired(rendition, left))
        missing = self.account.lacks(rendition, left)
        end = "failure" if refused else "end of stream" if left is None else "stopped early"
        equal((log.complete, log.end), (not of_its_own and not missing, end), f"{name}: complete, end")
        if of_its_own:
            require((log.reason or "").startswith(of_its_own), f"{name}: reason {log.reason!r}, expected {of_its_own}")
        elif not missing:
            equal(log.reason, None, f"{name}: reason")

    def log(self, rendition=0, part=1):
        text = self.outcome.read(name_of_log(self.graph, self.number, rendition, part))
        return None if text is None else read_log(text, self.instance.log_format)

    def check_log(self, left, rendition):
        log, name = self.log(rendition), name_of_log(self.graph, self.number, rendition)
        require(log is not None, f"{name} was not written")
        self.check_log_rows(log, left, rendition, name)
        if log.pairing is not None:
            self.check_pairing(log.pairing, left, rendition, name)
            self.check_end(log, left, rendition, name)

    def is_failed_by_empty_output(self):
        """From FFmpeg 7 on ffmpeg fails where an output gets no frame at all, since its encoder was never opened."""
        is_one_empty = any(not self.graph.account(instance).decisions for instance in self.graph.filters)
        return is_one_empty and "Could not open encoder before EOF" in self.outcome.text

    # ---- a whole run -------------------------------------------------------------------------------------------------

    def whole(self):
        left = self.left()
        fails = self.account.fails(left)
        # Whether ffmpeg asks a filter that it has enough of once more, and so learns of its error, is up to the filters around it; the
        # log has it in any case. A signal that comes when all is written changes the code alone.
        if self.graph.ending != "signal" and not (fails and left is not None):
            equal(self.outcome.failed, fails or self.is_failed_by_empty_output(), f"exit code {self.outcome.code}: failure")
        for rendition in range(self.renditions):
            self.check_log(left, rendition)
        self.check_stats(left)
        self.check_metadata(left)
        if not fails:
            self.check_frames(left)

    def interrupted(self):
        """After SIGINT and SIGTERM what was final counts. The inputs end then, one earlier than the other."""
        log = self.log()
        if log is None:
            equal(self.outcome.stats(self.number), [], "no log, but lines in stats_file")
            require(self.outcome.code < 0 or "received signal" in self.outcome.text, f"no log, and no word of a signal: {self.outcome.text[-200:]}")
            return
        if log.complete or log.end == "end of stream":
            self.whole()
            return
        if log.end is not None:
            equal((log.complete, log.end, log.reason), (False, "interrupted", f"the program got {self.graph.stop[0]}"), "complete, end, reason")
        lines = self.outcome.stats(self.number)
        if lines:
            self.end_reference(float(lines[-1]["ref_pts_time"]))
        equal([int(line["n"]) for line in lines], self.check_beginning(log), "numbers of stats_file and log")
        for line, row in zip(lines, self.account.rows()):
            self.check_line_of_main(line, row)
        if log.pairing is not None:
            equal(log.pairing["scored"], len(log.rows), "scored")
            require(log.pairing["frames"] <= len(self.account.decisions), f"{log.pairing['frames']} frames, more than there are")

    def end_reference(self, last):
        """The plain computation again, of a reference that ends with the frame at this time."""
        times = [self.graph.inputs[index].times for index in self.instance.inputs]
        kept = next((index + 1 for index, time in enumerate(times[1]) if abs(float(time) - last) <= HALF_A_DIGIT), None)
        require(kept is not None, f"stats_file: the reference has no frame at {last}")
        self.account = self.graph.account(self.instance, {1: times[1][:kept]})

    def check_beginning(self, log):
        """A log of the run's beginning. @return the numbers of its frames"""
        rows, numbers = self.account.rows(), [number for number, _ in log.rows]
        equal(numbers, [row.number for row in rows[:len(numbers)]], "numbers of the log's frames")
        for (number, scores), row in zip(log.rows, rows):
            self.check_scores(scores, row, 0, "", f"log frame {number}")
        return numbers

    def check_line_of_main(self, line, row):
        """A further rendition may have ended before the frame that it would have had."""
        where = f"stats_file line {line['n']}"
        near(line["pts_time"], float(self.inputs[0].times[row.decision.main]), HALF_A_DIGIT, f"{where}: pts_time")
        near(line["ref_pts_time"], float(self.inputs[1].times[row.decision.partners[0]]), HALF_A_DIGIT, f"{where}: ref_pts_time")
        self.check_scores({key: value for key, value in line.items() if not re.match(r"\d+\.|n$|.*pts_time$", key)}, row, 0, "", where)

    def killed(self):
        """SIGKILL leaves the earlier log, one that was asked for in mid of the run, or that of a run that was over: none in parts."""
        if self.outcome.code == 0:
            self.whole()
            return
        equal(self.outcome.code, -9, "exit code")
        if self.outcome.read(graphs.log_name(self.number)) != OLD_LOG:
            log = self.log()
            self.check_beginning(log)
            if log.complete:
                self.check_log(None, 0)
            elif log.complete is not None:
                require(self.graph.commands, "a log that nobody asked for was written before the end")
                equal(log.end, "stopped early", "end of a log that was asked for")
        for line, row in zip(self.outcome.stats(self.number), self.account.rows()):
            equal(int(line["n"]), row.number, "stats_file: number of a line")
            self.check_line_of_main(line, row)

    def resized(self):
        """Each new graph writes a log of its own; every frame that is in one is compared with what it is at the same time."""
        logs = [log for log in (self.log(part=part) for part in (1, 2, 3)) if log is not None]
        equal(self.outcome.code, 0, "exit code")
        # What ffmpeg has fed into a graph that it takes down is lost. From FFmpeg 7 on one input's thread may be far ahead then.
        least_logs, least_frames = (1, 1) if self.outcome.has_threads else (2, len(self.inputs[0].pictures) // 2)
        require(len(logs) >= least_logs, f"{len(logs)} logs of 3 graphs")
        equal(logs[-1].end, "end of stream", "end of the last log")
        lines = self.outcome.stats(self.number)
        equal(len(lines), sum(len(log.rows) for log in logs), "lines of stats_file, by the logs' frames")
        times = [round(float(line["pts_time"]) * 25) for line in lines]
        equal(times, sorted(set(times)), "frames of all graphs")
        require(len(times) >= least_frames, f"only {len(times)} of {len(self.inputs[0].pictures)} frames")
        for line, time in zip(lines, times):
            near(line["ref_pts_time"], time / 25, HALF_A_DIGIT, f"ref_pts_time of the frame at {time / 25}")
            sides = [(each.layout, each.pictures[time]) for each in self.inputs]
            for key, value in pictures.psnr_scores(self.graph.size, 8, *sides).items():
                near(line[key], value, HALF_A_DIGIT, f"{key} of the frame at {time / 25}")


    def changed(self):
        """Without a new graph the filter refuses the first frame of another size; what was scored before counts."""
        log, scored = self.log(), self.graph.stop[0]
        require(self.outcome.code > 0 and log is not None, f"exit code {self.outcome.code}, expected a failure and its log")
        equal((log.complete, log.end), (False, "failure"), "complete, end")
        require(log.reason.startswith("Input 1 (reference) changed from"), f"reason: {log.reason}")
        equal([number for number, _ in log.rows], list(range(scored)), "numbers of the log's frames")
        equal(len(self.outcome.stats(self.number)), scored, "lines of stats_file")
        for (number, scores), main, reference in zip(log.rows, self.inputs[0].pictures, self.inputs[1].pictures):
            sides = [(each.layout, picture) for each, picture in zip(self.inputs, (main, reference))]
            for key, value in pictures.psnr_scores(self.graph.size, 8, *sides).items():
                near(scores[key], value, HALF_A_DIGIT, f"{key} of frame {number}")


def name_of_log(graph, number, rendition=0, part=1):
    """A filter whose log's name is taken writes another one."""
    return graphs.log_name(0, rendition, number + 1) if graph.shared_log else graphs.log_name(number, rendition, part)


def check(graph, outcome):
    """Raises Wrong."""
    require(not outcome.hung, "it does not end")
    # A signal may come before ffmpeg handles any.
    is_early = graph.ending == "signal" and not outcome.stats(0) and outcome.read(graphs.log_name(0)) is None
    allowed = -getattr(signal, graph.stop[0]) if graph.ending == "kill" or is_early else 0
    require(outcome.code >= 0 or outcome.code == allowed, f"ended by signal {-outcome.code}")
    for number in range(len(graph.filters)):
        one = Check(graph, number, outcome)
        {"signal": one.interrupted, "kill": one.killed, "resized": one.resized, "changed": one.changed}.get(graph.ending, one.whole)()
    check_folder(graph, outcome)


def check_folder(graph, outcome):
    known = re.compile(r"in\d+\.(raw|png)|stats\d+\.txt|metadata\d+\.txt|out\d+\.framemd5|stderr\.txt|log\d+(\.[23])?(\.rendition\d+)?\.json")
    if graph.ending == "kill" and outcome.code < 0:  # it can come between the writing of a log and its renaming
        known = re.compile(known.pattern + r"|quality_cuda-log-[0-9a-f]+\.json")
    strange = [name for name in os.listdir(outcome.folder) if not known.fullmatch(name)]
    equal(strange, [], "files that were left behind")


def scores_of(graph, outcome):
    """What has to be the same however many threads there are: logs without times and names, and stats_file."""
    found = []
    for number, instance in enumerate(graph.filters):
        for rendition in range(len(instance.inputs) - 1):
            log = read_log(outcome.read(name_of_log(graph, number, rendition)), instance.log_format)
            found.append((log.rows, log.pairing, log.pooled))
        found.append(outcome.read(f"stats{number}.txt"))
    return found
