# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which files' streams are compared: pads without labels are given a file's second video before another file is read. Each remedy that
is printed is typed here, and has to give what was meant."""

import re
import unittest

from harness import FilterTest, ffmpeg, make

PLAYLIST = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:4.0,\n{}\n#EXT-X-ENDLIST\n"
MASTER = ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=176x144\nv0.m3u8\n"
          "#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=176x144\nv1.m3u8\n")


class Sources(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source()
        self.distorted = self.worse(self.reference)
        self.cover = make(self.clips, "cover.jpg", f"mandelbrot=s={self.SIZE}", "-frames:v", "1")

    def with_stream(self, name, second, *options):
        """A file with another video stream behind that of the distorted one."""
        return make(self.clips, name, self.distorted, "-i", second, "-map", "0", "-map", "1", "-c", "copy", *options)

    def covered(self):
        return self.with_stream("covered.mp4", self.cover, "-disposition:v:1", "attached_pic")

    def covered_in_front(self):
        """The same, but the cover, which is a tag of the file, is read before the video: stream 0:0."""
        data = self.covered().read_bytes()
        moov = data.index(b"moov") - 4
        end = moov + int.from_bytes(data[moov:moov + 4], "big")
        boxes, at = [], moov + 8
        while at < end:
            size = int.from_bytes(data[at:at + 4], "big")
            boxes.append(data[at:at + size])
            at += size
        boxes.sort(key=lambda box: box[4:8] != b"udta")
        path = self.clips / "front.mp4"
        path.write_bytes(data[:moov + 8] + b"".join(boxes) + data[end:])
        return path

    def variants(self):
        """A master playlist of two."""
        for index, bit_rate in enumerate(("300k", "50k")):
            segment = make(self.clips, f"v{index}.ts", self.reference, "-c:v", "mpeg4", "-b:v", bit_rate)
            (self.clips / f"v{index}.m3u8").write_text(PLAYLIST.format(segment.name))
        (self.clips / "master.m3u8").write_text(MASTER)
        return self.clips / "master.m3u8"

    def run_graph(self, graph, *inputs, options=()):
        arguments = [text for path in inputs for text in ("-i", path)]
        return ffmpeg([*arguments, "-lavfi", graph, *options, "-f", "null", "-"], self.folder)

    def mean(self, run):
        self.assert_ok(run)
        return re.search(r"float_ssim mean:(\S+)", run.text)[1]

    def score_of(self, *inputs):
        return self.mean(self.run_graph("[0:V:0][1:V:0]quality_cuda=ssim:backend=cpu", *inputs))

    def remedies(self, run):
        """The error's two remedies: labels, and the option."""
        text = run.messages("of one file")[0]
        return re.search(r"videos, (\[\S+\])quality_cuda", text)[1], re.search(r"accept it, (\S+)$", text)[1]

    def check_remedies(self, distorted, kind):
        run = self.run_graph("quality_cuda=ssim:backend=cpu", distorted, self.reference)
        self.assert_fails(run, "Input 0 (main) and input 1 (reference) are two streams of one file, 0:0 (", f", {kind} perhaps")
        labels, option = self.remedies(run)
        meant = self.run_graph(f"{labels}quality_cuda=ssim:backend=cpu:strict=1", distorted, self.reference)
        accepted = self.run_graph(f"quality_cuda=ssim:backend=cpu:{option}", distorted, self.reference)
        self.assertNotEqual(self.mean(accepted), self.mean(meant))
        return self.mean(meant)

    def test_a_cover_picture(self):
        self.assertEqual(self.check_remedies(self.covered(), "a cover picture"), self.score_of(self.distorted, self.reference))

    def test_a_cover_in_front(self):
        """The label that a user writes first takes it; the one that is advised does not."""
        front = self.covered_in_front()
        run = self.run_graph("[0:v][1:v]quality_cuda=ssim:backend=cpu", front, self.reference)
        told = run.messages("a single picture that is attached to its file")
        self.assertEqual(len(told), 1, run.text)
        self.assertIn("Input 0 (main) is stream 0:0, ", told[0])
        labels = re.search(r"videos, (\[\S+\])quality_cuda", told[0])[1]
        meant = self.mean(self.run_graph(f"{labels}quality_cuda=ssim:backend=cpu:strict=1", front, self.reference))
        self.assertEqual(meant, self.score_of(self.distorted, self.reference))

    def test_an_alpha_plane(self):
        alpha = make(self.clips, "alpha.nut", self.reference, "-vf", "negate", "-c:v", "ffv1", "-pix_fmt", "gray")
        both = self.with_stream("alpha.mkv", alpha)
        self.assertEqual(self.check_remedies(both, "an alpha plane"), self.score_of(self.distorted, self.reference))

    def test_variants_of_a_playlist(self):
        meant = self.check_remedies(self.variants(), "a variant, a preview or a cover picture")
        self.assertEqual(meant, self.score_of(self.clips / "v0.ts", self.reference))

    def test_labels_on_purpose_meet_it_too(self):
        both = self.with_stream("both.mkv", self.reference)
        run = self.run_graph("[0:v:0][0:v:1]quality_cuda=ssim:backend=cpu", both)
        self.assert_fails(run, "are two streams of one file")
        accepted = self.mean(self.run_graph(f"[0:v:0][0:v:1]quality_cuda=ssim:backend=cpu:{self.remedies(run)[1]}", both))
        self.assertEqual(accepted, self.score_of(self.distorted, self.reference))

    def test_filters_between(self):
        both = self.with_stream("both.mkv", self.reference)
        run = self.run_graph("[0:v:0]null,split[a][x];[x]nullsink;[0:v:1]hue=b=0[b];[a][b]quality_cuda=ssim:backend=cpu", both)
        self.assert_fails(run, "are two streams of one file")

    def test_a_stream_beside_itself(self):
        run = self.run_graph("[0:v][0:v]quality_cuda=ssim:backend=cpu", self.distorted)
        self.assert_fails(run, "are one stream, 0:0, compared with itself")
        self.assert_ok(self.run_graph("[0:v][0:v]quality_cuda=ssim:backend=cpu:same_file=1:strict=1", self.distorted))
        split = "[0:v]split[a][b];[a]noise=alls=9[d];[d][b]quality_cuda=ssim:backend=cpu:strict=1"
        self.assert_ok(self.run_graph(split, self.distorted))

    def test_a_ladder_in_one_file(self):
        both = self.with_stream("both.mkv", self.reference)
        run = self.run_graph("[0:v:0][1:v][0:v:1]quality_cuda=ssim:backend=cpu:renditions=2:strict=1", both, self.reference)
        self.assert_ok(run)

    def test_libvmafs_name_warns(self):
        both = self.with_stream("both.mkv", self.reference)
        run = self.run_graph("libvmaf", both, self.reference)
        self.assert_ok(run)
        self.assertEqual(len(run.messages("name the files' videos, [0:V:0][1:V:0]libvmaf")), 1, run.text)

    def test_a_single_frame_beside_many(self):
        still = make(self.clips, "still.nut", self.reference, "-frames:v", "1", "-c", "copy")
        run = self.run_graph("quality_cuda=ssim:backend=cpu", self.distorted, still)
        self.assert_ok(run)
        told = run.messages("Input 1 (reference) has a single frame, main has 10: ")
        self.assertEqual(len(told), 1, run.text)
        option = re.search(r"this one, (\S+)$", told[0])[1]
        run = self.run_graph(f"quality_cuda=ssim:backend=cpu:{option}", self.distorted, still)
        self.assertEqual(run.messages("has a single frame"), [])
        self.assertTrue(run.messages("frames:10 scored:10 "), run.text)

    def test_single_frames_on_purpose(self):
        still = make(self.clips, "still.nut", self.reference, "-frames:v", "1", "-c", "copy")
        self.assert_ok(self.run_graph("quality_cuda=ssim:backend=cpu:strict=1", still, still))


if __name__ == "__main__":
    unittest.main()
