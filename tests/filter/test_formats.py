# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every pixel format that FFmpeg can feed: either it arrives as it is, on either input, and luma and chroma have the errors that
FFmpeg's own filter psnr finds, or lavfi converts it, and the run says so. Many formats share a process: a filter each.
"""

import re
import subprocess
import sys
import unittest
from array import array

from harness import FFMPEG, REPOSITORY, FilterTest, avfilter_major, ffmpeg

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import stand_in_driver  # noqa: E402

# What lavfi converts: palettes, less than eight bits, mosaics, floating point, XYZ, and a packing that is not regular.
CONVERTED = re.compile(r"pal8|mono[wb]|(rgb|bgr)(4|8|4_byte|444|555|565)(le|be)?|bayer_.*|.*f(16|32)(le|be)|xyz12(le|be)|uyyvyy411|"
                       r"(gray|gbrap)32(le|be)")
MANY = 24  # formats of a process


def pixel_formats():
    """Names of the formats that FFmpeg reads, with their depth and components."""
    text = subprocess.run([FFMPEG, "-hide_banner", "-pix_fmts"], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.split("-----\n")[1].splitlines()]
    return {row[1]: row for row in rows if row[0].startswith("I")}


def is_rgb(name):
    return re.match(r"0?(a|x2)?(rgb|bgr)|gbr", name) is not None


def planar(name, depths):
    """The planar format of the same samples, which FFmpeg's psnr takes."""
    depth = int(depths.split("-")[0])
    ending = "" if depth == 8 else f"{depth}le"
    if name.startswith(("gray", "ya")):
        return "gray" + ending
    if is_rgb(name):
        return "gbrp" + ending
    match = re.match(r"yuv[aj]?(4[124][0124])p|(?:yuyv|yvyu|uyvy)(422)|", name)
    chroma = match[1] or match[2] or ("422" if re.match(r"y2|nv16|nv20|p2", name) else "420" if re.match(r"nv12|nv21|p0", name) else "444")
    return f"yuv{'j' if name.startswith('yuvj') else ''}{chroma}p{ending}"


def planes_of(name, same, raw, size):
    """Frames of a format of RGB as planes of G, B and R, little-endian."""
    depth = int(re.search(r"gbrp(\d*)", same)[1] or 8)
    width, height = map(int, size.split("x"))
    if name.startswith("x2"):
        order = (10, 0, 20) if "rgb" in name else (10, 20, 0)
        words = array("I", raw)
        pixels = [[word >> shift & 1023 for word in words] for shift in order]
        count = 1
    else:
        samples = array("B" if depth == 8 else "H", raw)
        if name.endswith("be"):
            samples.byteswap()
        if "msb" in name:
            samples = array("H", [sample >> 16 - depth for sample in samples])
        count = len(samples) // (2 * width * height)
        if name.startswith("gbr"):
            frames = [samples[k * count * width * height:] for k in range(2)]
            return b"".join(frame[:3 * width * height].tobytes() for frame in frames)
        letters = re.match("[a-z0]+?(?=$|[24468]+(le|be|$))", name)[0]
        pixels = [samples[letters.index(letter)::count] for letter in "gbr"]
    area = width * height
    return b"".join(array("B" if depth == 8 else "H", plane[k * area:(k + 1) * area]).tobytes() for k in range(2) for plane in pixels)


def score(distorted, reference, options, output, metric="psnr"):
    return f"[{distorted}][{reference}]quality_cuda={metric}:{options}[{output}];"


