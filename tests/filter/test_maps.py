# SPDX-License-Identifier: BSD-2-Clause-Patent
"""maps: a second output, in step with the first one, that shows where the pictures differ."""

import sys
import unittest

from harness import REPOSITORY, FilterTest, ffmpeg

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import stand_in_driver  # noqa: E402

WIDTH, HEIGHT = 176, 144


def checksums(text):
    """(pts, size, checksum) of each frame of a framemd5."""
    fields = [[field.strip() for field in line.split(",")] for line in text.splitlines() if not line.startswith("#")]
    return [(int(field[2]), int(field[4]), field[5]) for field in fields]


class MapTest(FilterTest):
    FRAMES = 10

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=self.FRAMES)
        self.distorted = self.worse(self.reference)

    def draw(self, options="", inputs=None, behind="", before="", output=(), map_output=(), environment=None):
        """Scores with a map; both outputs become checksums. behind: filters behind the map."""
        inputs = inputs or (self.distorted, self.reference)
        graph = f"{before}quality_cuda=metrics=psnr:backend=cpu:log_path=log.json:maps=difference{':' + options if options else ''}[out][m]"
        graph += f";[m]{behind or 'null'}[map]"
        arguments = ["-v", "info"]
        for path in inputs:
            arguments += ["-i", path]
        arguments += ["-lavfi", graph]
        for name, more in (("out", output), ("map", map_output)):
            arguments += ["-map", f"[{name}]", *more, "-fps_mode", "passthrough", "-f", "framemd5", f"{name}.framemd5"]
        return ffmpeg(arguments, self.folder, environment or self.environment)

    @staticmethod
    def frames(run, name):
        return checksums(run.texts[f"{name}.framemd5"])

    def raw(self, options, *inputs, before="", pixels="gray"):
        """The bytes of the map's frames."""
        graph = f"{before}quality_cuda=metrics=psnr:backend=cpu:{options}[out][m];[out]nullsink"
        arguments = ["-v", "error"]
        for path in inputs or (self.distorted, self.reference):
            arguments += ["-i", path]
        run = ffmpeg([*arguments, "-lavfi", graph, "-map", "[m]", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels,
                      "map.raw"], self.folder, self.environment)
        self.assert_ok(run)
        return (self.folder / "map.raw").read_bytes()


class InStep(MapTest):
    def test_both_outputs(self):
        plain = self.score(self.distorted, self.reference)
        run = self.draw()
        self.assert_ok(run)
        out, drawn = self.frames(run, "out"), self.frames(run, "map")
        self.assertEqual([(pts, checksum) for pts, _, checksum in out], plain.out)
        self.assertEqual([pts for pts, _, _ in drawn], [pts for pts, _, _ in out])
        self.assertEqual({size for _, size, _ in drawn}, {WIDTH * HEIGHT})
        self.assertEqual(len({checksum for _, _, checksum in drawn}), self.FRAMES)
        self.assertEqual(run.log["frames"], plain.log["frames"])
        self.assertTrue(run.messages("maps of difference show absolute difference of luma"), run.text)

    def test_what_is_drawn(self):
        """Against the difference that another filter computes."""
        run = ffmpeg(["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi", "blend=all_mode=difference", "-pix_fmt", "yuv420p",
                      "-f", "rawvideo", "blend.raw"], self.folder)
        self.assert_ok(run)
        both = (self.folder / "blend.raw").read_bytes()
        luma, frame = WIDTH * HEIGHT, WIDTH * HEIGHT * 3 // 2
        expected = b"".join(both[n * frame:n * frame + luma] for n in range(self.FRAMES))
        self.assertGreater(max(expected), 20)
        self.assertEqual(self.raw("maps=difference:map_white=255"), expected)

    def test_frames_without_scores_are_black(self):
        run = self.draw("n_subsample=3")
        self.assert_ok(run)
        every = self.frames(self.draw(), "map")
        drawn = self.frames(run, "map")
        black = {checksum for n, (_, _, checksum) in enumerate(drawn) if n % 3}
        self.assertEqual(len(black), 1)
        self.assertEqual([frame for n, frame in enumerate(drawn) if n % 3 == 0], [frame for n, frame in enumerate(every) if n % 3 == 0])

    def test_frames_without_partner_are_black(self):
        short = self.source(frames=4)
        run = self.draw("allow_unpaired=1", inputs=(self.distorted, short))
        self.assert_ok(run)
        drawn = self.frames(run, "map")
        self.assertEqual(len(drawn), self.FRAMES)
        self.assertEqual(len({checksum for _, _, checksum in drawn[4:]}), 1)
        self.assertEqual(set(self.raw("maps=difference:allow_unpaired=1", self.distorted, short)[4 * WIDTH * HEIGHT:]), {0})

    def test_a_score_that_waits_for_the_next_pair(self):
        plain = self.frames(self.draw(), "map")
        run = self.draw("metrics=vmaf+psnr")
        self.assert_ok(run)
        self.assertEqual(self.frames(run, "map"), plain)

    def test_metadata_goes_with_the_map(self):
        run = self.draw(behind="metadata=print:file=metadata.txt")
        self.assert_ok(run)
        scores = [frame["metrics"]["psnr_y"] for frame in run.log["frames"]]
        self.assertEqual([float(tags["psnr_y"]) for _, tags in run.tagged], scores)

    def test_live(self):
        run = self.draw("realtime=1")
        self.assert_ok(run)
        self.assertEqual([pts for pts, _, _ in self.frames(run, "map")], [pts for pts, _, _ in self.frames(run, "out")])


