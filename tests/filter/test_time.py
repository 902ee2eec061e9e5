# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Videos that begin apart by less than a frame, and videos that were given a wrong frame rate: what is mended, what is said, and
that what is advised is right."""

import re
import unittest
import wave

from harness import FilterTest, avfilter_major, ffmpeg, make


class TimeTest(FilterTest):
    FRAMES = 60

    def moving(self, rate):
        """In motion all over, so that the next frame is another picture."""
        return make(self.clips, f"moving-{rate.replace('/', '_')}.mkv", f"testsrc2=s=176x144:r={rate},trim=end_frame={self.FRAMES}",
                    "-c:v", "ffv1", "-pix_fmt", "yuv420p")

    def late(self, path, seconds):
        """The same packets, as a container has them that makes room for the delay of its sound: other streams begin at 0."""
        sound = self.clips / "silence.wav"
        if not sound.exists():
            with wave.open(str(sound), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(48000)
                file.writeframes(bytes(2 * 48000))
        name = f"{path.stem}-late-{seconds:.4f}.mkv"
        if not (self.clips / name).exists():
            run = ffmpeg(["-itsoffset", f"{seconds:.6f}", "-i", path, "-i", sound, "-map", "0:v", "-map", "1:a", "-c:v", "copy",
                          "-c:a", "pcm_s16le", self.clips / name], self.folder)
            self.assert_ok(run)
        return self.clips / name


class Delays(TimeTest):
    AAC = 1024 / 48000

    def test_the_delay_of_sound(self):
        """At each rate the scores are those of align=start, and one line says what was moved."""
        for rate in ("24000/1001", "25", "30", "50", "60"):
            clip = self.moving(rate)
            worse = self.worse(clip)
            with self.subTest(rate=rate):
                for main, reference, later in ((self.late(worse, self.AAC), clip, 1), (worse, self.late(clip, self.AAC), -1)):
                    run = self.score(main, reference)
                    self.assert_ok(run)
                    right = self.score(main, reference, options="align=start")
                    self.assertEqual(run.log["frames"], right.log["frames"])
                    self.assertEqual(len(run.log["frames"]), self.FRAMES)
                    self.assertEqual(len(run.messages("and both keep step")), 1, run.text)
                    self.assertAlmostEqual(run.pairing["start_correction"], later * self.AAC, delta=0.001)
                    self.assertNotIn("use align=start", run.text)

    def test_none_leaves_times_as_they_are(self):
        """Each frame of the late video is nearer to another one then."""
        clip = self.moving("25")
        run = self.score(self.late(clip, self.AAC), clip, options="align=none")
        self.assertFalse(run.messages("both keep step"))
        self.assertNotIn("start_correction", run.pairing)
        self.assertEqual([round(row["ref_pts_time"], 2) for row in run.stats[:3]], [0.04, 0.08, 0.12])

    def test_right_times_are_left_alone(self):
        """A dropped first frame, later beginnings, a small delay: pairs are by time."""
        clip = self.moving("25")
        for before, identical in (("select=gte(n\\,1)", True), ("trim=start_frame=5", True), ("setpts=PTS+0.005/TB", True),
                                  ("setpts=PTS+0.06/TB", False)):
            run = self.score(clip, clip, before={0: before})
            self.assertFalse(run.messages("both keep step"), before)
            if identical:
                self.assert_all_identical(run)

    def test_renditions(self):
        clip = self.moving("25")
        late = self.late(clip, self.AAC)
        run = self.score(clip, clip, late, options="renditions=2")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("and both keep step")), 1, run.text)
        self.assertTrue(all(row["1.psnr_y"] >= 60 for row in run.stats), run.stats)
        self.assertEqual(len(run.stats), self.FRAMES)


@unittest.skipIf(avfilter_major() < 10, "SKIPPED: before 7.0 FFmpeg writes no such clip into MP4")
class WrongRates(TimeTest):
    def check_remedies(self, wrong, clip):
        """The line is there, and both things that it advises give what the frames deserve."""
        run = self.score(wrong, clip, before_inputs=(("-r", "25"),))
        said, = run.messages("frames each, but last")
        self.assertIs(run.pairing["other_length"], True)
        chain, option = re.search(r"put (\S+) before input 0 \(main\), or use (\S+)", said).groups()
        right = self.score(wrong, clip, before={0: chain}, before_inputs=(("-r", "25"),))
        self.assertFalse(right.messages("frames each"), right.text)
        by_number = self.score(wrong, clip, options=option, before_inputs=(("-r", "25"),))
        self.assertFalse(by_number.messages("frames each"), by_number.text)
        for remedied in (right, by_number):
            self.assert_ok(remedied)
            self.assertEqual(len(remedied.stats), self.FRAMES)
            self.assert_all_identical(remedied)

    def test_film_read_as_25(self):
        clip = self.moving("24000/1001")
        self.check_remedies(self.remux(clip, "mp4"), clip)

    def test_ntsc_read_as_25(self):
        clip = self.moving("30000/1001")
        self.check_remedies(self.remux(clip, "mp4"), clip)

    def test_what_has_the_same_length_or_another_count_is_no_finding(self):
        clip, film = self.moving("25"), self.moving("24000/1001")
        for main, before in ((self.remux(clip, "mp4"), {}), (clip, {0: "fps=50"}), (clip, {0: "trim=end_frame=40"}), (film, {0: "fps=25"})):
            run = self.score(main, clip if main != film else film, before=before, options="allow_unpaired=1")
            self.assert_ok(run)
            self.assertFalse(run.messages("frames each"), run.text)
            self.assertNotIn("other_length", run.pairing)


if __name__ == "__main__":
    unittest.main()
