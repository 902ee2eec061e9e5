# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What quality-cuda answers at a glance: the table, layouts of logs, words that were mistyped, the doctor."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from workbench import COMMAND, FFMPEG, ROOT, clip, command, comparable, fresh, rendition_logs, single


def on_terminal(columns, *arguments, **environment):
    """Standard output as a terminal of that width gets it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen([COMMAND, *map(str, arguments), "--ffmpeg", FFMPEG], stdout=theirs, stderr=subprocess.DEVNULL,
                          env={**variables, "TERM": "xterm", **environment}) as process:
        os.close(theirs)
        text = b""
        try:
            while more := os.read(ours, 65536):
                text += more
        except OSError:  # as the other end's close is told
            pass
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def fields(line):
    return re.split(r"\s+", line.strip())


class Table(unittest.TestCase):
    def test_a_ladder(self):
        videos = [clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")]
        run = command("score", *videos, "-m", "vmaf+psnr", "--parts", 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        heads, columns, *rows = run.stdout.split("\n\n")[0].splitlines()
        self.assertEqual(heads.split(), ["vmaf", "psnr_y,", "dB", "psnr_cb,", "dB", "psnr_cr,", "dB"])
        self.assertEqual(fields(columns), ["file", "size", "codec", "kbit/s", *["mean", "p5", "min"] * 4])
        logs = rendition_logs(single(videos, "metrics=vmaf+psnr", "answers.json"), 2)
        for video, log, row in zip(videos[:-1], logs, rows, strict=True):
            name, size, codec, rate, *values = fields(row)
            self.assertEqual((name, size, codec), (str(video), "160x120", "h264"))
            # The container adds some bytes, and nothing else is in it.
            seconds = {"closed.mp4": 6, "short.mp4": 3.6}[video.name]
            self.assertAlmostEqual(float(rate), video.stat().st_size * 8 / 1000 / seconds, delta=20)
            pooled = json.loads(log.read_text())["pooled_metrics"]
            self.assertEqual(values, [f"{pooled[score][pool]:.2f}" for score in ("vmaf", "psnr_y", "psnr_cb", "psnr_cr")
                                      for pool in ("mean", "p5", "min")])
        foot = run.stdout.split("\n\n")[1].splitlines()
        self.assertEqual(foot[:2], [f"reference: {videos[-1]} (160x120, ffv1)", "model: vmaf_v0.6.1"])
        self.assertRegex(foot[2], r"^backend: \w.*; \d+ frames/s$")
        self.assertEqual(foot[3:], ["closed.mp4: frames: 150, scored: 150", "short.mp4: frames: 150, scored: 90, INCOMPLETE"])

    def test_what_was_asked_for_and_the_rest(self):
        asked = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "vif").stdout
        self.assertEqual(re.findall(r"integer_vif_scale\d", asked), [f"integer_vif_scale{i}" for i in range(4)])
        self.assertNotIn("vmaf", asked)
        self.assertRegex(asked, r" 0\.\d{4} ")
        rest = command("score", clip("closed.mp4"), clip("ref.mkv"), "--all-scores").stdout
        self.assertLess(rest.index("\nvmaf "), rest.index("\ninteger_adm2 "))

    def test_lower_is_better(self):
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "butteraugli")
        self.assertIn("mean   p50   max", run.stdout)

    def test_json(self):
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr+vmaf", "--json")
        report = json.loads(run.stdout)
        rendition, = report["renditions"]
        self.assertEqual(list(rendition["scores"]), ["vmaf", "psnr_y", "psnr_cb", "psnr_cr"])
        for score, pools in rendition["scores"].items():
            self.assertEqual({pool: rendition["pooled_metrics"][score][pool] for pool in ("mean", "p5", "min")},
                             {pool: pools[pool] for pool in ("mean", "p5", "min")})
        self.assertEqual(rendition["scores"]["psnr_y"]["unit"], "dB")
        self.assertEqual({key: rendition["video"][key] for key in ("codec", "width", "height")}, {"codec": "h264", "width": 160, "height": 120})
        self.assertGreater(rendition["video"]["bit_rate"], 0)
        self.assertGreater(report["frames_per_second"], 0)
        self.assertTrue(report["backend"])

    def test_a_terminals_width_and_colour(self):
        place = fresh("long_names")
        long = place / ("a_name_that_is_longer_than_any_terminal_" * 3 + "720p.mp4")
        long.symlink_to(clip("closed.mp4"))
        score = ("score", long, clip("short.mp4"), clip("ref.mkv"), "-m", "vmaf+psnr")
        shown = on_terminal(80, *score)
        plain = re.sub(r"\033\[\d*m", "", shown)
        table = plain.rsplit("\n\n", 1)[0].splitlines()
        self.assertLessEqual(max(map(len, table)), 80, plain)
        self.assertTrue(any(re.match(r"a_n\S*\.\.\.\S*720p\.mp4 ", line) for line in table), plain)
        self.assertEqual(plain.count("psnr_cr, dB"), 1)
        self.assertIn("\033[1m", shown)
        self.assertNotIn("\033", on_terminal(80, *score, NO_COLOR="1"))
        piped = command(*score).stdout
        self.assertNotIn("\033", piped)
        self.assertIn(str(long), piped)


class Layouts(unittest.TestCase):
    """Logs in other layouts than JSON are those that the filter writes."""

    def setUp(self):
        self.place = fresh(self.id().rpartition(".")[2])
        self.videos = [clip("closed.mp4"), clip("short.mp4"), clip("ref.mkv")]

    def score(self, name, *arguments, videos=None, code=0):
        run = command("score", *(videos or self.videos), "-m", "vmaf+psnr+float_moment", "-q", "-o", self.place / name, *arguments)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def assert_as_the_filter(self, ending, videos):
        self.score(f"log.{ending}", "--parts", 3, videos=videos)
        expected = single(videos, "metrics=vmaf+psnr+float_moment", f"{self.place.name}.{ending}")
        for k in range(len(videos) - 1):
            texts = []
            for first in (self.place / f"log.{ending}", expected):
                path = first if k == 0 else first.with_name(f"{first.stem}.rendition{k}.{ending}")
                texts.append(re.sub(r' fps="[^"]*"', "", path.read_text()))
            self.assertEqual(*texts)

    def test_csv(self):
        self.assert_as_the_filter("csv", self.videos)
        self.assert_as_the_filter("csv", [self.videos[-1], self.videos[-1]])  # equal pictures: capped, or infinite

    def test_xml(self):
        self.assert_as_the_filter("xml", self.videos)
        self.assert_as_the_filter("xml", [self.videos[0], self.videos[-1]])

    def test_lines(self):
        self.score("log.jsonl")
        single(self.videos, "metrics=vmaf+psnr+float_moment", f"{self.place.name}.jsonl")
        lines, others = ([json.loads(line) for line in path.read_text().splitlines()]
                         for path in (self.place / "log.jsonl", self.place.parent / f"{self.place.name}.jsonl"))
        self.assertEqual([line["n"] for line in lines[1:-1]], [line["n"] for line in others if line["type"] == "frame"])
        for line, other in zip(lines[1:-1], others, strict=False):
            self.assertEqual({name.lower(): value for name, value in line["scores"].items()}, other["scores"])
        self.assertEqual(lines[-1]["type"], "end")
        report = command("report", self.place / "log.jsonl", "--csv", "-", "-q")
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_json_of_any_other_ending(self):
        self.score("log.txt", videos=[self.videos[0], self.videos[-1]])
        self.assertEqual(comparable(self.place / "log.txt"),
                         comparable(single([self.videos[0], self.videos[-1]], "metrics=vmaf+psnr+float_moment", "any.json")))

    def test_refusals(self):
        for name, code, text in (("log.sub", 2, ".json, .csv, .xml or .jsonl"), ("page.html", 2, "quality-cuda report"),
                                 ("nowhere/log.csv", 1, "cannot be written")):
            with self.subTest(name):
                self.assertIn(text, self.score(name, code=code).stderr)
        run = command("plan", self.place / "plan.json", self.videos[0], self.videos[-1], "-o", self.place / "log.csv")
        self.assertEqual(run.returncode, 2)
        self.assertIn("JSON", run.stderr)


class Words(unittest.TestCase):
    def run_alone(self, *arguments):
        return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)

    def test_nothing_and_help(self):
        nothing, helped = self.run_alone(), self.run_alone("help")
        self.assertEqual((nothing.returncode, nothing.stdout), (2, ""))
        self.assertEqual((helped.returncode, helped.stderr), (0, ""))
        self.assertEqual(helped.stdout, nothing.stderr)
        for name in ("score", "report", "compare", "doctor", "Examples:"):
            self.assertIn(name, helped.stdout)
        self.assertEqual(self.run_alone("help", "compare").stdout, self.run_alone("compare", "--help").stdout)

    def test_no_such_command(self):
        for word, text in (("scroe", "did you mean score?"), ("comapre", "did you mean compare?"), ("foo", "there are score, plan")):
            with self.subTest(word):
                run = self.run_alone(word, "a", "b")
                self.assertEqual(run.returncode, 2)
                self.assertIn(text, run.stderr)

    def test_mistyped(self):
        for arguments, text in ((("-m", "vamf"), "there is no metric vamf; did you mean vmaf?"),
                                (("-m", "vmaf+ssimulcra2"), "did you mean ssimulacra2?"), (("-m", "neg"), "did you mean --model neg?"),
                                (("--model", "vmaf_v0.6.1ng"), "did you mean vmaf_v0.6.1neg?"),
                                (("--model", "nonsense"), "there are auto, vmaf_v0.6.1"),
                                (("--metrcs", "psnr"), "did you mean --metrics?"), (("-m", "xyz"), "there are vmaf, all, psnr"),
                                (("--model", "v0.6.1ng"), "did you mean vmaf_v0.6.1neg?")):
            with self.subTest(arguments):
                run = self.run_alone("score", "a.mp4", "b.mp4", *arguments)
                self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)
                self.assertIn(text, run.stderr)

    def test_short_names(self):
        def report(*arguments):
            run = command("score", clip("closed.mp4"), clip("ref.mkv"), "--frames", 10, "--json", "-q", *arguments)
            self.assertEqual(run.returncode, 0, run.stderr)
            return json.loads(run.stdout)["renditions"][0]
        self.assertEqual(list(report("-m", "PSNR,ssimu2")["scores"]), ["psnr_y", "psnr_cb", "psnr_cr", "ssimulacra2"])
        for short, model in (("neg", "vmaf_v0.6.1neg"), ("4K", "vmaf_4k_v0.6.1"), ("version=neg", "vmaf_v0.6.1neg"), ("v0.6.1", "vmaf_v0.6.1")):
            with self.subTest(short):
                one, other = report("--model", short), report("--model", model)
                self.assertEqual((one["models"], one["pooled_metrics"]), (other["models"], other["pooled_metrics"]))
        phone, plain = report("--model", "phone")["scores"], report()["scores"]
        self.assertGreater(phone["vmaf_phone"]["mean"], plain["vmaf"]["mean"])


class Doctor(unittest.TestCase):
    def examine(self, *arguments, code=0, **environment):
        run = command("doctor", "--json", *arguments, environment=environment)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual(report["works"], code == 0)
        return {each["what"]: (each["state"], each["text"]) for each in report["findings"]}

    def test_ten_lines(self):
        run = command("doctor")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(len(run.stdout.splitlines()), 10)
        found = self.examine()
        for what in ("quality-cuda", "CPU", "models", "ffmpeg", "ffprobe", "filter", "decoders"):
            self.assertEqual(found[what][0], "ok", found)

    def test_a_folder_whose_name_means_something_to_graphs(self):
        self.assertEqual(self.examine(TMPDIR=str(fresh("it's, a:b; [c]")))["filter"][0], "ok")

    def test_a_gpu(self):
        """That of the stand-in driver, or a real one."""
        stand_in = ROOT / "build/tests/device"
        if not list(stand_in.glob("libcuda.so.1")):
            self.skipTest("SKIPPED: no build/tests/device/libcuda.so.1")
        state, text = self.examine(LD_LIBRARY_PATH=str(stand_in))["GPU"]
        self.assertEqual(state, "ok", text)
        self.assertIn("to the last bit", text)

    def test_what_is_broken(self):
        self.assertEqual(self.examine("--ffmpeg", "/nowhere/ffmpeg", code=1)["ffmpeg"][0], "FAILED")
        place = fresh("doctor")
        program = place / "ffmpeg"  # one that computes something else
        program.write_text(f'#!/bin/sh\ncase "$*" in *quality_cuda=psnr*) shift; exec {FFMPEG} -f lavfi -i testsrc2=s=320x320:d=0.04 "$@";; esac\n'
                           f'exec {FFMPEG} "$@"\n')
        program.chmod(0o755)
        (place / "ffprobe").symlink_to(FFMPEG.with_name("ffprobe"))
        state, text = self.examine("--ffmpeg", program, code=1)["filter"]
        self.assertEqual(state, "FAILED", text)
        self.assertIn("and not 13.775354", text)


if __name__ == "__main__":
    unittest.main()
