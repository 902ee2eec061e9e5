# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Still pictures; folders and patterns, each file of which is scored for itself."""

import json
import shutil
import struct
import subprocess
import unittest

from workbench import FFMPEG, clip, command, ffmpeg, fresh


def picture(path, number, quality=2, size="96x64", extra=()):
    """@param number of the picture: those with one show the same"""
    path.parent.mkdir(parents=True, exist_ok=True)
    codec = ["-pix_fmt", "yuvj420p", "-q:v", quality] if path.suffix in (".jpg", ".jpeg") else []
    ffmpeg("-f", "lavfi", "-i", f"mandelbrot=s={size}:start_scale={number}", "-frames:v", 1, *extra, *codec, path)
    return path


class Folders(unittest.TestCase):
    def setUp(self):
        self.place = fresh("folders_" + self.id().rpartition(".")[2])
        self.encodes, self.originals = self.place / "encodes", self.place / "originals"
        for number, name in enumerate(("a", "b", "c.d"), 1):
            picture(self.originals / f"{name}.jpg", number)
            picture(self.encodes / f"{name}.jpeg", number, quality=15)

    def score(self, *arguments, code=0):
        run = command("score", *arguments, "-m", "psnr", "--json")
        self.assertEqual(run.returncode, code, run.stderr)
        self.said = run.stderr.splitlines()
        return json.loads(run.stdout)

    def test_each_file_is_scored_as_alone(self):
        rows = self.score(self.encodes, self.originals)
        self.assertEqual(self.said, [])
        self.assertEqual([row["distorted"] for row in rows], [str(self.encodes / f"{name}.jpeg") for name in ("a", "b", "c.d")])
        for row in rows:
            alone = self.score(row["distorted"], row["reference"])["renditions"][0]
            self.assertEqual(row["pooled_metrics"], alone["pooled_metrics"])
            self.assertLess(row["pooled_metrics"]["psnr_y"]["mean"], 50)
            self.assertEqual(row["distorted_stream"]["range"], "pc")

    def test_patterns(self):
        rows = self.score(str(self.encodes / "[ab].*"), str(self.originals / "*"))
        self.assertEqual([row["distorted"] for row in rows if "distorted" in row], [str(self.encodes / f"{name}.jpeg") for name in "ab"])
        self.assertEqual(self.said, [f"warning: {self.originals / 'c.d.jpg'} is not used: no distorted file has that name"])
        rows = self.score(str(self.encodes / "a.*"), self.originals / "b.jpg")
        self.assertEqual((rows[0]["distorted"], rows[0]["reference"]), (str(self.encodes / "a.jpeg"), str(self.originals / "b.jpg")))

    def test_what_has_no_partner_is_named(self):
        picture(self.encodes / "alone.jpg", 1)
        (self.encodes / "notes.txt").write_text("no picture")
        rows = self.score(self.encodes, self.originals)
        self.assertEqual(self.said, [f"warning: {self.encodes / 'alone.jpg'} is not scored: {self.originals} has no file of that name"])
        self.assertEqual(rows[-1], {"error": self.said[0].removeprefix("warning: ")})
        self.score(self.encodes, self.originals, "--strict", code=4)

    def test_one_that_fails_leaves_the_others(self):
        (self.encodes / "b.jpeg").write_text("no picture")
        rows = self.score(self.encodes, self.originals, code=1)
        self.assertEqual([("error" in row) for row in rows], [False, True, False])
        self.assertIn("1 of 3 pairs have no scores", self.said[-1])

    def test_table_logs_and_conditions(self):
        logs = fresh("folders_logs")
        run = command("score", self.encodes, self.originals, "-m", "psnr", "-o", logs, "--fail-if", "psnr_y.mean<100")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 3)
        lines = run.stdout.splitlines()
        self.assertEqual(lines[0].split(), ["psnr_y,", "dB", "psnr_cb,", "dB", "psnr_cr,", "dB"])
        self.assertEqual(lines[1].split(), ["file", "size", "codec", *["mean", "p5", "min"] * 3])
        for line, number in zip(lines[2:5], range(3)):
            name, size, codec, value = line.split()[:4]
            self.assertEqual((size, codec), ("96x64", "mjpeg"))
            log = json.loads((logs / f"{name.rpartition('/')[2]}.json").read_text())
            self.assertEqual(value, f"{log['pooled_metrics']['psnr_y']['mean']:.2f}")
        self.assertEqual(lines[6], f"reference: {self.originals}")
        self.assertRegex(lines[7], r"^backend: CPU.*; \d+ frames/s$")
        self.assertEqual(lines[8:], ["frames: 1, scored: 1"])

    def test_one_table_for_whatever_is_scored(self):
        """A folder's row has what a pair's has; so have programs; a failed one is in the table; lengths are added up."""
        for folder, name in ((self.encodes, "closed.mp4"), (self.originals, "ref.mkv")):
            shutil.copy(clip(name), folder / ("v" + clip(name).suffix))
        (self.encodes / "b.jpeg").write_text("no picture")
        rows = self.score(self.encodes, self.originals, code=1)
        alone = self.score(self.encodes / "v.mp4", self.originals / "v.mkv")
        own = next(row for row in rows if row["distorted"] == str(self.encodes / "v.mp4"))
        for key in ("video", "scores", "pooled_metrics"):
            self.assertEqual(own[key], alone["renditions"][0][key])
        self.assertEqual((own["reference_video"], own["backend"]), (alone["reference_video"], alone["backend"]))
        self.assertEqual((own["video"]["codec"], own["scores"]["psnr_y"]["unit"]), ("h264", "dB"))
        table = command("score", self.encodes, self.originals, "-m", "psnr").stdout.splitlines()
        pair = command("score", self.encodes / "v.mp4", self.originals / "v.mkv", "-m", "psnr").stdout.splitlines()
        self.assertEqual(table[1].split(), pair[1].split())
        self.assertIn(pair[2].split(), [line.split() for line in table])
        self.assertEqual([line.split()[-10:] for line in table if str(self.encodes / "b.jpeg") in line], [["failed", *["-"] * 9]])
        self.assertEqual(table[-1], "frames: 152, scored: 152, of 3 files")

    def test_a_log_of_a_folder_has_its_files(self):
        """Nothing is asked twice: what a pair's record has, each of a folder's has."""
        shutil.copy(clip("closed.mp4"), self.encodes / "v.mp4")
        logs = fresh("folders_records")
        self.score(str(self.encodes / "v*"), clip("ref.mkv"), "-o", logs)
        self.score(self.encodes / "v.mp4", clip("ref.mkv"), "-o", logs / "alone.json")
        batch, alone = (json.loads((logs / f"{name}.json.commands").read_text())["files"] for name in ("v.mp4", "alone"))
        self.assertEqual(batch, alone)
        self.assertGreater(batch[0]["bit_rate"], 1000)

    def test_videos_and_pieces(self):
        for folder, name in ((self.encodes, "closed.mp4"), (self.originals, "ref.mkv")):
            shutil.copy(clip(name), folder / ("v" + clip(name).suffix))
        rows = self.score(str(self.encodes / "v.*"), self.originals, "--frames", 20)
        alone = self.score(clip("closed.mp4"), clip("ref.mkv"), "--frames", 20)["renditions"][0]
        self.assertEqual(rows[0]["pooled_metrics"], alone["pooled_metrics"])

    def test_mistakes(self):
        picture(self.originals / "a.png", 1)
        for arguments, text in (((self.encodes, self.originals), "two references of one name"),
                                ((str(self.encodes / "x*"), self.originals), "no file has such a name"),
                                ((self.encodes, fresh("folders_empty")), "has no pictures and no videos"),
                                ((self.encodes, self.originals / "b.jpg", "-o", "/nowhere"), "a folder that is there")):
            run = command("score", *arguments)
            self.assertIn(run.returncode, (1, 2))
            self.assertIn(text, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)


