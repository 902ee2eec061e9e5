# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The watch of the contents: pairs that do not show the same moment are warned of, with a remedy that works; others are not."""

import itertools
import json
import lzma
import os
import pathlib
import re
import unittest

from harness import REPOSITORY, FilterTest, WithFakeEngine, ffmpeg, make


OFFSETS = (-30, -5, -1, 1, 5, 30)
#: What align=auto corrects: frames that the distorted video begins late, and how pairs are made.
CORRECTED = list(itertools.product(OFFSETS, ("", ":sync=index")))
if os.environ.get("QC_TEST_LEVEL") != "all":
    CORRECTED = [(-30, ""), (-5, ":sync=index"), (-1, ""), (1, ":sync=index"), (5, ""), (30, ":sync=index")]


class MovingPictures(FilterTest):
    """Something that never comes again, and videos that are off from it."""

    SIZE = "240x136"
    FRAMES = 150

    def setUp(self):
        super().setUp()
        # Nothing of it comes again, unlike a test picture's counters and bars.
        self.reference = make(self.clips, "reference.nut", f"mandelbrot=s={self.SIZE}:rate=25:end_scale=0.02:end_pts=120,"
                              f"trim=end_frame={self.FRAMES}", "-c:v", "ffv1", "-pix_fmt", "yuv420p")

    def distorted(self, name, chain):
        return make(self.clips, f"{name}.mkv", self.reference, "-vf", f"{chain},setpts=N/25/TB", "-r", "25", "-c:v", "mpeg4", "-q:v", "5")

    def warnings(self, run):
        self.assert_ok(run)
        return run.messages("alignment: ")

    def assert_quiet(self, run):
        self.assertEqual(self.warnings(run), [])
        self.assertEqual(run.log["alignment"]["findings"], [])
        self.assertEqual(run.log["alignment"]["watched"], run.pairing["paired"])

    def one_warning(self, run, *texts):
        lines = self.warnings(run)
        self.assertEqual(len(lines), 1, run.text)
        for text in texts:
            self.assertIn(text, lines[0])
        return lines[0]

    def remedy(self, line):
        """What the warning tells to put before which input: {index: filters}."""
        return {int(index): chain for chain, index in re.findall(r"((?:setpts|trim|mpdecimate)[^ ]*) before input (\d)", line)}

    def psnr(self, run):
        return run.log["pooled_metrics"]["psnr_y"]["mean"]

    def off_by(self, offset):
        """Frame n shows what the reference does in frame n - offset."""
        chain = f"trim=start_frame={-offset}" if offset < 0 else f"loop=loop={offset}:size=1:start=0" if offset else "null"
        return self.distorted(f"offset{offset}", chain)


