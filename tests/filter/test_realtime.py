# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scoring that is slower than the stream (realtime=1), and how long a frame is held back."""

import json
import os
import re
import subprocess
import time
import unittest

from harness import FFMPEG, TIMEOUT_SECONDS, WithFakeEngine

LINES = "log_fmt=jsonl:log_path=lines.jsonl"


class Realtime(WithFakeEngine):
    """Streams come in their own time (-re); the stand-in engine takes its own for each row."""

    def paced(self, frames, row_us, slow_rows=None, options="realtime=1", renditions=1):
        clip = self.source(frames=frames)
        environment = {"QC_FAKE_ROW_US": str(row_us), **({"QC_FAKE_SLOW_ROWS": str(slow_rows)} if slow_rows else {})}
        started = time.monotonic()
        inputs = [clip] * (1 + renditions)
        run = self.fake_score(*inputs, options=f"{options}:renditions={renditions}", before_inputs=[("-re",)] * len(inputs),
                              environment=environment)
        self.assert_ok(run)
        self.assertEqual(len(run.out), frames)
        return run, time.monotonic() - started

    def lines(self, kind):
        text = (self.folder / "lines.jsonl").read_text()
        return [line for line in map(json.loads, text.splitlines()) if line["type"] == kind]

    def test_an_engine_that_keeps_up(self):
        run, _ = self.paced(100, 5000)
        self.assert_counts(run, frames=100, scored=100, unscored=0, realtime_passed=0)
        self.assertFalse(run.messages("realtime=1"))

    def test_without_it_the_stream_waits(self):
        _, seconds = self.paced(50, 100000, options="realtime=0")
        self.assertGreater(seconds, 50 * 0.1)

    def test_a_slow_engine(self):
        """Two and a half times too slow, for all of the stream: it ends when it ends."""
        run, seconds = self.paced(250, 100000, options="realtime=1:metrics_file=m.prom")
        self.assertLess(seconds, 250 * 0.1 * 0.7)
        pairing = run.pairing
        self.assertEqual(pairing["realtime_passed"] + pairing["paired"], 250)
        self.assertEqual((pairing["unscored"], pairing["reference_unused"]), (pairing["realtime_passed"], 0))
        self.assertGreater(pairing["realtime_passed"], 100)
        self.assertGreater(pairing["scored"], 50)
        self.assertEqual(len(run.messages("realtime=1: from ")), 1, run.text)
        self.assertTrue(run.messages(f"frames without scores because scoring was slower than the stream:{pairing['realtime_passed']}"))
        tags = [keys.get("unscored") for _, keys in run.tagged]
        self.assertEqual(tags.count("realtime"), pairing["realtime_passed"])
        self.assertIn(f'quality_cuda_realtime_passed_frames_total{{stream="m"}} {pairing["realtime_passed"]}\n',
                      (self.folder / "m.prom").read_text())
        self.assertTrue(run.log["complete"])

    def test_recovery(self):
        """The first twenty rows only are slow."""
        run, _ = self.paced(400, 120000, slow_rows=20, options=f"realtime=1:{LINES}")
        events = [line["event"] for line in self.lines("realtime")]
        self.assertEqual(events, ["overloaded", "recovered"], run.text)
        self.assertEqual(len(run.messages("realtime=1: scoring keeps up again")), 1)
        frames = self.lines("frame")
        passed = [index for index, line in enumerate(frames) if line.get("unscored") == "realtime"]
        self.assertEqual(len(frames), 400)
        self.assertEqual(self.lines("realtime")[1]["passed"], len(passed))
        self.assertGreater(len(passed), 10)
        self.assertLess(passed[-1], 120)

    def test_renditions(self):
        run, _ = self.paced(100, 100000, renditions=2)
        passed = run.pairing["realtime_passed"]
        self.assertGreater(passed, 20)
        self.assertEqual(run.log_named("log.rendition1.json")["pairing"]["realtime_passed"], passed)

    def test_a_file_is_scored_whole(self):
        """It can be made to wait: 100 frames a second are scored of a stream of 25."""
        clip = self.source(frames=200)
        run = self.fake_score(clip, clip, options="realtime=1", environment={"QC_FAKE_ROW_US": "10000"})
        self.assert_ok(run)
        self.assert_counts(run, frames=200, scored=200, realtime_passed=0)

    def test_refusals(self):
        self.assert_fails(self.score(self.clip, self.clip, options="realtime=2"), "realtime")


class Latency(WithFakeEngine):
    """How many frames are held back, read off the order in which they come and leave: no clock has a part in it."""

    FIRST = 8  # frames that may come together: five of them decide the frame rate

    def held_back(self, text):
        """Of each frame: how many of those before it had not left when it came."""
        held, before = 0, []
        for name in re.findall(r"(?m)^\[(?:showinfo@)?(in|out) @ \w+\] n: *\d+ ", text):
            if name == "in":
                before.append(held)
            held += 1 if name == "in" else -1
        return before

    def test_at_most_one_frame_beyond_the_metrics_own_look_ahead(self):
        for look_ahead in (0, 1, 2, 5):
            for options in ("", ":realtime=1", ":async_depth=64"):
                environment = {**os.environ, **self.fake_engine(), "QC_FAKE_LAG": str(look_ahead)}
                graph = f"showinfo@in,split[a][b];[a][b]quality_cuda=psnr:backend=cpu{options},showinfo@out"
                run = subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "info", "-i", self.clip, "-lavfi", graph, "-f", "null", "-"],
                                     cwd=self.folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
                self.assertEqual(run.returncode, 0, run.stderr)
                held = self.held_back(run.stderr)
                self.assertEqual(len(held), 40, run.stderr)
                self.assertLessEqual(max(held[self.FIRST:]), look_ahead + 1, (look_ahead, options, held))
                self.assertGreaterEqual(min(held[self.FIRST:]), look_ahead, (look_ahead, options, held))

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=40)


if __name__ == "__main__":
    unittest.main()
