# SPDX-License-Identifier: BSD-2-Clause-Patent
"""One video is a part of the other, further away than the watch of pairs looks: that is found in the pictures behind the last pair,
and told with a remedy, which is typed here. What only looks like it is not told."""

import re
import sys
import unittest

from harness import REPOSITORY, FilterTest, make

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import stand_in_driver  # noqa: E402


class Segments(FilterTest):
    FRAMES = 300

    def setUp(self):
        super().setUp()
        self.title = self.source(frames=self.FRAMES)

    def part(self, first, frames, chain="null", codec=("-c:v", "mpeg4", "-q:v", "6")):
        """An encode of some frames of the title, which begins at 0."""
        name = re.sub(r"\W+", "_", f"part-{first}-{frames}-{chain}-{codec[1]}")
        return make(self.clips, f"{name}.mkv", self.title, "-vf", f"trim=start_frame={first}:end_frame={first + frames},{chain},"
                    "setpts=PTS-STARTPTS", *codec)

    def findings(self, run):
        return [finding for finding in run.log["alignment"]["findings"] if finding["kind"] == "segment"]

    def remedy(self, run, *texts):
        self.assert_ok(run)
        lines = [line for line in run.messages("alignment: ") if "so each frame is compared with another one" in line]
        self.assertEqual(len(lines), 1, run.text)
        for text in texts:
            self.assertIn(text, lines[0])
        found = re.findall(r"put (\S+) before input (\d)", lines[0])
        self.assertEqual(len(found), 1, lines[0])
        return {int(found[0][1]): found[0][0]}

    def check(self, *inputs, offset, remedy, options="", right=None, environment=None):
        """Is found, and the remedy gives the scores that are right."""
        options = f"{options}:allow_unpaired=1".lstrip(":")
        wrong = self.score(*inputs, options=options, environment=environment)
        told = self.remedy(wrong, f"from frame {abs(offset)}")
        self.assertEqual(told, remedy)
        self.assertEqual([finding["offset"] for finding in self.findings(wrong)], [offset])
        mended = self.score(*inputs, options=options, before=told, environment=environment)
        self.assert_ok(mended)
        self.assertEqual(mended.messages("alignment: "), [])
        self.assertEqual(mended.messages("if both show the same picture then"), [])
        pooled = [run.log["pooled_metrics"]["psnr_y"]["mean"] for run in (wrong, mended)]
        self.assertGreater(pooled[1], pooled[0] + 5)
        if right is not None:
            self.assertEqual([row["metrics"]["psnr_y"] for row in mended.log["frames"] if "psnr_y" in row["metrics"]], right)
        return mended

    def scores_of(self, part, first, frames):
        alone = self.part(first, frames, codec=("-c:v", "ffv1"))
        return [row["metrics"]["psnr_y"] for row in self.score(part, alone).log["frames"]]

    def test_a_part_of_its_title(self):
        for first, frames in ((50, 25), (211, 60)):
            with self.subTest(first):
                part = self.part(first, frames)
                self.check(part, self.title, offset=-first, right=self.scores_of(part, first, frames),
                           remedy={1: f"trim=start={first / 25:.6f},setpts=PTS-{first / 25:.6f}/TB"})

    def test_a_reference_that_is_a_part(self):
        whole, part = self.worse(self.title), self.part(120, 60, codec=("-c:v", "ffv1"))
        self.check(whole, part, offset=120, remedy={0: "trim=start=4.800000,setpts=PTS-4.800000/TB"})

    def test_by_index(self):
        self.check(self.part(50, 40), self.title, offset=-50, options="sync=index", remedy={1: "trim=start_frame=50"})

    def test_another_size(self):
        self.check(self.part(90, 50, "scale=120:68"), self.title, offset=-90, options="scale=bicubic",
                   remedy={1: "trim=start=3.600000,setpts=PTS-3.600000/TB"})

    def test_another_depth_and_range(self):
        part = self.part(90, 50, "scale=out_range=pc,format=yuv420p10le,setparams=range=pc", codec=("-c:v", "ffv1"))
        self.check(part, self.title, offset=-90, remedy={1: "trim=start=3.600000,setpts=PTS-3.600000/TB"})

    def test_a_ladder(self):
        """The other rendition is where it belongs."""
        part, coarse = self.part(60, 60), self.part(0, 60)
        run = self.score(coarse, self.title, part, options="renditions=2")
        told = self.remedy(run, "rendition 1 shows what the reference does from frame 60")
        self.assertEqual(told, {2: "setpts=PTS+2.400000/TB"})
        mended = self.score(coarse, self.title, part, options="renditions=2:allow_unpaired=1", before=told)
        self.assertEqual(mended.messages("alignment: "), [])

    def test_on_the_gpu(self):
        build = stand_in_driver.build()
        environment = {"LD_LIBRARY_PATH": str(build / "tests/device"), "QC_STAND_IN_SEED": "1", "QC_STAND_IN_REPORT": "report.txt"}
        self.check(self.part(50, 20), self.title, offset=-50, options="backend=cuda", remedy={1: "trim=start=2.000000,setpts=PTS-2.000000/TB"},
                   environment=environment)

    def test_a_delay_as_long_as_a_frame(self):
        """AAC's at 48 frames a second, beside a video that has no sound."""
        reference = make(self.clips, "48.mkv", f"testsrc2=s={self.SIZE}:r=48,trim=end_frame=60", "-c:v", "ffv1", "-pix_fmt", "yuv420p")
        late = make(self.clips, "late.mkv", reference, "-vf", "settb=1/1000,setpts=PTS+21", "-fps_mode", "passthrough", "-copyts", "-c:v", "ffv1")
        run = self.score(late, reference, before_inputs=[("-copyts",)])
        self.assert_ok(run)
        lines = run.messages("each frame is compared with its neighbour")
        self.assertEqual(len(lines), 1, run.text)
        mended = self.score(late, reference, options=re.search(r"use (align=start)", lines[0])[1], before_inputs=[("-copyts",)])
        self.assert_ok(mended)
        self.assert_all_identical(mended)
        self.assertEqual(mended.messages("each frame is compared with its neighbour"), [])

    def test_the_rest_is_not_read_where_pairs_fit(self):
        run = self.score(self.part(0, 60), self.title)
        self.assert_ok(run)
        self.assertLess(run.pairing["reference_unused"], 150)
        self.assertEqual(run.messages("alignment: "), [])

    def test_what_is_no_part(self):
        dark = {"black": "lutyuv=16:128:128", "still": "loop=loop=-1:size=1,trim=end_frame=60", "noise": "noise=alls=100:allf=t"}
        for name, chain in dark.items():
            with self.subTest(name):
                self.assertEqual(self.findings(self.score(self.part(0, 60, chain), self.title)), [])
        other = make(self.clips, "other.mkv", f"mandelbrot=s={self.SIZE}:rate=25:end_scale=0.02:end_pts=120,trim=end_frame=80",
                     "-c:v", "mpeg4", "-q:v", "6")
        self.assertEqual(self.findings(self.score(other, self.title)), [])
        # A shot that comes twice: nobody knows which of them was meant.
        twice = make(self.clips, "twice.nut", self.title, "-vf", "loop=loop=2:size=100:start=0", "-c:v", "ffv1")
        run = self.score(self.part(40, 50), twice)
        self.assertEqual(self.findings(run), [])


if __name__ == "__main__":
    unittest.main()