class Alignment(MovingPictures):
    # --- findings ---

    def test_offsets_are_measured_and_corrected(self):
        aligned = self.psnr(self.score(self.distorted("whole", "null"), self.reference))
        for offset in (-1, -7, -30, 2, 30):
            distorted = self.off_by(offset)
            for options in ("", "sync=index"):
                with self.subTest(offset=offset, options=options):
                    run = self.score(distorted, self.reference, options=options)
                    line = self.one_warning(run, f"{abs(offset)} frame", "ahead of" if offset < 0 else "behind", "align=auto")
                    finding = run.log["alignment"]["findings"][0]
                    self.assertEqual((finding["kind"], finding["frame"], finding["offset"]), ("offset", 0, offset))
                    mended = self.score(distorted, self.reference, options=options, before=self.remedy(line))
                    self.assert_quiet(mended)
                    self.assertGreater(self.psnr(mended), aligned - 1)
                    self.assertLess(self.psnr(run), aligned - 1)

    def test_dropped_and_duplicated_frames(self):
        for name, chain, offset in (("dropped", "select=not(eq(n\\,60))", -1), ("doubled", "loop=loop=1:size=1:start=60", 1)):
            with self.subTest(name):
                distorted = self.distorted(name, chain)
                run = self.score(distorted, self.reference)
                line = self.one_warning(run, "1 frame too " + ("few" if offset < 0 else "many"))
                finding = run.log["alignment"]["findings"][0]
                self.assertEqual((finding["kind"], finding["former_offset"], finding["offset"]), ("step", 0, offset))
                self.assertAlmostEqual(finding["frame"], 60, delta=2)
                self.assertAlmostEqual(finding["time"], finding["frame"] / 25, places=3)
                mended = self.score(distorted, self.reference, before=self.remedy(line))
                self.assert_quiet(mended)

    def test_repeated_frames(self):
        distorted = self.distorted("repeats", "select=gte(mod(n\\,10)\\,1)+lt(n\\,20),fps=25")
        run = self.score(distorted, self.reference)
        line = self.one_warning(run, "repeats pictures", "first at 0.8")
        finding = run.log["alignment"]["findings"][0]
        self.assertEqual((finding["kind"], finding["frame"]), ("repeats", 20))
        self.assertAlmostEqual(finding["count"], 13, delta=1)
        self.assertEqual(self.remedy(line), {0: "mpdecimate"})
        mended = self.score(distorted, self.reference, before=self.remedy(line))
        if "No such filter" in mended.text:
            self.skipTest("SKIPPED: this ffmpeg was built without the filter mpdecimate")
        # It judges by thresholds of its own, which a repeated picture of a lossy encode need not meet.
        self.assertLess(sum(each["count"] for each in mended.log["alignment"]["findings"]), finding["count"] / 4)

    def test_a_repeated_last_frame(self):
        for repeats in (1, 10):
            with self.subTest(repeats=repeats):
                distorted = self.distorted(f"frozen{repeats}", f"loop=loop=20:size=1:start=100,trim=end_frame={100 + repeats}")
                run = self.score(distorted, self.reference)
                line = self.one_warning(run, f"ends with {repeats} repeated picture", "from 4.000 s (frame 100) on", "trim=end=")
                self.assertEqual(run.log["alignment"]["findings"],
                                 [{"kind": "frozen_end", "frame": 100, "time": 4.0, "count": repeats}])
                mended = self.score(distorted, self.reference, before=self.remedy(line))
                self.assert_quiet(mended)
                self.assert_counts(mended, scored=100)

    def test_wrong_rates(self):
        for name, chain, rate in (("fast", "fps=24,setpts=N/25/TB", 25 / 24), ("half", "fps=50,setpts=N/25/TB", 0.5)):
            with self.subTest(name):
                distorted = make(self.clips, f"{name}.mkv", self.reference, "-vf", chain, "-r", "25", "-c:v", "mpeg4", "-q:v", "5")
                run = self.score(distorted, self.reference, options="allow_unpaired=1")
                line = self.one_warning(run, "another rate")
                self.assertAlmostEqual(run.log["alignment"]["findings"][0]["rate"], rate, delta=0.01 * rate)
                mended = self.score(distorted, self.reference, options="allow_unpaired=1", before=self.remedy(line))
                self.assertNotIn("another rate", mended.text)
                self.assertGreater(self.psnr(mended), self.psnr(run) + 1)

    def test_each_rendition_is_watched(self):
        whole, ahead = self.distorted("whole", "null"), self.distorted("offset-7", "trim=start_frame=7")
        run = self.score(whole, self.reference, ahead, options="renditions=2")
        line = self.one_warning(run, "rendition 1 is 7 frames ahead")
        self.assertEqual(run.log["alignment"]["findings"], [])
        self.assertEqual(run.log_named("log.rendition1.json")["alignment"]["findings"][0]["offset"], -7)
        self.assertEqual(self.warnings(self.score(whole, self.reference, ahead, options="renditions=2", before=self.remedy(line))), [])

    # --- silence ---

    def test_what_fits_is_not_warned_of(self):
        for name, chain in (("whole", "null"), ("dim", "lutyuv=y=16+(val-16)/3"), ("noisy", "noise=alls=40:allf=t"),
                            ("coarse", "scale=30:17,scale=240:136"), ("twos", "fps=12.5,fps=25")):
            with self.subTest(name):
                self.assert_quiet(self.score(self.distorted(name, chain), self.reference if name != "twos" else make(
                    self.clips, "twos.nut", self.reference, "-vf", "fps=12.5,fps=25", "-c:v", "ffv1")))

    def test_stills_fades_and_test_pictures(self):
        sources = {"still": "testsrc2=s=240x136:r=25,trim=end_frame=1,loop=loop=99:size=1,setpts=N/25/TB",
                   "fade": f"movie={self.reference},geq=lum=lum(X\\,Y)*clip(min(N/40\\,2-N/60)\\,0\\,1):cb=128:cr=128",
                   "black": "color=black:s=240x136:r=25,trim=end_frame=100",
                   "noise": "color=gray:s=240x136:r=25,noise=alls=80:allf=t,trim=end_frame=100",
                   "pattern": "testsrc2=s=240x136:r=25,trim=end_frame=100", "bars": "smptebars=s=240x136:r=25,trim=end_frame=100"}
        for name, graph in sources.items():
            with self.subTest(name):
                reference = make(self.clips, f"{name}-reference.nut", graph, "-c:v", "ffv1", "-pix_fmt", "yuv420p")
                distorted = make(self.clips, f"{name}-coarse.mkv", reference, "-c:v", "mpeg4", "-q:v", "31")
                self.assert_quiet(self.score(distorted, reference))

    def test_subsampled_and_short_runs(self):
        ahead = self.distorted("offset-7", "trim=start_frame=7")
        self.one_warning(self.score(ahead, self.reference, options="n_subsample=10"), "7 frames ahead")
        self.assertEqual(self.warnings(self.score(ahead, self.reference, before={0: "trim=end_frame=6"})), [])

    def test_it_can_be_switched_off(self):
        run = self.score(self.distorted("offset-7", "trim=start_frame=7"), self.reference, options="watch=0")
        self.assertEqual(self.warnings(run), [])
        self.assertNotIn("alignment", run.log)

    def test_the_scores_are_the_same(self):
        ahead = self.distorted("offset-7", "trim=start_frame=7")
        runs = [self.score(ahead, self.reference, options=f"metrics=vmaf+psnr:watch={watch}") for watch in (0, 1)]
        self.assertEqual(runs[0].log["frames"], runs[1].log["frames"])
        self.assertEqual(runs[0].texts["metadata.txt"], runs[1].texts["metadata.txt"])

    def test_xml_has_no_room_for_it(self):
        run = self.score(self.distorted("offset-7", "trim=start_frame=7"), self.reference, options="log_fmt=xml:log_path=log.txt")
        self.one_warning(run, "7 frames ahead")
        self.assertNotIn("alignment", run.texts["log.txt"])

    def test_libvmafs_filter_is_silent(self):
        distorted = self.distorted("offset-7", "trim=start_frame=7")
        run = ffmpeg(["-i", distorted, "-i", self.reference, "-lavfi", "libvmaf", "-f", "null", "-"], self.folder)
        if "No such filter" in run.text:
            self.skipTest("SKIPPED: this ffmpeg was configured without --enable-libquality-cuda-aliases")
        self.assertEqual(self.warnings(run), [])


