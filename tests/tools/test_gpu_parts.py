# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What gpu-check's other parts make of what they read."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from gpu_checks import ladder, latency, pipelines, speed  # noqa: E402
from gpu_checks.report import Report, refused_cleanly  # noqa: E402


class Parts(unittest.TestCase):
    def context(self, **more):
        return types.SimpleNamespace(report=Report(), numbers={}, words_of_metrics=lambda: ["psnr", "vif"], **more)

    def outcomes(self, function, *arguments):
        with contextlib.redirect_stdout(io.StringIO()):
            function(*arguments)
        return [entry["outcome"] for entry in arguments[0].report.entries]

    def test_texts_of_exhausted_memory(self):
        for text in ("device memory: 512 MiB wanted", "page-locked memory: 1 MiB", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"):
            self.assertRegex(text, pipelines.NO_MEMORY)
        self.assertNotRegex("CUDA on H200: batches of 16 frames x 1 renditions, 3 in flight, 99.6 MiB of device memory", pipelines.NO_MEMORY)

    def test_clean_refusals(self):
        self.assertEqual([refused_cleanly(types.SimpleNamespace(returncode=n)) for n in (1, 187, 0, 124, -6, -9, -11)],
                         [True, True, False, False, False, False, False])

    def copies(self, largest, launches=1):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as trace:
            json.dump({"device_to_host": {"calls": 1, "largest": largest}, "graph_launches": launches}, trace)
            trace.flush()
            return self.outcomes(pipelines.copies, self.context(), "clip", trace.name, 300)

    def test_copies(self):
        self.assertEqual(self.copies(2304), ["passed"])
        self.assertEqual(self.copies(1920 * 1080), ["failed"])
        self.assertEqual(self.copies(0), ["passed"])
        self.assertEqual(self.copies(2304, launches=0), ["failed"])
        self.assertEqual(self.outcomes(pipelines.copies, self.context(), "clip", "/nowhere/trace.json", 300), ["failed"])

    def pipeline(self, *said):
        """With a run of ffmpeg that says this of its inputs; outcomes by name."""
        scored = types.SimpleNamespace(returncode=0, stdout="\n".join(said)), [{"psnr_y": 30}], {"complete": True}
        clips = types.SimpleNamespace(path=str, origin=lambda _: "made clips")
        context = self.context(clips=clips, out="/nowhere")
        with mock.patch.object(pipelines, "score", return_value=scored), mock.patch.object(pipelines, "copies"):
            self.outcomes(pipelines.pipeline, context, "d", "r")
        return {entry["name"]: entry["outcome"] for entry in context.report.entries}

    def test_software_frames_are_no_surfaces(self):
        on_gpu, in_memory = ("distorted: input 0 (x), 1920x1080 cuda/nv12", "reference: input 1 (y), 1920x1080 yuv420p")
        self.assertEqual(set(self.pipeline(on_gpu, on_gpu).values()), {"passed"})
        self.assertEqual(self.pipeline(on_gpu, in_memory)["both inputs are surfaces d / r"], "failed")
        self.assertEqual(self.pipeline(in_memory, in_memory)["both inputs are surfaces d / r"], "failed")

    def test_conversions_are_seen(self):
        surfaces = ["x: input 0 (x), 1920x1080 cuda/nv12"] * 2
        self.assertEqual(self.pipeline(*surfaces, "[auto_scale_0 @ 0x1]")["no conversion filter d / r"], "failed")

    def waits(self, text):
        """Of lines that come a second apart."""
        return latency.waits_of(latency.events_of(enumerate({"m": "main=1", "r": "reference=1", "o": "out=1"}.get(c, "frame:0") for c in text)))

    def test_waits(self):
        self.assertEqual(self.waits("mr" "mr" "mro" "mro" "oo"), [(5, 1), (6, 1)])  # each leaves with the next but one
        self.assertEqual(self.waits("mr" "mr" "mr" "xxo" "mro"), [(7, 3), (8, 1)])  # the first three later than it could
        self.assertEqual(self.waits("mmm" "rrr" "o"), [(3, 1)])  # a pair is there when both are
        self.assertEqual(self.waits(""), [])

    def test_a_ladder_that_does_not_run(self):
        def outcomes(*speeds):
            turns, context = iter(speeds), self.context(clips=types.SimpleNamespace(origin=lambda _: "made clips"))
            return self.outcomes(ladder.speed, context, speed.plan.QUICK, lambda *_: next(turns), lambda *_: "clip")
        self.assertEqual([outcomes(440.0, 434.0), outcomes(0.0, 434.0), outcomes(440.0, 0.0)], [["passed"], ["failed"], ["failed"]])

    def sums(self, **times):
        context = self.context()
        context.numbers["bench"] = [{"arguments": "x", "batch": 4, "metrics": name, "us_per_pair_median": us} for name, us in times.items()]
        return self.outcomes(speed.sum_of_parts, context, "x")

    def test_sum_of_parts(self):
        self.assertEqual(self.sums(psnr=5.0, vif=5.0, all=9.0, vmaf=1.0), ["passed"])
        self.assertEqual(self.sums(psnr=5.0, vif=5.0, all=10.5, vmaf=1.0), ["failed"])
        self.assertEqual(self.sums(psnr=5.0, all=4.0), ["failed"])
        self.assertEqual(self.sums(psnr=5.0, vif=5.0), ["failed"])
        self.assertEqual(self.sums(), ["failed"])


if __name__ == "__main__":
    unittest.main()
