# SPDX-License-Identifier: BSD-2-Clause-Patent
"""mask=1: a last input of gray frames weighs what is scored."""

import unittest

from harness import FilterTest, ffmpeg

WIDTH, HEIGHT = 176, 144


class MaskTest(FilterTest):
    FRAMES = 8

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=self.FRAMES)
        self.distorted = self.worse(self.reference)

    def mask(self, expression, size=f"{WIDTH}x{HEIGHT}", frames=None, rate=25, name="mask.mkv"):
        """A clip whose weights are an expression of geq. frames: how many; default: one"""
        run = ffmpeg(["-v", "error", "-f", "lavfi", "-i", f"color=s={size}:r={rate}:d=10,format=gray,geq=lum='{expression}'",
                      "-frames:v", str(frames or 1), "-c:v", "ffv1", name], self.folder)
        self.assert_ok(run)
        return name

    def weigh(self, mask, options="", metrics="psnr+ssim+ciede+vif", before="", more=(), environment=None):
        inputs = [self.distorted, self.reference, *more, *([mask] if mask else [])]
        arguments = ["-v", "info"]
        for path in inputs:
            arguments += ["-i", path]
        graph = f"{before}quality_cuda=metrics={metrics}:backend=cpu:log_path=log.json"
        graph += (":mask=1" if mask else "") + (f":{options}" if options else "")
        return ffmpeg([*arguments, "-lavfi", graph + ",metadata=print:file=scores.txt", "-f", "null", "-"], self.folder,
                      environment or self.environment)

    @staticmethod
    def scores(run, name="psnr_y"):
        return [frame["metrics"][name] for frame in run.log["frames"]]


class Weights(MaskTest):
    def test_white_changes_nothing(self):
        plain, masked = self.weigh(None), self.weigh(self.mask("255"))
        self.assert_ok(plain)
        self.assert_ok(masked)
        self.assertEqual(len(masked.log["frames"]), self.FRAMES)
        for one, other in zip(plain.log["frames"], masked.log["frames"]):
            self.assertEqual(one["metrics"].keys(), other["metrics"].keys())
            for name, score in one["metrics"].items():
                self.assertAlmostEqual(score, other["metrics"][name], delta=2e-6, msg=name)
        self.assertIn("mask", masked.log["conventions"])
        self.assertNotIn("mask", plain.log.get("conventions", {}))

    def test_how_far_pairs_may_be_apart_is_nothing_to_a_mask(self):
        """It holds from its time on; with a larger max_dt it came up to so much too early."""
        halves = self.mask("if(lt(N,4),255*lt(X,40),255*gte(X,40))", frames=self.FRAMES, name="halves.mkv")
        by_number = self.weigh(halves, "sync=index", metrics="psnr")
        self.assert_ok(by_number)
        for options in ("max_dt=0.5", "max_dt=0.03", ""):
            by_time = self.weigh(halves, options, metrics="psnr")
            self.assert_ok(by_time)
            self.assertEqual(self.scores(by_time), self.scores(by_number), options)
        whole = self.weigh(self.mask("255*lt(X,40)", name="left.mkv"), metrics="psnr")
        differ = [one != other for one, other in zip(self.scores(whole), self.scores(by_number))]
        self.assertEqual(differ, [False] * 4 + [True] * 4)

    def test_metrics_of_blocks_and_norms(self):
        metrics = "psnr_hvs+xpsnr+ssimulacra2+butteraugli+integer_ssim+cvvdp"
        plain, white, half = (self.weigh(mask, metrics=metrics) for mask in
                              (None, self.mask("255"), self.mask("255*lt(X,40)", name="half.mkv")))
        for run in (plain, white, half):
            self.assert_ok(run)
        for one, other, part in zip(plain.log["frames"], white.log["frames"], half.log["frames"]):
            self.assertGreaterEqual(len(one["metrics"]), 10)
            for name, score in one["metrics"].items():
                # Without a mask ColorVideoVDP goes by rows on the CPU, with one by its reference: 1e-6 JOD is 2e-5 of a frame's value.
                delta = 2e-5 if name == "cvvdp_frame" else 2e-6
                self.assertAlmostEqual(score, other["metrics"][name], delta=delta, msg=name)
                if name == "butteraugli":  # the largest distance may be in sight
                    self.assertGreaterEqual(score, part["metrics"][name])
                else:
                    self.assertNotEqual(score, part["metrics"][name], name)

    def test_ms_ssim(self):
        """Smaller pictures have no five scales."""
        def weigh(mask):
            before = "[0:v]scale=264:216[d];[1:v]scale=264:216[r];[d][r]" + ("[2:v]" if mask else "")
            return self.weigh(mask, metrics="ms_ssim", before=before)

        size = "264x216"
        plain, white = weigh(None), weigh(self.mask("255", size=size))
        half = weigh(self.mask("255*lt(X,99)", size=size, name="half.mkv"))
        for run in (plain, white, half):
            self.assert_ok(run)
        for score, other in zip(self.scores(plain, "float_ms_ssim"), self.scores(white, "float_ms_ssim")):
            self.assertAlmostEqual(score, other, delta=2e-6)
        self.assertNotEqual(self.scores(plain, "float_ms_ssim"), self.scores(half, "float_ms_ssim"))

    def test_a_rectangle_is_the_region(self):
        """Of a metric that knows no neighbours."""
        region = self.weigh(None, "roi=32|16|64|48", metrics="psnr")
        masked = self.weigh(self.mask("if(between(X,32,95)*between(Y,16,63),255,0)"), metrics="psnr")
        self.assert_ok(region)
        self.assert_ok(masked)
        self.assertEqual(self.scores(masked), self.scores(region))
        self.assertNotEqual(self.scores(masked), self.scores(self.weigh(None, metrics="psnr")))

    def test_in_a_region(self):
        small = self.weigh(self.mask("255*lt(X,20)", size="64x48"), "roi=32|16|64|48", metrics="psnr")
        same = self.weigh(None, "roi=32|16|20|48", metrics="psnr")
        self.assert_ok(small)
        self.assertEqual(self.scores(small), self.scores(same))

    def test_limited_range_is_converted(self):
        """What is not gray becomes gray of full range."""
        run = ffmpeg(["-v", "error", "-f", "lavfi", "-i", f"color=white:s={WIDTH}x{HEIGHT},drawbox=w=80:t=fill:c=black,format=yuv420p",
                      "-frames:v", "1", "-color_range", "tv", "-c:v", "ffv1", "limited.mkv"], self.folder)
        self.assert_ok(run)
        limited, full = self.weigh("limited.mkv", metrics="psnr"), self.weigh(self.mask("if(lt(X,80),0,255)"), metrics="psnr")
        self.assert_ok(limited)
        self.assertEqual(self.scores(limited), self.scores(full))

    def test_renditions_share_it(self):
        mask = self.mask("X")
        both = self.weigh(mask, "renditions=2", metrics="psnr", more=(self.distorted,))
        self.assert_ok(both)
        self.assertEqual(self.scores(both), self.scores(self.weigh(mask, metrics="psnr")))
        self.assertIn("lavfi.quality_cuda.1.psnr_y", both.texts["scores.txt"])


