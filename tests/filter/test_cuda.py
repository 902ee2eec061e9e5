# SPDX-License-Identifier: BSD-2-Clause-Patent
"""CUDA frames. Needs a GPU; says SKIPPED without one.

hwupload gives frames on the device that are bit for bit those in memory, so scores have to be equal to the last digit.
NVDEC is tested with H.264 or HEVC clips: QC_NVDEC_CLIPS names a folder with pairs NAME_dist.* and NAME_ref.*.
"""

import glob
import os
import pathlib
import unittest

from harness import FilterTest, ffmpeg

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

    def test_every_queue_length(self):
        upload = "format=nv12,hwupload"
        logs = []
        for depth in (1, 2, 4, 16):
            run = self.score_on((self.distorted, self.reference), (upload, upload), f":async_depth={depth}")
            self.assert_ok(run)
            logs.append(run.log["frames"])
        self.assertTrue(all(log == logs[0] for log in logs))

    def test_backend_cpu_refuses_device_frames(self):
        run = self.score_on((self.distorted, self.reference), ("format=nv12,hwupload",) * 2, ":backend=cpu")
        self.assert_fails(run, "backend=cpu cannot read CUDA frames")

    def test_two_contexts_are_refused(self):
        chains = ("format=nv12,hwupload_cuda=device=0", "format=nv12,hwupload_cuda=device=0")
        run = self.score_on((self.distorted, self.reference), chains, outer=())
        self.assert_fails(run, "uses another CUDA context", "-init_hw_device cuda=cu:0 -hwaccel_device cu")


class Nvdec(CudaTest):
    def pairs(self):
        folder = pathlib.Path(os.environ.get("QC_NVDEC_CLIPS", "missing"))
        found = [(dist, next(folder.glob(dist.name.replace("_dist" + dist.suffix, "_ref.*")), None))
                 for dist in sorted(folder.glob("*_dist.*"))]
        if not found:
            self.skipTest("SKIPPED: QC_NVDEC_CLIPS names no folder with NAME_dist.* and NAME_ref.*")
        return found

    def score_decoded(self, dist, ref, hardware):
        arguments = ["-init_hw_device", "cuda=cu:0"]
        for path, on in zip((dist, ref), hardware):
            arguments += [*(NVDEC if on else ()), "-i", path]
        return ffmpeg([*arguments, "-lavfi", "quality_cuda=metrics=vmaf+psnr:log_path=log.json:stats_file=stats.txt", "-an",
                       "-f", "null", "-"], self.folder)

    def test_decoders_agree(self):
        for dist, ref in self.pairs():
            expected = self.score_decoded(dist, ref, (False, False))
            self.assert_ok(expected)
            for hardware in ((True, True), (True, False), (False, True)):
                with self.subTest(f"{dist.name} {hardware}"):
                    run = self.score_decoded(dist, ref, hardware)
                    self.assert_ok(run)
                    self.assertEqual(sum(" cuda/" in line for line in run.messages("input ")), sum(hardware))
                    self.assertEqual(run.log["frames"], expected.log["frames"])


if __name__ == "__main__":
    unittest.main()
