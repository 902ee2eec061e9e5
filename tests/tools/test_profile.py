# SPDX-License-Identifier: BSD-2-Clause-Patent
"""tools/profile on a stand-in of ncu: what it sums up, what it says bounds a kernel, and how it fails."""
import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import scripts  # noqa: E402

profile = scripts.load("profile")
COUNTERS, UNITS = profile.COUNTERS, {"ns": "us", "bytes": "Mbyte"}

# Writes the table that is given to it where ncu would, and what it was called with beside itself.
NCU = """#!/usr/bin/env python3
import os, pathlib, sys
here = pathlib.Path(sys.argv[0]).parent
(here / "called").write_text("\\n".join(sys.argv[1:]))
pathlib.Path(sys.argv[sys.argv.index("--log-file") + 1]).write_text((here / "table.csv").read_text())
"""
BENCH = """#!/usr/bin/env python3
import json, sys
if "-j" in sys.argv:
    json.dump([{"us_per_pair_median": 12.5}], open(sys.argv[sys.argv.index("-j") + 1], "w"))
"""
REFUSING = "#!/bin/sh\necho '==ERROR== ERR_NVGPUCTRPERM - no permission to read counters'\nexit 1\n"


def line(cells):
    return ",".join('"' + str(cell) + '"' for cell in cells)


def table(launches):
    """As ncu writes it: a line of names, one of units, then the launches; thousands are set off by commas."""
    names = ["ID", "Kernel Name", "Grid Size", "Block Size", *(counter.metric for counter in COUNTERS.values())]
    units = ["", "", "", "", *(UNITS.get(name, "%") for name in COUNTERS)]
    rows = [[number, launch["kernel"], launch.get("grid", "(1, 1, 1)"), "(128, 1, 1)", *(launch.get(name, 0) for name in COUNTERS)]
            for number, launch in enumerate(launches)]
    return "==PROF== Connected\n" + "\n".join(map(line, [names, units, *rows])) + "\n"


