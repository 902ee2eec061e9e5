# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which pictures of which file are scored: names, streams, raw pictures, a piece of the title, turned and filtered ones."""

import json
import os
import re
import shutil
import struct
import unittest

from workbench import FFMPEG, X264, clip, command, comparable, ffmpeg, fresh

SIZE = "160x120"


class Openings(unittest.TestCase):
    def setUp(self):
        self.place = fresh("openings_" + self.id().rpartition(".")[2])

    def score(self, *arguments, code=0):
        run = command("score", *arguments, "-m", "psnr", "--json")
        self.assertEqual(run.returncode, code, run.stderr)
        self.said = run.stderr
        return json.loads(run.stdout) if code == 0 else None

    def psnr(self, *arguments):
        report = self.score(*arguments)
        return report["renditions"][0]["pooled_metrics"]["psnr_y"]["mean"]

    def refuse(self, *arguments, code=2):
        self.score(*arguments, code=code)
        self.assertEqual(len(self.said.splitlines()), 1, self.said)
        return self.said

    def copy(self, name, as_name):
        path = self.place / as_name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(clip(name), path)
        return path


class Names(Openings):
    """Each of these files was another one, or none, to ffmpeg."""

    def test_names_open_that_file(self):
        expected = self.psnr(clip("closed.mp4"), clip("ref.mkv"))
        here = os.getcwd()
        self.copy("sparse.mkv", "x.mp4")
        for name in ("file:x.mp4", "a:b.mp4", "http:x.mp4", "-x.mp4", "a%d.mp4", "pipe:0", "concat:x.mp4", "x|y.mp4", "sp ace .mp4"):
            with self.subTest(name):
                self.copy("closed.mp4", name)
                os.chdir(self.place)
                try:
                    got = self.psnr(name, clip("ref.mkv"))
                finally:
                    os.chdir(here)
                self.assertEqual(got, expected)

    def psnr(self, *videos):
        """Behind "--", for names that look like options."""
        run = command("score", "-m", "psnr", "--json", "--parts", 2, "--ffmpeg", FFMPEG, "--", *videos)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)["renditions"][0]["pooled_metrics"]["psnr_y"]["mean"]

    def test_a_picture_whose_name_is_a_pattern(self):
        picture, other = self.place / "a.jpg", self.place / "a%d.jpg"
        ffmpeg("-i", clip("ref.mkv"), "-frames:v", 1, "-pix_fmt", "yuvj420p", picture)
        shutil.copy(picture, other)
        ffmpeg("-f", "lavfi", "-i", f"color=s={SIZE}", "-frames:v", 1, "-pix_fmt", "yuvj420p", self.place / "a1.jpg")
        self.assertEqual(self.psnr(other, picture), 60.0)


class Streams(Openings):
    def with_cover(self, name):
        cover, path = self.place / "cover.jpg", self.place / f"{name}.cover.mp4"
        ffmpeg("-f", "lavfi", "-i", f"mandelbrot=s={SIZE}", "-frames:v", 1, "-pix_fmt", "yuvj420p", cover)
        ffmpeg("-i", cover, "-i", clip(name), "-map", "0:v", "-map", "1:v", "-c", "copy", "-disposition:v:0", "attached_pic",
               "-f", "matroska", path.with_suffix(".mkv"))
        return path.with_suffix(".mkv")

    def two_streams(self, first, second):
        path = self.place / f"{first}+{second}.mkv"
        ffmpeg("-i", clip(first), "-i", clip(second), "-map", "0:v", "-map", "1:v", "-c", "copy", path)
        return path

    def test_a_cover_is_no_video(self):
        expected = self.psnr(clip("closed.mp4"), clip("ref.mp4"))
        self.assertEqual(self.psnr(self.with_cover("closed.mp4"), self.with_cover("ref.mp4")), expected)

    def test_the_longest_stream_is_meant_and_said(self):
        expected = self.psnr(clip("closed.mp4"), clip("ref.mkv"))
        two = self.two_streams("short.mp4", "closed.mp4")
        for parts in (1, 2):
            self.assertAlmostEqual(self.psnr(two, clip("ref.mkv"), "--parts", parts), expected, places=6)
            self.assertIn("stream 1 (h264, 160x120) is scored, not 0 (h264, 160x120); --stream names another", self.said)

    def test_another_stream(self):
        two = self.two_streams("short.mp4", "closed.mp4")
        expected = self.psnr(clip("short.mp4"), clip("ref.mkv"))
        for which in ("dist:0", "dist0:0", "0:0"):
            self.assertEqual(self.psnr(two, clip("ref.mkv"), "--stream", which), expected)
            self.assertNotIn("--stream names another", self.said)

    def test_a_stream_that_is_not_there(self):
        self.assertIn("it has 0 (h264, 160x120)", self.refuse(clip("closed.mp4"), clip("ref.mkv"), "--stream", "dist:3"))
        self.assertIn("--stream=2:0", self.refuse(clip("closed.mp4"), clip("ref.mkv"), "--stream", "2:0"))