class AlignAuto(MovingPictures):
    """align=auto: a constant offset is corrected before the first score, as the remedy would, or nothing is."""

    METRICS = "metrics=psnr+motion"

    def auto(self, *inputs, options="", **arguments):
        run = self.score(*inputs, options=f"{self.METRICS}:align=auto{options}", **arguments)
        self.assert_ok(run)
        return run

    def said(self, run):
        return [line.split("align=auto: ")[1] for line in run.messages("align=auto: ")]

    def told(self, run, rendition=0):
        log = run.log_named(f"log.rendition{rendition}.json") if rendition else run.log
        return log["alignment"]["auto"]

    def scores(self, run, rendition=0):
        """Of the pairs in order: their numbers are those of the main input's frames in a ladder."""
        log = run.log_named(f"log.rendition{rendition}.json") if rendition else run.log
        return [frame["metrics"] for frame in log["frames"]]

    def tags(self, run):
        """Of every frame that leaves, without the reference's own time: that is another one where setpts has moved it."""
        return [(time, {key: value for key, value in keys.items() if key != "ref_pts_time"}) for time, keys in run.tagged]

    def assert_unmoved(self, run, *inputs, options="", **arguments):
        other = self.score(*inputs, options=f"{self.METRICS}{options}", **arguments)
        self.assertEqual(run.tagged, other.tagged)
        self.assertEqual(run.pairing, other.pairing)
        self.assertTrue(all("nothing is moved" in line for line in self.said(run)), run.text)

    # --- what is corrected ---

    def test_each_offset_as_by_its_remedy(self):
        for offset, options in CORRECTED:
            with self.subTest(offset=offset, options=options):
                distorted = self.off_by(offset)
                wrong = self.score(distorted, self.reference, options=f"{self.METRICS}{options}")
                by_hand = self.score(distorted, self.reference, options=f"{self.METRICS}{options}",
                                     before=self.remedy(self.one_warning(wrong, "align=auto")))
                run = self.auto(distorted, self.reference, options=options)
                self.assertEqual(self.warnings(run), [])
                for key in ("frames", "pooled_metrics", "aggregate_metrics"):
                    self.assertEqual(run.log[key], by_hand.log[key])
                self.assertEqual(run.out, wrong.out)
                self.assertEqual(self.told(run), {"pairs": 48, "offset": offset, "seconds": offset / 25})
                self.assertEqual(run.log["alignment"]["findings"], [])
                self.assertEqual(len(self.said(run)), 1)
                self.assertIn(f"is {abs(offset)} frame", self.said(run)[0])
                self.assertIn(f"({abs(offset) / 25:.6f} s) {'ahead of' if offset < 0 else 'behind'} the reference", self.said(run)[0])
                if not options:
                    self.assertEqual(self.tags(run), self.tags(by_hand))
                    self.assertEqual(run.pairing, by_hand.pairing)
                else: # what trim takes away comes here, and is counted
                    self.assert_counts(run, frames=self.FRAMES + offset, scored=self.FRAMES + min(offset, 0),
                                       before_reference=max(offset, 0), reference_unused=max(-offset, 0))

    def test_without_an_offset(self):
        for options in ("", ":sync=index", ":sync=floor", ":align=auto:n_subsample=10"):
            with self.subTest(options):
                run = self.auto(self.off_by(0), self.reference, options=options)
                self.assert_unmoved(run, self.off_by(0), self.reference, options=options.replace(":align=auto", ""))
                self.assertEqual(self.said(run), ["the distorted video begins with the reference, nothing is moved"])
                self.assertEqual((self.told(run)["offset"], self.told(run)["seconds"]), (0, 0.0))
                self.assertLess(self.told(run)["pairs"], 20)

    def test_with_other_options(self):
        distorted = self.off_by(-5)
        for options in ("n_subsample=7", "sync=floor", "watch=0", "realtime=1", "async_depth=1", "eof_action=repeat", "enable=gte(n\\,20)"):
            with self.subTest(options):
                run = self.auto(distorted, self.reference, options=f":{options}")
                by_hand = self.score(distorted, self.reference, options=f"{self.METRICS}:{options}",
                                     before={1: "setpts=PTS-0.200000/TB"})
                self.assertEqual(self.told(run)["offset"], -5)
                self.assertEqual(self.tags(run), self.tags(by_hand))
                self.assertEqual(run.pairing, by_hand.pairing)
                self.assertEqual(self.warnings(run), [])

    def test_time_stamps_of_any_kind(self):
        """Behind zero, with a late or an early reference, on another clock, without a rate."""
        distorted = self.off_by(-5)
        late = {0: "setpts=PTS+10/TB", 1: "setpts=PTS+10/TB"}
        for name, before, shift in (("late", late, "-0.200000"), ("late reference", {1: "trim=start_frame=10"}, "-0.200000"),
                                    ("late main", {0: "trim=start_frame=10"}, "-0.200000"),
                                    ("ticks", {1: "settb=1/90000"}, "-0.200000"), ("offset", {1: "setpts=PTS-0.2/TB"}, None)):
            with self.subTest(name):
                run = self.auto(distorted, self.reference, before=before)
                mended = dict(before)
                if shift:
                    mended[1] = ",".join(filter(None, (before.get(1), f"setpts=PTS{shift}/TB")))
                by_hand = self.score(distorted, self.reference, options=self.METRICS, before=mended)
                self.assertEqual(self.told(run)["offset"], -5 if shift else 0, run.text)
                self.assertEqual(self.tags(run), self.tags(by_hand))
                self.assertEqual(run.pairing["scored"], by_hand.pairing["scored"])
                self.assertFalse(run.messages("use align=start"))

    def test_other_rates(self):
        """A reference of twice the rate, and one of half of it: an offset counts in pairs."""
        distorted = self.off_by(-4)
        for chain, options in (("fps=50", ""), ("fps=12.5", ":allow_unpaired=1")):
            with self.subTest(chain):
                run = self.auto(distorted, self.reference, options=options, before={1: chain})
                by_hand = self.score(distorted, self.reference, options=f"{self.METRICS}{options}",
                                     before={1: f"{chain},setpts=PTS-0.16/TB"})
                self.assertEqual(self.told(run)["seconds"], -0.16, run.text)
                self.assertEqual(self.scores(run), self.scores(by_hand))
                self.assertEqual(run.pairing, by_hand.pairing)

    def test_a_ladder(self):
        """Each rendition by its own offset, main too; of another size; the same bits as on its own."""
        small = make(self.clips, "small.mkv", self.off_by(4), "-vf", "scale=120:68", "-c:v", "mpeg4", "-q:v", "5")
        inputs = {0: self.off_by(-5), 1: self.off_by(0), 2: self.off_by(-7), 3: small}
        for sync in ("nearest", "index"):
            alone = []
            for distorted in inputs.values():
                alone.append(self.scores(self.auto(distorted, self.reference, options=f":sync={sync}:scale=bicubic")))
            for order in ((0, 1, 2, 3), (1, 0, 3), (3, 2, 1)):
                with self.subTest(sync=sync, order=order):
                    main, *others = (inputs[index] for index in order)
                    run = self.auto(main, self.reference, *others, options=f":sync={sync}:scale=bicubic:renditions={len(order)}")
                    self.assertEqual(self.warnings(run), [])
                    self.assertEqual(len(self.said(run)), len(order))
                    for place, index in enumerate(order):
                        self.assertEqual(self.told(run, place)["offset"], (-5, 0, -7, 4)[index])
                    first = self.matching(run, order, alone)
                    self.assertEqual(first, 0, "main has its own scores")

    def matching(self, run, order, alone):
        """Looks for each rendition's scores among those that it has on its own: they are a part, without a gap.
        @return where main's begin"""
        starts = []
        for place, index in enumerate(order):
            own = [scores["psnr_y"] for scores in self.scores(run, place)]
            whole = [scores["psnr_y"] for scores in alone[index]]
            self.assertGreater(len(own), 130)
            starts.append(next((n for n in range(len(whole)) if whole[n: n + len(own)] == own), None))
            self.assertIsNotNone(starts[-1], f"rendition {place}")
        return starts[0]

    def test_a_rendition_that_tells_nothing(self):
        still = make(self.clips, "still-rung.mkv", self.reference, "-vf", "loop=loop=149:size=1:start=0,trim=end_frame=150", "-c:v", "mpeg4")
        run = self.auto(self.off_by(0), self.reference, still, self.off_by(3), options=":renditions=3")
        self.assertEqual([self.told(run, k)["offset"] for k in range(3)], [0, None, 3])
        self.assertIn("rendition 1: its first", self.said(run)[1])
        self.assertEqual(run.log_named("log.rendition1.json")["pairing"]["paired"], 150)

    # --- what is not ---

    def test_contents_that_tell_nothing(self):
        still = "testsrc2=s=240x136:r=25,trim=end_frame=1,loop=loop=159:size=1,setpts=N/25/TB"
        sources = {"still": still, "fade": f"{still},fade=in:0:100", "black": "color=black:s=240x136:r=25,trim=end_frame=160",
                   "cut": "testsrc2=s=240x136:r=25,trim=end_frame=160,select=not(mod(n\\,25)),fps=25",
                   "loop": "mandelbrot=s=240x136:rate=25:end_scale=0.02:end_pts=120,trim=end_frame=12,loop=loop=15:size=12,setpts=N/25/TB"}
        for name, graph in sources.items():
            reference = make(self.clips, f"{name}-start.nut", graph, "-c:v", "ffv1", "-pix_fmt", "yuv420p")
            with self.subTest(name):
                ahead = make(self.clips, f"{name}-ahead.mkv", reference, "-vf", "trim=start_frame=3,setpts=N/25/TB", "-c:v", "mpeg4", "-q:v", "5")
                run = self.auto(ahead, reference, options=":watch=0")
                self.assertIsNone(self.told(run)["offset"])
                self.assertIn("its first 48 pairs do not tell beyond doubt", self.said(run)[0])
                self.assert_unmoved(run, ahead, reference, options=":watch=0")
        noise = [make(self.clips, f"noise{seed}.nut", f"color=gray:s=240x136:r=25,noise=alls=80:allf=t:all_seed={seed},trim=end_frame=60",
                      "-c:v", "ffv1", "-pix_fmt", "yuv420p") for seed in (1, 2)]
        run = self.auto(*noise)
        self.assertIsNone(self.told(run)["offset"])
        self.assert_unmoved(run, *noise)

    def test_steps_and_rates_are_left_to_the_watch(self):
        for name, chain in (("early-step", "trim=start_frame=5,select=not(eq(n\\,20))"), ("fast", "fps=20")):
            with self.subTest(name):
                distorted = self.distorted(name, chain)
                run = self.auto(distorted, self.reference)
                self.assertIsNone(self.told(run)["offset"])
                self.assert_unmoved(run, distorted, self.reference)
                self.assertTrue(self.warnings(run))

    def test_pictures_that_are_too_small(self):
        tiny = {0: "scale=6:6", 1: "scale=6:6"}
        run = self.score(self.off_by(-5), self.reference, options="metrics=float_moment:align=auto", before=tiny)
        self.assert_ok(run)
        self.assertTrue(run.messages("align=auto: the first pictures could not be compared"), run.text)
        self.assert_counts(run, scored=145)

    # --- ends ---

    def test_short_inputs(self):
        for before, offset in (({0: "trim=end_frame=6"}, None), ({0: "trim=end_frame=24"}, -5), ({1: "trim=end_frame=24"}, -5),
                               ({1: "trim=end_frame=7"}, None), ({0: "trim=end_frame=1", 1: "trim=end_frame=1"}, None)):
            for options in ("", ":sync=index"):
                with self.subTest(before=before, options=options):
                    run = self.auto(self.off_by(-5), self.reference, before=before, options=options)
                    self.assertEqual(self.told(run)["offset"], offset, run.text)
                    self.assertEqual(len(self.said(run)), 1)
                    frames = 145 if 0 not in before else int(before[0].split("=")[-1])
                    left = self.FRAMES if 1 not in before else int(before[1].split("=")[-1])
                    self.assert_counts(run, frames=frames, scored=min(frames, left + (offset or 0)))

    def test_inputs_without_frames(self):
        for index, text in ((0, "the distorted input has no frames"), (1, "the reference has no frames")):
            run = self.score(self.off_by(-5), self.reference, options="align=auto", before={index: "trim=end_frame=0"})
            self.assert_fails(run, text)

    def test_a_consumer_that_has_enough(self):
        run = self.auto(self.off_by(-5), self.reference, output=("-t", "0.4"))
        self.assertEqual(self.told(run)["offset"], -5)
        self.assertGreaterEqual(len(run.log["frames"]), 10)

    # --- options ---

    def test_a_wrong_value(self):
        run = self.score(self.reference, self.reference, options="align=sideways")
        self.assert_fails(run, "sideways")

    def test_libvmafs_filter_has_no_such_option(self):
        run = ffmpeg(["-i", self.reference, "-i", self.reference, "-lavfi", "libvmaf=align=auto", "-f", "null", "-"], self.folder)
        if "No such filter" in run.text:
            self.skipTest("SKIPPED: this ffmpeg was configured without --enable-libquality-cuda-aliases")
        self.assert_fails(run, "align")


