# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which frames are compared with which, what is counted, and what leaves when the inputs end differently."""

import unittest
import xml.etree.ElementTree

from harness import FilterTest, ffmpeg, make, stop_behind


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


class ClaimedRates(FilterTest):
    """A rate is believed where the time stamps bear it out: an MPEG transport stream without one claims its clock's."""

    JITTER = "settb=1/90000,setpts=floor(PTS+N*N*7+mod(N*N*37\\,700))"

    def setUp(self):
        super().setUp()
        encoders = ffmpeg(["-encoders"], self.folder).stdout
        if "libx264" not in encoders:
            self.skipTest("SKIPPED: this ffmpeg has no encoder whose streams leave the rate open")

    def clip_of(self, rate, frames, size):
        """The same frames at irregular times, in Matroska, and in a transport stream that claims 90000 frames per second."""
        exact = make(self.clips, f"irregular-{rate}-{size}.nut", f"testsrc2=s={size}:r={rate},trim=end_frame={frames},{self.JITTER}",
                     "-enc_time_base", "1:90000", "-fps_mode", "vfr", "-c:v", "ffv1", "-pix_fmt", "yuv420p")
        stream = make(self.clips, f"irregular-{rate}-{size}.ts", exact, "-fps_mode", "passthrough", "-enc_time_base", "1:90000",
                      "-c:v", "libx264", "-bf", "0", "-f", "mpegts")
        return stream, self.remux(exact, "mkv")

    def test_a_clock_is_no_rate(self):
        stream, reference = self.clip_of("30", 120, self.SIZE)
        run = self.score(stream, reference, options="align=start")
        self.assert_ok(run)
        self.assert_counts(run, frames=120, paired=120, scored=120, gaps=0)
        self.assertEqual(len(run.messages("claims 90000 frames per second, which the time stamps of its first frames refute")), 1)
        self.assertAlmostEqual(run.pairing["frame_rate"], 28.3, delta=0.5)
        self.assertAlmostEqual(run.pairing["max_dt"], 0.5 / run.pairing["frame_rate"], delta=1e-6)
        self.assertIs(run.log["complete"], True)

    def test_the_model_follows_the_frames(self):
        """The model for high rates is chosen for frames that are that fast, whatever is claimed."""
        for rate, is_high in (("30", False), ("90", True)):
            stream, reference = self.clip_of(rate, 60, "480x320")
            run = self.score(stream, reference, options="metrics=vmaf:model=auto:align=start")
            self.assert_ok(run)
            self.assertEqual("hfr" in run.log["models"][0]["model"], is_high, run.log["models"])

    def test_a_rate_that_fits_stays(self):
        clip = self.source(rate="30000/1001", frames=10)
        run = self.score(self.remux(clip, "mkv"), clip)
        self.assert_ok(run)
        self.assertAlmostEqual(run.pairing["frame_rate"], 30000 / 1001, delta=1e-6)
        self.assertFalse(run.messages("claims"))

    def test_interlaced_rates_are_those_of_fields(self):
        """Time stamps twice as far apart as the rate says: half of that is the frames' rate."""
        clip = self.source(rate="50", frames=40)
        run = self.score(clip, clip, before={index: "select=not(mod(n\\,2))" for index in (0, 1)})
        self.assert_ok(run)
        self.assert_counts(run, paired=20, frame_rate=25.0, max_dt=0.02)
        self.assertTrue(run.messages("claims 50 frames per second, which the time stamps of its first frames refute"), run.text)

    def test_max_dt_stays_what_was_asked_for(self):
        stream, reference = self.clip_of("30", 120, self.SIZE)
        run = self.score(stream, reference, options="align=start:max_dt=0.000006:allow_unpaired=1")
        self.assert_ok(run)
        self.assert_counts(run, max_dt=0.000006)
        self.assertLess(run.pairing["paired"], 60)


