# SPDX-License-Identifier: BSD-2-Clause-Patent
"""strict=1: whatever is warned of fails the run, after scores and logs were written; and the log lists it, strict or not."""

import errno
import unittest

from harness import FilterTest, exit_code, ffmpeg, is_threaded, stop_behind

FULL_RANGE = {1: "setparams=range=pc"}
LIMITED = {0: "setparams=range=tv"}


class Strict(FilterTest):
    def setUp(self):
        super().setUp()
        self.clip = self.source()

    def refused(self, run, first, codes=(exit_code(errno.EINVAL),)):
        """The last word of the filter is the first warning; the scores are as without strict."""
        self.assertIn(run.code, codes, run.text)
        told = run.messages("speak")
        self.assertEqual(len(told), 1, run.text)
        self.assertIn(f"against the scores{', at first' if 'warnings' in told[0] else ''}: {first}", told[0])
        self.assertTrue(run.stats and run.log["frames"], run.text)

    def test_a_run_without_warnings(self):
        run = self.score(self.clip, self.clip, options="strict=1")
        self.assert_ok(run)
        self.assertEqual(run.log["warnings"], [])

    def test_what_frames_say(self):
        before = {0: "setparams=field_mode=tff"}
        run = self.score(self.clip, self.clip, before=before, options="strict=1")
        self.refused(run, "Input 0 (main) has interlaced frames")
        self.assertTrue(run.log["complete"])
        lenient = self.score(self.clip, self.clip, before=before)
        self.assert_ok(lenient)
        self.assertEqual(lenient.stats, run.stats)
        self.assertEqual(lenient.log["warnings"], run.log["warnings"])
        # The first such frame, and how many there were.
        self.assertEqual([("Input 0" in text, "interlaced" in text) for text in run.log["warnings"]], [(True, True), (False, True)])

    def test_what_lavfi_converts(self):
        run = self.score(self.clip, self.clip, before={1: "format=pal8"}, options="metrics=ssim:strict=1")
        self.refused(run, "Input 1 (reference) was converted by lavfi from pal8")

    def test_what_the_watch_finds(self):
        moving = self.source(frames=75, extra="noise=alls=20:allf=t:all_seed=3")
        run = self.score(moving, moving, before={0: "select='not(eq(n,30))',setpts=N/25/TB"}, options="strict=1")
        self.assert_fails(run, "strict=1: ")
        self.assertTrue([text for text in run.log["warnings"] if "drop" in text or "earlier" in text or "later" in text], run.log["warnings"])

    def test_what_the_counts_say(self):
        run = self.score(self.source(frames=5), self.clip, options="strict=1")
        self.refused(run, "frames:5 scored:5 unscored:0")
        self.assertTrue(any(text.startswith("frames:5 scored:5") for text in run.log["warnings"]), run.log["warnings"])

    def test_a_consumer_that_has_enough(self):
        """From FFmpeg 7 on the command line frees the graph about then. Where that comes first no filter can fail any more: it is
        said all the same."""
        stop, _ = stop_behind(4)
        run = self.score(self.clip, self.clip, before={0: "setparams=field_mode=tff"}, options="strict=1", **stop)
        codes = (exit_code(errno.EINVAL), *([0] if is_threaded() else []))
        self.refused(run, "Input 0 (main) has interlaced frames", codes)

    def test_the_first_failure_is_told(self):
        run = self.score(self.clip, self.clip, before={0: "setparams=field_mode=tff,setpts=PTS+100/TB"}, options="strict=1")
        self.assert_fails(run, "no frame was scored")
        self.assertNotIn("strict=1", run.text)

    def test_alerts_are_no_doubts(self):
        graph = "[0:v][1:v]quality_cuda=psnr:backend=cpu:strict=1:alert='psnr_y>1\\:0s'"
        run = ffmpeg(["-i", self.clip, "-i", self.clip, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assert_ok(run)


if __name__ == "__main__":
    unittest.main()
