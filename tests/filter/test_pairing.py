# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which frames are compared with which, what is counted, and what leaves when the inputs end differently."""

import unittest

from harness import FilterTest


class Containers(FilterTest):
    """The same content in containers with different time bases."""

    def setUp(self):
        super().setUp()
        self.nut = self.source(rate="30000/1001", frames=60)
        self.mkv = self.remux(self.nut, "mkv")

    def test_mkv_against_nut(self):
        for inputs in ((self.mkv, self.nut), (self.nut, self.mkv)):
            run = self.score(*inputs)
            self.assert_ok(run)
            self.assert_counts(run, frames=60, paired=60, scored=60, unscored=0, reference_repeated=0, reference_unused=0)
            self.assert_all_identical(run)
            self.assertGreater(run.pairing["max_abs_dt"], 0.0)
            self.assertLess(run.pairing["max_abs_dt"], 0.0006)

    def test_mkv_against_mp4(self):
        worse = self.worse(self.nut)
        in_mkv = self.remux(worse, "mkv")
        run = self.score(in_mkv, worse)
        self.assert_ok(run)
        self.assert_counts(run, frames=60, paired=60, unscored=0, reference_repeated=0, reference_unused=0)
        self.assert_all_identical(run)

    def test_floor_mispairs_as_framesync_does(self):
        """Shows that the two tests above can fail: the usual rule takes the previous frame for about half of them."""
        for option in ("sync=floor", "ts_sync_mode=default"):
            run = self.score(self.mkv, self.nut, options=option)
            self.assert_ok(run)
            self.assert_counts(run, frames=60)
            wrong = sum(not self.is_identical(row) for row in run.stats)
            self.assertGreater(wrong, 15)
            self.assertGreater(run.pairing["reference_repeated"], 0)

    def test_nearest_by_libvmafs_name(self):
        run = self.score(self.mkv, self.nut, options="ts_sync_mode=nearest")
        self.assert_all_identical(run)


class Rates(FilterTest):
    def test_25_against_50(self):
        """Every second reference frame is used; a rate difference is said at the start, the count at the end."""
        reference = self.source(rate="50", frames=40)
        run = self.score(reference, reference, before={0: "framestep=2"})
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=20, unscored=0, reference_repeated=0, max_abs_dt=0.0)
        self.assertGreaterEqual(run.pairing["reference_unused"], 19)
        self.assertTrue(run.messages("frames per second, main has"))
        self.assert_all_identical(run)
        for row in run.stats:
            self.assertEqual(row["pts_time"], row["ref_pts_time"])

    def test_50_against_25(self):
        """A reference frame 20 ms away is no partner for a frame of 20 ms: half of the frames stay unscored."""
        main = self.source(rate="50", frames=40)
        run = self.score(main, main, before={1: "framestep=2"})
        self.assert_ok(run)
        self.assert_counts(run, frames=40, paired=20, unscored=20, reference_repeated=0)
        self.assertEqual(len(run.out), 40)
        self.assert_all_identical(run)

    def test_50_against_25_with_larger_tolerance(self):
        main = self.source(rate="50", frames=40)
        run = self.score(main, main, before={1: "framestep=2"}, options="max_dt=0.021")
        self.assert_ok(run)
        self.assert_counts(run, frames=40, paired=40, unscored=0, max_abs_dt=0.02)
        self.assertEqual(sum(self.is_identical(row) for row in run.stats), 20)
        self.assertGreater(run.pairing["reference_repeated"], 18)


