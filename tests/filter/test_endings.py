# SPDX-License-Identifier: BSD-2-Clause-Patent
"""How runs end: what counts where the consumer had enough, what interrupted runs say of themselves, what was never read."""

import os
import re
import signal
import subprocess
import time
import unittest

from harness import FFMPEG, TIMEOUT_SECONDS, FilterTest, Run, WithFakeEngine, ffmpeg, is_threaded, make, stop_behind


class EarlyStops(FilterTest):
    """Which frames count is a function of the inputs and of what the consumer took, not of timing."""

    RUNS = 5

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=40)
        self.distorted = self.worse(self.reference)

    def outcome(self, threads, depth, **arguments):
        before_inputs = [("-threads", threads)] * 3
        options = f"metrics=vmaf+psnr:async_depth={depth}:n_threads={threads}:{arguments.pop('options', '')}".rstrip(":")
        run = self.score(self.distorted, self.reference, *arguments.pop("more", ()), options=options,
                         before_inputs=before_inputs, **arguments)
        self.assert_ok(run)
        self.assertIs(run.log["complete"], True)
        self.assertEqual(run.log["end"], "stopped early")
        return [run.log[key] for key in ("frames", "pooled_metrics", "aggregate_metrics", "pairing", "reason")] + [run.stats]

    def outcomes(self, **arguments):
        found = [self.outcome(threads, depth, **arguments)
                 for threads in (1, 4) for depth in (1, 30) for _ in range(self.RUNS)]
        for other in found[1:]:
            self.assertEqual(other, found[0])
        return found[0]

    def test_a_number_of_frames(self):
        stop, count = stop_behind(10)
        frames, pooled, _, pairing, _, stats = self.outcomes(**stop)
        self.assertEqual((len(frames), len(stats), pairing["frames"], pairing["paired"], pairing["scored"]), (count,) * 5)
        self.assertEqual([frame["frameNum"] for frame in frames], list(range(count)))
        mean = sum(frame["metrics"]["vmaf"] for frame in frames) / count
        self.assertAlmostEqual(pooled["vmaf"]["mean"], mean, delta=1e-5)

    def test_a_time(self):
        """The frame that is the first behind the end is looked at too, as by FFmpeg's own filters."""
        frames = self.outcomes(output=("-t", "0.4"))[0]
        self.assertEqual(len(frames), 11)

    def test_an_encoder_that_has_enough(self):
        """From FFmpeg 7 on -frames:v ends the encoder, and the graph some time later, which asks for a frame more meanwhile: whether
        the filter has that one is a matter of timing, but nobody takes it."""
        whole = self.score(self.distorted, self.reference, options="metrics=vmaf+psnr").log["frames"]
        for count in (1, 13, 39, 40):
            found = self.outcomes(output=("-frames:v", str(count))) if count < 40 else [whole]
            self.assertEqual(found[0], whole[:count])

    def test_an_encoder_that_has_enough_in_other_graphs(self):
        """Filters behind this one, and before it, which a graph would free in another order; two of this one."""
        one = "quality_cuda=vmaf:backend=cpu:log_path=log.json:stats_file=stats.txt"
        other = one.replace("log.", "other.").replace("stats.", "others.")
        end = ("-frames:v", "13", "-f", "null", "-")
        for graph, outputs in ((f"[0:v]null[d];[1:v]null[r];[d][r]{one},format=yuv444p", end),
                               (f"[0:v]null[d];[1:v]null[r];[d][r]{one},null[x]", ("-map", "[x]", "-c:v", "mpeg4", *end)),
                               (f"[0:v]split[a][b];[a][1:v]{one}[x]", ("-map", "[x]", *end, "-map", "[b]", *end)),
                               (f"[0:v]split[a][b];[1:v]split[r][s];[a][r]{one}[x];[b][s]{other}[y]", ("-map", "[x]", *end, "-map", "[y]", *end))):
            for _ in range(self.RUNS):
                run = ffmpeg(["-i", self.distorted, "-i", self.reference, "-filter_complex", graph, *outputs], self.folder)
                self.assert_ok(run)
                self.assertEqual((len(run.log["frames"]), len(run.stats), run.log["complete"], run.log["end"]),
                                 (13, 13, True, "stopped early"), graph)

    def test_scores_are_those_of_the_whole_run(self):
        whole = self.score(self.distorted, self.reference, options="metrics=vmaf+psnr").log["frames"]
        stop, count = stop_behind(10)
        self.assertEqual(self.outcome(4, 8, **stop)[0], whole[:count])

    def test_with_gaps_and_unused_frames(self):
        before = {0: "select=not(eq(mod(n\\,9)\\,4))", 1: "select=not(eq(mod(n\\,7)\\,3))"}
        stop, count = stop_behind(12)
        _, _, _, pairing, _, stats = self.outcomes(before=before, **stop)
        self.assertEqual(pairing["frames"], count)
        self.assertEqual(pairing["paired"] + pairing["gaps"], count)
        self.assertEqual(len(stats), pairing["paired"])
        self.assertEqual(pairing["reference_unused"], 1 if count == 12 else 2)  # the 13th frame's partner lies behind another one

    def test_with_a_rendition(self):
        stop, count = stop_behind(10)
        frames = self.outcomes(more=(self.distorted,), options="renditions=2", **stop)[0]
        self.assertEqual(len(frames), count)

    def test_behind_another_filter(self):
        stop, count = stop_behind(10, "select=not(mod(n\\,2))")
        frames = self.outcomes(**stop)[0]
        self.assertEqual(len(frames), 2 * count - 1)  # the tenth that passes the selection is the 19th

    def test_slower_than_the_consumer(self):
        """Nothing leaves that was not asked for, so a frame for every request, however long its scores take."""
        stop, count = stop_behind(39 if is_threaded() else 40)
        self.assertEqual((self.outcome(1, 1, **stop)[3]["frames"], count), (40, 40))

    def test_too_few_pairs_are_said(self):
        """FFmpeg frees a filter that it has enough of without asking it: the exit code cannot tell."""
        clip = self.source(rate="50", frames=40)
        for stop, frames in (stop_behind(20), ({"output": ("-t", "0.4")}, 21)):
            run = self.score(clip, clip, before={1: "framestep=4"}, **stop)
            self.assertTrue(run.messages(f"only {(frames + 3) // 4} of {frames} frames found a partner"), run.text)
            self.assert_counts(run, frames=frames, paired=(frames + 3) // 4)
            self.assertEqual((run.log["complete"], run.log["end"]), (False, "failure"))


class Sinks(FilterTest):
    """Frames leave on request only: every consumer has to make some."""

    def run_graph(self, graph, *maps):
        clip = self.source(frames=40)
        run = ffmpeg(["-i", clip, "-i", clip, "-filter_complex", graph, *maps], self.folder)
        self.assert_ok(run)
        return run

    def check(self, graph, *maps):
        run = self.run_graph(graph, *maps)
        self.assert_counts(run, frames=40, paired=40, scored=40)
        self.assertEqual((run.log["complete"], run.log["end"]), (True, "end of stream"))

    def test_one_that_keeps_nothing(self):
        """From FFmpeg 7 on the graph is taken down when the outputs have all their frames, wherever the sink is by then."""
        words = ("[0:v]split[a][b];[a][1:v]quality_cuda=metrics=psnr:backend=cpu:log_path=log.json,nullsink",
                 "-map", "[b]", "-f", "null", "-")
        if not is_threaded():
            return self.check(*words)
        pairing = self.run_graph(*words).pairing
        self.assertEqual({pairing[key] for key in ("paired", "scored")}, {pairing["frames"]})
        self.assertTrue(20 <= pairing["frames"] <= 40, pairing)
        return None

    def test_one_that_keeps_nothing_beside_one_that_goes_on(self):
        """All inputs have been read when the last frames are asked for: FFmpeg 7.1 aborts then where the end takes a further request."""
        for metrics in ("psnr", "vmaf"):
            for behind in ("", ",metadata=print:file=metadata.txt", ",split[x][y];[x]nullsink;[y]"):
                for other in ("reverse", "quality_cuda=metrics=vmaf:backend=cpu,reverse"):
                    with self.subTest(metrics=metrics, behind=behind, other=other):
                        pads = "[b][s]" if "quality" in other else "[s]nullsink;[b]"
                        self.check(f"[0:v]split[a][b];[1:v]split[r][s];[a][r]quality_cuda=metrics={metrics}:backend=cpu:log_path=log.json{behind}"
                                   f"{'' if behind.endswith(']') else ','}nullsink;{pads}{other}[c]", "-map", "[c]", "-f", "null", "-")

    def test_two_of_which_one_has_enough(self):
        self.check("[0:v][1:v]quality_cuda=metrics=psnr:backend=cpu:log_path=log.json,split[a][b];[b]trim=end_frame=5[c]",
                   "-map", "[a]", "-f", "null", "-", "-map", "[c]", "-f", "null", "-")

    def test_another_rate(self):
        self.check("[0:v][1:v]quality_cuda=metrics=psnr:backend=cpu:log_path=log.json,fps=60[a]", "-map", "[a]", "-f", "null", "-")


class EarlyStopsOfASlowEngine(WithFakeEngine):
    def test_a_number_of_frames(self):
        for delay, lag in (("0", "0"), ("3000", "1"), ("3000", "3")):
            stop, count = stop_behind(7)
            run = self.fake_score(self.clip, self.clip, environment={"QC_FAKE_DELAY_US": delay, "QC_FAKE_LAG": lag}, **stop)
            self.assert_ok(run)
            self.assert_counts(run, frames=count, paired=count, scored=count)
            self.assertEqual((len(run.log["frames"]), len(run.stats), len(run.tagged)), (count, count, count))


class SinksOfAnEngineThatFails(WithFakeEngine):
    def test_one_that_keeps_nothing_beside_one_that_goes_on(self):
        graph = ("[0:v]split[a][b];[1:v]split[r][s];[s]nullsink;[a][r]quality_cuda=psnr:backend=cpu:on_error=pass:log_path=log.json,nullsink;"
                 "[b]reverse[c]")
        run = ffmpeg(["-i", self.clip, "-i", self.clip, "-filter_complex", graph, "-map", "[c]", "-f", "null", "-"], self.folder,
                     {**self.fake_engine(), "QC_FAKE_FAIL_AT": "3"})
        self.assertIn("the video goes on without scores", run.text)
        self.assert_ok(run)
        self.assert_counts(run, frames=20)


class UnreadReference(FilterTest):
    """Frames of the reference behind the distorted video's end."""

    def setUp(self):
        super().setUp()
        self.one = self.source(frames=1)

    def line(self, run):
        lines = run.messages("reference frames repeated:")
        self.assertEqual(len(lines), 1, run.text)
        return lines[0]

    def test_are_counted(self):
        run = self.score(self.one, self.source(frames=60), verbosity="level+info")
        self.assert_ok(run)
        self.assert_counts(run, frames=1, paired=1, reference_unused=59, reference_ended=True)
        self.assertIn("unused:59 max", self.line(run))
        self.assertIn("[warning]", self.line(run))

    def test_are_not_read_without_bound(self):
        run = self.score(self.one, self.source(frames=150), verbosity="level+info")
        self.assert_ok(run)
        self.assert_counts(run, reference_unused=100, reference_ended=False)
        self.assertIn("unused:100 and more that were not read", self.line(run))
        self.assertIn("[warning]", self.line(run))

    def test_none(self):
        run = self.score(self.one, self.one, verbosity="level+info")
        self.assert_ok(run)
        self.assert_counts(run, reference_unused=0, reference_ended=True)
        self.assertIn("[info]", self.line(run))

    def test_of_a_rendition(self):
        run = self.score(self.one, self.one, self.source(frames=10), options="renditions=2", verbosity="level+info")
        self.assert_ok(run)
        self.assert_counts(run, reference_unused=0)
        self.assertEqual(run.log_named("log.rendition1.json")["pairing"]["rendition_unused"], 9)
        self.assertIn("[warning]", run.messages("rendition 1: frames:1 scored:1")[0])

    def test_frames_that_would_not_fit_do_no_harm(self):
        """They are read to be counted, not to be compared."""
        halves = [make(self.clips, f"tail{index}.raw", f"testsrc2=s={size}:r=25,trim=end_frame=5", "-c:v", "mjpeg", "-q:v", "2",
                       "-f", "rawvideo") for index, size in enumerate((self.SIZE, "320x180"))]
        stream = self.clips / "tail.mjpeg"
        stream.write_bytes(b"".join(half.read_bytes() for half in halves))
        changing = make(self.clips, "tail.mkv", stream, "-c", "copy")
        run = self.score(self.one, changing, before_inputs=((), ("-reinit_filter", "0")), before={0: "format=yuvj420p"})
        self.assert_ok(run)
        self.assert_counts(run, paired=1, reference_unused=9)


class Interrupted(FilterTest):
    """A run that was cut off from outside is not complete, and says why."""

    def check_taken_down(self, run):
        """By an error elsewhere. From FFmpeg 7 on the threads before the filter may end as if their inputs did, or those behind it as
        if they had enough: only the exit code says more then."""
        if is_threaded() and run.log and run.log["complete"]:
            self.assertIn(run.log["end"], ("end of stream", "stopped early"))
            self.assertEqual(len(run.stats), len(run.log["frames"]))
        else:
            self.check(run, "stopped early", "the filter graph was taken down before its inputs ended")

    def check(self, run, end, reason):
        self.assertIsNotNone(run.log, run.text)
        self.assertIs(run.log["complete"], False)
        self.assertEqual((run.log["end"], run.log["reason"]), (end, reason))
        self.assertGreater(len(run.log["frames"]), 0)
        self.assertEqual(len(run.stats), len(run.log["frames"]))
        self.assertTrue(run.messages("INCOMPLETE after"), run.text)

    def run_until_signal(self, number, options=""):
        """Starts a run in real time, and sends it the signal once it has scored something."""
        clip = self.source(frames=500)
        for name in ("stats.txt", "log.json"):
            (self.folder / name).unlink(missing_ok=True)
        graph = f"[0:v][1:v]quality_cuda=metrics=psnr:backend=cpu:stats_file=stats.txt:log_path=log.json{options}"
        command = [str(FFMPEG), "-hide_banner", "-nostdin", "-nostats", "-y", "-re", "-i", clip, "-re", "-i", clip, "-lavfi", graph,
                   "-f", "null", "-"]
        process = subprocess.Popen(command, cwd=self.folder, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            stats, deadline = self.folder / "stats.txt", time.monotonic() + TIMEOUT_SECONDS
            while not (stats.exists() and stats.stat().st_size) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(number)
            output, text = process.communicate(timeout=TIMEOUT_SECONDS)
        finally:
            process.kill()
            process.wait()
        return Run(subprocess.CompletedProcess(command, process.returncode, output, text), self.folder)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.run_until_signal(number)
            self.check(run, "interrupted", f"the program got {number.name}")
            self.assertIn(f"received signal {int(number)}", run.text)  # the program's own handler ran too

    def test_signals_in_xml(self):
        self.run_until_signal(signal.SIGINT, ":log_fmt=xml")
        self.assertRegex((self.folder / "log.json").read_text(), 'complete="false" end="interrupted" reason="the program got SIGINT"')

    def broken(self, clip, frame):
        """The clip with one packet that no decoder takes."""
        data = bytearray(clip.read_bytes())
        at = [found.start() for found in re.finditer(b"\x89PNG", bytes(data))][frame]
        data[at:at + 4] = b"XXXX"
        path = self.clips / "broken.mkv"
        path.write_bytes(data)
        return path

    def test_a_decoding_error_with_xerror(self):
        clip = make(self.clips, "png.mkv", self.source(frames=50), "-c:v", "png", "-pix_fmt", "gray")
        broken = self.broken(clip, 30)
        for inputs in ((broken, clip), (clip, broken)):
            for threads in ("1", "4"):
                run = self.score(*inputs, before_inputs=[("-xerror", "-threads", threads)] * 2)
                self.assertNotEqual(run.code, 0, run.text)
                self.check_taken_down(run)

    def test_without_xerror_the_rest_is_scored(self):
        clip = make(self.clips, "png.mkv", self.source(frames=50), "-c:v", "png", "-pix_fmt", "gray")
        run = self.score(self.broken(clip, 30), clip)
        self.assertGreater(run.pairing["reference_unused"], 0)
        self.assertEqual(run.pairing["paired"] + run.pairing["reference_unused"], 50)
        self.assertEqual((run.log["complete"], run.log["end"], run.log["reason"]), (True, "end of stream", None))

    def test_a_graph_that_cannot_be_made_anew(self):
        """The picture's size changes, and the reference's does not fit it any more."""
        run = self.score(self.changing(50), self.source(frames=100))
        self.assert_fails(run, "Input 1 (reference) is 176x144, main is 320x180")
        self.check_taken_down(run)

    def test_a_failure_of_the_filter(self):
        clip = self.source(frames=20)
        run = ffmpeg(["-i", clip, "-i", clip, "-lavfi", "[0:v]split[a][b];[a]trim=end_frame=10[c];[b]trim=start_frame=10,crop=160:128[d];"
                      "[c][d]concat=unsafe=1[e];[e][1:v]quality_cuda=metrics=psnr:backend=cpu:stats_file=stats.txt:log_path=log.json",
                      "-f", "null", "-"], self.folder)
        self.assertNotEqual(run.code, 0, run.text)
        self.check(run, "failure", run.log["reason"])
        self.assertIn("Input 0 (main) changed from 176x144", run.log["reason"])


if __name__ == "__main__":
    unittest.main()