class Raw(Openings):
    def raw(self, name="ref.yuv", source="ref.mkv", *options):
        path = self.place / name
        ffmpeg("-i", clip(source), "-f", "rawvideo", *options, path)
        return path

    def test_raw_pictures(self):
        expected = self.psnr(clip("closed.mp4"), clip("ref.mkv"))
        self.assertEqual(self.psnr(clip("closed.mp4"), self.raw(), "--size", SIZE), expected)
        self.assertEqual(self.psnr(clip("closed.mp4"), self.raw("ref.bin"), "--size", f"ref:{SIZE}"), expected)

    def test_the_rate_is_the_other_videos(self):
        expected = self.psnr(clip("ntsc.mp4"), clip("ntsc.mkv"))
        self.assertAlmostEqual(self.psnr(clip("ntsc.mp4"), self.raw(source="ntsc.mkv"), "--size", SIZE), expected, places=6)
        self.score(clip("ntsc.mp4"), self.raw(source="ntsc.mkv"), "--size", SIZE, "--framerate", "ref:25", code=0)
        self.assertIn("warning:", self.said)

    def test_a_pixel_format(self):
        expected = self.psnr(clip("high.mkv"), clip("high.mkv"), "--parts", 1)
        raw = self.raw(source="high.mkv")
        self.assertEqual(self.psnr(clip("high.mkv"), raw, "--size", SIZE, "--pixel-format", "yuv420p10le"), expected)

    def test_mistakes(self):
        raw = self.raw()
        self.assertIn("--size WIDTHxHEIGHT", self.refuse(clip("closed.mp4"), raw))
        self.assertIn("whole number of pictures", self.refuse(clip("closed.mp4"), raw, "--size", "160x118", code=1))
        for option, value in (("--size", "160"), ("--size", "160x"), ("--size", "0x120"), ("--pixel-format", "yuv420p;[x]"), ("--framerate", "nan"),
                              ("--framerate", "0"), ("--framerate", "1/0"), ("--rotate", "45"), ("--filter", "null[x];[x]null"),
                              ("--stream", "x"), ("--stream", "-1")):
            with self.subTest(option=option, value=value):
                self.assertIn(f"{option}={value}", self.refuse(clip("closed.mp4"), clip("ref.mkv"), f"{option}={value}"))


class Pieces(Openings):
    def assert_same(self, name, reference, options, frames):
        logs = []
        for parts in (1, 3):
            logs.append(self.place / f"{parts}.json")
            report = self.score(clip(name), clip(reference), *options, "--parts", parts, "-o", logs[-1])
            self.assertEqual(report["parts"], parts)
            self.assertEqual(report["renditions"][0]["pairing"]["scored"], frames)
            self.assertEqual(report["findings"], [])
        self.assertEqual(comparable(logs[0]), comparable(logs[1]))
        return logs[0]

    def test_parts_of_a_piece_equal_one_run(self):
        log = self.assert_same("long.mp4", "long_ref.mp4", ["--start", 2, "--duration", 6], 150)
        whole = self.place / "whole.json"
        self.score(clip("long.mp4"), clip("long_ref.mp4"), "--parts", 1, "-o", whole)
        expected = [frame["metrics"]["psnr_y"] for frame in json.loads(whole.read_text())["frames"]][50:200]
        self.assertEqual([frame["metrics"]["psnr_y"] for frame in json.loads(log.read_text())["frames"]], expected)

    def test_a_number_of_frames(self):
        self.assert_same("long.mp4", "long_ref.mp4", ["--start", 1, "--frames", 140], 140)
        self.assert_same("ntsc.mp4", "ntsc.mkv", ["--start", 0.5, "--frames", 120], 120)

    def test_what_cannot_be_sought(self):
        report = self.score(clip("plain.avi"), clip("ref.mkv"), "--start", 2, "--frames", 20)
        self.assertEqual(report["renditions"][0]["pairing"]["scored"], 20)
        self.assertEqual(report["findings"], [])

    def test_a_plan_of_a_piece(self):
        plan, log = self.place / "plan.json", self.place / "log.json"
        videos = [clip("long.mp4"), clip("long_ref.mp4")]
        run = command("plan", plan, *videos, "-m", "psnr", "--parts", 2, "--start", 2, "--duration", 6, "-o", log)
        self.assertEqual((run.returncode, run.stdout), (0, "2\n"), run.stderr)
        self.assertEqual(command("shard", plan, "0/1").returncode, 0)
        self.assertEqual(command("merge", plan).returncode, 0)
        single = self.place / "single.json"
        self.score(*videos, "--parts", 1, "--start", 2, "--duration", 6, "-o", single)
        self.assertEqual(comparable(log), comparable(single))

    def test_what_a_plan_cannot(self):
        run = command("plan", self.place / "plan.json", clip("closed.mp4"), clip("ref.mkv"), "--align", "start")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--align=start", run.stderr)


