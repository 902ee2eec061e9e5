# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reports of libvmaf.so.3 against those of the filter under libvmaf's name: the same pictures, the same text."""

import sys
import unittest

from harness import REPOSITORY, ffmpeg
import test_alias

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import libvmaf_library as vmaf  # noqa: E402

FEATURES = {"psnr": {"enable_apsnr": "true"}, "float_motion": {}, "vif": {}, "cambi": {}}
SIZE, FRAMES = (240, 220), 5


class Reports(test_alias.AliasTest):
    SIZE = "240x220"

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=FRAMES)
        self.distorted = self.worse(self.reference)

    def planes(self, path):
        """Of each frame, as 8-bit 4:2:0."""
        raw = self.folder / "raw.yuv"
        self.assert_ok(ffmpeg(["-v", "error", "-y", "-i", path, "-pix_fmt", "yuv420p", "-f", "rawvideo", raw], self.folder))
        data, luma = raw.read_bytes(), SIZE[0] * SIZE[1]
        self.assertEqual(len(data), FRAMES * luma * 3 // 2)
        for at in range(0, len(data), luma * 3 // 2):
            yield data[at:at + luma], data[at + luma:at + luma * 5 // 4], data[at + luma * 5 // 4:at + luma * 3 // 2]

    def library_report(self, layout, subsample):
        path = self.folder / f"library.{layout}"
        with vmaf.Context(vmaf.load(REPOSITORY / "build"), subsample=subsample) as context:
            context.use_model("vmaf_v0.6.1", "vmaf")
            for name, options in FEATURES.items():
                context.use_feature(name, **options)
            for pair in zip(self.planes(self.reference), self.planes(self.distorted)):
                context.read(*(context.picture("420", 8, *SIZE, side) for side in pair))
            context.flush()
            for index in range(0, FRAMES, subsample):
                context.model("vmaf", index)
            context.write(path, layout)
        return path.read_text()

    def filter_report(self, layout, subsample):
        features = "|".join(f"name={name}" + "".join(rf"\:{key}={value}" for key, value in options.items()) for name, options in FEATURES.items())
        path = self.folder / f"filter.{layout}"
        run = self.alias(self.distorted, self.reference, options=f"log_fmt={layout}:log_path={path}:n_subsample={subsample}:feature='{features}'")
        self.assert_ok(run)
        return path.read_text()

    def test_every_layout(self):
        """What stands before the frames is each one's own, and the filter pools in more ways."""
        for layout, begin, end in (("csv", "Frame,", ""), ("sub", "{0}{1}frame", ""), ("xml", "  <frames>", "  </frames>"),
                                   ("json", '  "frames": [', '  "pooled_metrics"')):
            for subsample in (1, 2):
                with self.subTest(layout=layout, subsample=subsample):
                    frames = [text[text.index(begin):(text.index(end) if end else len(text))]
                              for text in (self.library_report(layout, subsample), self.filter_report(layout, subsample))]
                    self.assertEqual(frames[0], frames[1])


if __name__ == "__main__":
    unittest.main()
