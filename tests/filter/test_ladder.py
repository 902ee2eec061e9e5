# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Several renditions of one reference: all of them side by side at the end, and what becomes of the others when one is in trouble."""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import termios
import time
import unittest
from pathlib import Path

from harness import FFMPEG, FilterTest, Run, avfilter_major, make

LONGEST_ROW = 120


def rows_of(run):
    """The table as [{title: text}], a dictionary for each rendition; what stands in further blocks is added to its rendition."""
    lines = [re.sub(r"^\[[^]]*\] (\[\w+\] )?", "", line) for line in run.text.splitlines() if "quality_cuda" in line.split("]")[0]]
    start = next((at for at, line in enumerate(lines) if re.match(r"\d+ renditions; scores: ", line)), None)
    if start is None:
        return [], []
    count, rows, block = int(lines[start].split()[0]), {}, lines[start + 1:]
    used = []
    while block and block[0].startswith("rendition  "):
        titles = re.split(r" {2,}", block[0].strip())
        for line in block[1:1 + count]:
            cells = re.split(r" {2,}", line.strip())
            assert len(cells) == len(titles), (titles, line)
            rows.setdefault(cells[0], {}).update(zip(titles, cells))
        used += block[:1 + count]
        block = block[1 + count:]
    return [rows[str(k)] for k in range(count)], used


class LadderTest(FilterTest):
    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=20)
        self.worse_one = self.worse(self.reference)

    def ladder(self, *inputs, options="", **arguments):
        """inputs: the renditions, without the reference."""
        return self.score(inputs[0], self.reference, *inputs[1:], options=f"renditions={len(inputs)}:{options}".rstrip(":"), **arguments)

    def log_of(self, run, rendition):
        return run.log_named(f"log.rendition{rendition}.json" if rendition else "log.json")

    def ends(self, run):
        """How each rendition ended, as the table and the log agree on."""
        rows, _ = rows_of(run)
        self.assertTrue(rows, run.text)
        found = [(row["end"], int(row["scored"]), row["lacking"]) for row in rows]
        logged = [(each["end"], each["scored"], str(each["lacking"])) for each in run.log["renditions"]]
        self.assertEqual([(end, scored, lacking.rstrip("+")) for end, scored, lacking in found], logged)
        return found


