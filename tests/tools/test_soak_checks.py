# SPDX-License-Identifier: BSD-2-Clause-Patent
"""tools/soak by itself: its plain computation against cases worked out by hand and sums over samples, its judgement of memory,
and what it makes of graphs and processes that fail."""

import array
import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
from fractions import Fraction
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]
from soak_runs import checking, graphs, lasting, pairs, pictures, running  # noqa: E402
from soak_runs.pairs import BEFORE, ENDED, GAP, UNTIMED, Account, Rules, Unsure  # noqa: E402
from support import scripts  # noqa: E402


def clip(rate, frames, start=0):
    return [start + Fraction(number) / rate for number in range(frames)]


def account(*times, rate=Fraction(25), is_disabled=lambda number: False, tick=Fraction(1, 90000), **rules):
    return Account(Rules(**{key: Fraction(value) if key == "max_dt" else value for key, value in rules.items()}), rate, tick,
                   list(times), is_disabled)


def partners(found, track=0):
    return [decision.partners[track] for decision in found.decisions]


class Pairs(unittest.TestCase):
    def assert_counts(self, found, left=None, rendition=0, **expected):
        counts = found.counts(left, rendition)
        self.assertEqual({key: counts[key] for key in expected}, expected)

    def test_25_against_50(self):
        found = account(clip(25, 20), clip(50, 40))
        self.assertEqual(partners(found), list(range(0, 40, 2)))
        self.assert_counts(found, frames=20, paired=20, reference_unused=20, reference_repeated=0, max_abs_dt=0.0)

    def test_50_against_25(self):
        found = account(clip(50, 40), clip(25, 20), rate=Fraction(50))
        self.assertEqual(partners(found)[:4], [0, GAP, 1, GAP])
        self.assert_counts(found, paired=20, gaps=19, after_reference=1, max_dt=0.01)
        found = account(clip(50, 40), clip(25, 20), rate=Fraction(50), max_dt="0.021")
        self.assertEqual(partners(found)[:4], [0, 0, 1, 1])  # of two equally near ones the earlier
        self.assert_counts(found, paired=40, reference_repeated=20, max_abs_dt=0.02)
        self.assertAlmostEqual(found.counts()["mean_dt"], -0.01)

    def test_ends(self):
        six, ten = clip(25, 6), clip(25, 10)
        self.assert_counts(account(ten, six), frames=10, paired=6, after_reference=4)
        self.assert_counts(account(ten, six, eof_action="endall"), frames=6, unscored=0)
        self.assert_counts(account(ten, six, eof_action="repeat"), paired=10, reference_repeated=4)
        self.assert_counts(account(ten, [], eof_action="repeat"), paired=0, after_reference=10)
        self.assert_counts(account(six, ten), frames=6, reference_unused=4, reference_ended=True)
        self.assert_counts(account(clip(25, 1), clip(25, 150)), reference_unused=100, reference_ended=False)
        for sync in ("floor", "index"):
            self.assert_counts(account(ten, six, sync=sync), paired=6, after_reference=4)

    def test_starts(self):
        found = account(clip(25, 20), clip(25, 16, Fraction(4, 25)))
        self.assertEqual(partners(found)[3:5], [BEFORE, 0])
        self.assert_counts(found, before_reference=4, paired=16)
        self.assert_counts(account(clip(25, 20), clip(25, 20, 10), align_start=True), paired=20, max_abs_dt=0.0)
        self.assert_counts(account(clip(25, 20, 10), clip(25, 20)), paired=0, after_reference=20)

    def test_floor(self):
        """The newest frame that is not later, at any distance while frames follow; the last one lasts as long as a frame."""
        times = [Fraction(0), Fraction(1), Fraction(2)]
        main = [Fraction(1, 2), Fraction(99, 100), Fraction(1), Fraction(201, 100), Fraction(204, 100), Fraction(3)]
        self.assertEqual(partners(account(main, times, sync="floor", rate=Fraction(25, 6))), [0, 0, 1, 2, 2, ENDED])
        self.assertEqual(partners(account(main, times, sync="floor", max_dt="0.6")), [0, GAP, 1, 2, 2, ENDED])

    def test_gaps_and_renditions(self):
        main, holed = clip(25, 10), clip(25, 5) + clip(25, 3, Fraction(7, 25))
        found = account(main, main, holed, main[3:], main[:4])
        self.assertEqual([found.lacks(rendition) for rendition in range(4)], [0, 2, 3, 6])
        self.assert_counts(found, rendition=1, paired=8, rendition_gaps=2, rendition_unused=0, unscored=2)
        self.assert_counts(found, rendition=2, rendition_late=3)
        self.assert_counts(found, rendition=3, rendition_ended=6)
        self.assertEqual([row.number for row in found.rows(rendition=2)], list(range(3, 10)))

    def test_subsampling_and_switching_off(self):
        found = account(clip(25, 30), clip(25, 30), n_subsample=3, is_disabled=lambda number: number % 2 == 0)
        self.assertEqual([row.decision.main for row in found.rows()], [1, 7, 13, 19, 25])
        self.assert_counts(found, disabled=15, paired=15, scored=5, unscored=15)

    def test_frames_without_stamps(self):
        main = clip(25, 10)
        main[4] = None
        reference = clip(25, 10)
        reference[6] = None
        found = account(main, reference)
        self.assertEqual(partners(found)[3:8], [3, UNTIMED, 5, GAP, 7])
        self.assert_counts(found, untimed=1, gaps=1, paired=8, reference_unused=2)

    def test_early_stops(self):
        """Reference frames that may still be used are not called unused yet."""
        found = account(clip(25, 20), clip(50, 40))
        self.assert_counts(found, left=5, frames=5, paired=5, reference_unused=4, reference_ended=None)
        self.assert_counts(account(clip(25, 9), clip(25, 9), sync="index", is_disabled=lambda n: n < 4), left=6, disabled=4,
                           reference_unused=4)

    def test_too_few(self):
        third = clip(50, 40)[::3]
        self.assertEqual(account(clip(50, 40), third, rate=Fraction(50)).refused(), "only 14 of 40 frames")
        of_a_rendition = account(clip(50, 40), clip(50, 40), third, rate=Fraction(50))
        self.assertEqual((of_a_rendition.mispaired(1), of_a_rendition.refused(), of_a_rendition.fails()), ("only 14 of 40 frames", None, True))
        self.assertFalse(account(clip(50, 40), clip(50, 40), clip(50, 40), rate=Fraction(50)).fails())
        self.assertIsNone(account(clip(50, 40), third, rate=Fraction(50), allow_unpaired=True).refused())
        self.assertIsNone(account(clip(50, 40), clip(25, 20), rate=Fraction(50)).refused())

    def test_none_at_all(self):
        early, late = clip(25, 4), [time + 10 for time in clip(25, 4)]
        self.assertEqual(account(early, late).refused(), "no frame was scored")
        self.assertEqual(account(early, late).refused(2), "no frame was scored")
        self.assertIsNone(account(early, late).refused(0), "nobody wanted a frame")
        self.assertEqual(account([], late).refused(), "no frame was scored")
        self.assertIsNone(account(early, late, allow_unpaired=True).refused())

    def test_rates(self):
        """A claim is believed where the first five stamps bear it out."""
        def rate(claimed, times, sync="nearest"):
            found = account(times, times, rate=Fraction(claimed), sync=sync)
            return found.rate, found.max_dt
        self.assertEqual(rate(25, clip(25, 9)), (25, Fraction(1, 50)))
        self.assertEqual(rate(90000, clip(40, 9)), (40, Fraction(1, 80)))
        self.assertEqual(rate(90000, clip(10, 9)), (10, Fraction(1, 50)))  # not above 20 ms
        self.assertEqual(rate(50, clip(25, 9)), (25, Fraction(1, 50)))
        self.assertEqual(rate(90000, clip(25, 1)), (0, Fraction(1, 50)))
        self.assertEqual(rate(50, clip(25, 9), sync="index"), (50, Fraction(1, 100)))
        self.assertEqual(rate(0, clip(50, 9)), (0, Fraction(1, 50)))  # nothing is measured

    def test_what_rounding_decides_is_not_predicted(self):
        near = Fraction(1, 50) + Fraction(1, 10 ** 6)
        self.assertRaises(Unsure, account, [Fraction(0)], [near])
        self.assertEqual(partners(account([Fraction(0)], [Fraction(1, 50)])), [0])


