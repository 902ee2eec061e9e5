# SPDX-License-Identifier: BSD-2-Clause-Patent
"""roi: a rectangle is scored as if both videos had been cut to it, and refused where it cannot be."""

import unittest

from harness import FilterTest, make

#: x, y, width, height, and a pixel format in which they begin at a chroma sample
REGIONS = [((16, 8, 128, 96), "yuv420p"), ((50, 38, 113, 99), "yuv420p"), ((33, 20, 100, 70), "yuv444p"), ((34, 21, 97, 101), "yuv422p"),
           ((22, 10, 131, 111), "nv12"), ((50, 38, 113, 99), "yuv420p10le"), ((22, 10, 90, 80), "p010le"), ((33, 21, 101, 99), "gray"),
           ((33, 21, 101, 99), "gbrp"), ((33, 21, 101, 99), "rgb24"), ((47, 43, 129, 101), "bgra"), ((0, 0, 176, 144), "yuv420p")]
WITH_RGB = "ssimulacra2+butteraugli"
EVERYTHING = "all"


def roi(region, separator="|"):
    return "roi=" + separator.join(map(str, region))


class Region(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=4)
        self.distorted = self.worse(self.reference)

    def scores(self, run):
        self.assert_ok(run)
        return run.log["frames"], run.log["pooled_metrics"]

    def cut_and_whole(self, region, pix_fmt, options):
        """Scores of pictures that were cut, and of a region of whole ones."""
        x, y, width, height = region
        cut = {i: f"format={pix_fmt},crop={width}:{height}:{x}:{y}:exact=1" for i in (0, 1)}
        whole = {i: f"format={pix_fmt}" for i in (0, 1)}
        return (self.score(self.distorted, self.reference, before=cut, options=options),
                self.score(self.distorted, self.reference, before=whole, options=f"{options}:{roi(region)}"))

    def test_scores_are_those_of_cut_pictures(self):
        for region, pix_fmt in REGIONS:
            with self.subTest(region=region, pix_fmt=pix_fmt):
                is_rgb = pix_fmt in ("gbrp", "rgb24", "bgra")
                options = f"metrics={WITH_RGB}" if is_rgb else "metrics=psnr+vmaf+ciede" if pix_fmt != "gray" else "metrics=psnr+vmaf"
                cut, part = self.cut_and_whole(region, pix_fmt, options)
                self.assertEqual(self.scores(part), self.scores(cut))
                self.assertEqual(len(part.log["frames"]), 4)

    def test_every_metric(self):
        cut, part = self.cut_and_whole((22, 10, 141, 127), "yuv420p", f"metrics={EVERYTHING}:on_unsupported=skip:subsample=2")
        self.assertEqual(self.scores(part), self.scores(cut))
        self.assertGreater(len(part.log["pooled_metrics"]), 40)

    def test_frames_leave_whole(self):
        plain = self.score(self.distorted, self.reference)
        part = self.score(self.distorted, self.reference, options=roi((16, 8, 64, 64)))
        self.assert_ok(part)
        self.assertEqual(part.out, plain.out)
        self.assertNotEqual(part.log["frames"], plain.log["frames"])

    def test_what_is_said(self):
        run = self.score(self.distorted, self.reference, options=roi((16, 8, 64, 48), r"\\:"))
        self.assert_ok(run)
        self.assertTrue(run.messages("a region is scored, 64x48 at 16,8 of 176x144"), run.text)
        self.assertEqual(run.log["conventions"]["region"], {"scored": "64x48 at 16,8", "picture": "176x144"})

    def test_the_model_goes_by_the_whole_picture(self):
        reference = self.source(frames=1, size="3840x2160")
        run = self.score(reference, reference, options=f"metrics=vmaf:model=auto:n_threads=1:{roi((640, 320, 640, 360))}")
        self.assert_ok(run)
        self.assertTrue(run.messages("_2160 for 3840x2160"), run.text)

    # --- with scaling and ladders ---

    def squares(self, *inputs, region=None, options=""):
        """Mean square errors of luma."""
        cut = f":{roi(region)}" if region else ""
        run = self.score(*inputs, options=f"opts=psnr.enable_mse=true{options}{cut}")
        self.assert_ok(run)
        return [frame["metrics"]["mse_y"] for frame in run.log["frames"]]

    def test_regions_of_scaled_pictures_make_the_whole(self):
        small = make(self.clips, "small.nut", self.distorted, "-vf", "scale=88:72:flags=area", "-c:v", "ffv1")
        for options in (":scale=bicubic", ":scale=lanczos:scale_to=208x170", ":scale=area:scale_to=main"):
            with self.subTest(options=options):
                width, height = (208, 170) if "208" in options else (88, 72) if "main" in options else (176, 144)
                whole = self.squares(small, self.reference, options=options)
                split = width // 4 * 2, height // 4 * 2
                sums = [0.0] * len(whole)
                for x, columns in ((0, split[0]), (split[0], width - split[0])):
                    for y, rows in ((0, split[1]), (split[1], height - split[1])):
                        part = self.squares(small, self.reference, region=(x, y, columns, rows), options=options)
                        sums = [total + each * columns * rows for total, each in zip(sums, part, strict=True)]
                for total, mean in zip(sums, whole, strict=True):
                    self.assertAlmostEqual(total / (width * height), mean, delta=1e-5)  # six digits of each are written

    def test_a_scaled_input_as_large_as_the_region(self):
        """It is scaled all the same, and the region is of the scaled picture."""
        small = make(self.clips, "region-sized.nut", self.distorted, "-vf", "scale=88:72:flags=area", "-c:v", "ffv1")
        whole = self.score(small, self.reference, options=f"scale=bilinear:{roi((0, 0, 176, 144))}")
        self.assertEqual(self.scores(whole), self.scores(self.score(small, self.reference, options="scale=bilinear")))
        part = self.score(small, self.reference, options=f"scale=bilinear:{roi((44, 36, 88, 72))}")
        self.assert_ok(part)
        self.assertEqual(part.log["conventions"]["scaling"]["distorted"], "88x72 to 176x144")

    def test_renditions(self):
        other = self.worse(self.source(frames=4, extra="hue=h=20"))
        run = self.score(self.distorted, self.reference, other, options=f"renditions=2:{roi((20, 30, 100, 90))}")
        self.assert_ok(run)
        for k, rendition in enumerate((self.distorted, other)):
            alone = self.score(rendition, self.reference, options=roi((20, 30, 100, 90)))
            self.assertEqual(run.log_named(f"log.rendition{k}.json" if k else "log.json")["frames"], alone.log["frames"])

    # --- what is refused ---

    def test_what_is_no_rectangle(self):
        for value in ("1|2|3", "1|2|3|4|5", "-1|0|16|16", "0|0|0|16", "a|b|c|d", "0|0|16|16x", "0||16|16", "100000|0|16|16"):
            with self.subTest(value=value):
                run = self.score(self.distorted, self.reference, options=f"roi={value}")
                self.assert_fails(run, f"roi={value} is not known", "X:Y:WIDTH:HEIGHT")

    def test_what_does_not_lie_in_the_picture(self):
        for region in ((0, 0, 178, 16), (160, 0, 18, 16), (0, 140, 16, 16)):
            with self.subTest(region=region):
                run = self.score(self.distorted, self.reference, options=roi(region))
                self.assert_fails(run, f"roi={':'.join(map(str, region))}: what lies in the scored picture of 176x144 is accepted")

    def test_what_begins_between_chroma_samples(self):
        for region in ((1, 0, 16, 16), (0, 1, 16, 16)):
            with self.subTest(region=region):
                run = self.score(self.distorted, self.reference, options=roi(region))
                self.assert_fails(run, f"roi={':'.join(map(str, region))}: ", "multiples of 2 across and 2 down")

    def test_a_region_that_a_metric_cannot_score(self):
        run = self.score(self.distorted, self.reference, options=f"metrics=float_ms_ssim:{roi((0, 0, 64, 64))}")
        self.assert_fails(run, "float_ms_ssim", "64x64")


if __name__ == "__main__":
    unittest.main()