class Summary(LadderTest):
    def test_table_log_and_the_renditions_own_logs_agree(self):
        run = self.ladder(self.reference, self.worse_one, self.source(frames=20, size="88x72"), options="scale=bicubic:metrics=psnr+float_ssim")
        self.assert_ok(run)
        rows, _ = rows_of(run)
        self.assertEqual([(row["rendition"], row["input"], row["size"], row["frames"], row["scored"], row["lacking"], row["end"]) for row in rows],
                         [("0", "main", "176x144", "20", "20", "0", "complete"), ("1", "main1", "176x144", "20", "20", "0", "complete"),
                          ("2", "main2", "88x72 -> 176x144", "20", "20", "0", "complete")])
        together = run.log["renditions"]
        self.assertEqual([(each["rendition"], each["input"], each["format"]) for each in together],
                         [(0, "main", "yuv420p"), (1, "main1", "yuv420p"), (2, "main2", "yuv420p")])
        self.assertEqual([(each["width"], each["height"], each["scored_width"], each["scored_height"]) for each in together],
                         [(176, 144, 176, 144)] * 2 + [(88, 72, 176, 144)])
        for k, (row, each) in enumerate(zip(rows, together)):
            own = self.log_of(run, k)["pooled_metrics"]
            self.assertEqual(set(each["pooled_metrics"]), set(own))
            self.assertEqual(set(own), {"psnr_y", "psnr_cb", "psnr_cr", "float_ssim"})
            for name, pools in own.items():
                self.assertEqual(each["pooled_metrics"][name]["mean"], pools["mean"])
                self.assertEqual(each["pooled_metrics"][name]["min"], pools["min"])
                self.assertEqual(float(row[name]), pools["mean"])
        self.assertEqual(len({row["psnr_y"] for row in rows}), 3)
        self.assertNotIn("renditions", self.log_of(run, 1))

    def test_pool(self):
        run = self.ladder(self.reference, self.worse_one, options="pool=p10")
        self.assert_ok(run)
        self.assertEqual(len(run.messages("2 renditions; scores: p10")), 1)
        rows, _ = rows_of(run)
        pooled = [each["pooled_metrics"]["psnr_y"] for each in run.log["renditions"]]
        self.assertEqual([float(row["psnr_y"]) for row in rows], [each["p10"] for each in pooled])
        self.assertEqual(set(pooled[0]), {"mean", "harmonic_mean", "min", "max", "p5", "p10"})

    def test_many_scores_take_several_blocks(self):
        run = self.ladder(self.reference, self.worse_one, options="metrics=vmaf+psnr+float_ssim")
        self.assert_ok(run)
        rows, lines = rows_of(run)
        self.assertGreater(len(lines), 2 * 3)
        self.assertLessEqual(max(len(line) for line in lines), LONGEST_ROW)
        facts = {"rendition", "input", "size", "frames", "scored", "lacking", "end"} | ({"kbit/s"} & set(rows[0]))
        scores = {name.lower() for name in run.log["pooled_metrics"]}
        self.assertEqual([set(row) for row in rows], [facts | scores] * 2)
        self.assertIn(" vmaf", lines[0])  # models come first
        self.assertGreater(run.text.rindex("VMAF score: "), run.text.rindex(lines[-1]))

    def test_features_of_the_default_model_are_left_out(self):
        run = self.ladder(self.reference, self.worse_one, options="metrics=vmaf")
        self.assert_ok(run)
        rows, lines = rows_of(run)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0].split()[-1], "vmaf")
        self.assertEqual(float(rows[1]["vmaf"]), self.log_of(run, 1)["pooled_metrics"]["vmaf"]["mean"])

    def test_one_rendition_has_neither(self):
        run = self.score(self.worse_one, self.reference)
        self.assert_ok(run)
        self.assertEqual(rows_of(run), ([], []))
        self.assertNotIn("renditions;", run.text)
        self.assertNotIn("renditions", run.log)

    def test_in_lines(self):
        run = self.ladder(self.reference, self.source(frames=5), options="log_fmt=jsonl:log_path=lines.txt")
        self.assert_ok(run)
        lines = [json.loads(line) for line in run.texts["lines.txt"].splitlines()]
        self.assertEqual([(each["end"], each["scored"]) for each in lines[-1]["renditions"]], [("complete", 20), ("ended early", 5)])
        self.assertEqual(lines[-1]["renditions"][1]["pooled_metrics"]["psnr_y"]["min"], lines[-1]["scores"]["1.psnr_y"]["min"])
        run = self.score(self.reference, self.reference, options="log_fmt=jsonl:log_path=lines.txt")
        self.assertNotIn("renditions", json.loads(run.texts["lines.txt"].splitlines()[-1]))

    def test_bit_rate(self):
        """Frames say how large their packets were up to FFmpeg 5 only, and filters in between may have dropped some."""
        run = self.ladder(self.reference, self.worse_one, self.worse_one, before={3: "setpts=PTS"})
        self.assert_ok(run)
        rows, _ = rows_of(run)
        rates = [each["bit_rate"] for each in run.log["renditions"]]
        if avfilter_major() > 8:
            self.assertEqual(rates, [None] * 3)
            self.assertNotIn("kbit/s", rows[0])
            return
        remuxed = make(self.clips, "worse.raw", self.worse_one, "-c", "copy", "-f", "rawvideo")
        self.assertAlmostEqual(rates[1], remuxed.stat().st_size * 8 / 0.8, delta=rates[1] / 100)
        self.assertEqual((rates[2], rows[2]["kbit/s"], rows[1]["kbit/s"]), (None, "-", f"{rates[1] / 1000:.0f}"))

    def test_after_a_failure_there_are_no_scores(self):
        # The command line sets its graph up for the latest frame that it has then: the change has to come later.
        half, worse_one = self.changing(60), self.worse(self.source(frames=120))
        run = self.score(worse_one, half, worse_one, options="renditions=2", before_inputs=((), ("-reinit_filter", "0")))
        self.assert_fails(run, "Input 1 (reference) changed from 176x144")
        rows, _ = rows_of(run)
        self.assertEqual([row["end"] for row in rows], ["failed"] * 2)
        self.assertNotIn("psnr_y", rows[0])
        self.assertEqual([each["end"] for each in run.log["renditions"]], ["failed"] * 2)

    def test_automatic_model_is_one_and_said(self):
        """All renditions are scored at one size, which decides."""
        small = self.source(frames=3, size="240x160")
        self.reference = self.source(frames=3, size="480x320")
        for options, model in (("", "vmaf_v1.0.16_3d0h"), (":scale_to=3072x2048", "vmaf_v1.0.16_1d5h_2160")):
            run = self.ladder(small, self.reference, options="metrics=vmaf:model=auto:scale=bicubic" + options)
            self.assert_ok(run)
            size = options.partition("=")[2] or "480x320"
            self.assertEqual(len(run.messages(f"model=auto takes {model} for {size} at 25 frames/s")), 1, run.text)
            for k in (0, 1):
                self.assertEqual([each["model"] for each in self.log_of(run, k)["models"]], [model])


