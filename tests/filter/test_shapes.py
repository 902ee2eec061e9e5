# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Inputs of different shapes: the cause is told from their sizes, and the graph that the message has is typed here."""

import re
import unittest

from harness import FilterTest, ffmpeg, make


class Shapes(FilterTest):
    FRAMES = 8

    def clip(self, name, size, more="null", *output):
        return make(self.clips, name, f"mandelbrot=s={size}:rate=25:end_scale=0.02:end_pts=120,trim=end_frame={self.FRAMES},"
                    f"format=yuv420p,{more}", "-c:v", "ffv1", *output, "-pix_fmt", "yuv420p")

    def coarse(self, name, source, chain="null"):
        return make(self.clips, name, source, "-vf", chain, "-c:v", "mpeg4", "-q:v", "6")

    def graphs(self, run, *texts):
        self.assertNotEqual(run.code, 0)
        lines = run.messages("Input 1 (reference) is") + run.messages("Input 0 (main) is")
        self.assertEqual(len(lines), 1, run.text)
        for text in texts:
            self.assertIn(text, lines[0])
        return re.findall(r"\[\d:v\]\S+quality_cuda(?:=scale=bicubic)?", lines[0])

    def typed(self, graph, distorted, reference):
        graph += (":" if graph.endswith("bicubic") else "=") + "metrics=psnr"
        run = ffmpeg(["-i", distorted, "-i", reference, "-lavfi", graph, "-f", "null", "-"], self.folder)
        self.assertEqual(run.code, 0, run.text)
        return float(re.search(r"psnr_y\D+([\d.]+)", run.text)[1])

    def check(self, distorted, reference, right, *texts):
        graph = self.graphs(self.score(distorted, reference), *texts)[0]
        self.assertAlmostEqual(self.typed(graph, distorted, reference), right, delta=0.1)

    def right(self, distorted, reference):
        return self.score(distorted, reference).log["pooled_metrics"]["psnr_y"]["mean"]

    def test_black_bars(self):
        whole = self.clip("whole.nut", "320x136")
        letterbox = make(self.clips, "letterbox.nut", whole, "-vf", "pad=320:180:0:22", "-c:v", "ffv1")
        encode, boxed = self.coarse("encode.mkv", whole), self.coarse("boxed.mkv", letterbox)
        self.check(encode, letterbox, self.right(encode, whole), "the reference may have black bars above and below")
        cut = make(self.clips, "cut.nut", boxed, "-vf", "crop=320:136", "-c:v", "ffv1")
        self.check(boxed, whole, self.right(cut, whole), "the distorted video may have black bars above and below")
        narrow = self.clip("narrow.nut", "240x180")
        pillars = make(self.clips, "pillars.nut", narrow, "-vf", "pad=320:180:40:0", "-c:v", "ffv1")
        encode = self.coarse("narrow.mkv", narrow)
        self.check(encode, pillars, self.right(encode, narrow), "the reference may have black bars at its left and right")

    def test_quarter_turns(self):
        reference = self.clip("upright.nut", "320x180")
        encode = self.coarse("upright.mkv", reference)
        right = self.right(encode, reference)
        for turn, which in (("transpose=2", 0), ("transpose=1", 1)):
            with self.subTest(turn):
                turned = make(self.clips, f"{turn}.nut", encode, "-vf", turn, "-c:v", "ffv1")
                run = self.score(turned, reference)
                graph = self.graphs(run, "one of them is turned by 90 degrees", "or transpose=2 the other way round")[0]
                graph = graph.replace("transpose=1", "transpose=2") if which else graph
                self.assertAlmostEqual(self.typed(graph, turned, reference), right, delta=0.1)

    def test_rows_of_whole_blocks(self):
        reference = self.clip("rows.nut", "320x180")
        encode = self.coarse("rows.mkv", reference)
        padded = make(self.clips, "padded.nut", reference, "-vf", "pad=320:192:0:0", "-c:v", "ffv1")
        self.check(encode, padded, self.right(encode, reference), "12 rows fill the coder's last blocks")

    def test_samples_that_are_no_squares(self):
        reference = self.clip("square.nut", "1280x720")
        probe = ffmpeg(["-f", "lavfi", "-i", "color,setsar=1", "-frames:v", "1", "-f", "null", "-"], self.folder)
        if "No such filter" in probe.text:
            self.skipTest("SKIPPED: this ffmpeg was built without the filter setsar")
        encode = self.coarse("anamorphic.mkv", reference, "scale=960:720:flags=bicubic,setsar=1")
        tagged = self.score(encode, reference, options="scale=bicubic", before={0: "setsar=4/3"})
        self.check(encode, reference, tagged.log["pooled_metrics"]["psnr_y"]["mean"],
                   "the samples of the distorted video may be no squares, though nothing tags them")

    # --- crop ---

    def test_a_crop_of_each_input_is_that_of_lavfi(self):
        whole = self.clip("whole.nut", "320x136")
        letterbox = make(self.clips, "letterbox.nut", whole, "-vf", "pad=320:180:0:22", "-c:v", "ffv1")
        encode = self.coarse("encode.mkv", whole)
        for options, before in (("crop=|320x136+0+22", {1: "crop=320:136:0:22"}),
                                ("crop=300x100+4+6|300x100+4+28", {0: "crop=300:100:4:6", 1: "crop=300:100:4:28"}),
                                ("crop=160x68+2+4|320x136+0+22:scale=bicubic", {0: "crop=160:68:2:4", 1: "crop=320:136:0:22"})):
            with self.subTest(options):
                rest = ":scale=bicubic" if "scale" in options else ""
                run = self.score(encode, letterbox, options=f"{options}:metrics=psnr+vmaf")
                other = self.score(encode, letterbox, options=f"metrics=psnr+vmaf{rest}", before=before)
                self.assertEqual([frame["metrics"] for frame in run.log["frames"]], [frame["metrics"] for frame in other.log["frames"]])
                self.assertEqual(len(run.tagged), self.FRAMES)

    def test_black_bars_are_found(self):
        """Letterboxed or pillarboxed on one side or on both, with a black start: scored as the cropped pictures are."""
        chains = {"letterbox": "pad=320:180:0:22", "pillars": "pad=400:136:40:0", "both": "pad=400:180:20:30"}
        whole = self.clip("whole.nut", "320x136")
        for start, chain in (("moving", "null"), ("black", "fade=in:3:3")):
            faded = make(self.clips, f"{start}.nut", whole, "-vf", chain, "-c:v", "ffv1")
            encode = self.coarse(f"{start}.mkv", faded)
            right = self.score(encode, faded)
            for name, chain in chains.items():
                with self.subTest(name, start=start):
                    boxed = make(self.clips, f"{name} {start}.nut", faded, "-vf", chain, "-c:v", "ffv1")
                    run = self.score(encode, boxed, options="crop=auto")
                    self.assert_ok(run)
                    self.assertEqual(len(run.messages("crop=auto: of input 1 (reference)")), 1, run.text)
                    self.assertEqual([frame["metrics"] for frame in run.log["frames"]], [frame["metrics"] for frame in right.log["frames"]])
                    self.assertEqual(len(run.tagged), self.FRAMES)
            boxed = make(self.clips, f"letterbox {start}.nut", faded, "-vf", chains["letterbox"], "-c:v", "ffv1")
            both = self.coarse(f"boxed {start}.mkv", boxed)
            run = self.score(both, boxed, options="crop=auto")
            self.assertEqual(len(run.messages("320x136+0+22 is compared")), 2, run.text)

    def test_bars_in_pictures_of_equal_size(self):
        """The one has bars, or other ones, where the other one shows something: said, and the option that is said gives the score of
        the pictures that both show."""
        master = self.clip("master.nut", "320x180")
        pad, crop = "pad=320:180:0:22", "crop=320:136:0:22"
        for name, of_reference, of_distorted, right in (
                ("matted master", f"{crop},{pad}", "null", (crop, crop)),
                ("matted encode", "null", f"{crop},{pad}", (crop, crop)),
                ("letterbox, stretched", f"{crop},{pad}", f"{crop},scale=320:180:flags=bicubic", ("scale=320:136:flags=bicubic", crop)),
                ("letterbox, squeezed", "null", f"scale=320:136:flags=bicubic,{pad}", (f"{crop},scale=320:180:flags=bicubic", "null")),
                ("pillars", "null", "scale=240:180:flags=bicubic,pad=320:180:40:0", ("crop=240:180:40:0,scale=320:180:flags=bicubic", "null")),
                ("other place", f"{crop},{pad}", f"{crop},pad=320:180:0:4", ("crop=320:136:0:4", crop))):
            with self.subTest(name):
                reference = make(self.clips, f"{name} r.nut", master, "-vf", of_reference, "-c:v", "ffv1")
                distorted = self.coarse(f"{name} d.mkv", master, of_distorted)
                run = self.score(distorted, reference, options="metrics=psnr")
                self.assert_ok(run)
                lines = run.messages("contents: ")
                self.assertEqual(run.log["alignment"]["findings"], [])
                self.assertEqual(len(lines), 1, run.text)
                self.assertTrue(any("different black bars" in line for line in run.log["warnings"]))
                mended = self.score(distorted, reference, options="metrics=psnr:" + re.search(r"use quality_cuda=(\S+)$", lines[0])[1])
                self.assert_ok(mended)
                self.assertEqual(mended.messages("contents: "), [])
                mean = [of.log["pooled_metrics"]["psnr_y"]["mean"] for of in
                        (run, mended, self.score(distorted, reference, options="metrics=psnr", before=dict(enumerate(right))))]
                self.assertAlmostEqual(mean[1], mean[2], delta=0.15)
                self.assertGreater(mean[1], mean[0] + 5)
                same = self.score(self.coarse(f"{name} s.mkv", reference), reference, options="metrics=psnr")
                self.assertEqual(same.messages("contents: "), [])

    def test_where_no_bars_are_told(self):
        whole = self.clip("whole.nut", "320x136")
        encode = self.coarse("encode.mkv", whole)
        run = self.score(encode, whole, options="crop=auto")
        self.assertEqual(len(run.messages("crop=auto: no input has black bars, nothing is cropped")), 1, run.text)
        self.assertEqual(run.log["frames"], self.score(encode, whole).log["frames"])
        black = make(self.clips, "all black.nut", "color=black:s=320x180:r=25,trim=end_frame=8,format=yuv420p", "-c:v", "ffv1")
        self.assert_fails(self.score(encode, black, options="crop=auto"), "do not tell beyond doubt", "may have black bars")
        self.assert_fails(self.score(encode, whole, options="crop=auto:scale=bicubic"), "crop=auto: not accepted with scale")

    def test_crops_that_are_none(self):
        clip = self.clip("small.nut", "64x36")
        for crop, text in (("64x37+0+0", "lies outside of it"), ("20x20+1+0", "accepted are multiples of 2 and 2"),
                           ("20x20", "is not known; accepted: for each of the 2 inputs")):
            self.assert_fails(self.score(clip, clip, options=f"crop={crop}"), text)

    def test_crops_of_other_formats(self):
        for pixels in ("yuv422p10le", "nv12", "gbrp", "gray"):
            with self.subTest(pixels):
                clip = make(self.clips, f"{pixels}.nut", self.clip("whole.nut", "320x136"), "-c:v", "rawvideo", "-pix_fmt", pixels)
                worse = make(self.clips, f"worse {pixels}.nut", clip, "-vf", "noise=alls=20", "-c:v", "rawvideo", "-pix_fmt", pixels)
                metric = "ssimulacra2" if pixels == "gbrp" else "psnr"
                run = self.score(worse, clip, options=f"metrics={metric}:crop=100x60+20+40|100x60+20+40")
                other = self.score(worse, clip, options=f"metrics={metric}", before={0: "crop=100:60:20:40", 1: "crop=100:60:20:40"})
                self.assertEqual([frame["metrics"] for frame in run.log["frames"]], [frame["metrics"] for frame in other.log["frames"]])


if __name__ == "__main__":
    unittest.main()
