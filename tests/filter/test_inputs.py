# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Formats, colour tags, conversions by lavfi, and inputs that do not fit or change."""

import re
import unittest

from harness import FilterTest, WithFakeEngine, ffmpeg, make

# Formats that FFmpeg 5.1 knows and can convert to (nv16 has its own test); the filter takes all of them as they are.
FORMATS = """yuv420p yuv422p yuv444p yuvj420p yuvj422p yuvj444p yuv420p10le yuv422p10le yuv444p10le yuv420p12le yuv422p12le
             yuv444p12le yuv420p16le yuv422p16le yuv444p16le nv12 p010le p016le p210le p216le gray gray10le gray12le gray16le""".split()


class Formats(FilterTest):
    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=3)

    def formats_of(self, run):
        return re.findall(r"(?:distorted|reference): input \d \(.*\), \d+x\d+ (\S+)", run.text)

    def test_every_format_on_both_inputs(self):
        for name in FORMATS:
            with self.subTest(name):
                run = self.score(self.clip, self.clip, before={0: f"format={name}", 1: f"format={name}"})
                self.assert_ok(run)
                self.assertEqual(self.formats_of(run)[-2:], [name, name])
                self.assert_counts(run, paired=3)
                self.assert_all_identical(run)
                self.assertFalse(run.messages("was converted by lavfi"))

    def test_gray_of_16_bits_keeps_them(self):
        """The last of 16 bits, which a conversion to 12 would lose, is seen; and it is refused where a depth does not suit."""
        before = {0: "format=gray16le,geq=lum=1001", 1: "format=gray16le,geq=lum=1000"}
        run = self.score(self.clip, self.clip, before=before, options="opts=psnr.min_sse=0.5")
        self.assert_ok(run)
        self.assertEqual(self.formats_of(run)[-2:], ["gray16le", "gray16le"])
        self.assertEqual((run.log["distorted_format"], run.log["reference_format"]), ("gray16le", "gray16le"))
        self.assertAlmostEqual(run.stats[0]["psnr_y"], 96.329466, delta=1e-6)  # 20 log10(65535 / 1)
        self.assertFalse(run.messages("was converted by lavfi"))

    def test_layout_does_not_change_scores(self):
        """Planar and semi-planar frames with the same samples give the same log, on either input."""
        worse = self.worse(self.clip)
        expected = self.score(worse, self.clip).log["frames"]
        for before in ({0: "format=nv12"}, {1: "format=nv12"}, {0: "format=nv12", 1: "format=nv12"}):
            run = self.score(worse, self.clip, before=before)
            self.assert_ok(run)
            self.assertEqual(run.log["frames"], expected)

    def test_nv16(self):
        planar = make(self.clips, "planar.raw", self.clip, "-pix_fmt", "yuv422p", "-f", "rawvideo").read_bytes()
        size, chroma = 176 * 144, 88 * 144
        mixed = bytearray()
        for start in range(0, len(planar), 2 * size):
            pairs = bytearray(2 * chroma)
            pairs[0::2] = planar[start + size:start + size + chroma]
            pairs[1::2] = planar[start + size + chroma:start + 2 * size]
            mixed += planar[start:start + size] + pairs
        (self.clips / "nv16.raw").write_bytes(mixed)
        raw = ["-f", "rawvideo", "-s", "176x144", "-r", "25", "-pix_fmt"]
        run = self.score(self.clips / "nv16.raw", self.clips / "planar.raw", before_inputs=((*raw, "nv16"), (*raw, "yuv422p")))
        self.assert_ok(run)
        self.assertEqual(self.formats_of(run)[-2:], ["nv16", "yuv422p"])
        self.assert_counts(run, paired=3)
        self.assert_all_identical(run)

    def test_mixed_depths(self):
        run = self.score(self.clip, self.clip, before={1: "format=yuv420p10le"})
        self.assert_ok(run)
        self.assertEqual(self.formats_of(run)[-2:], ["yuv420p", "yuv420p10le"])
        self.assertTrue(run.messages("both are scored at 10 bits"))
        self.assert_all_identical(run)

    def test_rgb_is_converted_and_said(self):
        run = self.score(self.clip, self.clip, before={0: "format=rgb24"})
        self.assert_ok(run)
        self.assertTrue(run.messages("Input 0 (main) was converted by lavfi from rgb24 (range pc) to yuv"))

    def test_odd_size(self):
        clip = self.source(frames=3, size="175x143")
        for name in ("yuv420p", "nv12", "yuv422p10le", "gray"):
            run = self.score(clip, clip, before={0: f"format={name}", 1: f"format={name}"})
            self.assert_ok(run)
            self.assert_all_identical(run)

    def test_luma_needs_no_equal_chroma(self):
        """An encode in 4:2:0 of a master in 4:2:2: luma is the same as ever."""
        distorted = self.worse(self.clip)
        wanted = self.score(distorted, self.clip, options="metrics=vmaf+float_ssim").log["frames"]
        for name in ("yuv422p", "yuv444p"):
            run = self.score(distorted, self.clip, before={1: f"format={name}"}, options="metrics=vmaf+float_ssim")
            self.assert_ok(run)
            self.assertEqual(run.log["frames"], wanted, name)
            self.assertEqual(self.formats_of(run)[-2:], ["yuv420p", name])
        run = self.score(self.clip, self.clip, before={1: "format=yuv444p"}, options="opts=psnr.enable_chroma=false")
        self.assert_ok(run)
        self.assertEqual(set(run.log["pooled_metrics"]), {"psnr_y"})

    def test_chroma_mismatch(self):
        """What is to be converted is the reference, at its own depth, and not what is measured."""
        run = self.score(self.clip, self.clip, before={0: "format=yuv420p", 1: "format=yuv422p10le"})
        self.assert_fails(run, "Input 1 (reference) is yuv422p10le (4:2:2), main is yuv420p (4:2:0): only luma can be compared",
                          "[1:v]format=yuv420p10le[r];[0:v][r]quality_cuda",
                          "psnr needs chroma, but the reference is 4:2:2 and the distorted input 4:2:0: convert the reference first")
        self.assertIsNone(run.log)
        self.assert_ok(self.score(self.clip, self.clip, before={0: "format=yuv420p", 1: "format=yuv422p10le,format=yuv420p10le"}))

    def test_chroma_mismatch_leaves_out_what_needs_chroma(self):
        run = self.score(self.clip, self.clip, before={1: "format=yuv422p"}, options="metrics=psnr+float_psnr:on_unsupported=skip")
        self.assert_ok(run)
        self.assertTrue(run.messages("left out: psnr needs chroma"))
        self.assertEqual(set(run.log["pooled_metrics"]), {"float_psnr"})

    def test_flipped_frames(self):
        """vflip only turns the row pitch negative."""
        run = self.score(self.clip, self.clip, before={0: "vflip", 1: "vflip"})
        if "No such filter" in run.text:
            self.skipTest("SKIPPED: this ffmpeg has no vflip filter")
        self.assert_ok(run)
        self.assert_all_identical(run)