class Trouble(LadderTest):
    """Whatever becomes of one rendition, the others get the scores that they get without it."""

    def check_others(self, run, *others):
        alone = {}
        for k in others:
            frames = self.log_of(run, k)["frames"]
            self.assertEqual(len(frames), 20)
            path = self.reference if k == 0 else self.worse_one
            alone[path] = alone.get(path) or self.score(path, self.reference).log["frames"]
            self.assertEqual(frames, alone[path])

    def test_ends_early(self):
        run = self.ladder(self.reference, self.source(frames=5), self.worse_one)
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 20, "0"), ("ended early", 5, "15"), ("complete", 20, "0")])
        self.check_others(run, 0, 2)

    def test_begins_late_or_has_gaps(self):
        run = self.ladder(self.reference, self.reference, self.reference, before={2: "select=gte(n\\,3)", 3: "select=not(between(n\\,5\\,6))"})
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 20, "0"), ("incomplete", 17, "3"), ("incomplete", 18, "2")])

    def test_is_empty(self):
        run = self.ladder(self.reference, self.reference, self.worse_one, before={2: "trim=end_frame=0"})
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 20, "0"), ("ended early", 0, "20"), ("complete", 20, "0")])
        rows, _ = rows_of(run)
        self.assertEqual(rows[1]["psnr_y"], "-")
        self.assertEqual(run.log["renditions"][1]["pooled_metrics"], {})
        self.check_others(run, 0, 2)

    def test_main_ends_early(self):
        """Its frames are those that all others are compared with, so all end; that is said."""
        run = self.ladder(self.source(frames=5), self.reference)
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("ended early", 5, "15"), ("ended with main", 5, "0")])
        self.assertEqual(len(run.messages("main ended before the reference did, and with it all renditions: make the longest one the first")), 1)

    def test_main_of_half_the_rate_did_not_end_early(self):
        run = self.ladder(self.reference, self.reference, before={0: "select=not(mod(n\\,2))"}, options="max_dt=0.02")
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 10, "0"), ("complete", 10, "0")])
        self.assertFalse(run.messages("main ended before"))

    def test_is_damaged(self):
        """Packets whose middle is overwritten: the decoder complains, and goes on."""
        data = bytearray(self.worse_one.read_bytes())
        at = data.index(b"mdat") + 4
        size = int.from_bytes(data[at - 8:at - 4], "big")
        for offset in range(at + size // 3, at + size // 2, 97):
            data[offset] ^= 0xff
        damaged = self.clips / "damaged.mp4"
        damaged.write_bytes(data)
        run = self.ladder(self.reference, damaged, self.worse_one)
        self.assert_ok(run)
        self.assertTrue(run.messages("mpeg4 @"), "the decoder found nothing wrong")
        self.assertEqual([end[0] for end in self.ends(run)][::2], ["complete"] * 2)
        self.assertGreater(self.ends(run)[1][1], 5)
        self.check_others(run, 0, 2)

    def test_changes_its_size(self):
        """Where no new graph is made, that rendition is over, and its log says why."""
        run = self.ladder(self.reference, self.changing(10), self.worse_one, before_inputs=((), (), ("-reinit_filter", "0")))
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 20, "0"), ("failed", 10, "10"), ("complete", 20, "0")])
        self.assertEqual(len(run.messages("Input 2 (main1) changed from 176x144")), 1)
        self.assertTrue(run.messages("this rendition is scored no further, the others go on"))
        log = self.log_of(run, 1)
        self.assertIs(log["complete"], False)
        self.assertIn("Input 2 (main1) changed from 176x144", log["reason"])
        self.check_others(run, 0, 2)