class Profile(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.ncu = self.program("ncu", NCU)
        self.program("build/tools/bench/quality_bench", BENCH)

    def program(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def run_profile(self, *arguments, launches=None):
        if launches is not None:
            (self.folder / "table.csv").write_text(table(launches))
        return subprocess.run([sys.executable, ROOT / "tools/profile", "--ncu", self.ncu, "--build", self.folder / "build", *arguments],
                              capture_output=True, text=True)

    def rows(self, *arguments, launches):
        out = self.folder / "rows.json"
        done = self.run_profile("--json", out, *arguments, launches=launches)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(out.read_text()), done.stdout

    def test_launches_of_a_kernel_are_a_row(self):
        # Three batches of four pairs: twelve pairs. Two launches a batch of one kernel, one of another.
        launches = 3 * [{"kernel": "small(float*)", "ns": "6", "instructions": "1,000", "issue": 50},
                        {"kernel": "large", "ns": "1,200", "memory": 90, "bytes": 2.4, "registers": 64, "waves": 3},
                        {"kernel": "small(float*)", "ns": "18", "instructions": "2,000", "issue": 70}]
        rows, printed = self.rows("--batch", "4", "--size", "100x10", "psnr", launches=launches)
        large, small = rows
        self.assertEqual((large["kernel"], large["launches"], large["us"]), ("large", 1, 3 * 1200 / 12))
        self.assertEqual((large["bytes"], large["memory_us"], large["bound_by"]), (3 * 2.4e6 / 12 / 1000, 300 * 0.9, "memory"))
        self.assertEqual((small["kernel"], small["launches"], small["us"]), ("small", 2, 3 * 24 / 12))
        self.assertAlmostEqual(small["operations"], 3 * 3000 * 32 / 12 / 1000)
        self.assertAlmostEqual(small["issue"], (50 * 6 + 70 * 18) / 24)  # by time
        self.assertIn("306.00 us a pair in 3 launches a batch; quality_bench alone, one batch in flight: 12.50 us", printed)

    def test_renditions_count_by_references(self):
        launches = 12 * [{"kernel": "a", "ns": "10"}]  # 3 * 8 references, of which a batch of 8 pictures holds two
        rows, printed = self.rows("--batch", "8", "--renditions", "4", "vmaf", launches=launches)
        self.assertEqual((rows[0]["us"], rows[0]["launches"]), (5, 1))
        self.assertIn("a reference with 4 renditions", printed)

    def test_sizes_of_a_launch_are_rows_of_their_own(self):
        rows, _ = self.rows("vmaf", launches=[{"kernel": "a", "ns": 5, "grid": "(8, 1, 1)"}, {"kernel": "a", "ns": 1, "grid": "(2, 1, 1)"}])
        self.assertEqual([row["grid"] for row in rows], ["(8, 1, 1)", "(2, 1, 1)"])

    def test_what_bounds_a_kernel(self):
        bound = profile.bound
        idle = {name: 0 for name in COUNTERS} | {"waves": 4}
        for counters, expected in [({"issue": 80, "units": 80}, "issue"), ({"memory": 61, "l2": 60}, "memory"), ({"l2": 75}, "L2"),
                                   ({"l1": 70, "units": 70}, "L1"), ({"units": 85, "issue": 30, "l1": 20}, "units"),
                                   ({"issue": 59, "waves": 0.5}, "few blocks"),
                                   ({"issue": 59, "barrier": 2, "wait": 1}, "latency: barriers"), ({}, "latency")]:
            self.assertEqual(bound(idle | counters), expected, counters)

    def test_ncu_is_told_what_to_run(self):
        self.rows("--model", "vmaf_v1.0.16_3d0h", "--batches", "5", "vmaf", "--", "-R", "a.raw", launches=[{"kernel": "a", "ns": 1}])
        called = (self.folder / "called").read_text().split("\n")
        bench = called[called.index(str(self.folder / "build/tools/bench/quality_bench")):]
        self.assertEqual(bench[1:], ["-k", "cuda", "-m", "vmaf", "-s", "1920x1080", "-l", "nv12", "-b", "16", "-c", "1", "-M",
                                     "vmaf_v1.0.16_3d0h", "-R", "a.raw", "-n", "1", "-r", "3", "-d", "0"])

    def test_a_kept_table_is_read_again(self):
        kept, out = self.folder / "kept.csv", self.folder / "again.json"
        rows, _ = self.rows("--keep", kept, "vmaf", launches=[{"kernel": "a", "ns": 4}])
        self.ncu.unlink()
        self.assertEqual(self.run_profile("--from", kept, "--json", out, "vmaf").returncode, 0)
        self.assertEqual(json.loads(out.read_text()), rows)

    def fails_with(self, text, *arguments, status=1, **options):
        done = self.run_profile(*arguments, **options)
        self.assertEqual(done.returncode, status)
        self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_failures_are_a_line(self):
        (self.folder / "table.csv").write_text("")
        self.fails_with("ncu measured nothing: no table", "vmaf")
        self.fails_with("ncu measured no kernel", "vmaf", launches=[])
        self.fails_with("--batch: 0: expected a number from 1 on", "--batch", "0", "vmaf", status=2)
        self.fails_with("--batches: 2: expected a number from 3 on", "--batches", "2", "vmaf", status=2)
        self.fails_with("--size: 12: expected WIDTHxHEIGHT", "--size", "12", "vmaf", status=2)
        self.fails_with("vmaf,psnr: expected one combination", "vmaf,psnr", status=2)
        self.fails_with("--ncu /nowhere/ncu: not a program", "--ncu", "/nowhere/ncu", "vmaf")
        self.fails_with("no program tools/bench/quality_bench", "--build", self.folder, "vmaf")
        self.fails_with("/nowhere.csv", "--from", self.folder / "nowhere.csv", "vmaf")

    def test_no_right_to_read_counters(self):
        self.program("ncu", REFUSING)
        self.fails_with("ncu ended with 1: ==ERROR== ERR_NVGPUCTRPERM", "vmaf")

    def test_a_counter_that_ncu_does_not_know(self):
        text = table([{"kernel": "a", "ns": 1}]).replace(COUNTERS["issue"].metric, "something.else")
        (self.folder / "table.csv").write_text(text)
        self.fails_with(f"ncu's table lacks {COUNTERS['issue'].metric}", "vmaf")


if __name__ == "__main__":
    unittest.main()