class Consumers(MapTest):
    FRAMES = 30

    def count(self, run):
        return len(self.frames(run, "out")), len(self.frames(run, "map"))

    def test_one_output_that_has_enough(self):
        for name, output, map_output in (("main", ("-frames:v", "3"), ()), ("map", (), ("-frames:v", "3"))):
            with self.subTest(enough=name):
                run = self.draw(output=output, map_output=map_output)
                self.assert_ok(run)
                self.assertEqual(self.count(run), (3, self.FRAMES) if name == "main" else (self.FRAMES, 3))
                self.assertEqual(run.pairing["frames"], self.FRAMES)
                self.assertTrue(run.log["complete"])

    def test_both_have_enough(self):
        run = self.draw(output=("-frames:v", "4"), map_output=("-frames:v", "7"))
        self.assert_ok(run)
        self.assertEqual(self.count(run), (4, 7))
        self.assertEqual(run.pairing["frames"], 7)

    def test_pictures_of_it_alone(self):
        arguments = ["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi",
                     "quality_cuda=metrics=psnr:backend=cpu:maps=ssim[out][map];[out]nullsink", "-map", "[map]", "map%02d.png"]
        self.assert_ok(ffmpeg(arguments, self.folder))
        self.assertEqual(len(list(self.folder.glob("map*.png"))), self.FRAMES)

    def test_main_alone(self):
        arguments = ["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi",
                     "quality_cuda=metrics=psnr:backend=cpu:maps=ssim[out][map];[map]nullsink", "-map", "[out]", "-f", "framemd5", "o.framemd5"]
        run = ffmpeg(arguments, self.folder)
        self.assert_ok(run)
        self.assertEqual(len(checksums(run.texts["o.framemd5"])), self.FRAMES)

    def test_side_by_side(self):
        for filters in ("[out][map]vstack", "[map]format=yuv420p[m];[out][m]overlay=x=90"):
            with self.subTest(filters=filters):
                arguments = ["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi",
                             f"quality_cuda=metrics=psnr:backend=cpu:maps=vif:map_format=heat[out][map];{filters}", "-f", "framemd5", "o.framemd5"]
                run = ffmpeg(arguments, self.folder)
                self.assert_ok(run)
                frames = checksums(run.texts["o.framemd5"])
                self.assertEqual(len(frames), self.FRAMES)
                self.assertEqual({size for _, size, _ in frames}, {WIDTH * HEIGHT * (3 if "vstack" in filters else 1.5)})