def is_waiting(process):
    """Whether no thread of it computes or is about to, however busy the machine is: each waits for something."""
    states = []
    for task in Path(f"/proc/{process.pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # the thread has ended
            states.append(task.read_text().rpartition(")")[2].split()[0])
    return set(states) <= {"S"}


class Stall(LadderTest):
    """A rendition from a named pipe whose writer stops for longer than decoders do."""

    PAUSE = 3  # seconds from where nothing is left to do; the filter calls two of them a stall

    def setUp(self):
        super().setUp()
        self.reference = self.source(frames=100)
        self.video = make(self.clips, "pipe.y4m", self.reference, "-f", "yuv4mpegpipe").read_bytes()
        self.part = len(self.video) // 3
        self.pipe = self.folder / "pipe"
        os.mkfifo(self.pipe)

    def run_with(self, writer):
        """writer: what happens to (the process, the pipe's end) while ffmpeg runs."""
        graph = "[0:v][1:v][2:v]quality_cuda=psnr+ciede+float_vif:backend=cpu:renditions=2:log_path=log.json"
        command = [FFMPEG, "-hide_banner", "-nostdin", "-nostats", "-y", "-i", self.reference, "-i", self.reference, "-f", "yuv4mpegpipe", "-i",
                   self.pipe, "-lavfi", graph, "-f", "null", "-"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
            with open(self.pipe, "wb", buffering=0) as pipe:
                pipe.write(self.video[:self.part])
                waits = 0
                while process.poll() is None and waits < 5:  # until ffmpeg has read it all, and done what it can with it
                    time.sleep(0.1)
                    is_read = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4)
                    waits = waits + 1 if is_read and is_waiting(process) else 0
                time.sleep(self.PAUSE)
                self.assertIsNone(process.poll(), "it did not wait")
                writer(process, pipe)
            process.stdout = None
            _, text = process.communicate(timeout=60)
        return Run(subprocess.CompletedProcess(command, process.returncode, "", text), self.folder)

    def test_that_ends(self):
        run = self.run_with(lambda _, pipe: pipe.write(self.video[self.part:]))
        self.assert_ok(run)
        self.assertEqual(self.ends(run), [("complete", 100, "0"), ("complete", 100, "0")])

    def test_that_does_not_end(self):
        run = self.run_with(lambda _, pipe: None)
        self.assert_ok(run)
        main, rendition = self.ends(run)
        self.assertEqual(main, ("complete", 100, "0"))
        self.assertEqual(rendition[0], "stalled")
        self.assertGreater(rendition[1], 20)
        self.assertEqual(rendition[1] + int(rendition[2]), 100)

    def test_that_ended_before_it_did(self):
        run = self.run_with(lambda _, pipe: pipe.write(self.video[self.part:2 * self.part]))
        self.assert_ok(run)
        self.assertEqual([end[0] for end in self.ends(run)], ["complete", "ended early"])

    def test_until_a_signal(self):
        def interrupt(process, _):
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):  # the pipe stays open: its end would be the rendition's
                process.wait(timeout=5)
        run = self.run_with(interrupt)
        self.assertEqual(run.log["end"], "interrupted")
        self.assertEqual([end[0] for end in self.ends(run)], ["interrupted", "stalled"])
        self.assertGreater(len(self.log_of(run, 1)["frames"]), 20)


class Interrupted(LadderTest):
    """A program that is told to stop ends its inputs one after the other, which says nothing of the renditions."""

    def test_while_the_reference_is_ahead(self):
        clip, stats = self.source(frames=500), self.folder / "stats.txt"
        graph = "[0:v][1:v][2:v]quality_cuda=psnr:backend=cpu:renditions=2:log_path=log.json:stats_file=stats.txt"
        command = [FFMPEG, "-hide_banner", "-nostdin", "-nostats", "-y", "-re", "-i", clip, "-i", clip, "-re", "-i", clip, "-lavfi", graph,
                   "-f", "null", "-"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None and not (stats.exists() and stats.stat().st_size):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            _, text = process.communicate(timeout=60)
        run = Run(subprocess.CompletedProcess(command, process.returncode, "", text), self.folder)
        self.assertEqual(run.log["end"], "interrupted")
        self.assertEqual([(end, lacking) for end, _, lacking in self.ends(run)], [("interrupted", "0")] * 2)
        self.assertNotIn("main ended before the reference did", text)


if __name__ == "__main__":
    unittest.main()
