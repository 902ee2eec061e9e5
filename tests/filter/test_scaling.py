# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Inputs of different sizes: scaled by the engine as swscale would, said, and refused where it would be no comparison."""

import unittest

from harness import FilterTest, make

SMALL, LARGE = "160x90", "320x180"
VMAF_TOLERANCE = 0.05  # of the mean score, against swscale with accurate rounding


SITES = {"left": (0, 128), "center": (128, 128), "topleft": (0, 0)}  # of chroma, as the filter scale counts; it looks at no tags


def swscale(kernel, size=LARGE, site="left"):
    across, down = SITES[site]
    return (f"scale={size.replace('x', ':')}:flags={kernel}+accurate_rnd+full_chroma_int:in_h_chr_pos={across}:out_h_chr_pos={across}"
            f":in_v_chr_pos={down}:out_v_chr_pos={down}")


class Scaling(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=6, size=LARGE)

    def rendition(self, size=SMALL, pix_fmt="yuv420p", rate=None, frames=6, codec="mpeg4", crop=None, aspect=None):
        """An encode of another size, of the same pictures. Its samples have the shape that keeps the picture's, or gives it `aspect`."""
        quality = ("-q:v", "4") if codec == "mpeg4" else ()
        chain = f"scale={size.replace('x', ':')}:flags=area,format={pix_fmt}{f',fps={rate}' if rate else ''},trim=end_frame={frames}"
        name = f"r-{size}-{pix_fmt}-{rate}-{frames}-{codec}-{crop}-{aspect}".replace("/", "_").replace(":", "_")
        return make(self.clips, f"{name}.{'mp4' if codec == 'mpeg4' else 'nut'}", self.reference,
                    "-vf", f"crop={crop},{chain}" if crop else chain, "-c:v", codec, *quality, *(("-aspect", aspect) if aspect else ()))

    def pooled(self, run, name):
        self.assert_ok(run)
        return run.log["pooled_metrics"][name]["mean"]

    # --- scores ---

    def test_scores_are_those_of_swscale(self):
        distorted = self.rendition()
        for kernel in ("bicubic", "lanczos", "bilinear", "area"):
            with self.subTest(kernel=kernel):
                options = "metrics=vmaf+psnr"
                theirs = self.score(distorted, self.reference, before={0: swscale(kernel)}, options=options)
                ours = self.score(distorted, self.reference, options=f"{options}:scale={kernel}")
                self.assertAlmostEqual(self.pooled(ours, "vmaf"), self.pooled(theirs, "vmaf"), delta=VMAF_TOLERANCE)
                for name in ("psnr_y", "psnr_cb", "psnr_cr"):
                    self.assertAlmostEqual(self.pooled(ours, name), self.pooled(theirs, name), delta=0.1)
                self.assertEqual(ours.out, self.score(distorted, distorted).out, "the frames pass as they are")

    def test_the_kernel_is_the_one_asked_for(self):
        distorted = self.rendition()
        scores = {kernel: self.pooled(self.score(distorted, self.reference, options=f"scale={kernel}"), "psnr_y")
                  for kernel in ("bicubic", "lanczos", "bilinear", "area")}
        self.assertEqual(len(set(scores.values())), 3, scores)
        self.assertEqual(scores["bilinear"], scores["area"], "area is bilinear where pictures become larger")

    def test_chroma_is_scaled_where_it_lies(self):
        """Samples tagged as lying elsewhere are scaled as from there."""
        distorted, scores = self.rendition(), {}
        for location in SITES:
            ours = self.score(distorted, self.reference, before={0: f"setparams=chroma_location={location}"}, options="scale=bicubic")
            if ours.code and "Option not found" in ours.text:
                self.skipTest("SKIPPED: this ffmpeg's setparams has no chroma_location")
            theirs = self.score(distorted, self.reference, before={0: swscale("bicubic", site=location)})
            scores[location] = self.pooled(ours, "psnr_cb")
            self.assertAlmostEqual(scores[location], self.pooled(theirs, "psnr_cb"), delta=0.02, msg=location)
            self.assertTrue(ours.log["conventions"]["scaling"]["chroma_location"].startswith(location), location)
        self.assertGreater(min(abs(scores["left"] - scores["center"]), abs(scores["left"] - scores["topleft"])), 0.05, scores)

    def test_to_whose_size(self):
        distorted = self.rendition()
        for to, size, reference in (("reference", LARGE, LARGE), ("main", SMALL, f"{LARGE} to {SMALL}"),
                                    ("240x135", "240x135", f"{LARGE} to 240x135")):
            with self.subTest(to=to):
                run = self.score(distorted, self.reference, options=f"scale=lanczos:scale_to={to}")
                self.assert_ok(run)
                said = run.log["conventions"]["scaling"]
                self.assertEqual(said["reference"], reference)
                self.assertEqual(said["distorted"], SMALL if size == SMALL else f"{SMALL} to {size}")
                before = {i: swscale("lanczos", size) for i in (0, 1)}
                theirs = self.score(distorted, self.reference, before=before)
                self.assertAlmostEqual(self.pooled(run, "psnr_y"), self.pooled(theirs, "psnr_y"), delta=0.1)

    def test_nothing_is_scaled_that_has_the_size(self):
        distorted = self.worse(self.reference)
        plain = self.score(distorted, self.reference)
        run = self.score(distorted, self.reference, options="scale=bicubic")
        self.assert_ok(run)
        self.assertEqual(run.log["frames"], plain.log["frames"])
        self.assertNotIn("conventions", run.log)

    # --- what is said ---

    def test_the_log_says_how(self):
        run = self.score(self.rendition(), self.reference, options="scale=bicubic")
        self.assert_ok(run)
        self.assertTrue(run.messages("the distorted input is scaled from 160x90 to 320x180, bicubic"))
        said = run.log["conventions"]["scaling"]
        self.assertEqual(set(said), {"kernel", "distorted", "reference", "phase", "chroma_location", "rounding"})
        self.assertEqual(said["kernel"].split(",")[0], "bicubic")
        self.assertEqual((said["distorted"], said["reference"]), ("160x90 to 320x180", LARGE))
        self.assertIn("14 bits", said["rounding"])

    def test_model_by_scored_size(self):
        """Small inputs that are scored as a large picture take the model of that."""
        reference = self.source(frames=1, size=LARGE)
        run = self.score(reference, reference, options="metrics=vmaf:model=auto:scale=bilinear:scale_to=3840x2160:n_threads=1")
        self.assert_ok(run)
        self.assertTrue(run.messages("_2160 for 3840x2160"), run.text)

    # --- ladders ---

    def test_a_ladder_of_everything(self):
        """Sizes, depths, formats, codecs and lengths of their own: the bits of separate runs."""
        ladder = [self.rendition(), self.rendition("240x134", "yuv420p10le", codec="ffv1"), self.rendition(LARGE),
                  self.rendition("480x270", frames=4)]
        options = "metrics=vmaf+psnr:bitdepth=10:scale=bicubic"
        run = self.score(ladder[0], self.reference, *ladder[1:], options=f"{options}:renditions={len(ladder)}")
        self.assert_ok(run)
        for k, rendition in enumerate(ladder):
            with self.subTest(rendition=k):
                alone = self.score(rendition, self.reference, options=options)
                self.assert_ok(alone)
                together = run.log_named(f"log.rendition{k}.json" if k else "log.json")
                # Where a run ends earlier, its last frame has no motion from the next.
                known = 6 if k < 3 else 3
                self.assertEqual(together["frames"][:known], alone.log["frames"][:known])
                self.assertEqual(len(alone.log["frames"]), 6 if k < 3 else 4)
                self.assertEqual(together.get("conventions"), alone.log.get("conventions"))
                self.assertEqual("conventions" in together, k != 2)

    def test_a_slower_and_a_shorter_rendition(self):
        run = self.score(self.rendition(), self.reference, self.rendition("96x54", rate="25/2", frames=3), self.rendition("80x45", frames=2),
                         options="scale=bicubic:renditions=3")
        self.assert_ok(run)
        self.assertEqual([log["pairing"]["scored"] for log in (run.log, run.log_named("log.rendition1.json"),
                                                                run.log_named("log.rendition2.json"))], [6, 3, 2])

    # --- refusals ---

    def test_wrong_values(self):
        for options, error in (
            ("scale=cubic", "scale=cubic is not known; accepted: none, bicubic, lanczos, bilinear, area"),
            ("scale=", "scale= is not known; accepted: none"),
            ("scale=BICUBIC", "scale=BICUBIC is not known"),
            ("scale=bicubic:scale_to=big", "scale_to=big is not known; accepted: reference, main, or WIDTHxHEIGHT with sides of 1 to 32768"),
            ("scale=bicubic:scale_to=", "scale_to= is not known"),
            ("scale=bicubic:scale_to=320", "scale_to=320 is not known"),
            ("scale=bicubic:scale_to=320x", "scale_to=320x is not known"),
            ("scale=bicubic:scale_to=0x180", "scale_to=0x180 is not known"),
            ("scale=bicubic:scale_to=-320x180", "scale_to=-320x180 is not known"),
            ("scale=bicubic:scale_to=320x180x2", "scale_to=320x180x2 is not known"),
            ("scale=bicubic:scale_to=32769x180", "scale_to=32769x180 is not known"),
            ("scale=bicubic:scale_to=100000x2", "scale_to=100000x2 is not known"),
            ("scale_to=main", "scale_to=main: without scale, reference is accepted; add scale=bicubic, lanczos, bilinear or area"),
            ("scale=none:scale_to=64x36", "scale_to=64x36: without scale, reference is accepted"),
        ):
            with self.subTest(options=options):
                run = self.score(self.reference, self.reference, options=options)
                self.assert_fails(run, error)
                self.assertEqual(run.out, [])

    def test_without_it_sizes_have_to_be_equal(self):
        for options in ("", "scale=none"):
            run = self.score(self.rendition(), self.reference, options=options)
            self.assert_fails(run, "Input 1 (reference) is 320x180, main is 160x90; scale first, e.g. ",
                              "or have it scaled here: quality_cuda=scale=bicubic")

    def test_other_shapes(self):
        cropped = self.rendition("160x68", crop="320:136")
        run = self.score(cropped, self.reference, options="scale=bicubic")
        self.assert_fails(run, "Input 0 (main) is 160x68 with a display aspect ratio of 2.3529, the reference 320x180 with 1.7778",
                          "the reference may have black bars above and below: [1:v]crop=320:136[r];[0:v][r]quality_cuda=scale=bicubic")
        self.assert_ok(self.score(cropped, self.reference, before={1: "crop=320:136"}, options="scale=bicubic"))
        run = self.score(self.rendition(aspect="64:27"), self.reference, options="scale=bicubic")
        self.assert_fails(run, "Input 0 (main) is 160x90 with a display aspect ratio of 2.37",
                          "only their sample aspect ratios differ", "setsar=1.000000")
        run = self.score(self.rendition(), self.reference, cropped, options="scale=bicubic:renditions=2")
        self.assert_fails(run, "Input 2 (main1) is 160x68")
        run = self.score(self.rendition(), self.reference, options="scale=bicubic:scale_to=300x300")
        self.assert_fails(run, "scale_to=300x300 would distort the reference, which is 320x180 with a display aspect ratio of 1.7778; "
                               "accepted is a size of that ratio, e.g. 534x300")

    def test_the_same_shape_in_other_samples(self):
        """Anamorphic against square samples, and sizes that an encoder rounded."""
        for size, aspect in (("120x90", None), ("106x60", "106:60"), ("108x60", "108:60"), ("160x88", "160:88")):
            with self.subTest(size=size):
                self.assert_ok(self.score(self.rendition(size, aspect=aspect), self.reference, options="scale=bicubic"))
        self.assert_ok(self.score(self.rendition("120x90"), self.reference, options="scale=bicubic:scale_to=main"))
        run = self.score(self.rendition("160x86", aspect="160:86"), self.reference, options="scale=bicubic")
        self.assert_fails(run, "Input 0 (main) is 160x86 with a display aspect ratio of 1.8605")

    def test_factors_have_an_end(self):
        run = self.score(self.source(frames=2, size="16x10"), self.source(frames=2, size="320x200"), options="scale=area")
        self.assert_fails(run, "the distorted input is 16x10 and would be scaled to 320x200: a factor of at most 16 is accepted")


if __name__ == "__main__":
    unittest.main()
