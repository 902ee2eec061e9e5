# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What makes a number doubtful: it is said even after -q, stands in --json, fails with --strict, and advises what this command takes."""

import json
import re
import shlex
import shutil
import unittest

from workbench import FFMPEG, ROOT, clip, command, ffmpeg, ffmpeg_in, fresh

#: messages, and what this command makes of them
MESSAGES = {
    "main begins at 1.000 s, the reference at 2.000 s; if both show the same picture then, use align=start":
        "main begins at 1.000 s, the reference at 2.000 s; if both show the same picture then, use --align start",
    "set max_dt, align=start or sync=index to what fits the inputs, or allow_unpaired=1 to accept it":
        "set --max-dt, --align start or --sync index to what fits the inputs, or --allow-unpaired to accept it",
    "25 is taken; pairs may be 0.02 s apart (max_dt)": "25 is taken; pairs may be 0.02 s apart (--max-dt)",
    "Input 1 (reference) is 160x90, main is 320x180; scale first, e.g. [0:v]scale=160:90:flags=bicubic[d];[d][1:v]quality_cuda "
    "(GPU: scale_cuda=160:90), or have it scaled here: quality_cuda=scale=bicubic":
        "Input 1 (reference) is 160x90, main is 320x180; scale first, e.g. --filter dist0:scale=160:90:flags=bicubic, or have it "
        "scaled here: --scale bicubic",
    "put the same deinterlacer before all inputs, e.g. [0:v]bwdif[d];[1:v]bwdif[r];[d][r]quality_cuda":
        "put the same deinterlacer before all inputs, e.g. --filter bwdif",
    "deinterlace the reference, e.g. [1:v]bwdif=mode=send_frame[r];[0:v][r]quality_cuda":
        "deinterlace the reference, e.g. --filter ref:bwdif=mode=send_frame",
    "if that is not meant, put setpts=PTS-0.200000/TB before input 1 (reference), or use align=auto":
        "if that is not meant, use --filter ref:setpts=PTS-0.200000/TB, or use --align auto",
    "compared with another one: put trim=start=2.000000,setpts=PTS-2.000000/TB before input 1 (reference)":
        "compared with another one: use --filter ref:trim=start=2.000000,setpts=PTS-2.000000/TB",
    "put setpts=PTS+0.2/TB before input 3 (main2)": "use --filter dist2:setpts=PTS+0.2/TB",
    "trim=start_frame=5 before input 0 (main)": "--filter dist0:trim=start_frame=5",
    "or put mpdecimate before input 0 (main), which takes most of them out": "or use --filter dist0:mpdecimate, which takes most of them out",
    "give both inputs the rate of their pictures (-r or -framerate before -i) and pair by time (sync=nearest)":
        "give both inputs the rate of their pictures (--framerate) and pair by time (--sync nearest)",
    "or put setpts=N/FRAME_RATE/TB before all inputs, or use sync=index": "or use --filter setpts=N/FRAME_RATE/TB, or use --sync index",
    "or use a model of your own, model=path=FILE": "or use a model of your own, --model path=FILE",
    "crop or pad one of them first, e.g. [1:v]crop=320:136[r];[0:v][r]quality_cuda, or put setsar before an input whose sample aspect "
    "ratio is wrong":
        "crop or pad one of them first, e.g. --filter ref:crop=320:136, or use --filter WHICH:setsar for an input whose sample aspect "
        "ratio is wrong",
    "range tv and range pc differ (range=error)": "range tv and range pc differ (--range error)",
    "ask for opts=psnr.enable_chroma=false": "ask for --opts psnr.enable_chroma=false",
    "deinterlace reference alone, [1:v]bwdif=mode=send_field[r];[0:v][r][2:v]quality_cuda=renditions=2":
        "deinterlace reference alone, --filter ref:bwdif=mode=send_field",
    "deinterlace main, reference alone, [0:v]bwdif[d];[1:v]bwdif[r];[d][r][2:v]quality_cuda=renditions=2":
        "deinterlace main, reference alone, --filter dist0:bwdif --filter ref:bwdif",
    "call it progressive, [1:v]setfield=prog[r];[0:v][r]quality_cuda, or": "call it progressive, --filter ref:setfield=prog, or",
    "put hflip,vflip before input 0 (main)": "use --filter dist0:hflip,vflip",
    "put scale=in_range=full:out_range=limited before input 2 (main1)": "use --filter dist1:scale=in_range=full:out_range=limited",
    "name their streams: [0:v:0][1:v:0]quality_cuda takes the first file's for the distorted video, the second's for the reference":
        "name their streams: --stream dist:N and --stream ref:N",
    "the time stamps never overlap; use align=start, setpts=PTS-STARTPTS or sync=index":
        "the time stamps never overlap; use --align start, --filter setpts=PTS-STARTPTS or --sync index",
    "a container may cut off their borders: give -apply_cropping codec before each -i; if it does not, the smaller one is scaled: "
    "quality_cuda=scale=bicubic":
        "a container may cut off their borders: give --container-crop off; if it does not, the smaller one is scaled: --scale bicubic",
    "one of them is turned by 90 degrees: [0:v]transpose=1[d];[d][1:v]quality_cuda, or transpose=2 the other way round":
        "one of them is turned by 90 degrees: --filter dist0:transpose=1, or transpose=2 in its place, the other way round",
    "put settb=1/120000,setpts=N*1001/24000/TB before input 0 (main), or use sync=index":
        "use --filter 'dist0:settb=1/120000,setpts=N*1001/24000/TB', or use --sync index",
    "or say what to crop: crop=|320x136+0+22": "or say what to crop: --crop '|320x136+0+22'",
    "name the files' videos, [0:v:0][1:v:0]quality_cuda": "name the files' videos, --stream WHICH:N",
    "e.g. label the stream that is meant, e.g. [0:v:0][1:v:0]quality_cuda, or compare every frame with this one, eof_action=repeat":
        "e.g. label the stream that is meant, e.g. --stream WHICH:N, or compare every frame with this one, --eof-action repeat",
}
#: options that no run of this command sets or can be advised of, and the messages of which it therefore does not get
NOT_OF_THE_COMMAND = {"on_error", "selftest", "stats_file", "f", "stats_format", "log_fmt", "window", "log_queue", "alert", "metrics_file",
                      "maps", "map_format", "map_white", "map_rendition", "mask", "record", "realtime", "ts_sync_mode", "rate", "shortest",
                      "repeatlast", "pool", "renditions", "same_file", "async_depth", "n_threads", "m", "subsample"}


