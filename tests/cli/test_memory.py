# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What a merge holds does not grow with the title, and what a report holds is its scores and not its log.

With QC_TEST_LEVEL=all: titles of two hours and of eleven."""

import os
import subprocess
import unittest

from workbench import COMMAND, command, ffmpeg, fresh

MIB = 1 << 20
IS_ALL = os.environ.get("QC_TEST_LEVEL") == "all"
SCORES = [*(f"integer_adm_scale{i}" for i in range(4)), "integer_adm2", "integer_motion", "integer_motion2",
          *(f"integer_vif_scale{i}" for i in range(4)), "vmaf"]


def peak_of(*arguments):
    """@return the most memory that the command had, which starts no other one"""
    with subprocess.Popen([COMMAND, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return usage.ru_maxrss * 1024


def write_log(path, frames):
    """As the filter writes it."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{\n  "version": "3.2.0",\n  "complete": true,\n  "pairing": {"frames": %d, "frame_rate": 25.0},\n  "frames": [' % frames)
        for frame in range(frames):
            lines = ",\n".join(f'        "{name}": {(frame * 7919 + k * 131) % 99991 / 1000:.6f}' for k, name in enumerate(SCORES))
            file.write(("," if frame else "") + f'\n    {{\n      "frameNum": {frame},\n      "metrics": {{\n{lines}\n      }}\n    }}')
        file.write('\n  ],\n  "pooled_metrics": {\n    "vmaf": {\n      "mean": 50.0\n    }\n  },\n  "aggregate_metrics": {}\n}\n')


class Memory(unittest.TestCase):
    def merged(self, frames):
        """The peak of a merge."""
        place = fresh(f"memory_{frames}")
        video, plan = place / "video.mkv", place / "plan"
        ffmpeg("-f", "lavfi", "-i", f"color=gray:s=48x48:r=25,trim=end_frame={frames}", "-pix_fmt", "yuv420p", "-c:v", "mpeg4", "-g", 25, video)
        shards = command("plan", plan, video, video, "-m", "vmaf+psnr" if IS_ALL else "psnr", "--parts", 2, "-o", place / "log.json").stdout
        self.assertEqual(shards, "2\n")
        for number in range(2):
            self.assertEqual(command("shard", plan, number).returncode, 0)
        peak = peak_of("merge", plan, "--json")
        with (place / "log.json").open(encoding="utf-8") as log:  # whatever this process holds counts as its children's, too
            self.assertIn(f'"frames": {frames}', log.read(4000))
        return peak

    def test_merge(self):
        if IS_ALL:
            self.assertLess(self.merged(172800), 200 * MIB)
        else:
            self.assertLess(self.merged(80000) - self.merged(4000), 4 * MIB)

    def reported(self, frames):
        """The peaks of a page and of a table: columns have eight bytes for each score of a frame, a page has 43 MB at most."""
        place = fresh(f"memory_report_{frames}")
        log = place / "log.json"
        write_log(log, frames)
        return max(peak_of("report", log, "-o", place / "page.html"), peak_of("report", log, "--csv", place / "table.csv"))

    def test_report(self):
        if IS_ALL:
            self.assertLess(self.reported(172800), 200 * MIB)
            self.assertLess(self.reported(1000000), 400 * MIB)
        else:
            self.assertLess(self.reported(60000) - self.reported(10000), 20 * MIB)


if __name__ == "__main__":
    unittest.main()