class Start(FilterTest):
    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=20)

    def test_late_reference(self):
        """Frames before the first reference frame are not compared with it."""
        run = self.score(self.clip, self.clip, before={1: "select=gte(n\\,4)"})
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=16, unscored=4, before_reference=4, max_abs_dt=0.0)
        self.assert_all_identical(run)
        self.assertEqual(len(run.out), 20)
        self.assertTrue(run.messages("main begins at 0.000000 s, the reference at 0.160000 s"))
        self.assertEqual([time for time, _ in run.tagged], [n / 25 for n in range(4, 20)])

    def test_late_main(self):
        run = self.score(self.clip, self.clip, before={0: "select=gte(n\\,4)"})
        self.assert_ok(run)
        self.assert_counts(run, frames=16, paired=16, unscored=0, reference_unused=4)
        self.assert_all_identical(run)

    def test_no_overlap(self):
        run = self.score(self.clip, self.clip, before={0: "setpts=PTS+10/TB"}, options="metrics=vmaf+psnr")
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=0, unscored=20)
        self.assertEqual(len(run.out), 20)
        self.assertTrue(run.messages("the time stamps never overlap; use align=start"))
        self.assertNotIn("VMAF score", run.text)
        self.assertIn("VMAF score", self.score(self.clip, self.clip, options="metrics=vmaf+psnr").text)

    def test_align_start(self):
        for index in (0, 1):
            run = self.score(self.clip, self.clip, before={index: "setpts=PTS+10/TB"}, options="align=start")
            self.assert_ok(run)
            self.assert_counts(run, frames=20, paired=20, unscored=0, max_abs_dt=0.0)
            self.assert_all_identical(run)

    def test_index(self):
        """sync=index looks at no time stamp."""
        run = self.score(self.clip, self.clip, before={0: "setpts=PTS*3+10/TB"}, options="sync=index")
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=20, unscored=0)
        self.assert_all_identical(run)

    def test_gap_in_the_reference(self):
        run = self.score(self.clip, self.clip, before={1: "select=not(between(n\\,5\\,8))"})
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=16, unscored=4, gaps=4)
        self.assert_all_identical(run)
        self.assertEqual(len(run.out), 20)


class Ends(FilterTest):
    def setUp(self):
        super().setUp()
        self.ten = self.source(frames=10)
        self.six = self.source(frames=6)

    def check(self, run, out, scored):
        self.assert_ok(run)
        self.assertEqual(len(run.out), out, run.text)
        self.assertEqual(len(run.tagged), scored)
        self.assertEqual(len(run.stats), scored)
        self.assertEqual(len(run.log["frames"]), scored)
        self.assertEqual([pts for pts, _ in run.out], sorted(pts for pts, _ in run.out))

    def test_short_reference_pass(self):
        run = self.score(self.ten, self.six)
        self.check(run, out=10, scored=6)
        self.assert_counts(run, after_reference=4, unscored=4)
        self.assert_all_identical(run)

    def test_short_reference_endall(self):
        for option in ("eof_action=endall", "shortest=1"):
            run = self.score(self.ten, self.six, options=option)
            self.check(run, out=6, scored=6)
            self.assert_counts(run, frames=6, unscored=0)

    def test_short_reference_repeat(self):
        run = self.score(self.ten, self.six, options="eof_action=repeat")
        self.check(run, out=10, scored=10)
        self.assert_counts(run, unscored=0, reference_repeated=4)
        self.assertEqual([self.is_identical(row) for row in run.stats], [True] * 6 + [False] * 4)

    def test_short_reference_by_index(self):
        for option, out, scored in (("pass", 10, 6), ("endall", 6, 6), ("repeat", 10, 10)):
            run = self.score(self.ten, self.six, options=f"sync=index:eof_action={option}")
            self.check(run, out=out, scored=scored)

    def test_short_reference_floor(self):
        run = self.score(self.ten, self.six, options="sync=floor")
        self.check(run, out=10, scored=6)

    def test_short_main(self):
        run = self.score(self.six, self.ten)
        self.check(run, out=6, scored=6)
        self.assert_all_identical(run)

    def test_one_frame(self):
        one = self.source(frames=1)
        for inputs, out, scored in (((one, one), 1, 1), ((one, self.ten), 1, 1), ((self.ten, one), 10, 1)):
            self.check(self.score(*inputs), out=out, scored=scored)

    def test_no_frame(self):
        nothing = "trim=end_frame=0"
        run = self.score(self.ten, self.ten, before={0: nothing})
        self.assert_ok(run)
        self.assertEqual(len(run.out), 0)
        self.assertTrue(run.messages("no frame was scored"))
        run = self.score(self.ten, self.ten, before={1: nothing})
        self.assert_ok(run)
        self.assertEqual(len(run.out), 10)
        self.assertTrue(run.messages("no frame was scored"))
        self.assertEqual(run.log["frames"], [])
        run = self.score(self.ten, self.ten, before={1: nothing}, options="shortest=1")
        self.assert_ok(run)
        self.assertEqual(len(run.out), 0)
        run = self.score(self.ten, self.ten, before={0: nothing, 1: nothing})
        self.assert_ok(run)

    def test_queue_longer_than_the_clip(self):
        for depth in (1, 2, 3, 60):
            run = self.score(self.ten, self.ten, options=f"async_depth={depth}")
            self.check(run, out=10, scored=10)
            self.assert_counts(run, unscored=0)

    def test_stop_after_five_frames(self):
        """Pairs that were in flight when the output closed are scored and reported too."""
        for depth in (1, 4, 60):
            run = self.score(self.ten, self.ten, output=("-frames:v", "5"), options=f"async_depth={depth}")
            self.assert_ok(run)
            self.assertEqual(len(run.out), 5)
            self.assertGreaterEqual(len(run.log["frames"]), 5)
            self.assertEqual(len(run.log["frames"]), run.pairing["paired"])
            self.assertTrue(run.log["complete"])

    def test_one_decoder_for_both_inputs(self):
        """A split feeds both inputs: waiting for one must not starve the other."""
        for before in ("", "[r]setpts=PTS+0.01/TB[r2];"):
            pads = "[d][r2]" if before else "[d][r]"
            from harness import ffmpeg
            run = ffmpeg(["-i", self.ten, "-lavfi", f"[0:v]split[d][r];{before}{pads}quality_cuda=metrics=psnr:backend=cpu:"
                          "log_path=log.json:stats_file=stats.txt", "-f", "framemd5", "out.framemd5"], self.folder)
            self.check_split(run)

    def check_split(self, run):
        self.assert_ok(run)
        self.assertEqual(len(run.out), 10)
        self.assert_counts(run, frames=10, paired=10, unscored=0)
        self.assert_all_identical(run)