class Models(MaskTest):
    def test_vmaf(self):
        """Of a picture whose right half alone is worse."""
        half = "crop=iw/2:ih:iw/2:0,boxblur=4[w];[o][w]overlay=W/2:0"
        before = f"[1:v]split=3[a][b][c];[a]split[o][i];[i]{half}[d];[c]nullsink;[0:v]nullsink;[d][b][2:v]"
        left, right = (self.weigh(self.mask(f"255*{condition}(X,88)"), "model=version=vmaf_v0.6.1", metrics="vmaf", before=before)
                       for condition in ("lt", "gte"))
        both = self.weigh(self.mask("255"), "model=version=vmaf_v0.6.1", metrics="vmaf", before=before)
        for run in (left, right, both):
            self.assert_ok(run)
            self.assertEqual(len(run.log["frames"]), self.FRAMES)
        for name in ("vmaf", "integer_adm2", "integer_vif_scale0"):
            for one, all_, other in zip(*(self.scores(run, name) for run in (left, both, right))):
                self.assertGreater(one, all_, name)
                self.assertGreater(all_, other, name)


class Time(MaskTest):
    """Left and right halves let through in turn tell which frame of the mask was taken."""

    def halves(self):
        left, right = (self.scores(self.weigh(self.mask(f"255*{condition}"), metrics="psnr")) for condition in ("lt(X,88)", "gte(X,88)"))
        self.assertNotEqual(left[0], right[0])
        return left, right

    def test_each_frame_has_its_own(self):
        left, right = self.halves()
        run = self.weigh(self.mask("255*if(mod(N,2),gte(X,88),lt(X,88))", frames=self.FRAMES), metrics="psnr")
        self.assert_ok(run)
        self.assertEqual(self.scores(run), [(right if n % 2 else left)[n] for n in range(self.FRAMES)])

    def test_one_holds_until_the_next(self):
        left, right = self.halves()
        run = self.weigh(self.mask("255*if(N,gte(X,88),lt(X,88))", frames=2, rate="25/3"), metrics="psnr")
        self.assert_ok(run)
        self.assertEqual(self.scores(run), left[:3] + right[3:])

    def test_the_first_holds_before_its_time(self):
        left, _ = self.halves()
        run = self.weigh(self.mask("255*lt(X,88)"), metrics="psnr", before="[2:v]setpts=PTS+1/TB[m];[0:v][1:v][m]")
        self.assert_ok(run)
        self.assertEqual(self.scores(run), left)

    def test_by_number(self):
        left, right = self.halves()
        run = self.weigh(self.mask("255*if(mod(N,2),gte(X,88),lt(X,88))", frames=3, rate=1), "sync=index", metrics="psnr")
        self.assert_ok(run)
        self.assertEqual(self.scores(run), [left[0], right[1], *left[2:]])

    def test_a_mask_that_is_longer(self):
        run = self.weigh(self.mask("255*lt(X,88)", frames=60), metrics="psnr")
        self.assert_ok(run)
        self.assertEqual(len(run.log["frames"]), self.FRAMES)

    def test_without_weight_there_is_no_score(self):
        run = self.weigh(self.mask("if(eq(N,3),0,200)", frames=self.FRAMES))
        self.assert_ok(run)
        self.assertEqual([frame["frameNum"] for frame in run.log["frames"]], [n for n in range(self.FRAMES) if n != 3])
        self.assertEqual(run.texts["scores.txt"].count("lavfi.quality_cuda.unscored=masked"), 1)
        self.assertNotIn("nan", run.texts["scores.txt"])
        self.assertEqual(run.log["pairing"]["scored"], self.FRAMES - 1)
        self.assertTrue(run.log["complete"])


