# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A short soak (tools/soak): random graphs of a fixed seed against the plain computation, which has to notice what is wrong; and
the processes that last, for a few seconds."""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

from harness import FFMPEG, REPOSITORY, build_library, preloading

sys.path.insert(0, str(REPOSITORY / "tools"))
from soak_runs import checking, graphs, lasting, running  # noqa: E402

GRAPHS = 22
SEED = "short24"  # has every ending


def draw(seed, ending=None):
    return graphs.draw(seed, ending, running.setpts_keeps_rate(str(FFMPEG)))


class WithFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not FFMPEG.exists():
            raise RuntimeError(f"{FFMPEG} does not exist; build it with tools/setup or set QC_FFMPEG")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-soak-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_graph(self, graph, name="graph"):
        files, spool = self.folder / name, self.folder / f"{name}-spool"
        files.mkdir()
        spool.mkdir()
        outcome = running.run(graph, str(FFMPEG), "cpu", str(files), str(spool))
        self.assertEqual(list(spool.iterdir()), [])
        return outcome


class Graphs(WithFolder):
    def test_random_graphs(self):
        endings = set()
        for number in range(GRAPHS):
            graph = draw(f"{SEED}-{number}")
            endings.add(graph.ending)
            with self.subTest(graph.name):
                checking.check(graph, self.run_graph(graph, f"graph-{number}"))
        self.assertEqual(endings, set(graphs.ENDINGS))


def graph_like(ending, renditions):
    """The first random graph of a kind: with a JSON log, and scores enough."""
    for number in range(1000):
        graph = draw(f"like-{number}", ending)
        instance = graph.filters[0]
        if graph.ending == ending and len(instance.inputs) == renditions + 1 and instance.metrics.startswith("psnr") and \
                instance.log_format == "json" and instance.stats_format == "scores" and not graph.commands and \
                graph.account(instance).counts()["scored"] > 5 and not graph.account(instance).refused():
            return graph
    raise RuntimeError(f"no graph of 1000 is one of {ending} with {renditions} renditions")


class Faults(WithFolder):
    """One wrong thing at a time in what a good run left."""

    def setUp(self):
        super().setUp()
        self.graph = graph_like("whole", 2)
        self.outcome = self.run_graph(self.graph)
        checking.check(self.graph, self.outcome)

    def assert_noticed(self, text, name=None, change=None):
        """change: of a file's text; it is undone."""
        path = self.folder / "graph" / (name or "stderr.txt")
        kept = path.read_text()
        path.write_text(change(kept) if change else kept)
        try:
            self.assert_wrong(text)
        finally:
            path.write_text(kept)

    def assert_wrong(self, text):
        with self.assertRaises(checking.Wrong) as caught:
            checking.check(self.graph, self.outcome)
        self.assertIn(text, str(caught.exception))

    @staticmethod
    def of_log(change):
        def changed(text):
            data = json.loads(text)
            change(data)
            return json.dumps(data)
        return changed

    def test_in_a_log(self):
        def add(keys, amount):
            def change(data):
                for key in keys[:-1]:
                    data = data[key]
                data[keys[-1]] += amount
            return change
        for change, text in ((add(("frames", 3, "metrics", "psnr_y"), 0.00001), "psnr_y"),
                             (add(("frames", 3, "frameNum"), 1), "numbers of its frames"),
                             (add(("pairing", "gaps"), 1), "gaps"), (add(("pairing", "reference_unused"), 1), "reference_unused"),
                             (add(("pairing", "max_abs_dt"), 0.00001), "max_abs_dt"),
                             (add(("pooled_metrics", "psnr_y", "mean"), 0.0001), "mean of psnr_y"),
                             (lambda data: data.update(complete=not data["complete"]), "complete"),
                             (lambda data: data["frames"].pop(), "numbers of its frames")):
            with self.subTest(text):
                self.assert_noticed(text, "log0.json", self.of_log(change))
        self.assert_noticed("rendition_unused", "log0.rendition1.json", self.of_log(add(("pairing", "rendition_unused"), 1)))
        checking.check(self.graph, self.outcome)

    def test_in_other_files(self):
        def without_last_line(text):
            return "".join(text.splitlines(keepends=True)[:-1])
        for name, change, text in (("stats0.txt", without_last_line, "numbers of its lines"),
                                   ("stats0.txt", lambda text: text.replace("psnr_y:", "psnr_y:1", 1), "psnr_y"),
                                   ("stats0.txt", lambda text: text.replace("ref_pts_time:", "ref_pts_time:1", 1), "ref_pts_time"),
                                   ("metadata0.txt", lambda text: text.rsplit("frame:", 1)[0], "metadata"),
                                   ("metadata0.txt", without_last_line, "metadata"),
                                   ("out0.framemd5", without_last_line, "frames that left")):
            with self.subTest(name):
                self.assert_noticed(text, name, change)

    def test_of_the_process(self):
        self.outcome.code = -11
        self.assert_noticed("ended by signal 11")
        self.outcome.code = 1
        self.assert_noticed("exit code 1")
        self.outcome.code, self.outcome.hung = 0, True
        self.assert_noticed("does not end")

    def test_a_file_that_was_left_behind(self):
        (self.folder / "graph/log0.json.a1b2c3").write_text("")
        self.assert_noticed("log0.json.a1b2c3")

    def test_a_log_of_a_run_that_was_killed(self):
        graph = graph_like("kill", 1)
        graph.stop = ("SIGKILL", 0, True)
        outcome = self.run_graph(graph, "killed")
        checking.check(graph, outcome)
        self.assertEqual(outcome.code, -9)
        (self.folder / "killed/log0.json").write_text("{")
        self.assertRaises(ValueError, checking.check, graph, outcome)


