# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A title that is scored in parts has the log of one run, byte for byte."""

import os
import unittest

from workbench import clip, command, comparable, folder, rendition_logs, single

ALL_METRICS = "all:on_unsupported=skip"

#: distorted videos and reference, metrics, parts, how many there must be (a number that was not reached says so)
CASES = [
    ("closed.mp4", "ref.mkv", "vmaf", 2), ("closed.mp4", "ref.mkv", "vmaf", 4), ("closed.mp4", "ref.mp4", "vmaf+psnr", 3),
    ("closed.mp4", "ref.mp4", "psnr", 4), ("closed.mp4", "ref.mkv", "xpsnr", 3), ("closed.mp4", "ref.mkv", "float_motion+motion", 4),
    ("open.mp4", "ref.mkv", "vmaf", 2), ("open.mp4", "ref.mp4", "vmaf", 3), ("open.mp4", "ref.mkv", "psnr+ssim", 4),
    ("open.mkv", "ref.mkv", "vmaf", 3), ("open.mkv", "ref.mp4", "float_ssim", 2), ("open.mkv", "ref.mp4", "psnr", 4),
    ("sparse.mkv", "ref.mkv", "vmaf", 2), ("sparse.mkv", "ref.mkv", "psnr", 4), ("one_key.mp4", "ref.mkv", "psnr", 3),
    ("h264.ts", "ref.mkv", "vmaf", 2), ("h264.ts", "ref.mp4", "psnr", 4), ("mpeg2.ts", "ref.mkv", "vmaf", 3),
    ("mpeg2.ts", "ref.mkv", "psnr", 2), ("hevc.mp4", "ref.mkv", "vmaf", 2), ("hevc.mp4", "ref.mkv", "psnr", 4),
    ("hevc.mkv", "ref.mp4", "psnr", 3), ("hevc.ts", "ref.mkv", "psnr", 3), ("av1.mkv", "ref.mkv", "psnr", 3),
    ("av1.mkv", "ref.mp4", "vmaf", 2), ("mpeg4.nut", "ref.mkv", "psnr", 2), ("mpeg4.nut", "ref.mkv", "vmaf", 3),
    ("mjpeg.mov", "ref.mkv", "psnr", 3), ("mjpeg.mov", "ref.mp4", "vmaf", 4), ("varying.mp4", "ref.mkv", "vmaf", 2),
    ("varying.mp4", "ref.mkv", "psnr+xpsnr", 3), ("edited.mp4", "ref.mkv", "psnr", 3), ("edited.mp4", "edited.mp4", "vmaf", 2),
    ("late.mkv", "ref.mkv", "vmaf", 3), ("late.ts", "ref.mkv", "psnr", 2), ("late.ts", "late.mkv", "vmaf", 3),
    ("ntsc.mkv", "ntsc.mp4", "vmaf", 2), ("ntsc.mp4", "ntsc.mkv", "psnr", 4), ("high.mkv", "ref.mkv", "psnr", 2),
    ("closed.mp4", "ref_25_of_50.mkv", "psnr", 3), ("closed.mp4", "ref_short.mkv", "vmaf", 4), ("closed.mp4", "ref_gap.mkv", "vmaf", 4),
    ("closed.mp4", "ref_gap.mkv", "psnr+xpsnr", 3), ("short.mp4", "ref.mkv", "psnr", 2), ("short.mp4", "ref.mkv", "vmaf", 2),
    ("interlaced.ts", "ref.mkv", "psnr", 3), ("ref.mkv", "ref.mkv", "vmaf", 4), ("cut.mkv", "ref.mkv", "psnr", 3),
    ("open.mp4+small.mp4", "ref.mkv", "psnr:scale=bicubic", 3), ("closed.mp4+open.mkv+short.mp4", "ref.mkv", "vmaf", 2),
    ("closed.mp4", "ref.mkv", "vmaf:n_subsample=5", 3), ("closed.mp4", "ref.mkv", "psnr:feature=name=vif", 2),
    ("closed.mp4", "ref.mkv", "psnr:roi=16|8|64|48", 3), ("closed.mp4", "ref.mkv", ALL_METRICS, 2), ("closed.mp4", "ref.mkv", "cvvdp", 3),
    # what becomes of pictures that differ
    ("mjpeg.mov", "ref.mkv", "vmaf:convert=auto", 3), ("mjpeg.mov", "ref.mkv", "psnr:convert=off", 2),
    ("mjpeg.mov", "ref.mkv", "psnr:range=ignore", 3), ("rgb.mkv", "ref.mkv", "psnr:convert=auto", 2),
    ("high.mkv", "ref.mkv", "xpsnr:convert=auto", 3),
    ("closed.mp4", "ref.mkv", "vmaf:bitdepth=10", 3), ("small.mp4", "ref.mkv", "psnr:scale=bicubic:scale_to=main", 2),
    ("small.mp4", "ref.mkv", "vmaf:scale=lanczos:scale_to=144x108", 3), ("closed.mp4", "ref.mkv", "psnr:crop=128x96+16+8|128x96+16+8", 3),
    ("mjpeg.mov+open.mp4", "ref.mkv", "vmaf:bitdepth=10:convert=auto:crop=128x96+16+8|128x96+16+8|128x96+14+10", 2),
]
LONG_CASES = [(distorted, reference, metrics, parts)
              for distorted in ("closed.mp4", "open.mp4", "open.mkv", "h264.ts", "mpeg2.ts", "hevc.mp4", "hevc.ts", "varying.mp4", "late.ts")
              for reference in ("ref.mkv", "ref.mp4") for metrics in ("vmaf", "psnr", "xpsnr+float_motion") for parts in (2, 4)]
