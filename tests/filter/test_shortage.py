# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Memory and threads run out inside ffmpeg: nothing crashes or hangs, and what is wrong is said.

short_memory.c refuses the nth allocation that the filter or its library makes. At the level "all" (QC_TEST_LEVEL) some
hundreds are refused, one by one, else some dozens.
"""

import os
import re
import shutil
import subprocess
import unittest

from harness import FFMPEG, FilterTest, build_library, preloading

FRAMES = 10
ALL = os.environ.get("QC_TEST_LEVEL") == "all"


def filter_ranges():
    """Addresses of the filter's functions in the program, "start-end,...": from the copy with symbols that was built with it."""
    out = FFMPEG.resolve().parents[1]
    unstripped = out.with_name(out.name + "-build") / "ffmpeg_g"
    if not unstripped.exists() or not shutil.which("readelf") or text_section(unstripped) != text_section(FFMPEG):
        return ""
    ranges, in_filter = [], False
    for line in subprocess.run(["readelf", "-sW", unstripped], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) < 8:
            continue
        if fields[3] == "FILE":
            in_filter = fields[7] == "vf_quality_cuda.c"
        local = fields[4] == "LOCAL" and in_filter
        if fields[3] == "FUNC" and (local or fields[7].startswith("ff_qc_")):
            start = int(fields[1], 16)
            ranges.append((start, start + int(fields[2], 0)))
    merged = []
    for start, end in sorted(ranges):
        if merged and start - merged[-1][1] < 64:  # what lies between is padding
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return ",".join(f"{start:x}-{end:x}" for start, end in merged)


def text_section(program):
    lines = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    return re.search(r"\.text\s+PROGBITS\s+(\w+) (\w+) (\w+)", lines).groups()

#: What is said of it. The last are the words of FFmpeg 5.1 for whatever fails at the end of the inputs.
SHORT = "(?i)out of memory|cannot allocate memory|thread cannot be started|error marking filters as finished"


class Memory(FilterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ranges = filter_ranges()
        if not cls.ranges:
            raise unittest.SkipTest("SKIPPED: no symbols of this ffmpeg (ffmpeg_g in its build folder, readelf)")
        cls.library = build_library(cls.clips, "short_memory")

    def run_short(self, nth, options):
        for path in self.folder.iterdir():
            path.unlink()
        clip = self.source(frames=FRAMES)
        environment = {**preloading(self.library), "QC_SHORT_RANGES": self.ranges, "QC_SHORT_NTH": str(nth),
                       "QC_SHORT_REPORT": str(self.folder / "report")}
        run = self.score(clip, clip, options=options, environment=environment)
        report = self.folder / "report"
        self.assertTrue(report.exists(), f"killed at allocation {nth}, code {run.code}:\n{run.text}")
        count, refused = map(int, report.read_text().split())
        return run, count, refused

    def check(self, options, most):
        run, count, refused = self.run_short(0, options)
        self.assert_ok(run)
        self.assertEqual(refused, 0)
        self.assertGreater(count, 100)
        step = max(count // most, 1)
        cases = [*range(1, 1 + min(count, 10)), *range(11, count + 1, step)]
        for nth in cases:
            with self.subTest(nth=nth):
                run, _, refused = self.run_short(nth, options)
                self.assertGreaterEqual(run.code, 0, f"killed by a signal:\n{run.text}")
                if run.code == 0 and run.log and run.log["complete"]:
                    self.assertEqual((len(run.log["frames"]), len(run.stats)), (FRAMES, FRAMES), run.text)
                # Where frames cannot be passed on, FFmpeg says so, but may end with 0.
                if run.code != 0 or len(run.out) != FRAMES:
                    self.assertRegex(run.text, SHORT)
        print(f"\n{options}: {len(cases)} of {count} allocations were refused", flush=True)

    def test_one_metric(self):
        self.check("n_threads=1", 400 if ALL else 40)

    def test_models(self):
        self.check("n_threads=3:metrics=vmaf+psnr", 400 if ALL else 25)

    def test_the_look_at_the_first_pictures(self):
        self.check("n_threads=1:align=auto", 400 if ALL else 40)

    def test_what_is_said_while_the_run_goes_on(self):
        """Lines may be lost then, and are counted."""
        self.check("n_threads=1:realtime=1:log_fmt=jsonl:log_path=lines.jsonl:window=0.2:alert=psnr_y>1|psnr_cb<1:metrics_file=m.prom",
                   400 if ALL else 40)


class Threads(FilterTest):
    """Of 1000 threads that were asked for, few can be had, or none."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = build_library(cls.clips, "short_threads")

    def run_short(self, most):
        clip = self.source(frames=FRAMES)
        return self.score(clip, clip, options="metrics=vmaf:n_threads=1000", environment={**preloading(self.library),
                                                                                          "QC_SHORT_THREADS": str(most)})

    def test_none(self):
        self.assert_fails(self.run_short(0), "a thread cannot be started")

    def test_few_score_all_the_same(self):
        run = self.run_short(3)
        self.assert_ok(run)
        self.assertEqual(run.log["frames"], self.run_short(1000).log["frames"])


if __name__ == "__main__":
    unittest.main()
