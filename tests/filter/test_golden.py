# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Frozen scores of libvmaf against logs that a real ffmpeg writes, for every clip of the golden set.

The set is not part of this repository: QC_SHARED names the folder that has it (default: ../shared); without it this says
SKIPPED.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from harness import REPOSITORY, FilterTest, ffmpeg

GOLDEN = pathlib.Path(os.environ.get("QC_SHARED", REPOSITORY.parent / "shared")) / "golden"
METRICS = "vmaf+psnr+vif+adm+motion"
# Run of the golden file, what to compare in it, and the log's name of it.
COMPARISONS = (("default", "psnr_y,psnr_cb,psnr_cr,integer_*", ()),
               ("models_v0", "vmaf_v0.6.1", ("--map", "vmaf=vmaf_v0.6.1")))
# ADM has no defined value below this: the reference reads memory that it never wrote, or crashes.
SMALLEST = 33


class Golden(FilterTest):
    @classmethod
    def setUpClass(cls):
        if not (GOLDEN / "manifest.json").exists():
            raise unittest.SkipTest(f"SKIPPED: no golden set in {GOLDEN}")
        super().setUpClass()
        cls.manifest = json.loads((GOLDEN / "manifest.json").read_text())["clips"]
        subprocess.run([sys.executable, GOLDEN / "unpack_clips.py", cls.clips], check=True, capture_output=True)

    def run_clip(self, clip):
        raw = ["-f", "rawvideo", "-pix_fmt", clip["pix_fmt"], "-s", f"{clip['width']}x{clip['height']}", "-r", "25"]
        return ffmpeg([*raw, "-i", self.clips / clip["dis"], *raw, "-i", self.clips / clip["ref"], "-lavfi",
                       f"quality_cuda={METRICS}:backend=cpu:log_path=log.json", "-f", "null", "-"], self.folder)

    def compare(self, clip, run, names, mapping):
        return subprocess.run([sys.executable, GOLDEN / "check_scores.py", GOLDEN / clip["golden"], self.folder / "log.json", "--run",
                               run, "--only", names, *mapping], capture_output=True, text=True, check=False)

    def test_every_clip(self):
        compared = 0
        for clip in self.manifest:
            with self.subTest(clip["name"]):
                run = self.run_clip(clip)
                if min(clip["width"], clip["height"]) < SMALLEST:
                    self.assert_fails(run, "needs pictures of at least")
                    continue
                self.assert_ok(run)
                self.assertEqual(len(run.log["frames"]), clip["frames"])
                for comparison in COMPARISONS:
                    result = self.compare(clip, *comparison)
                    if "nothing was compared" in result.stdout + result.stderr:
                        continue # the reference has no stable value here
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                    compared += 1
        self.assertGreater(compared, len(self.manifest))


if __name__ == "__main__":
    unittest.main()