class AlignAutoAndTheEngine(WithFakeEngine):
    """What no healthy engine does."""

    def test_its_failure_is_the_runs(self):
        for status, wish in ((-5, "fail"), (-5, "pass"), (-5, "cpu"), (-4, "cpu")):
            with self.subTest(status=status, wish=wish):
                run = self.score(self.clip, self.clip, options=f"align=auto:on_error={wish}",
                                 environment={**self.fake_engine(), "QC_FAKE_FAIL_AT": "3",
                                              "QC_FAKE_FAIL_STATUS": str(status), "QC_FAKE_START_AFTER": "8", "QC_FAKE_LAG": "0"})
                self.assertTrue(run.messages("align=auto: the first pictures could not be compared: forced failure at frame 3"), run.text)
                if wish == "fail":
                    self.assert_fails(run)
                    continue
                self.assert_ok(run)
                self.assertEqual(len(run.out), 20)
                self.assertEqual(len(run.stats), 3 if wish == "cpu" else 0)

    def test_no_session(self):
        run = self.fake_score(self.clip, self.clip, options="align=auto", environment={"QC_FAKE_CREATE_STATUS": "-4"})
        self.assert_fails(run, "align=auto: the first pictures could not be compared: fake engine: forced failure -4")

    def test_the_look_is_bounded(self):
        """However much the engine wants to see."""
        long = self.source(frames=150)
        run = self.fake_score(long, long, options="align=auto", environment={"QC_FAKE_START_AFTER": "100000"})
        self.assert_ok(run)
        self.assertEqual(len(run.messages("its first 96 pairs do not tell")), 1, run.text)
        self.assert_counts(run, frames=150, scored=150)

    def test_live(self):
        """What waited is scored when the look is over, and nothing passes for that."""
        clip = self.source(frames=60)
        run = self.fake_score(clip, clip, options="align=auto:realtime=1", before_inputs=[("-re",)] * 2,
                              environment={"QC_FAKE_START_AFTER": "30", "QC_FAKE_ROW_US": "5000"})
        self.assert_ok(run)
        self.assert_counts(run, frames=60, scored=60, realtime_passed=0)


