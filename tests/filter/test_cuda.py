# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUDA frames. Needs a GPU; says SKIPPED without one.

hwupload gives frames on the device that are bit for bit those in memory, so scores have to be equal to the last digit.
NVDEC is tested with clips of H.264 and HEVC, as far as the ffmpeg under test encodes them.
"""

import glob
import unittest

from harness import FilterTest, ffmpeg, make

DEVICE = ("-init_hw_device", "cuda=cu:0", "-filter_hw_device", "cu")
NVDEC = ("-hwaccel", "cuda", "-hwaccel_device", "cu", "-hwaccel_output_format", "cuda")


class CudaTest(FilterTest):
    @classmethod
    def setUpClass(cls):
        if not glob.glob("/dev/nvidia[0-9]*"):
            raise unittest.SkipTest("SKIPPED: no GPU")
        super().setUpClass()

    def score_on(self, inputs, chains, options="", outer=DEVICE, tail=""):
        graph = "".join(f"[{index}:v]{chain}[i{index}];" for index, chain in enumerate(chains))
        graph += f"[i0][i1]quality_cuda=metrics=vmaf+psnr:log_path=log.json:stats_file=stats.txt{options}{tail}[out]"
        arguments = [*outer]
        for path in inputs:
            arguments += ["-i", path]
        return ffmpeg([*arguments, "-lavfi", graph, "-map", "[out]", "-f", "null", "-"], self.folder)


class Upload(CudaTest):
    FORMATS = ("nv12", "yuv420p", "p010le", "p016le", "yuv444p", "yuv444p16le")

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=25)
        self.distorted = self.worse(self.reference)

    def test_device_frames_score_like_host_frames(self):
        for name in self.FORMATS:
            with self.subTest(name):
                host = self.score_on((self.distorted, self.reference), (f"format={name}",) * 2, ":backend=cuda")
                self.assert_ok(host)
                cpu = self.score_on((self.distorted, self.reference), (f"format={name}",) * 2, ":backend=cpu")
                self.assertEqual(len(cpu.log["frames"]), 25)
                self.assertEqual(cpu.log["frames"], host.log["frames"])
                upload = f"format={name},hwupload"
                for chains in ((upload, upload), (upload, f"format={name}"), (f"format={name}", upload)):
                    run = self.score_on((self.distorted, self.reference), chains)
                    self.assert_ok(run)
                    self.assertEqual(run.log["frames"], host.log["frames"], chains)
                    self.assertFalse(run.messages("was converted by lavfi"))

    def test_output_stays_on_the_device(self):
        upload = "format=nv12,hwupload"
        run = self.score_on((self.distorted, self.reference), (upload, upload), tail=",hwdownload,format=nv12")
        self.assert_ok(run)
        self.assert_counts(run, frames=25, paired=25)

    def test_a_region(self):
        """Its rows begin at any address, unlike those of frames."""
        for name, (x, y, width, height) in (("nv12", (50, 38, 113, 99)), ("nv12", (34, 22, 64, 64)), ("p010le", (22, 10, 101, 97)),
                                            ("yuv444p", (33, 21, 90, 80)), ("yuv420p", (2, 2, 174, 142))):
            with self.subTest(name):
                cut = f"format={name},crop={width}:{height}:{x}:{y}:exact=1"
                cpu = self.score_on((self.distorted, self.reference), (cut, cut), ":backend=cpu")
                self.assert_ok(cpu)
                for chain in (f"format={name},hwupload", f"format={name}"):
                    run = self.score_on((self.distorted, self.reference), (chain, chain), f":backend=cuda:roi={x}|{y}|{width}|{height}")
                    self.assert_ok(run)
                    self.assertEqual(run.log["frames"], cpu.log["frames"], chain)

    def test_a_constant_offset(self):
        """Frames on the device are looked at there, while they wait in the queues."""
        reference = make(self.clips, "moving.nut", "mandelbrot=s=240x136:rate=25:end_scale=0.02:end_pts=120,trim=end_frame=80",
                         "-c:v", "ffv1", "-pix_fmt", "yuv420p")
        ahead = "trim=start_frame=5,setpts=PTS-STARTPTS,format=nv12"
        host = self.score_on((reference, reference), (ahead, "format=nv12"), ":backend=cpu:align=auto")
        self.assertEqual(host.log["alignment"]["auto"], {"pairs": 48, "offset": -5, "seconds": -0.2})
        for chains in ((f"{ahead},hwupload", "format=nv12,hwupload"), (f"{ahead},hwupload", "format=nv12")):
            run = self.score_on((reference, reference), chains, ":align=auto")
            self.assert_ok(run)
            self.assertEqual(run.log["alignment"], host.log["alignment"])
            self.assertEqual(run.log["frames"], host.log["frames"])

    def test_every_queue_length(self):
        upload = "format=nv12,hwupload"
        logs = []
        for depth in (1, 2, 4, 16):
            run = self.score_on((self.distorted, self.reference), (upload, upload), f":async_depth={depth}")
            self.assert_ok(run)
            logs.append(run.log["frames"])
        self.assertEqual(len(logs[0]), 25)
        self.assertTrue(all(log == logs[0] for log in logs))

    def test_backend_cpu_refuses_device_frames(self):
        run = self.score_on((self.distorted, self.reference), ("format=nv12,hwupload",) * 2, ":backend=cpu")
        self.assert_fails(run, "backend=cpu cannot read CUDA frames")

    def test_two_contexts_are_refused(self):
        chains = ("format=nv12,hwupload_cuda=device=0", "format=nv12,hwupload_cuda=device=0")
        run = self.score_on((self.distorted, self.reference), chains, outer=())
        self.assert_fails(run, "uses another CUDA context", "-init_hw_device cuda=cu:0 -hwaccel_device cu")


class Maps(CudaTest):
    """From the scorer to overlay_cuda, without a copy to memory in between."""

    UPLOAD = "format=nv12,hwupload"

    def setUp(self):
        super().setUp()
        if " overlay_cuda " not in ffmpeg(["-filters"], self.folder).stdout:
            self.skipTest("SKIPPED: this ffmpeg has no overlay_cuda")
        self.reference = self.source(frames=10)
        self.distorted = self.worse(self.reference)

    def drawn(self, behind):
        """The frames, as checksums, of what a graph makes of [out] and [map]."""
        graph = f"[0:v]{self.UPLOAD}[d];[1:v]{self.UPLOAD}[r];[d][r]quality_cuda=metrics=vmaf:maps=vif:map_format=heat[out][map];{behind}[end]"
        run = ffmpeg([*DEVICE, "-i", self.distorted, "-i", self.reference, "-lavfi", graph, "-map", "[end]", "-fps_mode", "passthrough",
                      "-f", "framemd5", "frames.framemd5"], self.folder)
        self.assert_ok(run)
        lines = [line for line in run.texts["frames.framemd5"].splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 10)
        return lines

    def test_over_the_whole_picture_it_is_the_map(self):
        self.assertEqual(self.drawn("[out][map]overlay_cuda,hwdownload,format=nv12"),
                         self.drawn("[out]nullsink;[map]hwdownload,format=nv12"))

    def test_scaled_in_the_right_half(self):
        """As in docs/guide/maps.md: the left half is the picture's, the right half is not."""
        beside = "[map]scale_cuda=iw/2:-2[small];[out][small]overlay_cuda=x=W/2,hwdownload,format=nv12,crop=iw/2:ih:{}:0"
        plain = "[map]nullsink;[out]hwdownload,format=nv12,crop=iw/2:ih:{}:0"
        self.assertEqual(self.drawn(beside.format("0")), self.drawn(plain.format("0")))
        self.assertNotEqual(self.drawn(beside.format("iw/2")), self.drawn(plain.format("iw/2")))


