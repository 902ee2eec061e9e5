# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A whole run of gpu-check: part after part and side by side, as plan.py says, and its report."""

import concurrent.futures
import json
import os
import threading
import time

from gpu_checks import plan
from gpu_checks.report import say


class Parts:
    """The parts of a run, in their groups, and what came of them. `check`: the GpuCheck that has a method for each."""

    def __init__(self, check, wanted):
        self.check, self.wanted = check, wanted
        self.reports, self.seconds, self._writing = {}, {}, threading.Lock()

    def all(self, cpus):
        groups = plan.groups(self.wanted, cpus)
        say("; then ".join(", ".join(group) for group in groups) + (
            f": at most {self.check.budget.seconds:.0f} s" if self.check.budget.seconds else ": without a limit of time"))
        for group in groups:
            kept = plan.kept_after(group, self.wanted)
            if plan.NEED_CLIPS.intersection(group):
                self.check.clips.begin()
            if group[0] in plan.ALONE:
                self.check.clips.settle()
            with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
                list(pool.map(lambda part: self.part(part, kept), group))

    def part(self, name, kept):
        """One part; whatever happens in it, it leaves a result."""
        context, start = self.check.for_part(kept), time.monotonic()
        self.reports[name] = context.report
        try:
            if context.left() <= 0:
                context.report.add(name, "failed", f"not begun: nothing is left of --budget {self.check.budget.seconds:.0f}")
            else:
                getattr(context, "clips_part" if name == "clips" else name)()
        except Exception as error:  # a part must not take the others' results with it
            context.report.add(name, "failed", f"{type(error).__name__}: {error}")
        if not context.report.entries:
            context.report.add(name, "failed", "nothing was checked")
        self.seconds[name] = time.monotonic() - start
        say(f"-- {name}: {self.seconds[name]:.1f} s, ended {self.check.budget.spent():.0f} s after the start")
        self.write()

    def entries(self):
        return [entry for part in plan.PARTS if part in self.reports for entry in self.reports[part].entries]

    def write(self):
        with self._writing, open(os.path.join(self.check.out, "gpu-check.json"), "w", encoding="utf-8") as file:
            json.dump({"results": self.check.report.entries + self.entries(), "numbers": dict(self.check.numbers),
                       "seconds": dict(self.seconds)}, file, indent=1)

    def conclude(self):
        """Writes the end of the report. Returns the exit status."""
        self.write()
        entries = self.check.report.entries + self.entries()
        failed = [entry["name"] for entry in entries if entry["outcome"] == "failed"]
        for name in failed:
            say(f"failed: {name}")
        say("seconds: " + ", ".join(f"{part} {self.seconds[part]:.0f}" for part in plan.PARTS if part in self.seconds) +
            f"; in all {self.check.budget.spent():.0f}")
        say(", ".join(f"{sum(entry['outcome'] == outcome for entry in entries)} {outcome}" for outcome in ("passed", "failed", "skipped")))
        return 1 if failed else 0
