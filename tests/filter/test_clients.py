# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What programs that know libvmaf send to ffmpeg, and how they read what comes back: each with its own words, in its own way.

The pictures are made here by a formula. What is expected of their features is what libvmaf 3.2.0 says of them; of VMAF, what this
engine says, whose values on the golden clips are libvmaf's. Where these clips are, the same commands have to give their scores.
"""

import csv
import json
import lzma
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree

from harness import FFMPEG, REPOSITORY, TIMEOUT_SECONDS, FilterTest

SHARED = pathlib.Path(os.environ.get("QC_SHARED", REPOSITORY.parent / "shared"))
GOLDEN_CLIPS = ("src01_420p8", "park_joy_scaled")
WIDTH, HEIGHT, FRAMES = 64, 48, 4
VIF_SCALE1 = (0.8872470259666443, 0.8824242353439331, 0.8942437171936035, 0.8818110823631287)
PSNR_Y = (31.846548419843792, 31.884129373465484, 31.703640848466087, 31.674738993275074)
FLOAT_SSIM = (0.918553352355957, 0.9237393736839294, 0.9196110367774963, 0.9221003651618958)
VMAF = (66.872481, 69.858202, 69.9238, 67.531877)
PRINTED = 2e-6  # logs and lines have six decimals, and so have the numbers above


def bits_of(x, y, frame, plane, salt):
    value = (x * 73856093) ^ (y * 19349663) ^ (frame * 83492791 + plane * 2654435761 + salt)
    value &= 0xffffffff
    value = ((value ^ value >> 13) * 0x5bd1e995) & 0xffffffff
    return value ^ value >> 15


def samples(x, y, frame, plane):
    """(reference, distorted): a moving ramp with blocks and noise; lower contrast and more noise."""
    ramp = (x + 2 * y + 3 * frame + 17 * plane) % 256
    ramp = ramp if ramp < 128 else 255 - ramp
    reference = 40 + ramp + 24 * ((x >> 3 ^ y >> 3) & 1) + (bits_of(x, y, frame, plane, 1) & 15)
    distorted = (7 * reference + 128 >> 3) + (bits_of(x, y, frame, plane, 2) & 15) - 8
    return reference, min(max(distorted, 0), 255)


def synthetic_pictures():
    """Bytes of both clips, yuv420p."""
    places = [(x, y, frame, plane) for frame in range(FRAMES) for plane in range(3)
              for y in range(HEIGHT >> bool(plane)) for x in range(WIDTH >> bool(plane))]
    pairs = [samples(*place) for place in places]
    return bytes(pair[0] for pair in pairs), bytes(pair[1] for pair in pairs)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def program_text(*arguments):
    done = subprocess.run([FFMPEG, *arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def has_filter(name):
    return name in [line.split()[1] for line in program_text("-hide_banner", "-filters").splitlines() if len(line.split()) > 2]


class Pair:
    """A distorted file, its reference, and what is expected of them by frame."""

    def __init__(self, distorted, reference, width, height, vmaf):
        self.distorted, self.reference, self.width, self.height, self.vmaf = distorted, reference, width, height, vmaf


class ClientTest(FilterTest):
    """Base of the tests of one program each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if "quality_cuda" not in program_text("-hide_banner", "-h", "filter=libvmaf"):
            raise unittest.SkipTest("SKIPPED: this ffmpeg has libvmaf's own filter, or neither that nor --enable-libquality-cuda-aliases")

    def run_program(self, *arguments):
        """A command as the program gives it; it has to succeed. @return its standard error"""
        done = subprocess.run([FFMPEG, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.output = done.stdout
        return done.stderr

    def container(self, name, pictures, size):
        """A lossless file of raw pictures, as a user would have one."""
        raw, path = self.folder / f"{name}.yuv", self.folder / f"{name}.nut"
        raw.write_bytes(pictures)
        self.run_program("-v", "error", "-y", "-f", "rawvideo", "-s", size, "-pix_fmt", "yuv420p", "-r", "25", "-i", raw, "-c:v", "ffv1", path)
        return path.name

    def synthetic(self):
        reference, distorted = (self.container(name, pictures, f"{WIDTH}x{HEIGHT}")
                                for name, pictures in zip(("ref", "dis"), synthetic_pictures()))
        return Pair(distorted, reference, WIDTH, HEIGHT, VMAF)

    def golden(self, name):
        clip = next(clip for clip in json.loads((SHARED / "golden/manifest.json").read_text())["clips"] if clip["name"] == name)
        self.assertEqual(clip["pix_fmt"], "yuv420p")
        files = [self.container(side, lzma.decompress((SHARED / "golden/clips" / f"{clip[side]}.xz").read_bytes()),
                                f"{clip['width']}x{clip['height']}") for side in ("dis", "ref")]
        runs = json.loads((SHARED / "golden/libvmaf" / f"{name}.json").read_text())["runs"]
        return Pair(*files, clip["width"], clip["height"], runs["models_v0"]["metrics"]["vmaf_v0.6.1"]["values"])

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())


class Scores:
    """What every program is asked: vmaf(pair) gives the values by frame, or their mean, as it reads them."""

    def check(self, pair, tolerance):
        found = self.vmaf(pair)
        expected = pair.vmaf if isinstance(found, list) else mean(pair.vmaf)
        for value, wanted in zip(found, expected, strict=True) if isinstance(found, list) else [(found, expected)]:
            self.assertAlmostEqual(value, wanted, delta=tolerance)

    def test_scores(self):
        self.check(self.synthetic(), PRINTED)

    def test_golden_scores(self):
        if not (SHARED / "golden/manifest.json").exists():
            self.skipTest(f"SKIPPED: no golden clips in {SHARED}")
        for name in GOLDEN_CLIPS:
            with self.subTest(name):
                self.check(self.golden(name), 2 * PRINTED)


def last_score(text):
    """The number behind the last line of libvmaf's."""
    return float(re.findall(r"VMAF score: (\S+)", text)[-1])


class AbAv1(Scores, ClientTest):
    """Takes any line that ends with the words and a number."""

    OPTIONS = "libvmaf=shortest=true:ts_sync_mode=nearest:n_threads=2"

    def run_options(self, pair, more=""):
        sync = "format=yuv420p,setpts=PTS-STARTPTS,settb=AVTB"
        return self.run_program("-i", pair.distorted, "-i", pair.reference, "-filter_complex",
                                f"[0:v]{sync}[dis];[1:v]{sync}[ref];[dis][ref]{self.OPTIONS}{more}", "-f", "null", "-")

    def read(self, text):
        found = [float(line.rsplit("VMAF score: ", 1)[1]) for line in re.split(r"[\r\n]", text) if re.search(r"VMAF score: [0-9.]+$", line)]
        self.assertEqual(len(found), 1, text)
        return found[0]

    def vmaf(self, pair):
        return self.read(self.run_options(pair))

    def test_other_model(self):
        pair = self.synthetic()
        other = self.read(self.run_options(pair, ":model=version=vmaf_4k_v0.6.1"))
        self.assertGreater(abs(other - mean(pair.vmaf)), 1)

    def test_without_conversion(self):
        pair = self.synthetic()
        text = self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi", self.OPTIONS, "-f", "null", "-")
        self.assertAlmostEqual(self.read(text), mean(pair.vmaf), delta=PRINTED)


class Av1an(Scores, ClientTest):
    """Both sides are said to have 60 frames per second; quiet except for errors."""

    def run_options(self, pair, model=""):
        fit = f"scale={pair.width}x{pair.height}:flags=bicubic:force_original_aspect_ratio=decrease,setpts=PTS-STARTPTS"
        self.run_program("-loglevel", "error", "-hide_banner", "-y", "-thread_queue_size", "1024", "-hide_banner", "-r", "60", "-i",
                         pair.distorted, "-r", "60", "-i", pair.reference, "-filter_complex",
                         f"[0:v]{fit}[distorted];[1:v]{fit}[ref];[distorted][ref]libvmaf=log_fmt='json':eof_action=endall:"
                         f"log_path=av1an.json{model}:n_threads=2", "-f", "null", "-")
        return [frame["metrics"]["vmaf"] for frame in self.read_json("av1an.json")["frames"]]

    def vmaf(self, pair):
        return self.run_options(pair)

    def test_without_motion(self):
        pair = self.synthetic()
        found = self.run_options(pair, r":model='version=vmaf_v0.6.1\:motion.motion_force_zero=true'")
        self.assertAlmostEqual(found[0], pair.vmaf[0], delta=PRINTED)  # the first frame has no motion anyway
        self.assertLess(found[2], pair.vmaf[2])

    def test_gray_planes(self):
        """Its weighted mode compares planes one by one."""
        pair = self.synthetic()
        luma = "extractplanes=y,format=gray"
        if not has_filter("extractplanes"):
            self.skipTest("SKIPPED: this ffmpeg has no extractplanes filter")
        self.run_program("-v", "error", "-i", pair.distorted, "-i", pair.reference, "-filter_complex",
                         f"[0:v]{luma}[d];[1:v]{luma}[r];[d][r]libvmaf=log_fmt=json:log_path=y.json", "-f", "null", "-")
        self.assertEqual(len(self.read_json("y.json")["frames"]), FRAMES)

    def test_banner(self):
        banner = program_text("-h")
        if "--enable-libquality-cuda-aliases" not in banner:
            self.skipTest("SKIPPED: not this repository's build")
        self.assertIn("--enable-libvmaf", banner)


class FfmpegQualityMetrics(Scores, ClientTest):
    """The reference is input 0; the model is a file, and the scores are those by frame."""

    def run_options(self, pair, more="", options=""):
        self.assertTrue(has_filter("libvmaf"))
        model = SHARED / "models/vmaf_v0.6.1.json"
        if not model.exists():
            self.skipTest(f"SKIPPED: no model file in {SHARED}")
        even = "settb=AVTB,setpts=PTS-STARTPTS"
        # From FFmpeg 7.1 on the scaler takes the size from a second input, as this client asks for.
        takes_reference = "repeatlast" in program_text("-h", "filter=scale")
        scale = f"{'[1][0]scale=rw:rh' if takes_reference else f'[1]scale={pair.width}:{pair.height}'}:flags=bicubic[dist]"
        return self.run_program("-nostdin", "-nostats", "-y", "-threads", "0", "-r", "25.0", "-i", pair.reference, "-itsoffset", "0.0", "-r",
                                "25.0", "-i", pair.distorted, "-filter_complex",
                                f"{scale};[dist]{even}[distpts];[0]{even}[refpts];[distpts][refpts]libvmaf='model=path={model}:"
                                f"log_path=fqm.json:log_fmt=json:n_threads=2:n_subsample=1{more}'{options}", "-an", "-f", "null", os.devnull)

    def frames(self):
        return [frame["metrics"] for frame in self.read_json("fqm.json")["frames"]]

    def vmaf(self, pair):
        self.run_options(pair)
        return [metrics["vmaf"] for metrics in self.frames()]

    def test_features(self):
        self.run_options(self.synthetic(), ":feature=name=psnr|name=float_ssim", ":shortest=1:repeatlast=0")
        for metrics, psnr, ssim, vif in zip(self.frames(), PSNR_Y, FLOAT_SSIM, VIF_SCALE1, strict=True):
            self.assertAlmostEqual(metrics["psnr_y"], psnr, delta=PRINTED)
            self.assertAlmostEqual(metrics["float_ssim"], ssim, delta=1e-5)
            self.assertAlmostEqual(metrics["integer_vif_scale1"], vif, delta=PRINTED)


class EasyVmaf(Scores, ClientTest):
    """Three models by name in one run, or the words of before; pooled values."""

    MODELS = (r"version=vmaf_v0.6.1\:name=vmaf_hd|version=vmaf_v0.6.1neg\:name=vmaf_hd_neg|"
              r"version=vmaf_v0.6.1\:name=vmaf_hd_phone\:enable_transform=true")

    def run_options(self, pair, options):
        return self.run_program("-y", "-hide_banner", "-stats", "-loglevel", "info", "-i", pair.distorted, "-i", pair.reference, "-lavfi",
                                f"[0:v]scale={pair.width}:{pair.height}:flags=bicubic[main0];[main0][1:v]libvmaf={options}", "-f", "null", "-")

    def vmaf(self, pair):
        self.run_options(pair, f"log_fmt=json:model='{self.MODELS}':n_subsample=1:log_path=easy.json:n_threads=2:feature=name=psnr")
        pooled = self.read_json("easy.json")["pooled_metrics"]
        self.assertGreater(pooled["vmaf_hd_phone"]["mean"], pooled["vmaf_hd"]["mean"])
        self.assertLessEqual(pooled["vmaf_hd_neg"]["mean"], pooled["vmaf_hd"]["mean"])
        self.assertEqual(set(pooled["vmaf_hd"]) & {"min", "max", "mean", "harmonic_mean"}, {"min", "max", "mean", "harmonic_mean"})
        return pooled["vmaf_hd"]["mean"]

    def test_words_of_before(self):
        pair = self.synthetic()
        self.run_options(pair, "log_fmt=json:model_path=/usr/local/share/model/vmaf_v0.6.1.pkl:phone_model=0:n_subsample=1:log_path=old.json:psnr=1")
        frames = [frame["metrics"] for frame in self.read_json("old.json")["frames"]]
        for metrics, vmaf, psnr in zip(frames, pair.vmaf, PSNR_Y, strict=True):
            self.assertAlmostEqual(metrics["vmaf"], vmaf, delta=PRINTED)
            self.assertAlmostEqual(metrics["psnr_y"], psnr, delta=PRINTED)
            self.assertNotIn("psnr_cb", metrics)

    def test_layouts_agree(self):
        pair = self.synthetic()
        for name in ("xml", "csv"):
            self.run_options(pair, f"log_fmt={name}:log_path=easy.{name}")
        root = xml.etree.ElementTree.parse(self.folder / "easy.xml").getroot()
        self.assertEqual([float(frame.get("vmaf")) for frame in root.iter("frame")], [round(value, 6) for value in pair.vmaf])
        pooled = next(metric for metric in root.iter("metric") if metric.get("name") == "vmaf")
        self.assertAlmostEqual(float(pooled.get("mean")), mean(pair.vmaf), delta=PRINTED)
        with open(self.folder / "easy.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["vmaf"]) for row in rows], [round(value, 6) for value in pair.vmaf])
        self.assertEqual(list(rows[0])[-4:], ["integer_motion2", "integer_motion3", "vmaf", ""])


class Tdarr(Scores, ClientTest):
    """Numbers its frames itself, and takes the last line of its kind."""

    def vmaf(self, pair):
        return last_score(self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                                           "[0:v]setpts=N[d];[1:v]setpts=N[r];[d][r]libvmaf=shortest=1:repeatlast=0:ts_sync_mode=nearest",
                                           "-f", "null", "-"))


class FFMetrics(Scores, ClientTest):
    """XML, read by the names of its attributes."""

    def vmaf(self, pair):
        self.run_program("-hide_banner", "-i", pair.distorted, "-i", pair.reference, "-filter_complex",
                         "[0:v]settb=AVTB,setpts=PTS-STARTPTS[main];[1:v]settb=AVTB,setpts=PTS-STARTPTS[ref];[main][ref]"
                         "libvmaf=eof_action=endall:log_fmt=xml:log_path=ff.xml:n_threads=2:pool=harmonic_mean", "-f", "null", "-")
        root = xml.etree.ElementTree.parse(self.folder / "ff.xml").getroot()
        self.assertEqual((root.tag, int(root.get("version").split(".")[0]) >= 3), ("VMAF", True))
        return [float(frame.get("vmaf")) for frame in root.find("frames")]


class VideoQualityMetrics(Scores, ClientTest):
    def vmaf(self, pair):
        self.run_program("-y", "-i", pair.distorted, "-i", pair.reference, "-map", "0:V", "-map", "1:V", "-lavfi",
                         "[0:v]setpts=PTS-STARTPTS[distorted];[1:v]setpts=PTS-STARTPTS[reference];[distorted][reference]libvmaf="
                         "log_fmt=json:log_path='vqm.json':n_subsample=1:model=version=vmaf_v0.6.1:n_threads=2:feature='name=psnr|name=float_ssim'",
                         "-f", "null", "-")
        frames = [frame["metrics"] for frame in self.read_json("vqm.json")["frames"]]
        self.assertTrue(all({"psnr_y", "float_ssim"} <= set(metrics) for metrics in frames))
        return [metrics["vmaf"] for metrics in frames]


class MediaDelivery(Scores, ClientTest):
    """A model's file, and the pooled mean."""

    def vmaf(self, pair):
        model = SHARED / "models/vmaf_v0.6.1.json"
        if not model.exists():
            self.skipTest(f"SKIPPED: no model file in {SHARED}")
        text = self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                                f"libvmaf=model='path={model}':n_threads=2:log_fmt=json:log_path=md.json:pool=mean", "-f", "null", "-")
        self.assertAlmostEqual(last_score(text), self.read_json("md.json")["pooled_metrics"]["vmaf"]["mean"], delta=PRINTED)
        return last_score(text)


