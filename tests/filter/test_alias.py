# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The filter under libvmaf's names: options, pairing, logs and last lines as programs know them that were written for libvmaf.

Pairing is held against FFmpeg's own filter psnr in the same graph, which pairs by the rules that libvmaf's filter has: for every
pair it says the luma's PSNR, and what it lets through must leave the alias too.
"""

import fractions
import json
import re
import subprocess
import unittest
import xml.etree.ElementTree

from harness import FFMPEG, FilterTest, ffmpeg

HIGHEST_PSNR = 60.0  # of 8 bits, where libvmaf stops
ROUNDING = 0.0051    # psnr's lines have two decimals


def program_text(*arguments):
    run = subprocess.run([FFMPEG, "-hide_banner", *arguments], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


class AliasTest(FilterTest):
    SIZE = "96x64"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = re.findall(r"(?m)^ \S+ +(\S+)", program_text("-filters"))
        if "libvmaf" not in names:
            raise unittest.SkipTest("SKIPPED: this ffmpeg was configured without --enable-libquality-cuda-aliases")
        if "alias" not in cls.description():
            raise unittest.SkipTest("SKIPPED: this ffmpeg has libvmaf's own filter")

    @staticmethod
    def description():
        return "alias" if "quality_cuda" in program_text("-h", "filter=libvmaf").split("Inputs:")[0] else "own"

    def alias(self, *inputs, options="", before=None, name="libvmaf", output=(), verbosity="info", also=""):
        """Scores inputs[0] against inputs[1] as a client would: nothing is set but what options say."""
        chains = "".join(f"[{index}:v]{(before or {}).get(index, 'null')}[i{index}];" for index in range(2))
        arguments = ["-v", verbosity]
        for path in inputs:
            arguments += ["-i", path]
        graph = f"{chains}[i0][i1]{name}{'=' + options if options else ''}{also}"
        return ffmpeg([*arguments, "-lavfi", graph, *output, "-f", "null", "-"], self.folder)

    def text_of(self, name):
        return (self.folder / name).read_text()

    def scores(self, *inputs, options="", name="libvmaf", before=None):
        """(run, JSON log)."""
        options = "log_fmt=json:log_path=log.json" + (":" + options if options else "")
        run = self.alias(*inputs, options=options, name=name, before=before)
        self.assert_ok(run)
        return run, run.log

    def last_line(self, run):
        """What ab-av1 and others read: the number that ends the last line of this form."""
        return float(re.findall(r"VMAF score: (\S+)$", run.text, re.MULTILINE)[-1])

    def pairs(self):
        reference = self.source(frames=8)
        return self.worse(reference), reference


class Detection(AliasTest):
    """How programs find out that libvmaf is there."""

    def test_is_listed_with_two_inputs(self):
        lines = program_text("-filters").splitlines()
        for name in ("libvmaf", "libvmaf_cuda"):
            found = [line for line in lines if re.search(rf" {name} ", line)]
            self.assertEqual(len(found), 1, found)
            self.assertRegex(found[0], rf"^ \S+ {name} +VV->V ")

    def test_help(self):
        for name in ("libvmaf", "libvmaf_cuda"):
            text = program_text("-h", f"filter={name}")
            self.assertIn(f"Filter {name}\n", text)
            self.assertRegex(text, r'(?m)^ +model +<string>.*\(default "version=vmaf_v0\.6\.1"\)$')
            self.assertRegex(text, r'(?m)^ +log_fmt +<string>.*\(default "xml"\)$')
            for option, default in (("eof_action", "repeat"), ("repeatlast", "true"), ("shortest", "false"), ("n_threads", "0"),
                                    ("n_subsample", "1"), ("ts_sync_mode", "default"), ("psnr", "false"), ("ssim", "false"),
                                    ("ms_ssim", "false"), ("phone_model", "false"), ("enable_transform", "false"),
                                    ("enable_conf_interval", "false")):
                self.assertRegex(text, rf"(?m)^ +{option} +<\w+>.*\(default {default}\)$")
            for option in ("log_path", "pool", "feature", "model_path"):
                self.assertRegex(text, rf"(?m)^ +{option} +<string>")

    def test_banner_has_the_words_that_are_looked_for(self):
        run = subprocess.run([FFMPEG, "-h"], capture_output=True, text=True, check=False)
        if "--enable-libquality-cuda-aliases" not in run.stdout + run.stderr:
            self.skipTest("SKIPPED: not this repository's build")
        self.assertIn("--enable-libvmaf", run.stdout + run.stderr)


class Pairing(AliasTest):
    """Against FFmpeg's filter psnr."""

    OPTIONS = ("", "shortest=1", "eof_action=endall", "eof_action=pass", "repeatlast=0", "shortest=1:repeatlast=0",
               "eof_action=endall:repeatlast=0", "eof_action=1", "eof_action=2", "ts_sync_mode=nearest",
               "shortest=true:ts_sync_mode=nearest", "repeatlast=0:ts_sync_mode=1")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.psnr_has_nearest = "ts_sync_mode" in program_text("-h", "filter=psnr")

    def compare(self, main, reference, options):
        """Chains of filters that make the inputs of testsrc2. Both filters see the same frames."""
        extra = ":" + options if options else ""
        source = f"testsrc2=s={self.SIZE}:r=25"
        graph = (f"{source},{main},format=yuv420p,split[a][b];{source},noise=alls=20:all_seed=5,{reference},format=yuv420p,split[c][d];"
                 f"[a][c]libvmaf=psnr=1:log_fmt=json:log_path=log.json{extra}[x];[b][d]psnr=stats_file=psnr.txt{extra}[y]")
        outputs = []
        for pad in "xy":
            outputs += ["-map", f"[{pad}]", "-fps_mode", "passthrough", "-f", "framemd5", f"{pad}.framemd5"]
        for name in ("log.json", "psnr.txt"):
            (self.folder / name).unlink(missing_ok=True)
        run = ffmpeg(["-v", "info", "-filter_complex", graph, *outputs], self.folder)
        self.assert_ok(run)
        theirs = [min(float(value), HIGHEST_PSNR) for value in re.findall(r"psnr_y:(\S+)", run.texts.get("psnr.txt", ""))]
        ours = [frame["metrics"]["psnr_y"] for frame in run.log["frames"]] if run.log else []
        self.assertEqual(len(ours), len(theirs), run.text)
        for number, (our, their) in enumerate(zip(ours, theirs)):
            self.assertAlmostEqual(our, their, delta=ROUNDING, msg=f"pair {number}, {options}")
        self.assert_same_frames(run)
        return ours

    def assert_same_frames(self, run):
        """Where setpts drops the frame rate (FFmpeg 7.1), each output keeps its filter's clock: then their stamps are rounded otherwise."""
        (our_tick, our_frames), (their_tick, their_frames) = (self.frames_of(run, pad) for pad in "xy")
        slack = 0 if our_tick == their_tick else max(our_tick, their_tick) / 2
        self.assertEqual([checksum for _, checksum in our_frames], [checksum for _, checksum in their_frames])
        for number, ((our_time, _), (their_time, _)) in enumerate(zip(our_frames, their_frames)):
            self.assertLessEqual(abs(our_time - their_time), slack, f"frame {number}")

    @staticmethod
    def frames_of(run, pad):
        """(the clock's tick, (time, checksum) of each frame)"""
        text = run.texts[f"{pad}.framemd5"]
        tick = fractions.Fraction(re.search(r"(?m)^#tb 0: (\S+)$", text)[1])
        fields = [[field.strip() for field in line.split(",")] for line in text.splitlines() if not line.startswith("#")]
        return tick, [(int(field[2]) * tick, field[5]) for field in fields]

    def sweep(self, main, reference, pairs=None):
        """pairs: how many there have to be without further options, so that the comparison is one of something."""
        for options in self.OPTIONS:
            if "ts_sync_mode" in options and not self.psnr_has_nearest:
                continue
            with self.subTest(options=options):
                found = self.compare(main, reference, options)
                if pairs is not None and not options:
                    self.assertEqual(len(found), pairs)

    def test_equal_lengths(self):
        self.sweep("trim=end_frame=6", "trim=end_frame=6", 6)

    def test_reference_longer(self):
        self.sweep("trim=end_frame=5", "trim=end_frame=9", 9)

    def test_distorted_longer(self):
        self.sweep("trim=end_frame=9", "trim=end_frame=5", 9)

    def test_rates(self):
        self.sweep("trim=end_frame=12,settb=1/50,setpts=N", "trim=end_frame=6", 12)
        self.sweep("trim=end_frame=6", "trim=end_frame=12,settb=1/50,setpts=N", 7)
        self.sweep("trim=end_frame=10,settb=1001/30000,setpts=N", "trim=end_frame=8")

    def test_rounded_stamps(self):
        """Clocks that share a finer one, and clocks that do not: then microseconds count."""
        ntsc = "trim=end_frame=8,settb=1001/30000,setpts=N"
        self.sweep(f"{ntsc},settb=1/1000", ntsc, 8)
        self.sweep(ntsc, f"{ntsc},settb=1/1000", 9)  # rounded up, the last reference frame comes after the distorted one
        self.sweep(f"{ntsc},settb=1/90000", f"{ntsc},settb=1/12800")
        self.sweep(f"{ntsc},settb=1/12800", f"{ntsc},settb=1/48000")
        self.sweep(f"{ntsc},settb=1/25", f"{ntsc},settb=1/1000000")

    def test_offsets(self):
        self.sweep("trim=end_frame=6", "trim=end_frame=6,setpts=PTS+3")
        self.sweep("trim=end_frame=6,setpts=PTS+3", "trim=end_frame=6")
        self.sweep("trim=end_frame=6", "trim=end_frame=6,setpts=PTS+1000", 6)
        self.sweep("trim=end_frame=6,setpts=PTS+1000", "trim=end_frame=6", 6)
        self.sweep("trim=end_frame=6", "trim=end_frame=6,settb=1/1000,setpts=PTS+13")

    def test_equal_stamps(self):
        self.sweep("trim=end_frame=6,setpts=0", "trim=end_frame=6,setpts=0", 6)
        self.sweep("trim=end_frame=4,setpts=0", "trim=end_frame=7,setpts=0", 7)
        self.sweep("trim=end_frame=8,setpts=floor(N/2)", "trim=end_frame=8,setpts=floor(N/3)")
        self.sweep("trim=end_frame=8,setpts=floor(N/3)", "trim=end_frame=8,setpts=floor(N/2)")

    def test_gaps_and_jitter(self):
        self.sweep("trim=end_frame=12,select='not(between(n,4,7))'", "trim=end_frame=12,select='not(between(n,2,5))'")
        jitter = "settb=1/1000,setpts=40*N+17*sin({}*N)"
        self.sweep(f"trim=end_frame=12,{jitter.format(3)}", f"trim=end_frame=12,{jitter.format(5)}")

    def test_one_frame_each_at_any_time(self):
        """As video-compare sends them."""
        for offsets in ((0, 0), (70, 0), (0, 70)):
            main, reference = (f"trim=end_frame=1,setpts={offset}" for offset in offsets)
            self.assertEqual(len(self.compare(main, reference, "")), 1)


