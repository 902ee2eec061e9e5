# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the pictures show beside their moment: another range, turned or mirrored, nothing in common. Each is said once, with a remedy
that is typed here; what only looks like it is not."""

import re
import unittest

from harness import FilterTest, make

TO_FULL = "scale=in_range=limited:out_range=full,format=yuv420p,setparams=range=unknown"
#: What was done to the pictures: how it is told, and what turns them back.
TURNS = {"hflip": ("mirror", "hflip"), "vflip": ("flip", "vflip"), "hflip,vflip": ("half", "hflip,vflip")}
QUARTER_TURNS = {"transpose=0": ("transpose", "transpose=0"), "transpose=1": ("counterclockwise", "transpose=2"),
                 "transpose=2": ("clockwise", "transpose=1"), "transpose=3": ("transverse", "transpose=3")}


class Contents(FilterTest):
    FRAMES = 60

    def setUp(self):
        super().setUp()
        self.reference = self.clip("reference.nut")

    def clip(self, name, size="240x136", more="null", codec=("-c:v", "ffv1")):
        """Something dark that moves, without symmetry."""
        return make(self.clips, name, f"mandelbrot=s={size}:rate=25:end_scale=0.02:end_pts=120,trim=end_frame={self.FRAMES},"
                    f"format=yuv420p,{more}", *codec, "-pix_fmt", "yuv420p")

    def coarse(self, name, source, chain="null", quality="8"):
        return make(self.clips, name, source, "-vf", chain, "-c:v", "mpeg4", "-q:v", quality)

    def warnings(self, run):
        self.assert_ok(run)
        return [*run.messages("contents: "), *run.messages("range: "), *run.messages("alignment: ")]

    def one_warning(self, run, *texts):
        lines = self.warnings(run)
        self.assertEqual(len(lines), 1, run.text)
        for text in texts:
            self.assertIn(text, lines[0])
        self.assertEqual(len(run.log["alignment"]["findings"]), 1)
        return lines[0]

    def remedy(self, line):
        chain, index = re.search(r"put (\S+) before input (\d)", line).groups()
        return {int(index): chain}

    def psnr(self, run):
        return run.log["pooled_metrics"]["psnr_y"]["mean"]

    def assert_quiet(self, run):
        self.assertEqual(self.warnings(run), [])
        self.assertEqual(run.log["alignment"]["findings"], [])

    # --- range ---

    def test_ranges_that_nobody_tagged(self):
        full = make(self.clips, "full.nut", self.reference, "-vf", TO_FULL, "-c:v", "ffv1")
        inputs = {"limited": (self.coarse("limited.mkv", self.reference), full, "tv"),
                  "full": (self.coarse("full.mkv", full), self.reference, "pc")}
        for name, (distorted, reference, range_of_distorted) in inputs.items():
            with self.subTest(name):
                right = self.psnr(self.score(distorted, self.reference if name == "limited" else full))
                run = self.score(distorted, reference)
                line = self.one_warning(run, f"has {name} range and the reference", "by which alone PSNR cannot pass")
                finding = run.log["alignment"]["findings"][0]
                self.assertEqual((finding["kind"], finding["distorted"]), ("range", range_of_distorted))
                self.assertAlmostEqual(finding["gain"], 219 / 255 if name == "limited" else 255 / 219, delta=0.01)
                most = float(re.search(r"cannot pass ([\d.]+) dB", line)[1])
                self.assertLess(self.psnr(run), most + 0.5)
                mended = self.score(distorted, reference, before=self.remedy(line))
                self.assert_quiet(mended)
                # Full range has finer codes, so that the same difference is a larger one.
                self.assertAlmostEqual(self.psnr(mended), right + (-1.3 if name == "limited" else 1.3), delta=0.5)

    def test_each_rendition_has_its_range(self):
        good = self.coarse("good.mkv", self.reference)
        full = self.coarse("full.mkv", make(self.clips, "full.nut", self.reference, "-vf", TO_FULL, "-c:v", "ffv1"))
        run = self.score(good, self.reference, full, options="renditions=2")
        lines = self.warnings(run)
        self.assertEqual(len(lines), 1, run.text)
        self.assertIn("rendition 1 has full range", lines[0])
        self.assert_quiet(self.score(good, self.reference, full, options="renditions=2", before=self.remedy(lines[0])))

    def test_grades_are_no_range(self):
        for name, chain in (("brighter", "lutyuv=y=val+10"), ("flatter", "lutyuv=y=0.9*val+12.8"), ("gamma", "lutyuv=y=gammaval(0.8)"),
                            ("dimmer", "lutyuv=y=0.859*val"), ("fade", "fade=in:0:50")):
            with self.subTest(name):
                self.assert_quiet(self.score(self.coarse(f"{name}.mkv", self.reference, chain), self.reference))

    def untagged(self):
        """A distorted video of limited range that nobody tagged, and its reference of full range that nobody did."""
        full = make(self.clips, "full.nut", self.reference, "-vf", TO_FULL, "-c:v", "ffv1")
        return make(self.clips, "untagged.nut", self.coarse("limited.mkv", self.reference), "-vf", "setparams=range=unknown", "-c:v", "ffv1"), full

    def test_range_auto_tags_them_before_the_first_score(self):
        distorted, full = self.untagged()
        run = self.score(distorted, full, options="range=auto")
        self.assert_ok(run)
        self.assertEqual([line.split("range=auto: ")[1] for line in run.messages("range=auto: ")],
                         ["input 0 (main) counts as of limited range, by what the first pictures show",
                          "input 1 (reference) counts as of full range, by what the first pictures show"])
        self.assertEqual(run.log["alignment"]["ranges"], "limited")
        self.assertEqual((run.log["distorted_stream"]["range"], run.log["reference_stream"]["range"]), ("tv", "pc"))
        tagged = self.score(distorted, full, before={0: "setparams=range=tv", 1: "setparams=range=pc"})
        self.assertEqual(run.log["frames"], tagged.log["frames"])
        self.assertEqual(len(run.tagged), self.FRAMES)

    def test_range_auto_leaves_alone_what_is_tagged_or_the_same(self):
        distorted, full = self.untagged()
        for name, reference, options, tags in (("same", self.reference, "range=auto", (None, None)),
                                               ("tagged", full, "range=auto", ("tv", "pc")),
                                               ("default", full, "", (None, None))):
            with self.subTest(name):
                before = {0: "setparams=range=tv", 1: "setparams=range=pc"} if name == "tagged" else None
                run = self.score(distorted, reference, options=options, before=before)
                self.assert_ok(run)
                self.assertFalse(run.messages("range=auto: input"))
                self.assertEqual((run.log["distorted_stream"]["range"], run.log["reference_stream"]["range"]), tags)
                other = self.score(distorted, reference, before=before)
                self.assertEqual(run.log["frames"], other.log["frames"])

    def test_a_range_that_is_tagged_wrongly(self):
        """Its tag had it converted: the remedy that helps elsewhere would be converted back."""
        before = {0: "setparams=range=pc", 1: "setparams=range=tv"}
        distorted = self.coarse("coarse.mp4", self.reference)
        right = self.score(distorted, self.reference)
        wrong = self.score(distorted, self.reference, before=before)
        self.assert_ok(wrong)
        self.assertNotEqual(wrong.log["frames"], right.log["frames"])
        said = wrong.messages("range: ")
        self.assertEqual(len(said), 1, wrong.text)
        self.assertIn("its tags were believed, and seem to be wrong: range=ignore leaves the samples as they are", said[0])
        mended = self.score(distorted, self.reference, before=before, options="range=ignore")
        self.assert_ok(mended)
        self.assertEqual(mended.log["frames"], right.log["frames"])
        self.assertEqual(mended.messages("range: "), [])

    def test_range_error_means_it(self):
        distorted, full = self.untagged()
        run = self.score(distorted, full, options="range=error")
        self.assert_fails(run, "input 0 (main) has limited range and the reference full range", "(range=error)")
        remedy = dict((int(index), chain) for chain, index in re.findall(r"(setparams=\S+) before input (\d)", run.text))
        self.assertEqual(remedy, {0: "setparams=range=limited", 1: "setparams=range=full"})
        self.assert_ok(self.score(distorted, self.reference, options="range=error"))
        self.assert_fails(self.score(distorted, full, options="range=error", before={0: remedy[0]}), "(range=error)")

    # --- turned ---

    def check_turns(self, turns, reference):
        for chain, (turn, remedy) in turns.items():
            with self.subTest(chain):
                distorted = self.coarse(f"{reference.stem}-{turn}.mkv", reference, chain)
                run = self.score(distorted, reference)
                line = self.one_warning(run, "shows the reference's pictures")
                self.assertEqual(run.log["alignment"]["findings"][0]["turn"], turn)
                self.assertEqual(self.remedy(line), {0: remedy})
                mended = self.score(distorted, reference, before=self.remedy(line))
                self.assert_quiet(mended)
                self.assertGreater(self.psnr(mended), self.psnr(run) + 10)

    def test_mirrored_pictures(self):
        self.check_turns(TURNS, self.reference)

    def test_quarter_turns_of_squares(self):
        self.check_turns(QUARTER_TURNS, self.clip("square.nut", "144x144"))

    # --- nothing in common ---

    def test_another_video(self):
        other = make(self.clips, "other.nut", f"testsrc2=s=240x136:r=25,trim=end_frame={self.FRAMES}", "-c:v", "ffv1")
        for name, distorted in (("other", other), ("still", make(self.clips, "other still.nut", other, "-vf", "loop=loop=-1:size=1,trim=end_frame=60",
                                                                 "-c:v", "ffv1")),
                                ("one picture", make(self.clips, "one.nut", other, "-vf", "trim=end_frame=1", "-c:v", "ffv1"))):
            with self.subTest(name):
                run = self.score(distorted, self.reference, options="allow_unpaired=1")
                self.one_warning(run, "show nothing in common", "[0:v:0][1:v:0]quality_cuda")
                self.assertEqual(run.log["alignment"]["findings"][0]["kind"], "apart")

    def test_a_score_of_zero_never_goes_without_a_word(self):
        """Of flat pictures nothing can be told, and nothing else is said."""
        black = make(self.clips, "black.nut", "color=black:s=240x136:r=25,trim=end_frame=60,format=yuv420p", "-c:v", "ffv1")
        run = self.score(black, make(self.clips, "test.nut", "testsrc2=s=240x136:r=25,trim=end_frame=60", "-c:v", "ffv1"), options="metrics=vmaf")
        self.assert_ok(run)
        self.assertLess(run.log["pooled_metrics"]["vmaf"]["mean"], 0.005)
        lines = run.messages("which pictures have that have next to nothing in common")
        self.assertEqual(len(lines), 1, run.text)
        self.assertTrue(any("next to nothing in common" in line for line in run.log["warnings"]))
        fine = self.score(self.coarse("coarse.mkv", self.reference), self.reference, options="metrics=vmaf")
        self.assertFalse(fine.messages("next to nothing in common"))

    def test_what_is_the_same(self):
        for name, chain in (("black start", "fade=in:20:10"), ("noisy", "noise=alls=60:allf=t"), ("coarse", "scale=24:14,scale=240:136"),
                            ("still", "loop=loop=-1:size=1,trim=end_frame=60"), ("flashes", "lutyuv=y=val*1.2:enable=eq(mod(n\\,9)\\,0)"),
                            ("logo", "drawbox=10:10:80:40:white:fill")):
            with self.subTest(name):
                reference = make(self.clips, f"{name}.nut", self.reference, "-vf", "fade=in:20:10" if name == "black start" else "null",
                                 "-c:v", "ffv1") if name != "still" else make(self.clips, "still.nut", self.reference, "-vf", chain, "-c:v", "ffv1")
                self.assert_quiet(self.score(self.coarse(f"{name}.mkv", reference, "null" if name in ("black start", "still") else chain, "31"),
                                             reference))


if __name__ == "__main__":
    unittest.main()