class Scripts(Scores, ClientTest):
    """What is found in scripts: deprecated words, in letters of any size."""

    def vmaf(self, pair):
        self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                         "libvmaf=psnr=1:ssim=1:phone_model=0:pool=HARMONIC_MEAN:log_fmt=JSON:log_path=script.json", "-f", "null", "-")
        frames = [frame["metrics"] for frame in self.read_json("script.json")["frames"]]
        self.assertTrue(all({"psnr_y", "float_ssim"} <= set(metrics) for metrics in frames))
        return [metrics["vmaf"] for metrics in frames]


class FfmpegDocumentation(Scores, ClientTest):
    """Examples of FFmpeg's pages on libvmaf, and those on psnr, ssim and xpsnr beside it."""

    def vmaf(self, pair):
        self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi", "libvmaf=log_path=output.xml", "-f", "null", "-")
        root = xml.etree.ElementTree.parse(self.folder / "output.xml").getroot()
        return [float(frame.get("vmaf")) for frame in root.iter("frame")]

    def test_several_models_and_features(self):
        pair = self.synthetic()
        text = self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                                r"libvmaf='model=version=vmaf_v0.6.1\:name=vmaf|version=vmaf_v0.6.1neg\:name=vmaf_neg'", "-f", "null", "-")
        self.assertAlmostEqual(float(re.findall(r"VMAF score: (\S+)", text)[0]), mean(pair.vmaf), delta=PRINTED)
        self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                         "libvmaf='feature=name=psnr|name=ciede:log_fmt=json:log_path=f.json'", "-f", "null", "-")
        metrics = self.read_json("f.json")["frames"][0]["metrics"]
        self.assertAlmostEqual(metrics["psnr_y"], PSNR_Y[0], delta=PRINTED)
        self.assertIn("ciede2000", metrics)

    def test_beside_ssim_and_psnr(self):
        """One graph for all of them: the others go on as before."""
        pair = self.synthetic()
        text = self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi",
                                "ssim=stats_file=ssim.log;[0:v][1:v]psnr=stats_file=psnr.log;[0:v][1:v]libvmaf", "-f", "null", "-")
        self.assertAlmostEqual(last_score(text), mean(pair.vmaf), delta=PRINTED)
        self.assertRegex(text, r"PSNR y:\d+\.\d+ ")
        self.assertRegex(text, r"SSIM Y:0\.\d+ ")

    def test_psnr_lines(self):
        """The example of psnr, with the name replaced: a reader of its lines finds the same."""
        pair, found = self.synthetic(), []
        for name in ("psnr=stats_file=stats.log", "quality_cuda=psnr:stats_format=psnr:stats_file=stats.log"):
            self.run_program("-y", "-i", pair.distorted, "-i", pair.reference, "-lavfi",
                             f"[0:v]setpts=PTS-STARTPTS[main];[1:v]setpts=PTS-STARTPTS[ref];[main][ref]{name}", "-f", "null", "-")
            found.append([dict(field.split(":") for field in line.split()) for line in (self.folder / "stats.log").read_text().splitlines()])
        self.assertEqual(len(found[0]), FRAMES)
        self.assertEqual(*found)

    def test_xpsnr(self):
        """xpsnr writes a line per frame: n, and XPSNR of y, u and v."""
        if not has_filter("xpsnr"):
            self.skipTest("SKIPPED: this ffmpeg has no xpsnr filter")
        pair = self.synthetic()
        self.run_program("-i", pair.reference, "-i", pair.distorted, "-lavfi", "xpsnr=stats_file=x.log", "-f", "null", "-")
        theirs = [float(value) for value in re.findall(r"XPSNR y: *(\S+)", (self.folder / "x.log").read_text())]
        self.run_program("-i", pair.distorted, "-i", pair.reference, "-lavfi", "quality_cuda=xpsnr:log_path=x.json", "-f", "null", "-")
        ours = [frame["metrics"]["xpsnr_y"] for frame in self.read_json("x.json")["frames"]]
        for our, their in zip(ours, theirs[:FRAMES], strict=True):
            self.assertAlmostEqual(our, their, delta=1e-3)


class FfmpegFreeUI(ClientTest):
    """Reads the help, and looks for models' names in the library."""

    def test_help_and_names(self):
        text = program_text("-hide_banner", "-h", "filter=libvmaf")
        self.assertIn('(default "version=vmaf_v0.6.1")', text)
        for name in ("vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1"):
            self.assertIn(name.encode(), FFMPEG.read_bytes())


if __name__ == "__main__":
    unittest.main()