class Options(AliasTest):
    def test_defaults_are_vmaf_and_xml(self):
        run = self.alias(*self.pairs(), options="log_path=log.txt")
        self.assert_ok(run)
        root = xml.etree.ElementTree.fromstring(self.text_of("log.txt"))
        self.assertEqual(root.tag, "VMAF")
        self.assertGreaterEqual(int(root.attrib["version"].split(".")[0]), 3)
        self.assertEqual([child.tag for child in root], ["params", "fyi", "frames", "pooled_metrics", "aggregate_metrics"])
        self.assertEqual([int(frame.attrib["frameNum"]) for frame in root.find("frames")], list(range(8)))
        pooled = {metric.attrib["name"]: metric.attrib for metric in root.find("pooled_metrics")}
        self.assertAlmostEqual(float(pooled["vmaf"]["mean"]), self.last_line(run), delta=1e-6)
        self.assertIn("integer_vif_scale0", root.find("frames")[0].attrib)

    def test_no_option_at_all(self):
        run = self.alias(*self.pairs())
        self.assert_ok(run)
        self.assertGreater(self.last_line(run), 0.0)
        self.assertEqual(len(run.messages("VMAF score:")), 1)
        self.assertRegex(run.text, r"(?m)^\[Parsed_libvmaf_\d+ @ \w+\] VMAF score: \d+\.\d{6}$")

    def test_layouts(self):
        for layout, begins in (("json", "{"), ("JSON", "{"), ("xml", "<VMAF"), ("csv", "Frame,"), ("sub", "{0}{1}frame"),
                               ("nonsense", "<VMAF")):
            run = self.alias(*self.pairs(), options=f"log_path=log.txt:log_fmt={layout}")
            self.assert_ok(run)
            self.assertTrue(self.text_of("log.txt").startswith(begins), layout)
            self.assertEqual(bool(run.messages("log_fmt=nonsense is not known, xml is taken")), layout == "nonsense")

    def test_json(self):
        run, log = self.scores(*self.pairs())
        self.assertGreaterEqual(int(log["version"].split(".")[0]), 3)
        self.assertEqual(list(json.loads(run.texts["log.json"], object_pairs_hook=list)[0]), ["version", log["version"]])
        self.assertEqual(run.texts["log.json"].count('"version"'), 1)
        for key in ("fps", "frames", "pooled_metrics", "aggregate_metrics"):
            self.assertIn(key, log)
        self.assertEqual(list(log["pooled_metrics"]["vmaf"])[:4], ["min", "max", "mean", "harmonic_mean"])
        self.assertAlmostEqual(log["pooled_metrics"]["vmaf"]["mean"], self.last_line(run), delta=1e-6)

    def test_pool(self):
        run, log = self.scores(*self.pairs())
        pooled = log["pooled_metrics"]["vmaf"]
        self.assertNotEqual(pooled["mean"], pooled["harmonic_mean"])
        for word, key in (("mean", "mean"), ("min", "min"), ("harmonic_mean", "harmonic_mean"),
                          ("HARMONIC_MEAN", "harmonic_mean"), ("median", "mean"), ("max", "mean")):
            run = self.alias(*self.pairs(), options=f"pool={word}")
            self.assert_ok(run)
            self.assertAlmostEqual(self.last_line(run), pooled[key], delta=1e-6, msg=word)
            self.assertEqual(bool(run.messages(f"pool={word} is not known, mean is taken")), word in ("median", "max"))

    def test_old_words_for_features(self):
        added = {"psnr=1": {"psnr_y"}, "ssim=1": {"float_ssim"}, "ms_ssim=1": {"float_ms_ssim"},
                 "psnr=1:ssim=1:ms_ssim=1": {"psnr_y", "float_ssim", "float_ms_ssim"},
                 "ssim=1:feature=name=psnr": {"float_ssim", "psnr_y", "psnr_cb", "psnr_cr"}}
        inputs = [self.worse(self.source(size="192x176")), self.source(size="192x176")]
        plain = set(self.scores(*inputs)[1]["pooled_metrics"])
        for options, names in added.items():
            log = self.scores(*inputs, options=options)[1]
            self.assertEqual(set(log["pooled_metrics"]) - plain, names)

    def test_transform(self):
        values = {options: self.scores(*self.pairs(), options=options)[1]["pooled_metrics"]["vmaf"]["mean"]
                  for options in ("", "phone_model=1", "enable_transform=1", "model='version=vmaf_v0.6.1\\:enable_transform=true'",
                                  "phone_model=1:model='version=vmaf_v0.6.1|version=vmaf_v0.6.1neg\\:name=second'")}
        expected = values.pop("phone_model=1")
        self.assertNotEqual(values.pop(""), expected)
        self.assertEqual(values["enable_transform=1"], expected)
        self.assertEqual(values.pop("phone_model=1:model='version=vmaf_v0.6.1|version=vmaf_v0.6.1neg\\:name=second'"), expected)
        self.assertEqual(values["model='version=vmaf_v0.6.1\\:enable_transform=true'"], expected)

    def test_model_path(self):
        """Files of libvmaf's first versions, which nobody reads any more, mean the built-in model of their name."""
        expected = self.scores(*self.pairs(), options="model=version=vmaf_v0.6.1neg")[1]["pooled_metrics"]["vmaf"]
        run, log = self.scores(*self.pairs(), options="model_path=/usr/local/share/model/vmaf_v0.6.1neg.pkl")
        self.assertEqual(log["pooled_metrics"]["vmaf"], expected)
        self.assertTrue(run.messages("the built-in model vmaf_v0.6.1neg is taken for it"))
        run = self.alias(*self.pairs(), options="model_path=nothing_there.json")
        self.assert_fails(run, "nothing_there.json")
        run, log = self.scores(*self.pairs(), options="model=version=vmaf_v0.6.1neg:model_path=nothing_there.json")
        self.assertEqual(log["pooled_metrics"]["vmaf"], expected)
        self.assertTrue(run.messages("model_path=nothing_there.json has no effect"))

    def test_models(self):
        options = ("model='version=vmaf_v0.6.1\\:name=standard|version=vmaf_v0.6.1neg\\:name=neg\\:pool=harmonic_mean"
                   "\\:disable_clip=1'")
        run, log = self.scores(*self.pairs(), options=options)
        means = [log["pooled_metrics"][name]["mean"] for name in ("standard", "neg")]
        shown = [float(text) for text in re.findall(r"(?m)VMAF score: (\S+)$", run.text)]
        self.assertEqual(len(shown), 2, run.text)
        for our, their in zip(shown, means):
            self.assertAlmostEqual(our, their, delta=1e-6)
        self.assertTrue(run.messages("pool=harmonic_mean is not among its keys"))
        self.assertTrue(run.messages("disable_clip=1 is taken for false"))

    def test_bootstrap_models_print_one_line(self):
        run, log = self.scores(*self.pairs(), options="model=version=vmaf_b_v0.6.3:enable_conf_interval=1")
        self.assertIn("vmaf_ci_p95_lo", log["pooled_metrics"])
        self.assertEqual(len(run.messages("VMAF score:")), 1, run.text)
        self.assertAlmostEqual(self.last_line(run), log["pooled_metrics"]["vmaf"]["mean"], delta=1e-6)

    def test_subsample_and_threads(self):
        log = self.scores(*self.pairs(), options="n_subsample=3:n_threads=99999")[1]
        self.assertEqual([frame["frameNum"] for frame in log["frames"]], [0, 3, 6])

    def test_names_are_the_same_filter(self):
        first, second = (self.scores(*self.pairs(), name=name)[1] for name in ("libvmaf", "libvmaf_cuda"))
        self.assertEqual(first["frames"], second["frames"])

    def test_scores_are_those_of_the_filters_own_name(self):
        ours = self.score(*self.pairs(), options="metrics=vmaf+float_ssim")
        log = self.scores(*self.pairs(), options="ssim=1")[1]
        for frame, their in zip(log["frames"], ours.log["frames"], strict=True):
            self.assertEqual(frame["metrics"]["vmaf"], their["metrics"]["vmaf"])

    def test_wrong_options_fail(self):
        for options in ("eof_action=3", "n_subsample=0", "nothing=1", "model=version=vmaf_v9", "feature=name=nothing"):
            self.assert_fails(self.alias(*self.pairs(), options=options))