class Colour(FilterTest):
    TAGS = {0: "setparams=range=pc:colorspace=bt709", 1: "setparams=range=tv:colorspace=bt470bg"}

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=5)

    def test_tags_do_not_change_samples(self):
        run = self.score(self.clip, self.clip, before=self.TAGS)
        self.assert_ok(run)
        self.assert_all_identical(run)
        self.assertEqual(len(run.messages("is tagged range tv, matrix bt470bg; main range pc, matrix bt709")), 1)

    def test_ignore(self):
        run = self.score(self.clip, self.clip, before=self.TAGS, options="range=ignore")
        self.assert_ok(run)
        self.assertFalse(run.messages("is tagged"))

    def test_error(self):
        run = self.score(self.clip, self.clip, before=self.TAGS, options="range=error")
        self.assert_fails(run, "(range=error)")

    def test_same_tags(self):
        run = self.score(self.clip, self.clip, before={0: self.TAGS[0], 1: self.TAGS[0]}, options="range=error")
        self.assert_ok(run)


class Rgb(WithFakeEngine):
    """The stand-in engine accepts RGB if it is told to; no colour must land in another's place."""

    FORMATS = "gbrp gbrp10le gbrp12le gbrp16le rgb24 bgr24 rgb48le bgr48le rgb0 bgr0 0rgb 0bgr".split()

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=3)
        self.rgb = {"QC_FAKE_RGB": "1"}

    def test_every_format_gives_the_same_scores(self):
        # Red halved, green a third, blue untouched: colours that change places change the score.
        tinted = "format=gbrp,lutrgb=r=val/2:g=val/3:b=val"
        scores = {}
        for name in self.FORMATS:
            before = {0: f"{tinted},format={name}", 1: f"format=gbrp,format={name}"}
            run = self.fake_score(self.clip, self.clip, before=before, environment=self.rgb)
            self.assert_ok(run)
            self.assertEqual(re.findall(r"(?:distorted|reference): input \d \(.*\), \d+x\d+ (\S+)", run.text)[-2:], [name, name])
            self.assertFalse(run.messages("was converted by lavfi"))
            scores[name] = [row["mad"] for row in run.stats]
            self.assertGreater(min(scores[name]), 10)
        for name in self.FORMATS:
            for value, planar in zip(scores[name], scores["gbrp"]):
                self.assertAlmostEqual(value, planar, delta=0.5 if re.search("10|12|16|48", name) else 1e-6, msg=name)

    def test_inputs_may_differ_in_layout(self):
        for name in self.FORMATS[4:6] + self.FORMATS[8:]:
            run = self.fake_score(self.clip, self.clip, before={0: f"format=gbrp,format={name}", 1: "format=gbrp"}, environment=self.rgb)
            self.assert_ok(run)
            self.assert_all_identical(run)

    def test_rgb_against_yuv(self):
        library = {**self.fake_engine(), **self.rgb}
        run = self.score(self.clip, self.clip, before={0: "format=rgb24"}, environment=library)
        self.assert_fails(run, "Input 1 (reference) is yuv420p (4:2:0), main is rgb24 (RGB); convert one of them first")

    def test_alpha_is_not_looked_at(self):
        run = self.fake_score(self.clip, self.clip, before={0: "format=rgba", 1: "format=rgba"}, environment=self.rgb)
        self.assert_ok(run)
        self.assertFalse(run.messages("was converted by lavfi"))
        self.assertTrue(run.messages("Input 0 (main) has rgba frames: alpha is not scored"))

    def test_not_offered_otherwise(self):
        run = self.fake_score(self.clip, self.clip, before={0: "format=rgb24", 1: "format=rgb24"})
        self.assert_ok(run)
        self.assertTrue(run.messages("was converted by lavfi from rgb24"))


