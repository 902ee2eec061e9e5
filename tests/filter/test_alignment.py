# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The watch of the contents: pairs that do not show the same moment are warned of, with a remedy that works; others are not."""

import json
import lzma
import os
import pathlib
import re
import unittest

from harness import REPOSITORY, FilterTest, ffmpeg, make


class Alignment(FilterTest):
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

    def watch(self, distorted, **arguments):
        run = self.score(distorted, self.reference, **arguments)
        return run, self.warnings(run)

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

    # --- findings ---

    def test_offsets_are_measured_and_corrected(self):
        aligned = self.psnr(self.score(self.distorted("whole", "null"), self.reference))
        for offset in (-1, -7, -30, 2, 30):
            cut = f"trim=start_frame={-offset}" if offset < 0 else f"loop=loop={offset}:size=1:start=0"
            distorted = self.distorted(f"offset{offset}", cut)
            for options in ("", "sync=index"):
                with self.subTest(offset=offset, options=options):
                    run = self.score(distorted, self.reference, options=options)
                    line = self.one_warning(run, f"{abs(offset)} frame", "ahead of" if offset < 0 else "behind")
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
                self.assertEqual(run.messages("alignment: "), [])
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