class Formats(AliasTest):
    """lavfi converts what differs, to one of the formats of libvmaf's filter."""

    def formats(self, main, reference):
        run, log = self.scores(*self.pairs(), before={0: f"format={main}", 1: f"format={reference}"})
        self.assertEqual(len(log["frames"]), 8)
        self.assertEqual(log["distorted_format"], log["reference_format"])
        self.last_line(run)
        return log

    def test_mixed_chroma(self):
        self.formats("yuv422p", "yuv420p")
        self.formats("yuv420p", "yuv444p10")

    def test_mixed_depth(self):
        self.formats("yuv420p", "yuv420p10")

    def test_rgb_and_gray(self):
        self.formats("rgb24", "yuv420p")
        self.formats("gray", "gray")
        self.formats("nv12", "yuv420p")

    def test_full_range_by_name_is_converted(self):
        """Explicit conversion gives the same."""
        log = self.formats("yuvj420p", "yuv420p")
        explicit = self.scores(*self.pairs(), before={0: "format=yuvj420p,scale=flags=bicubic,format=yuv420p"})[1]
        self.assertIn(log["distorted_format"], ("yuv420p", "yuvj420p"))
        self.assertEqual(log["frames"], explicit["frames"])


class Ends(AliasTest):
    def test_unwritable_log(self):
        """Said, and no reason to fail: libvmaf's filter does not look."""
        for path in ("nowhere/log.xml", "/proc/log.xml", "."):
            run = self.alias(*self.pairs(), options=f"log_path={path}")
            self.assert_ok(run)
            self.assertTrue([line for line in run.messages(f"log_path={path} ") if "there will be no log" in line], run.text)
            self.last_line(run)

    def test_log_that_fails_at_the_end(self):
        run = self.alias(*self.pairs(), options="log_path=/dev/full")
        self.assert_ok(run)
        self.assertTrue(run.messages("could not be written"))
        self.last_line(run)

    def test_nothing_scored(self):
        run = self.alias(*self.pairs(), options="eof_action=pass:log_path=log.txt",
                         before={1: "setpts=PTS+100000"})
        self.assert_ok(run)
        self.assertTrue(run.messages("no frame was scored"))
        self.assertFalse(run.messages("VMAF score:"))
        self.assertFalse((self.folder / "log.txt").exists())

    def test_hardly_any_pair_is_no_error(self):
        run, log = self.scores(*self.pairs(), options="eof_action=pass", before={1: "setpts=PTS+7*512"})
        self.assertGreaterEqual(len(log["frames"]), 1)
        self.last_line(run)

    def test_early_stop(self):
        run = self.alias(*self.pairs(), options="log_path=log.json:log_fmt=json", also=",trim=end_frame=3")
        self.assert_ok(run)
        self.assertLessEqual(len(run.log["frames"]), 4)

    def test_quiet_as_libvmaf_is(self):
        """Frames that were paired twice are no warning here, and the features are not printed."""
        run = self.alias(self.source(rate="50", frames=10), self.source(frames=5), verbosity="warning")
        self.assert_ok(run)
        self.assertFalse(run.messages("reference frames repeated"))
        run = self.alias(*self.pairs())
        self.assertFalse(run.messages("integer_vif_scale0"))


if __name__ == "__main__":
    unittest.main()