def options_of_filter():
    text = (ROOT / "filter/vf_quality_cuda.c").read_text(encoding="utf-8")
    return set(re.findall(r'^    \{ "(\w+)", .*OFFSET', text, re.MULTILINE))


def literals():
    """Texts that the filter's side may print, with something for what is filled in; neighbours are one text, as in the language."""
    found = set()
    for folder in ("run", "filter", "engine/plan", "engine/api", "engine/cuda", "kernels/contract"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in (".c", ".cpp", ".hpp") or "test" in path.name:
                continue
            code = re.sub(r"(?m)^#include.*|^\s*\{ \"\w+\",.*FLAGS.*|//.*$|/\*.*?\*/", "", path.read_text(encoding="utf-8"))
            for texts in re.findall(r'((?:"(?:\\.|[^"\\\n])*"\s*)+)', code):
                text = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', texts))
                found.add(re.sub(r"%[.*]*l*[a-z]", "1", text).replace("\\n", "").replace('\\"', '"'))
    return {text + "1" * text.endswith("=") for text in found if " " in text}


class Messages(unittest.TestCase):
    """The whole way: a filter says it, and the command's JSON has it."""

    @staticmethod
    def said(place, messages):
        """What the command makes of warnings of the filter."""
        (place / "said").write_text("".join(f"[Parsed_quality_cuda_0 @ 0x55d0] [warning] {text}\n" for text in messages), encoding="utf-8")
        program = ffmpeg_in(place, f'#!/bin/sh\ncase "$*" in *log_path*) cat {place}/said >&2;; esac\nexec {FFMPEG} "$@"\n')
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 1, "--frames", 3, "-q", "--json", "--ffmpeg", program)
        assert run.returncode == 0, run.stderr
        return [finding["text"] for finding in json.loads(run.stdout)["findings"] if finding["source"] == "filter"]

    def test_advice_is_of_this_command(self):
        said = self.said(fresh("advice"), MESSAGES)
        for (message, expected), got in zip(MESSAGES.items(), said, strict=True):
            with self.subTest(message):
                self.assertEqual(got, expected)

    def test_no_message_of_the_filter_is_left_as_it_was(self):
        ours = options_of_filter() - NOT_OF_THE_COMMAND
        advice = re.compile(r"(?<![\w.=:-])(" + "|".join(sorted(ours)) + r")=|quality_cuda=|\[\d:v")
        texts = sorted(text for text in literals() if advice.search(text))
        self.assertGreater(len(texts), 20, "the messages that this test looks for are not found")
        for text, got in zip(texts, self.said(fresh("every_message"), texts), strict=True):
            with self.subTest(text):
                rest = " ".join(word for word in re.split(r"\s(?=--)|\s", got) if not word.startswith(("dist", "ref:", "WHICH:", "'")))
                self.assertIsNone(advice.search(rest), got)

    def test_what_is_advised_is_taken(self):
        """Each option of the table is one of --help."""
        table = (ROOT / "cli/words/advice.cpp").read_text(encoding="utf-8")
        taken = command("score", "--help").stdout
        own = re.findall(r'\{"\w+", "(--[\w-]+)"', table)
        self.assertGreater(len(own), 15)
        for option in own:
            self.assertRegex(taken, rf"{option}\b")


