# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Inputs of other ranges, depths and colours: brought to one format by their tags, said, logged, and scored as swscale would have it."""

import sys
import unittest

from harness import REPOSITORY, FilterTest, avfilter_major, make

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import stand_in_driver  # noqa: E402

VMAF_TOLERANCE = 0.02  # of the mean score, against swscale with accurate rounding
ACCURATE = "flags=accurate_rnd+full_chroma_int+full_chroma_inp"
LEFT = "out_h_chr_pos=0:out_v_chr_pos=128"  # where chroma lies, as the filter scale counts; it looks at no tags
SIZE = "320x180"


class Conversions(FilterTest):
    def setUp(self):
        super().setUp()
        self.master = self.source(frames=4, size=SIZE)

    def clip(self, name, chain, source=None):
        return make(self.clips, f"conversions-{name}", source or self.master, "-vf", chain, "-c:v", "rawvideo")

    def encode(self, name, chain, quality=6):
        """Lossy luma and chroma with the tags that the chain sets."""
        return self.clip(name, f"noise=alls={quality}:all_seed=3,{chain}")

    def pooled(self, run, name="vmaf"):
        self.assert_ok(run)
        return run.log["pooled_metrics"][name]["mean"]

    def assert_converted(self, run, *expected):
        """Each (input, from format, to format) stands in the log, and in one line on the console."""
        self.assert_ok(run)
        self.assertEqual([(each["input"], each["from"]["format"], each["to"]["format"]) for each in run.log.get("conversions", [])],
                         list(expected))
        self.assertEqual(len(run.messages(" is converted from ")), len(expected), run.text)
        self.assertFalse(run.messages("converted by lavfi"), run.text)

    # --- RGB ---

    def test_rgb_beside_an_encode(self):
        """The RGB side becomes what the encode is, by the encode's matrix and range."""
        rgb = self.clip("rgb.nut", "format=gbrp")
        wishes = [("bt709", "tv", "yuv420p"), ("bt601", "pc", "yuv420p")]
        if avfilter_major() >= 10:  # before 7.0 lavfi's own conversion, which this is held against, takes another matrix
            wishes.append(("bt2020", "tv", "yuv444p10le"))
        for matrix, out_range, pix_fmt in wishes:
            with self.subTest(matrix=matrix, range=out_range, format=pix_fmt):
                to = f"scale=out_color_matrix={matrix}:out_range={out_range}:{ACCURATE}:{LEFT},format={pix_fmt}"
                tags = {"bt709": "bt709", "bt601": "smpte170m", "bt2020": "bt2020nc"}[matrix]
                encode = self.encode(f"{matrix}-{out_range}.nut", f"format=gbrp,{to}")
                params = f"setparams=colorspace={tags}:range={out_range}"
                ours = self.score(encode, rgb, before={0: params}, options="metrics=vmaf+psnr")
                theirs = self.score(encode, rgb, before={0: params, 1: f"{to},{params}"}, options="metrics=vmaf+psnr")
                self.assert_converted(ours, ("reference", "gbrp", pix_fmt))
                self.assert_converted(theirs)
                self.assertAlmostEqual(self.pooled(ours), self.pooled(theirs), delta=VMAF_TOLERANCE)
                self.assertAlmostEqual(self.pooled(ours, "psnr_y"), self.pooled(theirs, "psnr_y"), delta=0.05)
                # swscale's kernel for halved chroma is longer, and the encode was made with it; lying elsewhere costs 8 dB.
                delta = 0.1 if "444" in pix_fmt else 2.5
                self.assertAlmostEqual(self.pooled(ours, "psnr_cb"), self.pooled(theirs, "psnr_cb"), delta=delta)
                self.assertEqual(ours.log["conversions"][0]["to"]["matrix"], tags)
                self.assertEqual(ours.log["conversions"][0]["to"]["range"], "limited" if out_range == "tv" else "full")
                self.assertFalse(ours.messages("(assumed)"))

    def test_a_matrix_that_nobody_tagged_is_said(self):
        rgb = self.clip("rgb.nut", "format=gbrp")
        run = self.score(self.master, rgb, before={0: "setparams=colorspace=unknown:range=tv"}, options="metrics=psnr")
        self.assertEqual(len(run.messages("matrix smpte170m (assumed)")), 1, run.text)
        self.assertEqual(len(run.messages("tag the YUV input before (setparams=colorspace=bt709)")), 1, run.text)
        tagged = self.score(self.master, rgb, before={0: "setparams=range=tv,setparams=colorspace=bt709"}, options="metrics=psnr")
        self.assertEqual(tagged.log["conversions"][0]["to"]["matrix"], "bt709")
        self.assertFalse(tagged.messages("(assumed)"))

    def test_metrics_of_rgb_see_rgb(self):
        """Alone and beside metrics of luma and chroma they have the same scores, to the last digit."""
        one, other = self.clip("packed.nut", "format=rgb24"), self.encode("rgb-noise.nut", "format=gbrp")
        alone = self.score(other, one, options="metrics=ssimulacra2")
        both = self.score(other, one, options="metrics=ssimulacra2+psnr")
        psnr = self.score(other, one, options="metrics=psnr")
        self.assert_converted(alone)
        self.assert_converted(both, ("reference", "rgb24", "yuv444p"), ("distorted", "gbrp", "yuv444p"))
        self.assertEqual(self.pooled(alone, "ssimulacra2"), self.pooled(both, "ssimulacra2"))
        self.assertEqual(self.pooled(psnr, "psnr_y"), self.pooled(both, "psnr_y"))

    def test_metrics_of_colours_of_a_mixed_pair(self):
        """What is the same picture, except for its coding, is scored as the same."""
        rgb = self.clip("rgb.nut", "format=gbrp")
        same = self.clip("same.nut", f"format=gbrp,scale=out_color_matrix=bt709:out_range=tv:{ACCURATE},format=yuv444p12le")
        run = self.score(same, rgb, before={0: "setparams=colorspace=bt709:range=tv"}, options="metrics=ssimulacra2+psnr")
        self.assert_ok(run)
        self.assertGreater(self.pooled(run, "ssimulacra2"), 97)
        self.assertEqual({each["metrics"] for each in run.log["conversions"]}, {"luma and chroma", "rgb"})

    # --- ranges and depths ---

    def test_ranges(self):
        """What differs by its range alone, and is tagged so, is nearly the same: rounding is left."""
        full = self.clip("full.nut", f"scale=in_range=tv:out_range=pc:{ACCURATE},format=yuv420p")
        tags = {0: "setparams=range=pc", 1: "setparams=range=tv"}
        run = self.score(full, self.master, before=tags, options="metrics=psnr")
        self.assert_converted(run, ("distorted", "yuv420p", "yuv420p"))
        self.assertGreater(self.pooled(run, "psnr_y"), 55)
        self.assertFalse(run.messages("scored as they are"))
        off = self.score(full, self.master, before=tags, options="metrics=psnr:convert=off")
        self.assert_converted(off)
        self.assertLess(self.pooled(off, "psnr_y"), 30)
        self.assertEqual(len(off.messages("samples are scored as they are")), 1)
        ignored = self.score(full, self.master, before=tags, options="metrics=psnr:range=ignore")
        self.assert_converted(ignored)
        self.assertEqual(self.pooled(ignored, "psnr_y"), self.pooled(off, "psnr_y"))

    def test_error(self):
        full = {0: "setparams=range=pc", 1: "setparams=range=tv"}
        run = self.score(self.master, self.master, before=full, options="metrics=psnr:convert=error")
        self.assert_fails(run, "convert=error: the distorted input would be converted from yuv420p, full range, to yuv420p, limited range",
                          "or use convert=auto")
        self.assert_converted(self.score(self.master, self.master, before=full, options="metrics=psnr:convert=auto"),
                              ("distorted", "yuv420p", "yuv420p"))
        self.assert_ok(self.score(self.master, self.master, options="metrics=psnr:convert=error"))

    def test_depths_of_full_range(self):
        """255 is 1023."""
        full = self.clip("full.nut", f"scale=in_range=tv:out_range=pc:{ACCURATE},format=yuv420p")
        deeper = self.clip("deeper.nut", "scale=in_range=pc:out_range=pc,format=yuv420p10le", full)
        tags = {0: "setparams=range=pc", 1: "setparams=range=pc"}
        run = self.score(deeper, full, before=tags, options="metrics=psnr+ssimulacra2")
        self.assert_converted(run, ("reference", "yuv420p", "yuv420p10le"))
        self.assertTrue(all(row["mse_y"] == 0 if "mse_y" in row else row["psnr_y"] >= 60 for row in run.stats), run.stats)
        self.assertGreater(self.pooled(run, "ssimulacra2"), 99.99)

    def test_gray_beside_an_encode(self):
        gray = self.clip("gray.nut", "scale=in_range=tv:out_range=pc,format=gray")
        tags = {0: "setparams=range=tv", 1: "setparams=range=pc"}
        run = self.score(self.master, gray, before=tags, options="metrics=vmaf")
        self.assert_converted(run, ("reference", "gray", "gray"))
        self.assertGreater(self.pooled(run), 97)

    # --- together with other things ---

    def test_with_scaling_and_a_region(self):
        rgb = self.clip("rgb-large.nut", "format=gbrp,scale=640:360:flags=area")
        tags = "setparams=colorspace=bt709:range=tv"
        for options in ("metrics=psnr:scale=bicubic:scale_to=main", r"metrics=psnr:scale=bicubic:scale_to=main:roi=32\\:16\\:128\\:96"):
            run = self.score(self.master, rgb, before={0: tags}, options=options)
            self.assert_converted(run, ("reference", "gbrp", "yuv420p"))
            self.assertGreater(self.pooled(run, "psnr_y"), 20)

    def test_on_the_stand_in_gpu(self):
        """Both backends make the same pictures: every sum of every metric is the same."""
        environment = stand_in_driver.environment(stand_in_driver.build(), QC_STAND_IN_SEED="1")
        small = self.source(frames=2, size="50x38")
        rgb = {name: self.clip(f"small-{name}.nut", f"format=gbrp,format={name}", small) for name in ("gbrp", "rgb24", "bgr0", "gbrp10le")}
        tags = {0: "setparams=colorspace=bt709:range=tv"}
        cases = [(small, rgb[name], tags, "psnr") for name in rgb]
        cases += [(rgb["rgb24"], rgb["gbrp10le"], {}, "psnr+ssimulacra2"), (small, rgb["rgb24"], tags, "xpsnr+ssimulacra2"),
                  (small, small, {0: "setparams=range=pc", 1: "setparams=range=tv"}, "psnr"),
                  (rgb["rgb24"], small, {1: tags[0]}, "psnr:scale=bicubic:scale_to=64x48"),
                  (small, small, {0: "format=yuv420p10le,setparams=range=pc", 1: "setparams=range=pc"}, "psnr")]
        for main, reference, before, metrics in cases:
            with self.subTest(main=main.name, reference=reference.name, metrics=metrics):
                on_cpu = self.score(main, reference, before=before, options=f"backend=cpu:metrics={metrics}")
                on_gpu = self.score(main, reference, before=before, options=f"backend=cuda:metrics={metrics}", environment=environment)
                self.assert_ok(on_cpu)
                self.assert_ok(on_gpu)
                self.assertTrue(on_cpu.log["conversions"])
                self.assertEqual(on_gpu.log["conversions"], on_cpu.log["conversions"])
                for ours, theirs in zip(on_gpu.log["frames"], on_cpu.log["frames"], strict=True):
                    for name, value in theirs["metrics"].items():
                        self.assertAlmostEqual(ours["metrics"][name], value, delta=2e-3 if name == "ssimulacra2" else 0, msg=name)


if __name__ == "__main__":
    unittest.main()