class RealClips(FilterTest):
    """Real sequences and real encodes, which are no part of this repository."""

    def shared(self, name):
        folder = pathlib.Path(os.environ.get("QC_SHARED") or REPOSITORY.parent / "shared") / name
        if not folder.exists():
            self.skipTest(f"SKIPPED: no {folder}")
        return folder

    def test_golden_clips_are_aligned(self):
        golden = self.shared("golden")
        with open(f"{golden}/manifest.json", encoding="utf-8") as file:
            clips = [clip for clip in json.load(file)["clips"] if clip["frames"] >= 3 and clip["width"] >= 64]
        for clip in clips:
            with self.subTest(clip["name"]):
                inputs = []
                for side in ("dis", "ref"):
                    path = self.folder / f"{side}.raw"
                    with lzma.open(f"{golden}/clips/{clip[side]}.xz") as packed:
                        path.write_bytes(packed.read())
                    inputs.append(path)
                raw = ("-f", "rawvideo", "-pix_fmt", clip["pix_fmt"], "-s", f"{clip['width']}x{clip['height']}", "-r", "25")
                run = self.score(*inputs, before_inputs=(raw, raw), options="metrics=float_moment")
                self.assertEqual(run.code, 0, run.text)
                self.assertEqual(run.log["alignment"]["findings"], [])
                self.assertEqual([*run.messages("alignment: "), *run.messages("contents: "), *run.messages("range: ")], [])
                self.assertEqual(run.log["alignment"]["watched"], clip["frames"])

    def test_rungs_of_a_ladder(self):
        bench = self.shared("bench")
        inputs = [bench / name for name in ("dist_540p.h264", "ref_1080p.h264", "dist_1080p.hevc")]
        options = "metrics=float_moment:scale=bilinear:scale_to=480x270:renditions=2"
        run = self.score(*inputs, options=options, before={index: "trim=end_frame=50" for index in range(3)})
        self.assertEqual(run.code, 0, run.text)
        self.assertEqual(run.messages("alignment: "), [])
        cut = {0: "trim=end_frame=50", 1: "trim=end_frame=50", 2: "trim=start_frame=3:end_frame=53,setpts=PTS-STARTPTS"}
        run = self.score(*inputs, options=options, before=cut)
        lines = run.messages("alignment: ")
        self.assertEqual(len(lines), 1, run.text)
        self.assertIn("rendition 1 is 3 frames ahead of the reference", lines[0])


if __name__ == "__main__":
    unittest.main()