def damaged(name="closed.mp4", percent=50):
    """A clip with 2,000 bytes in its midst that are none of the encoder's."""
    path = fresh(f"damaged_{name}_{percent}") / name
    data = bytearray(clip(name).read_bytes())
    begin = len(data) * percent // 100
    for at in range(begin, min(begin + 2000, len(data))):
        data[at] ^= 0x5A
    path.write_bytes(data)
    return path


class Findings(unittest.TestCase):
    def test_quiet_is_not_silent(self):
        run = command("score", clip("short.mp4"), clip("ref_short.mkv"), "-m", "psnr", "-q")
        self.assertEqual((run.returncode, run.stdout, len(run.stderr.splitlines())), (0, "", 1), run.stderr)
        self.assertIn("warning: frames:90 scored:80", run.stderr)

    def test_json_and_strict(self):
        for parts in (1, 2):
            run = command("score", clip("short.mp4"), clip("ref_short.mkv"), "-m", "psnr", "-q", "--json", "--strict", "--parts", parts)
            self.assertEqual(run.returncode, 4, run.stderr)
            found = json.loads(run.stdout)["findings"]
            self.assertEqual([each["source"] for each in found], ["filter"])
            self.assertIn("after it:10", found[0]["text"])
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--json", "--strict")
        self.assertEqual((run.returncode, run.stderr, json.loads(run.stdout)["findings"]), (0, "", []))

    def test_decoders_errors(self):
        for parts in (1, 2):
            run = command("score", damaged(), clip("ref.mkv"), "-m", "psnr", "-q", "--json", "--parts", parts)
            self.assertEqual(run.returncode, 0, run.stderr)
            report = json.loads(run.stdout)
            self.assertGreater(report["decoder_errors"], 0)
            found = [each["text"] for each in report["findings"] if each["source"] == "decoder"]
            self.assertEqual(len(found), 1)
            self.assertRegex(found[0], r"^decoding went on in spite of errors \(\d+ different ones\), the first of them h264: .*--start")
            self.assertIn(found[0], run.stderr)
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--json")
        self.assertEqual(json.loads(run.stdout)["decoder_errors"], 0)

    def test_decoders_errors_do_not_depend_on_parts(self):
        """Nor do the frames that are damaged: what parts decode twice counts once, what each lacks at its start not at all."""
        for name, percent in (("closed.mp4", 50), ("open.mp4", 30), ("h264.ts", 30), ("hevc.ts", 80), ("hevc.mkv", 30), ("mpeg2.ts", 50)):
            video, told = damaged(name, percent), set()
            for parts in (1, 2, 3):
                run = command("score", video, clip("ref.mkv"), "-m", "psnr", "-q", "--json", "--parts", parts)
                self.assertEqual(run.returncode, 0, run.stderr)
                report = json.loads(run.stdout)
                told.add((report["decoder_errors"], report["renditions"][0]["distorted_stream"]["corrupt_frames"]))
            with self.subTest(name):
                self.assertEqual(len(told), 1, told)
                self.assertGreater(told.pop()[0], 0)

    def test_the_log_has_what_the_summary_warns_of(self):
        place = fresh("log_has_warnings")
        for parts in (1, 2):
            log = place / f"{parts}.json"
            run = command("score", clip("short.mp4"), clip("ref_short.mkv"), "-m", "psnr", "-q", "--json", "--parts", parts, "-o", log)
            self.assertEqual([each["text"] for each in json.loads(run.stdout)["findings"]], json.loads(log.read_text())["warnings"])

    def test_shards_and_merges_tell_what_a_run_tells(self):
        place = fresh("findings_of_shards")
        for distorted, reference in ((damaged(), clip("ref.mkv")), (clip("short.mp4"), clip("ref_short.mkv")), (clip("closed.mp4"), clip("ref.mkv"))):
            plan, log = place / f"{distorted.stem}.plan", place / f"{distorted.stem}.json"
            whole = command("score", distorted, reference, "-m", "psnr", "-q", "--json", "--strict", "--parts", 1)
            expected = json.loads(whole.stdout)
            code = 4 if expected["findings"] else 0
            self.assertEqual(whole.returncode, code)
            self.assertEqual(command("plan", plan, distorted, reference, "-m", "psnr", "-q", "--parts", 2, "-o", log).returncode, 0)
            has_errors = expected["decoder_errors"] > 0
            for again in ("scored", "done before", "by a task"):
                number = "0/1" if again == "by a task" else 0
                run = command("shard", plan, number, "--json", "--strict")
                if number == 0:
                    self.assertEqual(command("shard", plan, 1, "-q").returncode, 0)
                with self.subTest(distorted.name, again=again):
                    shards = json.loads(run.stdout)
                    found = [each for shard in shards for each in shard["findings"]]
                    self.assertEqual([shard["shard"] for shard in shards], [0, 1] if again == "by a task" else [0])
                    if again == "by a task":
                        self.assertEqual((run.returncode, bool(found)), (4, True) if has_errors else (0, False), run.stderr)
                    for each in found:
                        self.assertRegex(run.stderr, r"shard \d: warning: " + re.escape(each["text"]))
            run = command("merge", plan, "--json", "--strict", "-q")
            self.assertEqual(run.returncode, code, run.stderr)
            merged, = json.loads(run.stdout)
            self.assertEqual(merged["findings"], expected["findings"])
            self.assertEqual(merged["decoder_errors"], expected["decoder_errors"])
            self.assertEqual(merged["renditions"][0]["pooled_metrics"], expected["renditions"][0]["pooled_metrics"])
            self.assertEqual(run.stderr.count("warning: "), len(expected["findings"]))

    def test_parts_that_begin_amid_a_stream(self):
        """What a decoder lacks there is no damage; real damage is."""
        for name in ("h264.ts", "mpeg2.ts", "hevc.ts", "open.mp4", "open.mkv"):
            for options in (["--parts", 3], ["--parts", 1, "--start", 2]):
                with self.subTest(name, options=options):
                    run = command("score", clip(name), clip("ref.mkv"), "-m", "psnr", "-q", "--json", *options)
                    self.assertEqual((run.returncode, run.stderr, json.loads(run.stdout)["decoder_errors"]), (0, "", 0))
        run = command("score", damaged(), clip("ref.mkv"), "-m", "psnr", "-q", "--json", "--start", 0.5)
        self.assertGreater(json.loads(run.stdout)["decoder_errors"], 0, run.stderr)

    def test_a_flood_of_errors_keeps_its_beginning(self):
        line = "[h264 @ 0x1] [error] " + "x" * 80
        for name, lines, kinds in (("same", f'yes "{line}" | head -n 20000', 2), ("other", f'seq -f "{line} %g" 20000', 20001)):
            with self.subTest(name):
                self.flood(name, lines, kinds)

    def flood(self, name, lines, kinds):
        place = fresh("flood_" + name)
        flood = f'echo "[h264 @ 0x1] [error] the cause" >&2; {lines} >&2'
        program = ffmpeg_in(place, f'#!/bin/sh\ncase "$*" in *log_path*) {flood};; esac\nexec {FFMPEG} "$@"\n')
        run = command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 1, "--frames", 3, "--json", "--ffmpeg", program)
        report = json.loads(run.stdout)
        self.assertEqual(report["decoder_errors"], kinds)
        self.assertIn("the first of them h264: the cause |", report["findings"][0]["text"])

    def test_the_cause_comes_before_the_consequence(self):
        """Nothing can be decoded, so that nothing is scored: the decoder's line is first; a warning is no reason."""
        path = fresh("undecodable") / "broken.mkv"
        shutil.copy(clip("one_key.mp4"), path.with_suffix(".mp4"))
        data = bytearray(path.with_suffix(".mp4").read_bytes())
        at = data.index(b"mdat") + 4
        data[at:at + 40000] = bytes(x ^ 0x5A for x in data[at:at + 40000])
        path.with_suffix(".mp4").write_bytes(data)
        run = command("score", path.with_suffix(".mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 1)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr.splitlines()[-1], r"^quality-cuda: .*: h264: .*; so no frame was scored")

    def test_remedies_for_too_few_pairs(self):
        """The line's own options are typed, and each makes scores."""
        videos = [clip("closed.mp4"), clip("ref.mkv"), "--filter", "dist:setpts=PTS+10/TB", "-m", "psnr", "-q"]
        run = command("score", *videos)
        self.assertEqual(run.returncode, 1, run.stderr)
        expected = json.loads(command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-q", "--json").stdout)
        remedies = re.findall(r"--(?:align|sync|filter) [\w=:./-]*\w", run.stderr)
        self.assertEqual(remedies, ["--align start", "--filter setpts=PTS-STARTPTS", "--sync index"])
        for remedy in remedies:
            with self.subTest(remedy):
                again = command("score", *videos, "--json", *shlex.split(remedy))
                self.assertEqual(again.returncode, 0, again.stderr)
                pooled = [json.loads(again.stdout), expected]
                self.assertEqual(*(each["renditions"][0]["pooled_metrics"]["psnr_y"]["mean"] for each in pooled))


if __name__ == "__main__":
    unittest.main()