class ColourTags(WithFakeEngine):
    """What the engine is told of the pictures' colours; the stand-in prints it: matrix/range/primaries/transfer/location."""

    def tags(self, run):
        self.assert_ok(run)
        found = re.findall(r"colours (\S+) against (\S+)", run.text)
        self.assertEqual(len(found), 1, run.text)
        return found[0]

    def test_all_tags_arrive(self):
        sets = ("setparams=range=pc:colorspace=bt709:color_primaries=bt709:color_trc=iec61966-2-1",
                "setparams=range=tv:colorspace=bt2020nc:color_primaries=smpte432:color_trc=smpte2084")
        clip = self.source(frames=3)
        found = self.tags(self.fake_score(clip, clip, before=dict(enumerate(sets)), options="range=ignore"))
        self.assertEqual([tags.rsplit("/", 1)[0] for tags in found], ["1/2/1/13", "9/1/12/16"])

    def test_unknown_is_zero(self):
        clip = self.source(frames=3)
        unknown = "setparams=range=unknown:colorspace=unknown:color_primaries=unknown:color_trc=unknown"
        for tags in self.tags(self.fake_score(clip, clip, before={0: unknown, 1: unknown})):
            self.assertEqual(tags.rsplit("/", 1)[0], "0/0/0/0")

    def test_of_the_decoder(self):
        """Motion JPEG is full range with centred chroma, and old formats' names say the range alone."""
        clip = self.source(frames=3)
        jpeg = make(self.clips, "jpeg.mkv", clip, "-c:v", "mjpeg", "-q:v", "2")
        main, reference = self.tags(self.fake_score(jpeg, clip, before={1: "format=yuvj420p"}, options="range=ignore"))
        self.assertEqual((main.split("/")[1], main.split("/")[4]), ("2", "2"))
        self.assertEqual(reference.split("/")[1], "2")

    def test_first_pair_counts(self):
        """Main frames before the reference begins do not decide, and the session is opened once."""
        clip = self.source(frames=20)
        run = self.fake_score(clip, clip, before={0: "setparams=colorspace=bt709", 1: "trim=start_frame=5"})
        self.assertEqual(self.tags(run)[0].split("/")[0], "1")
        self.assert_counts(run, frames=20, paired=15)

    def test_change_in_mid_stream_is_said_once(self):
        if not re.search(r"libavfilter +[78]\.", ffmpeg(["-version"], self.folder).stdout):
            self.skipTest("SKIPPED: this FFmpeg converts frames whose tags change")
        change = ("split[x][y];[x]trim=end_frame=4,setparams=colorspace=bt709[p];"
                  "[y]trim=start_frame=4,setpts=PTS-STARTPTS,setparams=colorspace=bt470bg[q];[p][q]concat")
        run = self.fake_score(self.clip, self.clip, before={0: change})
        self.assertEqual(self.tags(run)[0].split("/")[0], "1")
        self.assertEqual(len(run.messages("Input 0 (main) changes its colour tags at 0.160 s; those of the first pair go on")), 1)
        self.assert_counts(run, paired=20)
        run = self.fake_score(self.clip, self.clip, before={0: change}, options="range=ignore")
        self.assertFalse(run.messages("changes its colour tags"))


