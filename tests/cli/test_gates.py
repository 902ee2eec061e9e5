# SPDX-License-Identifier: BSD-2-Clause-Patent
"""--fail-if: what is infinite compares so, scores of the whole video have their names, and a wrong condition is found before the run."""

import functools
import json
import unittest

from workbench import SOURCE, clip, command, ffmpeg, ffmpeg_that, folder, fresh


@functools.cache
def fade():
    """A lossless black start, whose PSNR is infinite: @return encode, original"""
    original, encode = folder() / "fade.mkv", folder() / "fade.mp4"
    ffmpeg("-f", "lavfi", "-i", "color=black:s=160x120:r=25:d=0.4,format=yuv420p", "-f", "lavfi", "-i", SOURCE + ",trim=end_frame=30,format=yuv420p",
           "-filter_complex", "[0:v][1:v]concat", "-c:v", "ffv1", original)
    ffmpeg("-i", original, "-c:v", "libx264", "-crf", "20", "-preset", "veryfast", encode)
    return encode, original


class Gates(unittest.TestCase):
    def check(self, metrics, *conditions):
        for condition, code in conditions:
            with self.subTest(condition):
                run = command("score", *fade(), "-m", metrics, "-q", "--fail-if", condition)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertEqual(len(run.stderr.splitlines()), 0 if code == 0 else 1, run.stderr)

    def test_infinite_means(self):
        self.check("xpsnr+psnr_hvs+ciede", ("xpsnr_y.mean<30", 0), ("xpsnr_y.mean>30", 3), ("xpsnr_y.max<=1e9", 0), ("psnr_hvs.mean<30", 0),
                   ("ciede2000.mean<30", 0), ("xpsnr_y.min<1", 0), ("xpsnr_y.min<99", 3), ("xpsnr_y.harmonic_mean<1", 0))

    def test_a_deviation_from_infinity_is_no_number(self):
        run = command("score", *fade(), "-m", "xpsnr", "-q", "--fail-if", "xpsnr_y.stddev>1")
        self.assertEqual((run.returncode, "is no number" in run.stderr), (3, True), run.stderr)

    def test_scores_of_the_whole_video(self):
        self.check("xpsnr", ("axpsnr_y<20", 0), ("axpsnr_y<99", 3), ("axpsnr_min>=1", 3))

    def test_the_table_says_inf(self):
        run = command("score", *fade(), "-m", "xpsnr")
        self.assertEqual(run.stdout.splitlines()[2].split()[4], "inf", run.stdout)
        self.assertRegex(run.stdout, r"\naxpsnr_y \d+\.\d\d dB of the whole video\n")

    def test_refused_before_the_run(self):
        program = ffmpeg_that(fresh("gates"), "*log_path*|*record*", "echo it ran >&2; exit 9")
        for condition, said in (("vmaf.mean<90", "xpsnr_y, xpsnr_u, xpsnr_v"), ("axpsnr_y.mean<30", "axpsnr_y<NUMBER"),
                                ("xpsnr_y<30", "xpsnr_y.mean"),
                                ("axpsnr_yy<30", "axpsnr_y, "), ("xpsnr_y.mean<nan", "SCORE.POOL<NUMBER"),
                                ("xpsnr_y.mean<inf", "SCORE.POOL<NUMBER"),
                                ("xpsnr_y.mean<0x5A", "SCORE.POOL<NUMBER"), ("xpsnr_y.mean<-nan", "SCORE.POOL<NUMBER"),
                                ("xpsnr_y.mean<1e999", "SCORE"),
                                ("xpsnr_y.mean< 3", "SCORE"), ("<3", "SCORE.POOL<NUMBER"), (".mean<3", "SCORE.POOL<NUMBER")):
            with self.subTest(condition):
                run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "xpsnr", "--fail-if", condition, "--ffmpeg", program)
                self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)
                self.assertIn(condition, run.stderr)
                self.assertIn(said, run.stderr)

    def test_names_of_every_metric(self):
        """What the small picture tells is what a run has."""
        run = command("score", *fade(), "-m", "all", "--on-unsupported", "skip", "--json", "-q")
        names = set(json.loads(run.stdout)["renditions"][0]["pooled_metrics"])
        refused = command("score", *fade(), "-m", "all", "--on-unsupported", "skip", "--fail-if", "nonsense.mean<1")
        self.assertEqual(refused.returncode, 2)
        told = set(refused.stderr.partition("its scores are ")[2].strip().replace(", and of the whole video some without a pool", "").split(", "))
        self.assertEqual(names - told, set())


if __name__ == "__main__":
    unittest.main()