@unittest.skipIf(avfilter_major() < 10, "SKIPPED: before 7.0 FFmpeg lacks some of the names, and its psnr converts some formats")
class ManyFormats(FilterTest):
    SIZE = "64x48"  # chroma of a quarter fits
    BACKEND = "backend=cpu:n_threads=1"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.formats = {name: planar(name, row[4]) for name, row in pixel_formats().items() if not CONVERTED.fullmatch(name)}

    def run_graph(self, chains, outputs=("-map", "[o0]", "-f", "null", "-"), prepare=""):
        """Chain i has the pictures d<i> and r<i>, with errors in all their bits, and ends in o<i>; prepare: filters of d."""
        noise = "geq=" + ":".join(f"{component}=32768+20000*sin(X/9)+9000*random(0)" for component in ("lum", "cb", "cr"))
        error = "geq=" + ":".join(f"{component}=p(X\\,Y)+{size}*(random(1)-0.5)" for component, size in (("lum", 3000), ("cb", 2000), ("cr", 4000)))
        count = len(chains)
        pads = [f"[a{i}]" for i in range(count)], [f"[b{i}]" for i in range(count)]
        graph = (f"nullsrc=s={self.SIZE}:r=25,trim=end_frame=2,format=yuv444p16,{noise},split[ra][da];[ra]split={count}{''.join(pads[0])};"
                 f"[da]{error},split={count}{''.join(pads[1])};")
        for i, (name, chain) in enumerate(chains):
            graph += f"[a{i}]format={name}[r{i}];[b{i}]{prepare}format={name}[d{i}];{chain}" + (f"[o{i}]nullsink;" if i and chain else "")
        (self.folder / "graph").write_text(graph.rstrip(";"))
        script = "-/filter_complex" if avfilter_major() >= 10 else "-filter_complex_script"
        run = ffmpeg([script, "graph", *outputs], self.folder, self.environment)
        self.assert_ok(run)
        return run

    def lines(self, name, left_out):
        """Of psnr's statistics, without items of these endings."""
        lines = [line.split() for line in (self.folder / name).read_text().splitlines()]
        return [[item for item in line if not item.split(":")[0].endswith(left_out)] for line in lines]

    @staticmethod
    def left_out(planar):
        """FFmpeg's psnr does not take 4:4:0 of more than 8 bits: its chroma is converted. Means weigh the samples of chroma as they
        are scored: those that are repeated count more often."""
        return ("_u", "_v", "_avg") if re.match("yuv440p1", planar) else ("_avg",) if re.search("41[01]|440", planar) else ()

    def expect_arrivals(self, run, names):
        arrived = re.findall(r"(?:distorted|reference): input \d \(.*\), \d+x\d+ (\S+)", run.text)
        for name in names:
            self.assertGreaterEqual(arrived.count(name), 2, name)

    def expect_errors_of_psnr(self, names):
        """As main and as reference, the other input planar: what FFmpeg's psnr writes of two planar ones."""
        chains = []
        for i, name in enumerate(names):
            parts = "".join(f"[{p}{i}]split[{p}{i}own][{p}{i}x];[{p}{i}x]format={self.formats[name]},split[{p}{i}planar][{p}{i}psnr];" for p in "dr")
            own = f"{self.BACKEND}:stats_format=psnr:stats_file={i}"
            parts += score(f"d{i}own", f"r{i}planar", f"{own}-main.txt", f"o{i}")
            parts += score(f"d{i}planar", f"r{i}own", f"{own}-reference.txt", f"n{i}") + f"[n{i}]nullsink;"
            chains.append((name, parts + f"[d{i}psnr][r{i}psnr]psnr=stats_file={i}-psnr.txt,nullsink;"))
        run = self.run_graph(chains)
        self.assertFalse(run.messages("was converted by lavfi"), run.text)
        self.expect_arrivals(run, names)
        for i, name in enumerate(names):
            with self.subTest(name):
                left_out = self.left_out(self.formats[name])
                expected = self.lines(f"{i}-psnr.txt", left_out)
                self.assertEqual((len(expected), "inf" in str(expected)), (2, False), expected)
                for role in ("main", "reference"):
                    self.assertEqual(self.lines(f"{i}-{role}.txt", left_out), expected, role)

    def expect_scores_of_planar(self, names):
        """RGB, which FFmpeg's psnr takes in planes only, by a metric that takes RGB: one colour in another's place is seen. What is
        planar already is compared with planes that are made here, for lavfi's scaler changes samples of such formats."""
        raw = [f"{i}{p}" for i in range(len(names)) for p in "dr"]
        outputs = [word for pad in raw for word in ("-map", f"[{pad[-1]}{pad[:-1]}]", "-f", "rawvideo", f"{pad}.raw")]
        self.run_graph([(name, "") for name in names], outputs)
        inputs, graph = [], ""
        for i, name in enumerate(names):
            for p in "dr":
                (self.folder / f"{i}{p}p.raw").write_bytes(planes_of(name, self.formats[name], (self.folder / f"{i}{p}.raw").read_bytes(), self.SIZE))
            for file, layout in ((f"{i}d", name), (f"{i}r", name), (f"{i}dp", self.formats[name]), (f"{i}rp", self.formats[name])):
                inputs += ["-f", "rawvideo", "-s", self.SIZE, "-pix_fmt", layout, "-i", f"{file}.raw"]
            own, first = f"{self.BACKEND}:stats_file={i}", 4 * i
            graph += f"[{first + 2}]split[p{i}][q{i}];[{first + 3}]split[s{i}][t{i}];"
            for distorted, reference, role in ((first, f"s{i}", "main"), (f"p{i}", first + 1, "reference"), (f"q{i}", f"t{i}", "planar")):
                graph += score(distorted, reference, f"{own}-{role}.txt", f"{role}{i}", "ssimulacra2")
        ends = [f"{role}{i}" for i in range(len(names)) for role in ("main", "reference", "planar")]
        graph += "".join(f"[{end}]nullsink;" for end in ends[1:])
        run = ffmpeg([*inputs, "-filter_complex", graph.rstrip(";"), "-map", f"[{ends[0]}]", "-f", "null", "-"], self.folder, self.environment)
        self.assert_ok(run)
        self.assertFalse(run.messages("was converted by lavfi"), run.text)
        self.expect_arrivals(run, names)
        for i, name in enumerate(names):
            with self.subTest(name):
                expected = self.lines(f"{i}-planar.txt", ())
                self.assertEqual(len(expected), 2)
                for role in ("main", "reference"):
                    self.assertEqual(self.lines(f"{i}-{role}.txt", ()), expected, role)

    PACKED = "yuyv422 uyvy422 y210le v30xle ayuv yuv411p yuv440p yuv410p nv21 p410be gray14be ya8".split()

    def expect_planar_scores(self, prepare, options):
        """Pictures that are unpacked score as the planar ones do, whatever else is done with them."""
        chains = []
        for i, name in enumerate(self.PACKED):
            same = f"format={self.formats[name]}"
            parts = f"[d{i}]split[d{i}own][d{i}x];[d{i}x]{same}[d{i}same];[r{i}]{same},split[r{i}a][r{i}b];"
            parts += score(f"d{i}own", f"r{i}a", f"{self.BACKEND}:{options}:stats_file={i}-own.txt", f"o{i}")
            parts += score(f"d{i}same", f"r{i}b", f"{self.BACKEND}:{options}:stats_file={i}-same.txt", f"n{i}") + f"[n{i}]nullsink;"
            chains.append((name, parts))
        self.run_graph(chains, prepare=prepare)
        for i, name in enumerate(self.PACKED):
            with self.subTest(name):
                self.assertEqual(len(self.lines(f"{i}-same.txt", ())), 2)
                self.assertEqual(self.lines(f"{i}-own.txt", ()), self.lines(f"{i}-same.txt", ()))

    def chosen(self, rgb=False):
        names = [name for name in self.formats if is_rgb(name) == rgb]
        return [names[i:i + MANY] for i in range(0, len(names), MANY)]


