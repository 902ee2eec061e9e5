# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Interlaced frames on either side: what the warning advises is typed as it stands, and has to give the score of the pictures that were
meant, which are made here as files, by another way."""

import re
import unittest

from harness import FilterTest, ffmpeg, make

FIELDS = "testsrc2=s=176x144:r=50:d=0.8,noise=alls=8:allf=t:all_seed=7"
LOSSLESS = ("-c:v", "ffv1", "-pix_fmt", "yuv420p")
CODED = ("-c:v", "mpeg2video", "-pix_fmt", "yuv420p", "-bf", "0")
BY_FIELDS = ("-flags", "+ilme+ildct")
WEAVE = "tinterlace=interleave_top,setfield=tff"


class Interlaced(FilterTest):
    def setUp(self):
        super().setUp()
        self.p50 = make(self.clips, "p50.nut", FIELDS, *LOSSLESS)
        self.i25 = make(self.clips, "i25.ts", FIELDS, "-vf", WEAVE, *CODED, *BY_FIELDS, "-q:v", "2")
        self.per_frame = make(self.clips, "per-frame.nut", self.i25, "-vf", "bwdif=0", *LOSSLESS)
        self.per_field = make(self.clips, "per-field.nut", self.i25, "-vf", "bwdif=1", *LOSSLESS)

    def encode(self, name, source, *options):
        return make(self.clips, name, source, *CODED, "-q:v", "9", *options)

    def run_graph(self, graph, distorted, reference, options=""):
        return ffmpeg(["-i", distorted, "-i", reference, "-lavfi", f"{graph}=psnr:backend=cpu{options}", "-f", "null", "-"], self.folder)

    def mean(self, graph, distorted, reference):
        run = self.run_graph(graph, distorted, reference, options=":strict=1")
        self.assert_ok(run)
        return float(re.search(r"psnr_y mean:(\S+)", run.text)[1])

    def advice(self, distorted, reference):
        """@return the graphs that the warning has"""
        run = self.run_graph("quality_cuda", distorted, reference)
        told = run.messages("has interlaced frames")
        self.assertEqual(len(told), 1, run.text)
        return re.findall(r"(?<= )\[\S+quality_cuda", told[0])

    def test_a_progressive_encode_of_an_interlaced_master(self):
        encode = self.encode("p25.ts", self.per_frame)
        first, second = self.advice(encode, self.i25)
        right = self.mean("quality_cuda", encode, self.per_frame)
        self.assertEqual(self.mean(first, encode, self.i25), right)
        # The other one is right for an encode of the frames as they are, and clearly wrong here.
        self.assertLess(self.mean(second, encode, self.i25), right - 3)
        whole = self.encode("woven.ts", self.i25, "-vf", "setfield=prog")
        self.assertGreater(self.mean(second, whole, self.i25), self.mean(first, whole, self.i25) + 3)

    def test_a_frame_for_each_field_of_the_master(self):
        encode = self.encode("p50.ts", self.per_field)
        first, = self.advice(encode, self.i25)
        self.assertEqual(self.mean(first, encode, self.i25), self.mean("quality_cuda", encode, self.per_field))

    def test_both(self):
        encode = self.encode("i25e.ts", self.i25, *BY_FIELDS, "-vf", "setfield=tff")
        first, = self.advice(encode, self.i25)
        fields = make(self.clips, "encoded-fields.nut", encode, "-vf", "bwdif=1", *LOSSLESS)
        self.assertEqual(self.mean(first, encode, self.i25), self.mean("quality_cuda", fields, self.per_field))

    def test_an_interlaced_encode_of_a_master_with_a_frame_for_each_field(self):
        encode = self.encode("i25m.ts", self.p50, *BY_FIELDS, "-vf", WEAVE)
        first, = self.advice(encode, self.p50)
        fields = make(self.clips, "fields-of-master.nut", encode, "-vf", "bwdif=1", *LOSSLESS)
        self.assertEqual(self.mean(first, encode, self.p50), self.mean("quality_cuda", fields, self.p50))

    def test_a_progressive_master_that_was_coded_as_interlaced(self):
        master = make(self.clips, "p25.nut", self.p50, "-vf", "framestep=2", *LOSSLESS)
        encode = self.encode("psf.ts", master, *BY_FIELDS, "-vf", "setfield=tff")
        same = make(self.clips, "psf.nut", encode, "-vf", "setfield=prog", *LOSSLESS)
        first, second = self.advice(encode, master)
        right = self.mean("quality_cuda", same, master)
        self.assertEqual(self.mean(first, encode, master), right)
        self.assertLess(self.mean(second, encode, master), right - 1)

    def test_an_interlaced_encode_beside_a_deinterlaced_master(self):
        encode = self.encode("i25e.ts", self.i25, *BY_FIELDS, "-vf", "setfield=tff")
        frames = make(self.clips, "encoded-frames.nut", encode, "-vf", "bwdif=0", *LOSSLESS)
        second = self.advice(encode, self.per_frame)[1]
        self.assertEqual(self.mean(second, encode, self.per_frame), self.mean("quality_cuda", frames, self.per_frame))


if __name__ == "__main__":
    unittest.main()