class Pictures(MapTest):
    FRAMES = 3

    def test_heat(self):
        heat = self.raw("maps=difference:map_format=heat", pixels="yuv420p")
        gray = self.raw("maps=difference")
        frame = WIDTH * HEIGHT * 3 // 2
        self.assertEqual(len(heat), self.FRAMES * frame)
        self.assertEqual({16}, {heat[i] for i in range(WIDTH * HEIGHT) if gray[i] == 0})
        self.assertGreater(max(heat[:WIDTH * HEIGHT]), 60)
        self.assertNotEqual(set(heat[WIDTH * HEIGHT:frame]), {128})

    def test_white(self):
        half, whole = (self.raw(f"maps=difference:map_white={white}") for white in (64, 128))
        self.assertGreater(max(whole), 10)
        for a, b in zip(half, whole):
            self.assertLessEqual(abs(min(255, 2 * b) - a), 1)

    def test_of_a_region(self):
        whole, part = self.raw("maps=difference"), self.raw("maps=difference:roi=16|8|64|48")
        self.assertEqual(len(part), self.FRAMES * 64 * 48)
        for y in range(48):
            start = (y + 8) * WIDTH + 16
            self.assertEqual(part[y * 64:(y + 1) * 64], whole[start:start + 64])

    def test_of_what_is_scored(self):
        size = "[0:v]scale=88:72[a];[a][1:v]"
        self.assertEqual(len(self.raw("maps=ssim:scale=bicubic", before=size)), self.FRAMES * WIDTH * HEIGHT)
        self.assertEqual(len(self.raw("maps=ssim:scale=bicubic:scale_to=main", before=size)), self.FRAMES * 88 * 72)

    def test_of_a_rendition(self):
        worst = self.source(frames=self.FRAMES, extra="negate")
        first, second = (self.raw(f"maps=difference:renditions=2:map_rendition={k}", self.distorted, self.reference, worst) for k in (0, 1))
        self.assertEqual(first, self.raw("maps=difference"))
        self.assertGreater(sum(second), 3 * sum(first))

    def test_on_the_stand_in_gpu(self):
        library = stand_in_driver.environment(stand_in_driver.build(), QC_STAND_IN_SEED="1")
        cpu = self.draw()
        for options in ("backend=cuda", "backend=cuda:n_subsample=2"):
            with self.subTest(options=options):
                cuda = self.draw(options, environment=library)
                self.assert_ok(cuda)
                drawn, expected = self.frames(cuda, "map"), self.frames(cpu, "map")
                step = 2 if "subsample" in options else 1
                self.assertEqual(drawn[::step], expected[::step])


class Failures(MapTest):
    def test_what_has_no_map(self):
        for name, reason in (("nonsense", "is no metric"), ("psnr", "has no map"), ("vmaf", "has no map")):
            with self.subTest(name=name):
                self.assert_fails(self.draw(f"maps={name}"), f'maps: "{name}" {reason}, accepted are difference, ')

    def test_what_does_not_go_together(self):
        for options, text in (("record=a.rec", "maps=difference: not accepted with record"),
                              ("map_rendition=1", "map_rendition=1: 0 to 0 is accepted, there are 1 renditions")):
            with self.subTest(options=options):
                self.assert_fails(self.draw(options), text)

    def test_what_a_metric_does_not_take(self):
        tiny = self.source(frames=2, size="64x12")
        run = self.draw("maps=vif", inputs=(tiny, tiny))
        self.assert_fails(run, "maps: vif needs pictures of at least 16x16")

    def test_the_alias_has_none(self):
        run = ffmpeg(["-v", "error", "-i", self.distorted, "-i", self.reference, "-lavfi", "libvmaf=maps=vif", "-f", "null", "-"], self.folder)
        self.assert_fails(run, "maps")

    def on_broken_gpu(self, on_error):
        """A run whose GPU is lost after the half of its driver's calls."""
        environment = stand_in_driver.environment(stand_in_driver.build(), QC_STAND_IN_SEED="1", QC_STAND_IN_REPORT="report.txt")
        options = f"backend=cuda:async_depth=1:on_error={on_error}"
        self.assert_ok(self.draw(options, environment=environment))
        calls = int((self.folder / "report.txt").read_text().split()[1])
        run = self.draw(options, environment={**environment, "QC_STAND_IN_FAIL": f"{calls // 2},700,lost"})
        self.assert_ok(run)
        self.assertTrue(run.messages("CUDA error 700"), run.text)
        return [checksum for _, _, checksum in self.frames(run, "map")]

    def test_a_gpu_that_fails(self):
        """The map goes on as the video does: black where there are no scores, by the CPU where that goes on."""
        expected = [checksum for _, _, checksum in self.frames(self.draw(), "map")]
        passed = self.on_broken_gpu("pass")
        self.assertEqual(len(passed), self.FRAMES)
        self.assertEqual(passed[0], expected[0])
        self.assertEqual(len(set(passed[-3:])), 1)
        self.assertNotIn(passed[-1], expected)
        gone_on = self.on_broken_gpu("cpu")
        self.assertEqual(len(gone_on), self.FRAMES)
        self.assertEqual((gone_on[0], gone_on[-3:]), (expected[0], expected[-3:]))


if __name__ == "__main__":
    unittest.main()