class Formats(ManyFormats):
    def test_luma_and_chroma_have_the_errors_of_ffmpegs_psnr(self):
        for names in self.chosen():
            self.expect_errors_of_psnr(names)

    def test_rgb_scores_as_its_planes_do(self):
        for names in self.chosen(rgb=True):
            self.expect_scores_of_planar(names)

    def test_regions(self):
        self.expect_planar_scores("", "roi=8|4|21|17")

    def test_corners_between_samples_are_refused(self):
        """A pair of pixels cannot be cut, nor can the four that share a sample of chroma."""
        for name, corner, multiples in (("yuyv422", "3|2", "2 across and 1 down"), ("yuv411p", "2|1", "4 across and 1 down"),
                                        ("yuv440p", "1|1", "1 across and 2 down")):
            source = f"testsrc2=s=64x48:d=0.1,format={name},split[a][b];[a][b]quality_cuda=psnr:backend=cpu:roi={corner}|20|20"
            run = ffmpeg(["-filter_complex", source, "-f", "null", "-"], self.folder)
            self.assert_fails(run, f"a corner at multiples of {multiples} is accepted")

    def test_scaling(self):
        self.expect_planar_scores("crop=32:24:0:0,", "scale=bicubic")

    def test_what_lavfi_converts_is_said(self):
        written = {name for name, row in pixel_formats().items() if row[0][1] == "O"}  # by lavfi's scaler, so that there is one to score
        rest = [name for name in written if name not in self.formats]
        chains = [(name, score(f"d{i}", f"r{i}", self.BACKEND, f"o{i}")) for i, name in enumerate(rest)]
        self.assertGreater(len(rest), 20)
        run = self.run_graph(chains)
        for name in rest:
            for role in ("Input 0 (main)", "Input 1 (reference)"):
                self.assertTrue(run.messages(f"{role} was converted by lavfi from {name} ("), f"{role} {name}")


class FormatsOnStandIn(ManyFormats):
    """The CUDA backend, frames in memory: its kernels, emulated, find the same."""

    SIZE = "16x16"
    BACKEND = "backend=cuda"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = {"LD_LIBRARY_PATH": str(stand_in_driver.build() / "tests/device"), "QC_STAND_IN_SEED": "1"}

    def test_every_format(self):
        for names in self.chosen():
            self.expect_errors_of_psnr(names)

    def test_regions_and_scaling(self):
        self.SIZE = "24x16"
        self.expect_planar_scores("", "roi=8|4|13|9")
        self.expect_planar_scores("crop=12:8:0:0,", "scale=bicubic")


if __name__ == "__main__":
    unittest.main()