class Stills(unittest.TestCase):
    def test_pictures_are_srgb(self):
        """Nothing has to be assumed, and videos that are tagged so have the same scores."""
        place = fresh("srgb")
        tags = ["-vf", "setparams=color_primaries=bt709:color_trc=iec61966-2-1"]
        for ending, codec in ((".jpg", ["-c:v", "copy"]), (".png", ["-c:v", "ffv1", "-pix_fmt", "gbrp"])):
            with self.subTest(ending):
                pictures = [picture(place / f"{name}{ending}", 1, extra=extra, quality=quality)
                            for name, extra, quality in (("a", ["-vf", "noise=alls=20"], 9), ("b", [], 2))]
                run = command("score", *pictures, "-m", "ssimulacra2", "--json", "--strict")
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                videos = []
                for path in pictures:
                    videos.append(path.with_suffix(".nut"))
                    ffmpeg("-i", path, *codec, *(tags if ending == ".png" else []), videos[-1])
                filters = ["--filter", "setparams=color_primaries=bt709:color_trc=iec61966-2-1"]
                again = command("score", *videos, "-m", "ssimulacra2", "--json", *filters)
                self.assertEqual(again.returncode, 0, again.stderr)
                one, other = (json.loads(each.stdout)["renditions"][0]["pooled_metrics"]["ssimulacra2"]["mean"] for each in (run, again))
                self.assertEqual(one, other)

    def check_kind(self, ending, decoders, encoder, options):
        """A lossless picture of that kind shows what a PNG shows."""
        place = fresh("kind_" + ending)
        known = subprocess.run([FFMPEG, "-hide_banner", "-decoders"], capture_output=True, text=True, check=True).stdout.split()
        if not set(decoders) & set(known):
            self.skipTest(f"SKIPPED: {FFMPEG} has none of the decoders {', '.join(decoders)}; QC_FFMPEG names another one")
        original = picture(place / "original.png", 1, extra=["-pix_fmt", "rgb24"])
        made = place / f"made.{ending}"
        for program in (FFMPEG, shutil.which("ffmpeg") or FFMPEG):
            subprocess.run([program, "-v", "error", "-y", "-i", original, "-c:v", encoder, *options, made], capture_output=True, check=False)
            if made.exists() and made.stat().st_size > 0:
                break
        else:
            self.skipTest(f"SKIPPED: no ffmpeg here has the encoder {encoder}")
        run = command("score", made, original, "-m", "psnr", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        scores = json.loads(run.stdout)["renditions"][0]["pooled_metrics"]
        self.assertGreater(scores["psnr_y"]["mean"] or 99, 40)  # null: they are the same

    def test_webp(self):
        self.check_kind("webp", ("webp", "libwebp"), "libwebp", ["-lossless", "1", "-pix_fmt", "bgra"])

    def test_jpeg_xl(self):
        self.check_kind("jxl", ("libjxl", "jpegxl"), "libjxl", ["-distance", "0"])

    def test_orientation_by_exif(self):
        """The camera's sensor lay upside down, and the file says so: such a picture shows the same."""
        place = fresh("exif")
        straight = picture(place / "straight.jpg", 1)
        mirrored = picture(place / "mirrored.jpg", 1, extra=["-vf", "vflip"])
        tag = b"MM\0*\0\0\0\x08\0\x01" + struct.pack(">HHIHH", 0x112, 3, 1, 4, 0) + b"\0\0\0\0"
        segment = b"Exif\0\0" + tag
        data = mirrored.read_bytes()
        mirrored.write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + data[2:])
        run = command("score", mirrored, straight, "-m", "psnr", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(json.loads(run.stdout)["renditions"][0]["pooled_metrics"]["psnr_y"]["mean"], 40)


if __name__ == "__main__":
    unittest.main()
