# SPDX-License-Identifier: BSD-2-Clause-Patent
"""gpu-check's clips: which it makes, that they are what the checks need, and what it says of those that it cannot make."""

import contextlib
import dataclasses
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from gpu_checks import clips, ladder, latency, pipelines, speed  # noqa: E402
from gpu_checks.report import Report  # noqa: E402

FFMPEG = pathlib.Path(os.environ.get("QC_FFMPEG", ROOT / "build/ffmpeg/bin/ffmpeg"))
FFPROBE = FFMPEG.with_name("ffprobe")


def small(clip, frames=24):
    return dataclasses.replace(clip, width=320, height=180, frames=frames, rate="400k" if "ref" in clip.name else "60k")


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, text):
        """An ffmpeg that is none."""
        path = self.folder / "ffmpeg"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)


class Making(WithFolder):
    """With the real ffmpeg: small ones, by the recipes of the large ones."""

    def setUp(self):
        super().setUp()
        if not FFMPEG.exists():
            self.skipTest(f"SKIPPED: {FFMPEG} is not there")

    def make(self, clip, folder="made"):
        return clips.make(clip, str(FFMPEG), str(self.folder / folder), timeout=120)

    def probe(self, path):
        done = subprocess.run([FFPROBE, "-v", "error", "-count_packets", "-show_streams", "-show_packets", "-of", "json", path],
                              capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        return found["streams"][0], [packet["flags"] for packet in found["packets"]]

    def one_of_each_kind(self):
        kinds = {(clip.stream, clip.format): clip for clip in clips.EVERY_CLIP}
        self.assertEqual(sorted(kinds), [("h264", "yuv420p"), ("hevc", "yuv420p"), ("hevc", "yuv420p10le"), ("hevc", "yuv444p"),
                                         ("obu", "yuv420p"), ("obu", "yuv420p10le")])
        encoders = subprocess.run([FFMPEG, "-v", "error", "-encoders"], capture_output=True, text=True, check=True).stdout
        return [clip for clip in kinds.values() if f" {clip.encoder} " in encoders]

    def test_what_is_made_is_what_it_should_be(self):
        for clip in self.one_of_each_kind():
            with self.subTest(clip.name):
                path, text = self.make(small(clip))
                self.assertIn("made, 24 frames", text)
                stream, packets = self.probe(path)
                self.assertEqual([stream[key] for key in ("codec_name", "width", "height", "pix_fmt")],
                                 ["av1" if clip.stream == "obu" else clip.stream, 320, 180, clip.format])
                self.assertEqual(len(packets), 24)
                self.assertTrue(packets[0].startswith("K"), "it begins with a key frame")
                if clip.stream != "obu":  # which shows its frames in order, and has others that it does not show
                    self.assertGreater(stream["has_b_frames"], 0)

    def test_repeated_it_has_all_its_frames(self):
        for clip in self.one_of_each_kind():
            with self.subTest(clip.name):
                whole = small(clip)
                path, _ = self.make(whole)
                there = types.SimpleNamespace(path=lambda _, path=path: path, frames=lambda _, whole=whole: whole.frames)
                looped = speed.looped_clip(types.SimpleNamespace(clips=there, out=str(self.folder)), clip.name, 70)
                done = subprocess.run([FFMPEG, "-v", "error", "-stats", "-i", looped, "-f", "null", "-"], capture_output=True,
                                      text=True, check=True)
                self.assertIn("frame=   72 ", done.stderr)
                self.assertEqual(done.stderr.count("rror"), 0)

    def test_reference_and_distorted_show_the_same_pictures(self):
        """But not equally well."""
        for codec in ("h264", "hevc"):
            reference, distorted = (self.make(small(clips.BY_NAME[f"{side}_1080p.{codec}"]))[0] for side in ("ref", "dist"))
            log = self.folder / "log.json"
            subprocess.run([FFMPEG, "-v", "error", "-i", distorted, "-i", reference, "-lavfi",
                            f"quality_cuda=backend=cpu:metrics=psnr:log_path={log}", "-f", "null", "-"], check=True)
            content = json.loads(log.read_text())
            self.assertEqual(len(content["frames"]), 24)
            for frame in content["frames"]:
                self.assertGreater(frame["metrics"]["psnr_y"], 18)
                self.assertLess(frame["metrics"]["psnr_y"], 50)

    def test_made_twice_it_is_the_same(self):
        paths = [self.make(small(clips.BY_NAME["ref_1080p.h264"]), folder)[0] for folder in ("one", "two")]
        self.assertEqual(*(pathlib.Path(path).read_bytes() for path in paths))

    def test_one_that_is_there_is_not_made_again(self):
        clip = small(clips.BY_NAME["dist_1080p.h264"])
        self.make(clip)
        self.assertEqual(self.make(clip)[1], "made earlier, 24 frames")
        self.assertIn("made, 12 frames", self.make(dataclasses.replace(clip, frames=12))[1])


class NotMade(WithFolder):
    def why(self, ffmpeg, clip="ref_1080p.h264"):
        with self.assertRaises(clips.NoClip) as caught:
            clips.make(clips.BY_NAME[clip], ffmpeg, str(self.folder), timeout=5)
        self.assertFalse((self.folder / clip).exists())
        return caught.exception.outcome, str(caught.exception)

    def test_no_encoder(self):
        outcome, text = self.why(self.program("echo \"Unknown encoder 'libx264'\"; exit 1"))
        self.assertEqual((outcome, text), ("skipped", "ref_1080p.h264 is not there, and this ffmpeg has no libx264 to make it"))

    def test_failures(self):
        for text, said in (("echo no room; exit 3", "exit 3: no room"), ("echo 'frame=  149 '", "exit 0"), ("sleep 60", "timed out after 5.0 s")):
            with self.subTest(text):
                outcome, reason = self.why(self.program(text))
                self.assertEqual(outcome, "failed")
                self.assertIn(said, reason)
        self.assertEqual(self.why("/nowhere/ffmpeg")[0], "failed")


class Choice(WithFolder):
    """Of the shared clips and those that are made."""

    def setUp(self):
        super().setUp()
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        # Writes what it was asked for, and counts how often.
        self.ffmpeg = self.program(f'echo x >> {self.folder}/calls; for last; do :; done; echo clip > "$last"\n'
                                   'while [ "$1" != -frames:v ]; do shift; done; echo "frame= $2 "')

    def clips(self, *there):
        for name in there:
            (self.shared / name).write_text("shared")
        found = clips.Clips(self.ffmpeg, str(self.shared), str(self.folder / "made"))
        self.addCleanup(found.settle)
        return found

    def calls(self):
        path = self.folder / "calls"
        return len(path.read_text().split()) if path.exists() else 0

    def test_what_the_parts_ask_for_is_in_the_list(self):
        asked = {name for pair in pipelines.PAIRS for name in pair}
        asked |= {f"{side}_{clip}" for clip, _, _ in speed.END_TO_END for side in ("ref", "dist")} | {ladder.SOURCE, *ladder.RENDITIONS}
        self.assertEqual(asked, set(clips.BY_NAME))

    def test_all_shared_but_those_that_no_shared_clip_is(self):
        found = self.clips(*(clip.name for clip in clips.CLIP_SETS[0]))
        self.assertEqual(found.get("ref_1080p.h264"), (str(self.shared / "ref_1080p.h264"), "the shared one"))
        self.assertEqual((found.origin("ref_1080p.h264"), found.frames("ref_1080p.h264")), ("shared clips", 300))
        self.assertEqual(self.calls(), 0)
        path, text = found.get("ref_1080p_10bit.hevc")
        self.assertEqual(path, str(self.folder / "made/ref_1080p_10bit.hevc"))
        self.assertTrue(text.startswith("made, 75 frames"), text)
        found.settle()
        self.assertEqual(self.calls(), sum(map(len, clips.CLIP_SETS[1:])))

    def test_a_set_is_shared_as_a_whole(self):
        """A reference that is shared and a distorted clip that is made would show different pictures."""
        found = self.clips(*(clip.name for clip in clips.CLIP_SETS[0][1:]))
        self.assertEqual((found.origin("dist_1080p.h264"), found.frames("dist_1080p.h264")), ("made clips", 150))
        self.assertEqual(found.path("dist_1080p.h264"), str(self.folder / "made/dist_1080p.h264"))

    def test_each_is_made_once_and_reported(self):
        found, context = self.clips(), types.SimpleNamespace(report=Report())
        context.clips = found
        found.begin()
        found.begin()
        with contextlib.redirect_stdout(io.StringIO()):
            clips.report_all(context)
        self.assertEqual(self.calls(), len(clips.EVERY_CLIP))
        self.assertEqual([entry["name"] for entry in context.report.entries], [f"clip {clip.name}" for clip in clips.EVERY_CLIP])
        self.assertEqual({entry["outcome"] for entry in context.report.entries}, {"passed"})

    def test_parts_report_what_is_missing(self):
        ffmpeg = self.program("echo \"Unknown encoder 'libx264'\"; echo \"Unknown encoder 'libx265'\"; echo \"Unknown encoder 'libsvtav1'\"; exit 1")
        context = types.SimpleNamespace(report=Report(), numbers={}, out=str(self.folder), left=lambda: 100.0, ffmpeg=ffmpeg,
                                        tool=os.path.join, clips=clips.Clips(ffmpeg, str(self.shared), str(self.folder / "made")))
        with contextlib.redirect_stdout(io.StringIO()), mock.patch.object(pipelines, "hold_gpu_memory"):
            pipelines.pipelines(context)
            pipelines.errors(context)
            speed.end_to_end(context, speed.plan.QUICK)
            ladder.speed(context, speed.plan.QUICK, speed.frames_per_second, speed.looped_clip)
            for check in (ladder.recipe, latency.check):
                with pipelines.reported(context, check.__module__) as name:
                    check(context, name)
        entries = context.report.entries
        self.assertEqual(len(entries), len(pipelines.PAIRS) + 4 + 3 + len(speed.END_TO_END) + 3)
        self.assertEqual({entry["outcome"] for entry in entries}, {"skipped"})
        self.assertTrue(all("this ffmpeg has no lib" in entry["detail"] for entry in entries), entries)


if __name__ == "__main__":
    unittest.main()