class LastingProcesses(WithFolder):
    """What they say of themselves. Their memory is for longer runs."""

    SECONDS = 3

    def made(self, name, pace):
        programs = lasting.Programs(str(FFMPEG), str(REPOSITORY / "build/engine/libquality_cuda.so"))
        return lasting.make(name, programs, "cpu", str(self.folder), str(self.folder), pace)

    def check(self, name, pace, seconds=SECONDS):
        process = self.made(name, pace)
        wrong, samples, _ = lasting.watch(process, seconds)
        self.assertIsNone(wrong, (self.folder / "stderr.txt").read_text())
        self.assertGreater(len(samples), 5)
        self.assertGreater(min(sample.resident_kib for sample in samples), 1000)
        self.assertEqual(list(pathlib.Path(lasting.spool_of(process)).iterdir()), [])
        self.assertIsNone(process.check(str(self.folder)) if process.check else None)
        return process

    def test_steady(self):
        process = self.check("steady", 100)
        lines = (self.folder / "steady.csv").read_text().splitlines(keepends=True)
        (self.folder / "steady.csv").write_text("".join(lines[:-1]))
        self.assertIn("steady.csv has", process.check(str(self.folder)))

    def test_regraphed(self):
        self.check("regraphed", 100)

    def test_a_leak_of_each_graph_is_seen(self):
        """A megabyte that stays with each graph is little of what a process holds, and comes slowly: it fails all the same."""
        seconds, rate = 8, 200
        with mock.patch.dict(os.environ, preloading(build_library(self.folder, "leak_sessions"))):
            process = self.made("regraphed", rate)
            wrong, samples, lasted = lasting.watch(process, seconds)
        self.assertIsNone(wrong, (self.folder / "stderr.txt").read_text())
        said, found = lasting.judge(samples, lasted)
        self.assertRegex(said or "", "^memory grew by ", found)
        leaked = (self.folder / "stderr.txt").read_text().count("leaked\n")
        self.assertGreater(leaked, 4)
        self.assertGreater(samples[-1].own_kib - samples[len(samples) // 4].own_kib, 1024 * leaked // 2, found)

    def test_live(self):
        process = self.check("live", 0)
        metrics = self.folder / "live.prom"
        metrics.write_text(metrics.read_text().replace("} 0", "} 1"))
        self.assertIn("live.prom", process.check(str(self.folder)))

    def test_sessions(self):
        self.check("sessions", 0, 10)  # two of each kind are wanted, and the machine may be slow


if __name__ == "__main__":
    unittest.main()