def samples_of(layout, data):
    values = data if layout.depth == 8 else array.array("H", data)
    return [value >> layout.shift for value in values]


def planes_of(layout, size, data):
    """Sample lists of each plane, however they lie."""
    samples, luma = samples_of(layout, data), size.width * size.height
    if layout.form == "packed":
        return [samples[channel::3] for channel in range(3)]
    if layout.chroma == "400":
        return [samples]
    width, height = size.chroma(layout.chroma)
    if layout.form == "semi":
        return [samples[:luma], samples[luma::2], samples[luma + 1::2]]
    planes = [samples[:luma], samples[luma:luma + width * height], samples[luma + width * height:]]
    return [planes[2], planes[0], planes[1]] if layout.form == "gbr" else planes


def deeper(layout, sample, depth):
    """Bits of gray, which is of full range, are repeated; otherwise zeros follow them."""
    bits = f"{sample:0{layout.depth}b}"
    return int((bits + (bits if layout.chroma == "400" else "0" * depth))[:depth], 2)


class Pictures(unittest.TestCase):
    """What has a closed form against loops over all samples."""

    SIZE = pictures.Size(13, 11)
    SHOWN = [pictures.Picture((60, 70, 201), 20, 3), pictures.Picture((77, 70, 16), 1, 0), pictures.Picture((77, 71, 16), 1, 2)]

    def planes(self, layout, picture, depth):
        data = pictures.picture_bytes(layout, self.SIZE, picture)
        return [[deeper(layout, sample, depth) for sample in plane] for plane in planes_of(layout, self.SIZE, data)]

    def test_squared_errors_and_moments(self):
        for first in pictures.LAYOUTS:
            for second in pictures.LAYOUTS:
                if first.chroma != second.chroma or first.chroma == "rgb":
                    continue
                depth = pictures.scored_depth([first, second], 10)
                for one, other in zip(self.SHOWN, self.SHOWN[1:]):
                    sides = (self.planes(first, one, depth), self.planes(second, other, depth))
                    errors = [sum((x - y) ** 2 for x, y in zip(*planes)) / len(planes[0]) for planes in zip(*sides)]
                    found = pictures.squared_errors(self.SIZE, depth, (first, one), (second, other))
                    for error, expected in zip(found, errors, strict=True):
                        self.assertAlmostEqual(error, expected, delta=1e-6 * max(expected, 1))
                luma, unit = self.planes(first, self.SHOWN[0], depth)[0], 1 << (depth - 8)
                moments = pictures.moments(self.SIZE, depth, first, self.SHOWN[0])
                self.assertAlmostEqual(moments[0], sum(luma) / len(luma) / unit, delta=1e-9)
                self.assertAlmostEqual(moments[1], sum(x * x for x in luma) / len(luma) / unit ** 2, delta=1e-6)

    def test_sizes(self):
        for layout in pictures.LAYOUTS:
            data = pictures.picture_bytes(layout, self.SIZE, self.SHOWN[0])
            width, height = self.SIZE.chroma(layout.chroma)
            samples = 13 * 11 + (0 if layout.chroma == "400" else 2 * width * height)
            self.assertEqual(len(data), samples * (1 if layout.depth == 8 else 2), layout.name)

    def test_equal_pictures_have_the_highest_score(self):
        side = (pictures.LAYOUTS[0], self.SHOWN[0])
        self.assertEqual(pictures.psnr_scores(self.SIZE, 8, side, side), {"psnr_y": 60})
        self.assertEqual(pictures.psnr_line(self.SIZE, 8, side, side)["psnr_y"], float("inf"))