class Unsupported(FilterTest):
    """Pictures that are too small for some of the metrics: cambi needs 216 rows or columns."""

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=3)

    def test_fails_by_default_and_says_the_way_out(self):
        for options in ("metrics=psnr+cambi", "metrics=all", "metrics=psnr+cambi:on_unsupported=fail"):
            run = self.score(self.clip, self.clip, options=options)
            self.assert_fails(run, "(on_unsupported=skip leaves out what these pictures do not suit)")
            self.assertEqual(run.out, [])
            self.assertIsNone(run.log)
        self.assert_fails(self.score(self.clip, self.clip, options="metrics=cambi"), "cambi")

    def test_skip(self):
        run = self.score(self.clip, self.clip, options="metrics=psnr+cambi:on_unsupported=skip")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("left out: cambi")), 1)
        self.assertEqual(set(run.log["frames"][0]["metrics"]), {"psnr_y", "psnr_cb", "psnr_cr"})
        self.assertEqual(len(run.tagged), 3)

    def test_all_with_skip(self):
        run = self.score(self.clip, self.clip, options="metrics=all:on_unsupported=skip")
        self.assert_ok(run)
        scores = run.log["frames"][0]["metrics"]
        for name in ("vmaf", "psnr_y", "psnr_hvs", "float_moment_ref1st", "integer_motion2"):
            self.assertIn(name, scores)
        for name in ("cambi", "vmaf_v1", "speed_chroma_uv"):
            self.assertNotIn(name, scores)
        self.assertTrue(run.messages('left out: model "vmaf_v1", which needs a metric that is left out'))

    def test_all_on_a_large_enough_picture(self):
        clip = self.source(frames=2, size="480x320")
        run = self.score(clip, clip, options="metrics=all")
        self.assert_ok(run)
        self.assertFalse(run.messages("left out"))
        for name in ("vmaf", "vmaf_v1", "cambi", "speed_chroma_uv", "speed_temporal"):
            self.assertIn(name, run.log["frames"][0]["metrics"])

    def test_nothing_left(self):
        run = self.score(self.clip, self.clip, options="metrics=cambi:on_unsupported=skip")
        self.assert_fails(run, "on_unsupported=skip leaves no metric: cambi")

    def test_chroma_on_gray(self):
        gray = {0: "format=gray", 1: "format=gray"}
        run = self.score(self.source(frames=2, size="480x320"), self.source(frames=2, size="480x320"), before=gray,
                         options="metrics=psnr+speed:on_unsupported=skip")
        self.assert_ok(run)
        self.assertTrue(run.messages("left out: speed_chroma"))
        self.assertEqual(set(run.log["frames"][0]["metrics"]), {"psnr_y", "speed_temporal"})


class Sizes(FilterTest):
    def test_mismatch_names_both_and_the_remedy(self):
        run = self.score(self.source(frames=3, size="160x88"), self.source(frames=3, size="320x176"))
        self.assert_fails(run, "Input 1 (reference) is 320x176, main is 160x88; scale first, e.g. "
                               "[0:v]scale=320:176:flags=bicubic[d];[d][1:v]quality_cuda")

    def test_the_remedy_works(self):
        run = self.score(self.source(frames=3), self.source(frames=3, size="320x180"), before={0: "scale=320:180:flags=bicubic"})
        self.assert_ok(run)
        self.assert_counts(run, paired=3)