#: what cannot be sought, and what is said of it
WHOLE_CASES = [("plain.avi", "avi cannot be sought exactly"), ("raw.h264", "h264 cannot be sought exactly"),
               ("refresh.ts", "do not make one run"), ("delayed.mkv", "which a run mends"), ("as_24.mp4", "but another length"),
               ("closed.mp4:range=auto", "--range=auto"), ("closed.mp4:range=error", "--range=error"), ("closed.mp4:crop=auto", "--crop=auto"),
               ("closed.mp4:sync=index", "--sync=index"), ("closed.mp4:align=start", "--align=start")]



def arguments_of(metrics):
    """"psnr:scale=bicubic" as options of the command."""
    first, *others = metrics.split(":")
    arguments = ["--metrics", first]
    for other in others:
        name, value = other.split("=", 1)
        arguments += ["--subsample" if name == "n_subsample" else "--" + name.replace("_", "-"), value]
    return arguments


class Parts(unittest.TestCase):
    singles = {}

    def single_log(self, videos, metrics):
        key = tuple(videos), metrics
        if key not in self.singles:
            self.singles[key] = single(videos, "metrics=" + metrics, f"single{len(self.singles)}.json")
        return self.singles[key]

    def compare(self, distorted, reference, metrics, parts):
        videos = [clip(name) for name in (*distorted.split("+"), reference)]
        merged = folder() / "merged.json"
        merged.unlink(missing_ok=True)
        run = command("score", *videos, *arguments_of(metrics), "--parts", parts, "-o", merged)
        self.assertEqual(run.returncode, 0, run.stderr)
        expected = self.single_log(videos, metrics)
        for one, other in zip(rendition_logs(expected, len(videos) - 1), rendition_logs(merged, len(videos) - 1)):
            self.assertEqual(comparable(one), comparable(other))
        return run

    def check_whole(self, name, reason):
        distorted, *options = name.split(":")
        run = self.compare(distorted, "ref.mkv", ":".join(["psnr", *options]), 2)
        self.assertIn(reason, run.stderr)
        self.assertIn("in one part", run.stderr)


def add_case(number, case):
    distorted, reference, metrics, parts = case

    def test(self):
        run = self.compare(distorted, reference, metrics, parts)
        self.assertNotIn("in one part", run.stderr)

    setattr(Parts, f"test_{number:03}_{distorted}_{reference}_{metrics}_{parts}", test)


for at, each in enumerate(CASES + (LONG_CASES if os.environ.get("QC_TEST_LEVEL") == "all" else [])):
    add_case(at, each)
for whole, said in WHOLE_CASES:
    setattr(Parts, f"test_whole_{whole}", lambda self, name=whole, reason=said: self.check_whole(name, reason))


if __name__ == "__main__":
    unittest.main()