class Drawing(unittest.TestCase):
    def test_a_seed_is_a_graph(self):
        for number in range(20):
            one, other = (graphs.draw(f"same-{number}") for _ in range(2))
            self.assertEqual(graphs.command(one, "ffmpeg", "cpu"), graphs.command(other, "ffmpeg", "cpu"))
            self.assertEqual([each.pictures for each in one.inputs], [each.pictures for each in other.inputs])

    def test_all_kinds_come(self):
        drawn = [graphs.draw(f"kinds-{number}") for number in range(250)]
        self.assertEqual({graph.ending for graph in drawn}, set(graphs.ENDINGS))
        self.assertEqual({len(graph.inputs) for graph in drawn}, {2, 3, 4, 5})
        filters = [instance for graph in drawn for instance in graph.filters]
        for values, seen in (({"nearest", "floor", "index"}, {each.rules.sync for each in filters}),
                             ({"pass", "endall", "repeat"}, {each.rules.eof_action for each in filters}),
                             ({"json", "xml", "csv", "sub"}, {each.log_format for each in filters}),
                             ({"400", "420", "422", "444", "rgb"}, {graph.inputs[0].layout.chroma for graph in drawn})):
            self.assertEqual(seen, values)
        self.assertTrue(any(None in each.stamps for graph in drawn for each in graph.inputs))
        self.assertTrue(any(graph.commands for graph in drawn) and any(graph.again for graph in drawn))

    def test_an_ffmpeg_whose_setpts_drops_the_rate(self):
        for ending, rates in (("whole", {0}), ("resized", {25})):  # the latter takes its stamps from a file
            for keeps_rate in (False, True):
                drawn = [graphs.draw(f"rate-{number}", ending, keeps_rate) for number in range(10)]
                found = {graph.account(graph.filters[0]).rate for graph in drawn if graph.ending == ending}
                self.assertEqual(found == rates, not keeps_rate or ending == "resized", found)