class ChangeInMidStream(FilterTest):
    """A clip whose second half has another size. It is long, since later command lines decode ahead of the graph."""

    HALF = 50

    def setUp(self):
        super().setUp()
        self.steady = self.source(frames=2 * self.HALF)
        self.half_changed = self.changing(self.HALF)

    def test_new_graph_keeps_the_first_log(self):
        """The command line builds a new graph, which the reference's size does not fit any more."""
        run = self.score(self.half_changed, self.steady)
        self.assert_fails(run, "Input 1 (reference) is 176x144, main is 320x180")
        self.assertIsNotNone(run.log, run.text)
        self.assertGreater(len(run.log["frames"]), 0)
        self.assertEqual(len(run.stats), len(run.log["frames"]))
        self.assertEqual(run.log["end"], "stopped early")

    def test_two_graphs_write_two_logs(self):
        """With a scaler in front the second graph works: its log and statistics must not destroy those of the first."""
        run = self.score(self.half_changed, self.steady, before={0: "scale=176:144"})
        self.assert_ok(run)
        first, second = run.log, run.log_named("log.2.json")
        self.assertIsNotNone(second, run.text)
        self.assertGreater(len(first["frames"]), 0)
        self.assertGreater(len(second["frames"]), 0)
        self.assertEqual(len(run.stats), len(first["frames"]) + len(second["frames"]))
        self.assertTrue(run.messages("this one writes log.2.json"))

    def test_without_a_new_graph_the_video_goes_on_if_it_may(self):
        run = self.score(self.half_changed, self.steady, before_inputs=(("-reinit_filter", "0"),), options="on_error=pass",
                         after="scale=176:144")
        self.assert_ok(run)
        self.assertEqual(len(run.out), 2 * self.HALF)
        self.assert_counts(run, frames=2 * self.HALF, scored=self.HALF, failed=self.HALF)
        self.assertIn("changed from 176x144", run.log["reason"])

    def test_without_a_new_graph_the_frame_is_refused(self):
        run = self.score(self.half_changed, self.steady, before_inputs=(("-reinit_filter", "0"),), options="metrics=vmaf+psnr")
        self.assert_fails(run, "Input 0 (main) changed from 176x144", "to 320x180", "-reinit_filter 0", f"INCOMPLETE after {self.HALF} frames")
        self.assertIs(run.log["complete"], False)
        self.assertEqual(run.log["end"], "failure")
        self.assertEqual(len(run.log["frames"]), self.HALF)
        self.assertEqual(len(run.stats), self.HALF)
        self.assertNotIn("VMAF score", run.text)

    def test_changed_reference_is_refused(self):
        run = self.score(self.steady, self.half_changed, before_inputs=((), ("-reinit_filter", "0")))
        self.assert_fails(run, "Input 1 (reference) changed from 176x144", "INCOMPLETE after")
        self.assertIs(run.log["complete"], False)

    def test_the_documented_recipe(self):
        run = self.score(self.half_changed, self.steady, before_inputs=(("-reinit_filter", "0"),), before={0: "scale=176:144"})
        self.assert_ok(run)
        self.assert_counts(run, frames=2 * self.HALF, paired=2 * self.HALF, unscored=0)
        self.assertIsNone(run.log_named("log.2.json"))


class Commands(FilterTest):
    """Literal commands of the documentation."""

    def test_shortest_command(self):
        reference = self.source(frames=5)
        distorted = self.worse(reference)
        run = ffmpeg(["-i", distorted, "-i", reference, "-lavfi", "quality_cuda", "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertEqual(len(run.messages("VMAF score: ")), 1)

    def test_per_frame(self):
        reference = self.source(frames=5)
        run = ffmpeg(["-i", reference, "-i", reference, "-lavfi", "quality_cuda=vmaf+psnr,metadata=print:file=-", "-f", "null", "-"],
                     self.folder)
        self.assert_ok(run)
        self.assertEqual(run.stdout.count("lavfi.quality_cuda.vmaf="), 5)


if __name__ == "__main__":
    unittest.main()