class TooFewPairs(FilterTest):
    """Less than half of the frames with a partner, while both inputs run, is an error."""

    def setUp(self):
        super().setUp()
        self.clip = self.source(rate="50", frames=40)

    def check_refused(self, run, text):
        self.assert_fails(run, text, "allow_unpaired=1 to accept it", "INCOMPLETE after")
        self.assertNotIn("VMAF score", run.text)
        self.assertIs(run.log["complete"], False)
        self.assertEqual(run.log["end"], "failure")
        self.assertIn(text, run.log["reason"])

    def test_a_third_is_refused(self):
        run = self.score(self.clip, self.clip, before={1: "framestep=3"}, options="metrics=vmaf+psnr")
        self.check_refused(run, "only 14 of 40 frames found a partner within max_dt, 0.010000 s")
        self.assertEqual(len(run.stats), 14)

    def test_a_third_is_accepted_on_demand(self):
        run = self.score(self.clip, self.clip, before={1: "framestep=3"}, options="allow_unpaired=1")
        self.assert_ok(run)
        self.assert_counts(run, paired=14, gaps=26)
        self.assertIs(run.log["complete"], True)

    def test_nothing_at_all(self):
        run = self.score(self.clip, self.clip, before={1: "setpts=PTS+0.005/TB"}, options="max_dt=0.001")
        self.check_refused(run, "only 0 of 39 frames found a partner")
        self.assertEqual(run.log["frames"], [])

    def test_of_a_rendition(self):
        """Which takes no other along, but is no success."""
        run = self.score(self.clip, self.clip, self.clip, before={2: "framestep=3"}, options="renditions=2:metrics=vmaf+psnr")
        text = "only 14 of 40 frames of rendition 1 found a partner within max_dt, 0.010000 s"
        self.assert_fails(run, text, "allow_unpaired=1 to accept it")
        self.assertEqual((run.log["complete"], run.log["end"], run.log["reason"]), (True, "end of stream", None))
        log = run.log_named("log.rendition1.json")
        self.assertIs(log["complete"], False)
        self.assertIn(text, log["reason"])
        self.assertEqual(len(run.messages("VMAF score: ")), 1)
        self.assertFalse(run.messages("score of vmaf, rendition 1"), "a score of a rendition that was refused")
        self.assertFalse(run.messages("quality_cuda 1.psnr_y mean:"))
        self.assertEqual([(each["end"], each["scored"]) for each in run.log["renditions"]], [("complete", 40), ("failed", 14)])
        accepted = self.score(self.clip, self.clip, self.clip, before={2: "framestep=3"}, options="renditions=2:allow_unpaired=1")
        self.assert_ok(accepted)
        self.assertEqual([each["end"] for each in accepted.log["renditions"]], ["complete", "incomplete"])

    def test_frames_outside_the_reference_are_none_of_these(self):
        for before, options in (({1: "trim=start_frame=30:end_frame=35"}, ""),
                                ({1: "trim=start_frame=10:end_frame=12"}, "eof_action=endall"),
                                ({1: "framestep=2"}, "enable=between(n\\,1\\,3)"), ({1: "framestep=2"}, "n_subsample=5"),
                                ({1: "framestep=2"}, "enable=lt(mod(n\\,8)\\,3)"), ({0: "trim=end_frame=1"}, "")):
            with self.subTest(before=before, options=options):
                self.assert_ok(self.score(self.clip, self.clip, before=before, options=options))


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
        later = {0: "setpts=PTS+10/TB"}
        run = self.score(self.clip, self.clip, before=later, options="metrics=vmaf+psnr")
        self.assert_fails(run, "no frame was scored: the time stamps never overlap; use align=start")
        self.assert_counts(run, frames=20, paired=0, unscored=20)
        self.assertEqual((run.log["complete"], run.log["end"]), (False, "failure"))
        self.assertTrue(run.log["reason"].startswith("no frame was scored"))
        self.assertNotIn("VMAF score", run.text)
        self.assertIn("VMAF score", self.score(self.clip, self.clip, options="metrics=vmaf+psnr").text)

    def test_no_overlap_is_accepted_on_demand(self):
        run = self.score(self.clip, self.clip, before={0: "setpts=PTS+10/TB"}, options="allow_unpaired=1")
        self.assert_ok(run)
        self.assert_counts(run, frames=20, paired=0, unscored=20)
        self.assertEqual(len(run.out), 20)
        self.assertEqual((run.log["complete"], run.log["end"], run.log["frames"]), (True, "end of stream", []))
        self.assertTrue(run.messages("no frame was scored"))

    def test_nothing_was_to_be_scored(self):
        """What enable= leaves out was not meant to be."""
        run = self.score(self.clip, self.clip, options="enable=0")
        self.assert_ok(run)
        self.assert_counts(run, frames=20, disabled=20, scored=0)

    def test_no_overlap_in_what_was_wanted(self):
        """The consumer has enough before the reference begins."""
        run = self.score(self.clip, self.clip, before={1: "setpts=PTS+10/TB"}, **stop_behind(5)[0])
        self.assertTrue(run.messages("no frame was scored: the time stamps never overlap"))
        self.assertEqual((run.log["complete"], run.log["end"]), (False, "failure"))

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
        for option in ("", "repeatlast=0", "eof_action=repeat:repeatlast=0"):
            run = self.score(self.ten, self.six, options=option)
            self.check(run, out=10, scored=6)
            self.assert_counts(run, after_reference=4, unscored=4)
            self.assert_all_identical(run)

    def test_short_reference_endall(self):
        for option in ("eof_action=endall", "shortest=1", "shortest=1:repeatlast=0", "repeatlast=1:eof_action=endall"):
            run = self.score(self.ten, self.six, options=option)
            self.check(run, out=6, scored=6)
            self.assert_counts(run, frames=6, unscored=0)

    def test_short_reference_repeat(self):
        for option in ("eof_action=repeat", "repeatlast=1"):
            run = self.score(self.ten, self.six, options=option)
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
        for before, options, out, why in (({0: nothing}, "", 0, "the distorted input has no frames"),
                                          ({1: nothing}, "", 10, "the reference has no frames"),
                                          ({1: nothing}, "shortest=1", 0, "the reference has no frames"),
                                          ({0: nothing, 1: nothing}, "", 0, "the distorted input has no frames")):
            with self.subTest(before=before, options=options):
                run = self.score(self.ten, self.ten, before=before, options=options)
                for text in (f"no frame was scored: {why}, or allow_unpaired=1 to accept it", "INCOMPLETE after 0 frames"):
                    self.assertIn(text, run.text)
                if len(before) == 1:  # FFmpeg 5.1 ends with 0 where all inputs ended at once
                    self.assertGreater(run.code, 0, run.text)
                self.assertEqual((run.log["complete"], run.log["end"], run.log["frames"]), (False, "failure", []))
                run = self.score(self.ten, self.ten, before=before, options=f"allow_unpaired=1{':' if options else ''}{options}")
                self.assert_ok(run)
                self.assertEqual(len(run.out), out)
                self.assertTrue(run.log["complete"])

    def test_queue_longer_than_the_clip(self):
        for depth in (1, 2, 3, 60):
            run = self.score(self.ten, self.ten, options=f"async_depth={depth}")
            self.check(run, out=10, scored=10)
            self.assert_counts(run, unscored=0)

    def test_stop_after_five_frames(self):
        """The frames that left count, and no pair that was read ahead."""
        for depth in (1, 4, 60):
            stop, count = stop_behind(5)
            run = self.score(self.ten, self.ten, options=f"async_depth={depth}", **stop)
            self.assert_ok(run)
            self.assertEqual(len(run.out), 5)
            self.assertEqual((len(run.log["frames"]), len(run.stats)), (count, count))
            self.assert_counts(run, frames=count, paired=count, scored=count, unscored=0)
            self.assertTrue(run.log["complete"])

    def test_one_decoder_for_both_inputs(self):
        """A split feeds both inputs: waiting for one must not starve the other."""
        for before in ("", "[r]setpts=PTS+0.01/TB[r2];"):
            pads = "[d][r2]" if before else "[d][r]"
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

    def check_account(self, run, lacking, missing, **counts):
        """Each rendition has its own numbers, and is not called complete without all of its frames."""
        self.assert_ok(run)
        log = run.log_named("log.rendition1.json")
        self.assertEqual({key: log["pairing"][key] for key in counts}, counts)
        self.assertEqual(len(log["frames"]), counts["scored"])
        self.assertIs(log["complete"], not missing)
        self.assertEqual(log["reason"], f"the rendition lacks {missing} of 10 frames" if missing else None)
        self.assertIs(run.log["complete"], True)
        self.assert_counts(run, frames=10, paired=10, scored=10, unscored=0)
        line = f"rendition 1: frames:10 scored:{counts['scored']} without its frame:{missing} ({lacking})"
        self.assertEqual(len(run.messages(line)), 1, run.text)
        self.assertTrue(run.messages(f"1.psnr_y ")[0].endswith(f"frames:10 scored:{counts['scored']}"), run.text)

    def test_each_has_its_own_account(self):
        for before, lacking, counts in (
                ("null", "not begun:0 in gaps:0 ended:0", {"rendition_late": 0, "rendition_gaps": 0, "rendition_ended": 0}),
                ("trim=end_frame=3", "not begun:0 in gaps:0 ended:7", {"rendition_ended": 7}),
                ("trim=end_frame=0", "not begun:0 in gaps:0 ended:10", {"rendition_ended": 10}),
                ("select=gte(n\\,3)", "not begun:3 in gaps:0 ended:0", {"rendition_late": 3}),
                ("select=not(between(n\\,5\\,6))", "not begun:0 in gaps:2 ended:0", {"rendition_gaps": 2})):
            with self.subTest(before):
                run = self.score(self.reference, self.reference, self.reference, options="renditions=2", before={2: before})
                missing = sum(counts.values())
                self.check_account(run, lacking, missing, frames=10, paired=10 - missing, scored=10 - missing, unscored=missing, **counts)

    def test_what_the_reference_lacks_is_not_the_renditions_fault(self):
        run = self.score(self.reference, self.reference, self.reference, options="renditions=2:n_subsample=2",
                         before={1: "trim=start_frame=2:end_frame=8"})
        self.assert_ok(run)
        log = run.log_named("log.rendition1.json")
        self.assertIs(log["complete"], True)
        expected = {"frames": 10, "paired": 6, "scored": 3, "before_reference": 2, "after_reference": 2, "rendition_ended": 0,
                    "rendition_unused": 4, "rendition_repeated": 0}
        self.assertEqual({key: log["pairing"][key] for key in expected}, expected)

    def test_the_account_in_xml(self):
        run = self.score(self.reference, self.reference, self.second, options="renditions=2:log_fmt=xml")
        self.assert_ok(run)
        for name, complete, scored in (("log.json", "true", "10"), ("log.rendition1.json", "false", "6")):
            root = xml.etree.ElementTree.parse(self.folder / name).getroot()
            self.assertEqual((root.find("fyi").attrib["complete"], root.find("fyi").attrib["end"]), (complete, "end of stream"))
            self.assertEqual((root.find("pairing").attrib["frames"], root.find("pairing").attrib["scored"]), ("10", scored))

    def test_late_rendition(self):
        run = self.score(self.reference, self.reference, self.reference, options="renditions=2", before={2: "select=gte(n\\,3)"})
        self.assert_ok(run)
        key = next(key for key in ("psnr_y", "mad") if key in run.tagged[0][1])
        self.assertEqual([f"1.{key}" in scores for _, scores in run.tagged], [False] * 3 + [True] * 7)


if __name__ == "__main__":
    unittest.main()