class Shapes(Openings):
    """The advice of the lines is typed, and gives the value that is right."""

    def barred(self):
        path = self.place / "barred.mkv"
        ffmpeg("-i", clip("ref.mkv"), "-vf", "pad=160:180:0:30", "-c:v", "ffv1", path)
        return path

    def test_black_bars(self):
        expected, barred = self.psnr(clip("closed.mp4"), clip("ref.mkv")), self.barred()
        said = self.refuse(clip("closed.mp4"), barred, code=1)
        advised = re.search(r"--filter (ref:crop=[\d:]+)", said)
        self.assertIsNotNone(advised, said)
        self.assertEqual(self.psnr(clip("closed.mp4"), barred, "--filter", advised[1]), expected)
        self.assertEqual(self.psnr(clip("closed.mp4"), barred, "--crop", "|160:120:0:30"), expected)
        self.assertEqual(self.psnr(clip("closed.mp4"), barred, "--crop", "auto"), expected)

    def test_what_a_container_cuts_off(self):
        """A master whose container asks for less, and an encode of the whole picture: sizes differ, and the line says what to type."""
        encode, master = clip("closed.mp4"), self.place / "cropped.mp4"
        ffmpeg("-i", clip("ref.mkv"), *X264, "-crf", 12, "-g", 30, master)
        expected = self.psnr(encode, master, "--parts", 1)
        cut_off(master, 144, 108)
        said = self.refuse(encode, master, code=1)
        self.assertIn("144x108", said)
        advised = re.search(r"give (--container-crop off)", said)
        self.assertIsNotNone(advised, said)
        for parts in (1, 3):
            self.assertEqual(self.psnr(encode, master, *advised[1].split(), "--parts", parts), expected)
        log = self.place / "log.json"
        self.score(encode, clip("ref.mkv"), "--container-crop", "off", "--parts", 1, "-o", log)
        made = json.loads(log.with_name("log.json.commands").read_text())["parts"][0]
        self.assertEqual(made.count("-apply_cropping codec"), 2)


def cut_off(path, width, height):
    """Has an MP4, whose index is behind its pictures, ask for the middle of them: puts a clap box into its sample entry."""
    data = bytearray(path.read_bytes())
    clap = struct.pack(">I4s8i", 40, b"clap", width, 1, height, 1, 0, 1, 0, 1)
    at = data.index(b"avc1", data.index(b"stsd")) - 4
    end = at + int.from_bytes(data[at:at + 4], "big")
    for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"):
        size = data.rindex(name, 0, at + 8) - 4
        data[size:size + 4] = struct.pack(">I", int.from_bytes(data[size:size + 4], "big") + len(clap))
    data[end:end] = clap
    path.write_bytes(data)


class Grain(Openings):
    def test_film_grain(self):
        """Made anew by the decoder it has no sample in common with the reference's."""
        path = self.place / "grain.mkv"
        ffmpeg("-i", clip("ref.mkv"), "-c:v", "libsvtav1", "-preset", 12, "-crf", 30, "-g", 32, "-svtav1-params", "lp=1:film-grain=20", path)
        with_grain = self.psnr(path, clip("ref.mkv"))
        logs = [self.place / f"{parts}.json" for parts in (1, 2)]
        for parts, log in enumerate(logs, 1):
            report = self.score(path, clip("ref.mkv"), "--film-grain", "off", "--parts", parts, "-o", log)["renditions"][0]
            self.assertEqual(report["distorted_stream"]["film_grain_frames"], 150)
            self.assertGreater(report["pooled_metrics"]["psnr_y"]["mean"], with_grain + 0.1)
        self.assertEqual(comparable(logs[0]), comparable(logs[1]))


class Pairing(Openings):
    def test_align_and_sync(self):
        late = [clip("closed.mp4"), clip("ref.mkv"), "--filter", "dist:setpts=PTS+10/TB"]
        self.score(*late, code=1)
        expected = self.psnr(clip("closed.mp4"), clip("ref.mkv"))
        for options in (["--align", "start"], ["--sync", "index"], ["--align", "start", "--parts", 3]):
            self.assertAlmostEqual(self.psnr(*late, *options), expected, places=6)
        self.psnr(clip("closed.mp4"), clip("ref.mkv"), "--align", "start", "--parts", 3)
        self.assertIn("--align=start: scored in one part", self.said)

    def test_turned_pictures(self):
        turned = self.place / "turned.mkv"
        ffmpeg("-i", clip("ref.mkv"), "-vf", "vflip", "-c:v", "ffv1", turned)
        self.assertEqual(self.psnr(turned, clip("ref.mkv"), "--rotate", "vflip"), 60.0)
        self.assertEqual(self.psnr(turned, clip("ref.mkv"), "--rotate", "ref:vflip"), 60.0)
        self.assertEqual(self.psnr(turned, clip("ref.mkv"), "--filter", "dist:vflip"), 60.0)


if __name__ == "__main__":
    unittest.main()
