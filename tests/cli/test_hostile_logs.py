# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Logs of strangers: whatever they hold, reading them takes time and memory by their length, and ends in one clear line."""

import json
import os
import subprocess
import unittest

from made_logs import said_once
from workbench import COMMAND, fresh

MOST_SECONDS, MOST_MIB = 20, 400  # each took minutes or gigabytes before
MANY = 200000


def frames_text(frames, **head):
    return json.dumps({"version": "3.2.0", **head, "frames": frames})


def one_frame(names):
    return [{"frameNum": 0, "metrics": {name: 1.5 for name in names}}]


def numbered(count, stem="m"):
    return [f"{stem}{k}" for k in range(count)]


def lines_text(names):
    return "".join(json.dumps({"type": "frame", "n": n, "scores": {name: 1.0 for name in names}}) + "\n" for n in range(2))


def sparse(count):
    return [*one_frame(numbered(4095)), *({"frameNum": n, "metrics": {"vmaf": 90.0}} for n in range(1, count))]


#: What a file has, and what is said of it; None: it is shown.
HOSTILE = {
    "a_name_for_each_frame": (frames_text([{"frameNum": n, "metrics": {f"m{n}": 1.0}} for n in range(20000)]), "names of scores"),
    "names_in_a_frame": (frames_text(one_frame(numbered(MANY))), "more than 4096 names in one object"),
    "keys_of_a_frame": (frames_text([{**dict.fromkeys(numbered(MANY), 1), "frameNum": 0, "metrics": {"vmaf": 9}}]),
                        "more than 4096 names in one object"),
    "keys_at_the_head": (frames_text(one_frame(["vmaf"]), **dict.fromkeys(numbered(MANY), 1)), "more than 4096 names in one object"),
    "keys_below_the_head": (frames_text(one_frame(["vmaf"]), pooled_metrics=dict.fromkeys(numbered(MANY), {"mean": 1})),
                            "more than 4096 names in one object"),
    "names_of_one_frame_alone": (frames_text(sparse(150000)), "most frames lack most of them"),
    "renditions": (frames_text(one_frame(["vmaf"]), renditions=[{"name": "x"}] * 300000), None),
    "findings": (frames_text(one_frame(["vmaf"]), alignment={"findings": [{"kind": "offset", "frame": 3}] * 300000}), None),
    "nulls": (frames_text(one_frame(["vmaf"]), more=[None] * 3000000), None),
    "claims": (frames_text(one_frame(["vmaf"]), pairing={"frames": 100000000, "paired": 100000000, "frame_rate": 25.0}), None),
    "names_in_a_line": (lines_text(numbered(MANY)), "more than 4096 names in one object"),
    "names_of_a_table": ("Frame," + ",".join(numbered(MANY)) + ",\n0," + "1," * MANY + "\n", "more than 4096 names of scores"),
    "attributes": ("<VMAF><frame frameNum='0' " + " ".join(f"{name}='1'" for name in numbered(MANY)) + " /></VMAF>",
                   "more than 4096 names in one element"),
    "pooled_metrics": ("<VMAF><frame frameNum='0' vmaf='1' />" + "".join(f"<metric name='{name}' mean='1' />" for name in numbered(MANY)) + "</VMAF>",
                       "more than 4096 metrics"),
    "a_name_of_two_lines": (frames_text([{"frameNum": 0, "metrics": {"vma\n\x1b[2Jf": "x"}}]), r"vma\n\x1b[2Jf is no number"),
    "elements": ("<VMAF><frame frameNum='0' vmaf='1' />" + "".join(f"<{name} a='1' />" for name in numbered(MANY)) + "</VMAF>",
                 "more than 4096 elements"),
}


def measured(arguments):
    """@return the outcome as of subprocess.run(), seconds that it computed, MiB at most"""
    with subprocess.Popen([COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        stdout, stderr = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


class HostileLogs(unittest.TestCase):
    def test_report(self):
        place = fresh("hostile_logs")
        for name, (text, part) in HOSTILE.items():
            log = place / name
            log.write_text(text, encoding="utf-8")
            with self.subTest(name):
                outcome, seconds, mib = measured(["report", log, "-o", place / "page.html", "-q", "--csv", place / "table.csv"])
                if part is None:
                    self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
                else:
                    said_once(self, outcome, 1, part)
                self.assertLess(seconds, MOST_SECONDS)
                self.assertLess(mib, MOST_MIB)

    def test_compare(self):
        place = fresh("hostile_logs_compared")
        for name in ("renditions", "names_in_a_frame"):
            log = place / name
            log.write_text(HOSTILE[name][0], encoding="utf-8")
            outcome, seconds, mib = measured(["compare", log, log])
            self.assertEqual(len(outcome.stderr.splitlines()), 0 if HOSTILE[name][1] is None else 1, outcome.stderr[:300])
            self.assertLess(seconds, MOST_SECONDS)
            self.assertLess(mib, MOST_MIB)


if __name__ == "__main__":
    unittest.main()