class Logs(unittest.TestCase):
    def test_layouts(self):
        rows = [(3, {"psnr_y": 41.5})]
        text = json.dumps({"frames": [{"frameNum": 3, "metrics": {"psnr_y": 41.5}}], "complete": True, "end": "e", "reason": None,
                           "pairing": {"gaps": 1}, "pooled_metrics": {}})
        self.assertEqual(running.read_log(text, "json"), running.Log(rows, True, "e", None, {"gaps": 1}, {}))
        text = ('<V><fyi complete="false" end="e" reason="r" /><pairing gaps="1" reference_ended="true" /><frames>'
                '<frame frameNum="3" psnr_y="41.5" /></frames></V>')
        self.assertEqual(running.read_log(text, "xml"), running.Log(rows, False, "e", "r", {"gaps": 1, "reference_ended": True}))
        self.assertEqual(running.read_log("Frame,psnr_y,\n3,41.500000,\n", "csv"), running.Log(rows))
        self.assertEqual(running.read_log("{3}{4}frame: 3|psnr_y: 41.500000|\n", "sub"), running.Log(rows))
        self.assertRaises(ValueError, running.read_log, text[:-9], "json")


class Judgement(unittest.TestCase):
    SECONDS = 100

    def judge(self, with_gpu=False, **values):
        flat = {"resident_kib": 20000, "own_kib": 6000, "descriptors": 4, "threads": 11, "gpu_mib": 500, "spools": 0}
        samples = [lasting.Sample(time, **{name: value(time) if callable(value) else value for name, value in {**flat, **values}.items()})
                   for time in range(self.SECONDS)]
        return lasting.judge(samples, self.SECONDS, with_gpu)[0]

    def test_flat(self):
        self.assertIsNone(self.judge(with_gpu=True))
        self.assertIsNone(self.judge(threads=lambda time: 11 + time % 5, own_kib=lambda time: 6000 + time % 7 * 100))
        self.assertIsNone(self.judge(resident_kib=lambda time: 20000 + 100 * time))  # pages of files

    def test_growth(self):
        self.assertEqual(self.judge(own_kib=lambda time: 6000 + 6 * time), "memory grew by 1.7 %")
        self.assertEqual(self.judge(descriptors=lambda time: 4 + time // 10), "descriptors grew")
        self.assertEqual(self.judge(threads=lambda time: 11 + time % 5 + time // 10), "threads grew")
        self.assertEqual(self.judge(gpu_mib=lambda time: 500 + time, with_gpu=True), "gpu_mib grew")
        self.assertIsNone(self.judge(gpu_mib=lambda time: 500 + time))

    def test_looks_between_graphs(self):
        """Of a process that builds its graph anew: now one in seven looks finds it without one, now one in twenty, or the other way."""
        for early, late in ((7, 20), (20, 7)):
            def held(time, least, most, early=early, late=late):
                return least if time % (early if time < self.SECONDS / 2 else late) == 0 else most

            self.assertIsNone(self.judge(threads=lambda time, held=held: held(time, 56, 87), with_gpu=True,
                                         gpu_mib=lambda time, held=held: held(time, 22, 533)))
            self.assertEqual(self.judge(threads=lambda time, held=held: held(time, 56, 87) + time // 10), "threads grew")

    def test_a_megabyte_of_each_graph(self):
        """Of four graphs a second, on the GPU or beside it, where a look now and then falls between two graphs."""
        def held(least, most):
            return lambda time: (least if time % 7 == 0 else most) + 4 * time

        self.assertEqual(self.judge(gpu_mib=held(22, 533), with_gpu=True), "gpu_mib grew")
        self.assertRegex(self.judge(own_kib=lambda time: 1024 * held(22, 90)(time), resident_kib=150000), "^memory grew by ")

    def test_too_little(self):
        self.assertIn("too few samples", lasting.judge([], self.SECONDS)[0])


class Watching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_code(self, code, check=None, patience=30):
        process = lasting.Lasting("x", [sys.executable, "-c", code], self.folder, self.folder + "/x.csv", check)
        with mock.patch.object(lasting, "PATIENCE_SECONDS", patience):
            return lasting.run(process, 1)[0] or ""

    def test_a_process_that_ends_early(self):
        self.assertIn("it ended with 3 by itself", self.run_code("raise SystemExit(3)"))

    def test_a_process_that_does_not_end(self):
        code = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
        self.assertIn("does not end", self.run_code(code, patience=1))

    def test_a_process_that_dies(self):
        code = "import os, signal, time; signal.signal(signal.SIGINT, lambda *_: os.kill(os.getpid(), 9)); time.sleep(60)"
        self.assertIn("it ended with -9 after SIGINT", self.run_code(code))

    def test_temporary_files(self):
        code = "import os, time\nopen(os.environ['TMPDIR'] + '/a', 'w')\ntry: time.sleep(60)\nexcept KeyboardInterrupt: pass"
        self.assertIn("of which 1 stay", self.run_code(code))
        held = "import os, time\nf = [open(os.environ['TMPDIR'] + f'/{n}', 'w') for n in range(3)]\nimport shutil, glob\n" \
               "[os.remove(p) for p in glob.glob(os.environ['TMPDIR'] + '/*')]\ntry: time.sleep(60)\nexcept KeyboardInterrupt: pass"
        self.assertIn("3 temporary files at once", self.run_code(held))

    def test_its_own_check(self):
        code = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: pass"
        self.assertEqual(self.run_code(code, lambda folder: "a row too few"), "a row too few")

    def test_pairs_of_steady(self):
        self.assertEqual(lasting.pairs_of_steady(lasting.GAP), 0)
        self.assertEqual(lasting.pairs_of_steady(200), 200 - lasting.GAP - 31)


class Script(unittest.TestCase):
    def setUp(self):
        self.soak = scripts.load("soak")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for path in ("ffmpeg/bin/ffmpeg", "engine/libquality_cuda.so"):
            (self.folder / path).parent.mkdir(parents=True)
            (self.folder / path).write_text("")

    def main(self, run, *arguments):
        """run: stands for ffmpeg."""
        text = io.StringIO()
        words = ["soak", "--build", str(self.folder), "--out", str(self.folder / "out"), "--seed", "s", *arguments]
        with mock.patch.object(sys, "argv", words), mock.patch.object(running, "run", run), contextlib.redirect_stdout(text), \
                mock.patch.object(self.soak.signal, "signal"), mock.patch.object(running, "setpts_keeps_rate", lambda ffmpeg: True):
            return self.soak.main(), text.getvalue()

    def test_a_graph_that_fails(self):
        def crash(graph, ffmpeg, backend, folder, spool):
            (pathlib.Path(folder) / "stderr.txt").write_text("crashed")
            return running.Outcome(folder, -11, "crashed", False)
        status, text = self.main(crash, "--parts", "graphs", "--graphs", "2")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"FAILED graph s-0: .* ended by signal 11; reproduce with --seed s --only 0; its files are in ")
        self.assertTrue(text.endswith("0 passed, 2 failed, 0 skipped\n"), text)
        self.assertEqual((self.folder / "out/graph-1/files/stderr.txt").read_text(), "crashed")

    def test_files_that_are_left_behind(self):
        folder, graph = self.folder / "left", mock.Mock(ending="kill")
        folder.mkdir()
        killed, whole = (running.Outcome(str(folder), code, "", False) for code in (-9, 0))
        for name in ("in0.raw", "log0.rendition1.json"):
            (folder / name).write_text("")
        checking.check_folder(graph, whole)
        (folder / "quality_cuda-log-0123456789abcdef.json").write_text("")
        checking.check_folder(graph, killed)
        self.assertRaises(checking.Wrong, checking.check_folder, graph, whole)
        self.assertRaises(checking.Wrong, checking.check_folder, mock.Mock(ending="frames"), killed)
        (folder / "other.json").write_text("")
        self.assertRaises(checking.Wrong, checking.check_folder, graph, killed)

    def test_a_failure_that_ffmpeg_only_prints(self):
        for code, text, failed in ((1, "", True), (0, "Error while filtering: Invalid argument", True), (0, "frame=4", False)):
            self.assertEqual(running.Outcome("", code, text, False).failed, failed)

    def test_a_soak_that_is_good(self):
        with mock.patch.object(self.soak.checking, "check"), mock.patch.object(self.soak.checking, "scores_of"):
            status, text = self.main(mock.Mock(), "--parts", "graphs", "--graphs", "3", "--jobs", "2")
        self.assertEqual((status, text.splitlines()[-1]), (0, "3 passed, 0 failed, 0 skipped"))

    def test_other_scores_with_other_threads(self):
        with mock.patch.object(self.soak.checking, "check"), mock.patch.object(self.soak.checking, "scores_of", lambda graph, outcome: outcome), \
                mock.patch.object(graphs, "draw", lambda seed, keeps_rate: mock.Mock(again=keeps_rate, filters=[], **{"name": "graph"})):
            status, text = self.main(lambda *_: object(), "--parts", "graphs", "--graphs", "1")
        self.assertEqual(status, 1)
        self.assertIn("another number of threads gives other scores", text)

    def test_a_process_that_grows(self):
        with mock.patch.object(lasting, "run", lambda process, *_: (pathlib.Path(process.folder, "stderr.txt").write_text("x") and "grew", "found")):
            status, text = self.main(None, "--parts", "steady,sessions", "--seconds", "1")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"FAILED steady: grew; found; its output is ")
        self.assertTrue(text.endswith("0 passed, 2 failed, 0 skipped\n"), text)

    def test_what_it_does_not_know(self):
        for arguments, told in ((["--parts", "steady,unsteady"], "graphs, steady, regraphed, sessions, live are accepted"),
                                (["--build", "/nowhere"], "there is no /nowhere/ffmpeg/bin/ffmpeg")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors), self.assertRaises(SystemExit):
                self.main(None, *arguments)
            self.assertIn(told, re.sub(r"\s+", " ", errors.getvalue()))


if __name__ == "__main__":
    unittest.main()