class Renditions(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=10)
        self.second = self.source(frames=6)

    def test_three(self):
        worse = self.worse(self.reference)
        run = self.score(self.reference, self.reference, worse, self.reference, options="renditions=3")
        self.assert_ok(run)
        self.assertEqual(len(run.tagged), 10)
        key = next(key for key in ("psnr_y", "mad") if key in run.tagged[0][1])
        for _, scores in run.tagged:
            self.assertEqual(scores[key], scores[f"2.{key}"])
            self.assertNotEqual(scores[key], scores[f"1.{key}"])
        for name in ("log.json", "log.rendition1.json", "log.rendition2.json"):
            self.assertEqual(len(run.log_named(name)["frames"]), 10, name)
        frames = [run.log_named(f"log{part}.json")["frames"] for part in ("", ".rendition1", ".rendition2")]
        self.assertEqual(frames[0], frames[2])
        self.assertNotEqual(frames[0], frames[1])

    def test_short_rendition(self):
        """A rendition that ends early lacks only its own scores."""
        run = self.score(self.reference, self.reference, self.second, options="renditions=2")
        self.assert_ok(run)
        self.assertEqual(len(run.tagged), 10)
        key = next(key for key in ("psnr_y", "mad") if key in run.tagged[0][1])
        self.assertEqual([f"1.{key}" in scores for _, scores in run.tagged], [True] * 6 + [False] * 4)
        self.assertTrue(all(key in scores for _, scores in run.tagged))

    def test_late_rendition(self):
        run = self.score(self.reference, self.reference, self.reference, options="renditions=2", before={2: "select=gte(n\\,3)"})
        self.assert_ok(run)
        key = next(key for key in ("psnr_y", "mad") if key in run.tagged[0][1])
        self.assertEqual([f"1.{key}" in scores for _, scores in run.tagged], [False] * 3 + [True] * 7)


if __name__ == "__main__":
    unittest.main()