class Nvdec(CudaTest):
    ENCODERS = ("libx264", "libx265")

    def encoded(self):
        """(distorted, reference) by each encoder that this ffmpeg has."""
        available = ffmpeg(["-encoders"], self.folder).stdout
        encoders = [name for name in self.ENCODERS if f" {name} " in available]
        if not encoders:
            self.skipTest(f"SKIPPED: this ffmpeg has neither of {' and '.join(self.ENCODERS)}")
        source = self.source(frames=60, size="640x360")
        for encoder in encoders:
            yield [make(self.clips, f"{encoder}-{crf}.mp4", source, "-c:v", encoder, "-crf", str(crf)) for crf in (40, 10)]

    def score_decoded(self, dist, ref, hardware, options=""):
        arguments = ["-init_hw_device", "cuda=cu:0"]
        for path, on in zip((dist, ref), hardware):
            arguments += [*(NVDEC if on else ()), "-i", path]
        graph = f"quality_cuda=metrics=vmaf+psnr:log_path=log.json:stats_file=stats.txt{options}"
        return ffmpeg([*arguments, "-lavfi", graph, "-an", "-f", "null", "-"], self.folder)

    def test_decoders_agree(self):
        for dist, ref in self.encoded():
            expected = self.score_decoded(dist, ref, (False, False))
            self.assert_ok(expected)
            self.assertEqual(len(expected.log["frames"]), 60)
            for hardware in ((True, True), (True, False), (False, True)):
                with self.subTest(f"{dist.name} {hardware}"):
                    run = self.score_decoded(dist, ref, hardware)
                    self.assert_ok(run)
                    self.assertEqual(sum(" cuda/" in line for line in run.messages("input ")), sum(hardware))
                    self.assertEqual(run.log["frames"], expected.log["frames"])

    def test_more_frames_are_held_than_a_decoder_has_surfaces(self):
        for dist, ref in self.encoded():
            expected = self.score_decoded(dist, ref, (True, True), ":async_depth=1")
            self.assert_ok(expected)
            self.assertEqual(len(expected.log["frames"]), 60)
            with self.subTest(dist.name):
                run = self.score_decoded(dist, ref, (True, True), ":async_depth=50")
                self.assert_ok(run)
                self.assertEqual(run.log["frames"], expected.log["frames"])
                self.assertFalse(run.messages("No decoder surfaces left"))


if __name__ == "__main__":
    unittest.main()
