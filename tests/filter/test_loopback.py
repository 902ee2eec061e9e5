# SPDX-License-Identifier: BSD-2-Clause-Patent
"""An encode that is scored while it runs: FFmpeg's loopback decoder hands the filter what the encoder has just written."""

import re
import subprocess
import unittest

from harness import FFMPEG, FilterTest, ffmpeg

FIRST_WITH_LOOPBACK = 10  # libavfilter's major version in FFmpeg 7.0


def missing():
    """Why it cannot be tested; "" if it can."""
    told = subprocess.run([FFMPEG, "-version"], capture_output=True, text=True, check=True).stdout
    if int(re.search(r"libavfilter\s+(\d+)", told)[1]) < FIRST_WITH_LOOPBACK:
        return "this FFmpeg has no -dec"
    encoders = subprocess.run([FFMPEG, "-v", "error", "-encoders"], capture_output=True, text=True, check=True).stdout
    return "" if " libx264 " in encoders else "this FFmpeg has no libx264"


class Loopback(FilterTest):
    ENCODER = ["-c:v", "libx264", "-threads", "1", "-preset", "veryfast", "-bf", "3", "-b:v", "100k", "-pix_fmt", "yuv420p"]

    def setUp(self):
        super().setUp()
        if reason := missing():
            self.skipTest(f"SKIPPED: {reason}")
        self.reference = self.source(frames=30)

    def score_while_encoding(self):
        """The encoder's output is kept too, to be scored afterwards."""
        graph = "[dec:0][1:v]quality_cuda=metrics=vmaf|psnr:backend=cpu:stats_file=stats.txt:log_path=log.json[out]"
        return ffmpeg(["-i", self.reference, "-i", self.reference, "-map", "0:v", *self.ENCODER, "encoded.mkv", "-dec", "0:0",
                       "-filter_complex", graph, "-map", "[out]", "-f", "null", "-"], self.folder)

    def test_scores_are_those_of_the_finished_encode(self):
        during = self.score_while_encoding()
        self.assert_ok(during)
        after = self.score(self.folder / "encoded.mkv", self.reference, options="metrics=vmaf|psnr")
        self.assert_ok(after)
        self.assert_counts(during, frames=30, scored=30)
        for key in ("frames", "pooled_metrics"):
            self.assertEqual(during.log[key], after.log[key])
        self.assertLess(during.log["pooled_metrics"]["psnr_y"]["mean"], 45)

    def test_the_encode_is_the_same_without_the_scores(self):
        self.assert_ok(self.score_while_encoding())
        self.assert_ok(ffmpeg(["-i", self.reference, "-map", "0:v", *self.ENCODER, "alone.mkv"], self.folder))
        packets = [subprocess.run([FFMPEG, "-v", "error", "-i", self.folder / name, "-map", "0:v", "-c", "copy", "-f", "framemd5", "-"],
                                  capture_output=True, text=True, check=True).stdout for name in ("encoded.mkv", "alone.mkv")]
        self.assertEqual(sum(not line.startswith("#") for line in packets[0].splitlines()), 30)
        self.assertEqual(*packets)


if __name__ == "__main__":
    unittest.main(verbosity=2)