class Refusals(MaskTest):
    def refused(self, run, *words):
        self.assertNotEqual(run.code, 0)
        self.assertTrue(any(all(word in line for word in words) for line in run.text.splitlines()), run.text)

    def test_another_size(self):
        self.refused(self.weigh(self.mask("255", size="64x48")), "Input 2 (mask) is 64x48, but 176x144 is scored")
        self.refused(self.weigh(self.mask("255"), "roi=32|16|64|48"), "Input 2 (mask) is 176x144, but 64x48 is scored")

    def test_metrics(self):
        for metrics, options in (("cambi", ""), ("vmaf", "model=version=vmaf_v1.0.16_3d0h")):
            run = self.weigh(self.mask("255"), options, metrics=metrics)
            self.refused(run, "mask=1: ", "has no score under a mask; these metrics have one: psnr, ")

    def test_an_empty_input(self):
        self.refused(self.weigh(self.mask("255"), before="[2:v]trim=end_frame=0[m];[0:v][1:v][m]"), "Input 2 (mask) ended without a frame")

    def test_records(self):
        self.refused(self.weigh(self.mask("255"), "record=a.rec"), "mask=1: not accepted with record")

    def test_a_pad_that_nobody_feeds(self):
        run = ffmpeg(["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi", "quality_cuda=metrics=psnr:mask=1", "-f", "null",
                      "-"], self.folder, self.environment)
        self.assertNotEqual(run.code, 0)


class Beside(MaskTest):
    def test_a_map(self):
        mask = self.mask("X")
        arguments = ["-v", "info"]
        for path in (self.distorted, self.reference, mask):
            arguments += ["-i", path]
        run = ffmpeg([*arguments, "-lavfi", "quality_cuda=metrics=psnr:mask=1:maps=ssim:backend=cpu:log_path=log.json[a][b]", "-map", "[a]",
                      "-f", "null", "-", "-map", "[b]", "-f", "framemd5", "map.framemd5"], self.folder, self.environment)
        self.assert_ok(run)
        self.assertEqual(self.scores(run), self.scores(self.weigh(mask, metrics="psnr")))

    def test_an_early_end(self):
        for mask in (self.mask("X"), self.mask("X", frames=200, name="long.mkv")):
            run = self.weigh(mask, metrics="psnr", before="[0:v]trim=end_frame=4[d];[d][1:v][2:v]")
            self.assert_ok(run)
            self.assertEqual(len(run.log["frames"]), 4)


if __name__ == "__main__":
    unittest.main()
