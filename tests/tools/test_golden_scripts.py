# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What the golden scripts decide before and after ffmpeg runs."""

import argparse
import json
import pathlib
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "golden")]
import libvmaf_runs  # noqa: E402
import run_butteraugli  # noqa: E402
import run_ssimulacra2  # noqa: E402
from support.metrics import Metric, chroma_of, read_metrics, words  # noqa: E402
from support.recorded_scores import Job, compare  # noqa: E402


def metric(name, side, outputs, short_name="", **chroma):
    sides = {"4:0:0": side, "4:2:0": side, "4:2:2": side, "4:4:4": side, **chroma}
    return Metric(name, short_name, sides, {"absolute": 0.0, "relative": 0.0}, outputs)


METRICS = {m.name: m for m in (metric("vif", 16, ["integer_vif_scale0"]), metric("psnr", 1, ["psnr_y"]),
                               metric("hvs", 16, ["psnr_hvs"], **{"4:0:0": 0}))}
CLIP = {"name": "clip", "width": 20, "height": 12, "pix_fmt": "yuv420p", "frames": 2}
GOLDEN = {"runs": {"default": {"metrics": {"integer_vif_scale0": {}, "psnr_y": {}, "psnr_y_odd": {}},
                               "refused": [{"feature": "hvs"}, {"feature": "cambi"}, {"feature": "speed_chroma"},
                                           {"feature": "speed_temporal"}]}}}


def arguments(**changed):
    return argparse.Namespace(**{"clips": "*", "runs": "*", "quick": False, **changed})


class DefaultRuns(unittest.TestCase):
    def runs(self, clip):
        return [(run.metrics, run.refused) for run in libvmaf_runs.default_runs(clip, GOLDEN, METRICS)][:-3]

    def test_by_size_and_by_what_libvmaf_refused(self):
        self.assertEqual(self.runs(CLIP), [(("psnr",), False), (("vif",), False), (("hvs",), False)])
        self.assertEqual(self.runs({**CLIP, "height": 20}), [(("vif", "psnr"), False), (("hvs",), True)])
        self.assertEqual(self.runs({**CLIP, "pix_fmt": "gray"}), [(("psnr",), False), (("vif",), False), (("hvs",), True)])

    def test_too_small_is_a_refusal(self):
        runs = libvmaf_runs.default_runs(CLIP, GOLDEN, METRICS)
        self.assertEqual([libvmaf_runs.smallest_missed(CLIP, run, METRICS) for run in runs[:3]], [[], [16], [16]])

    def test_names_to_compare(self):
        run = libvmaf_runs.Run("default", ("psnr",))
        self.assertEqual(run.compared(GOLDEN["runs"]["default"], METRICS), ["psnr_y", "psnr_y_odd"])


class NeverCompared(unittest.TestCase):
    def test_a_run_that_nothing_answers_is_told(self):
        everything = libvmaf_runs.RUNS + [libvmaf_runs.Run(name) for name in libvmaf_runs.LISTED_RUNS] \
            + [libvmaf_runs.Run("default", (name,)) for name in libvmaf_runs.LISTED_METRICS]
        self.assertEqual(libvmaf_runs.never_compared(everything, arguments()), [])
        self.assertEqual(libvmaf_runs.never_compared(everything[1:], arguments()), ["models_v0 (adm+vif+motion)"])
        self.assertEqual(libvmaf_runs.never_compared(everything[:-1], arguments()), ["speed_temporal"])
        self.assertEqual(libvmaf_runs.never_compared(libvmaf_runs.RUNS, arguments())[0], "models_v1")

    def test_quick_leaves_out_what_is_listed(self):
        quick = [run for run in libvmaf_runs.RUNS if run.quick]
        self.assertEqual(libvmaf_runs.never_compared(quick, arguments(quick=True)), [])
        self.assertEqual(libvmaf_runs.never_compared(quick[1:], arguments(quick=True)), ["models_v0 (adm+vif+motion)"])

    def test_scores_that_no_metric_writes(self):
        self.assertEqual(libvmaf_runs.scores_without_metric(GOLDEN["runs"]["default"], METRICS), [])
        without = {name: m for name, m in METRICS.items() if name != "vif"}
        self.assertEqual(libvmaf_runs.scores_without_metric(GOLDEN["runs"]["default"], without), ["integer_vif_scale0"])

    def test_a_part_need_not_meet_all(self):
        self.assertEqual(libvmaf_runs.never_compared([], arguments(clips="src*")), [])
        self.assertEqual(libvmaf_runs.never_compared([], arguments(runs="debug")), [])


class Ssimulacra2(unittest.TestCase):
    BOUND = {"absolute": 1e-6, "relative": 0.0}

    def problems(self, runs, frames, written, scored=1):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            json.dump({"frames": [{"frameNum": n, "metrics": m} for n, m in enumerate(written)]}, log)
            log.flush()
            return compare(run_ssimulacra2.job_of({"frames": scored}, runs, frames), log.name, 100.0, self.BOUND)[0]

    def test_comparison(self):
        name = run_ssimulacra2.score_name({})
        self.assertEqual(self.problems({"a": {}}, [{"a": 5.0}], [{name: 5.0}]), [])
        self.assertEqual(len(self.problems({"a": {}}, [{"a": 5.0}], [{name: 5.1}])), 1)
        self.assertEqual(len(self.problems({"a": {}}, [{"a": 5.0}], [{}])), 1)

    def test_nothing_to_compare_is_a_problem(self):
        self.assertTrue(self.problems({}, [{"a": 5.0}], [{}]))
        self.assertTrue(self.problems({"a": {}}, [], []))
        self.assertTrue(self.problems({"a": {}}, [{"a": 5.0}], []))

    def test_the_first_frames_may_be_recorded_but_all_are_scored(self):
        name = run_ssimulacra2.score_name({})
        self.assertEqual(self.problems({"a": {}}, [{"a": 5.0}], [{name: 5.0}, {name: 6.0}], scored=2), [])
        self.assertTrue(self.problems({"a": {}}, [{"a": 5.0}], [{name: 5.0}], scored=2))


class Butteraugli(unittest.TestCase):
    OPTIONS = {"matrix": "bt709"}
    RECORDED = {key: 5.0 for key in run_butteraugli.SCORES}
    WRITTEN = {score + "_mat_bt709": 5.0 for score in run_butteraugli.SCORES.values()}

    def problems(self, frames, written, scored=1, relative=0.0):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            json.dump({"frames": [{"frameNum": n, "metrics": m} for n, m in enumerate(written)]}, log)
            log.flush()
            bound = {"absolute": 1e-6, "relative": relative}
            names = {key: name + run_butteraugli.suffix(self.OPTIONS) for key, name in run_butteraugli.SCORES.items()}
            return compare(Job({"frames": scored}, {}, names, frames), log.name, 0.0, bound)[0]

    def test_comparison(self):
        self.assertEqual(self.problems([self.RECORDED], [self.WRITTEN]), [])
        for score in self.WRITTEN:
            self.assertEqual(len(self.problems([self.RECORDED], [{**self.WRITTEN, score: 5.001}])), 1)
            self.assertEqual(self.problems([self.RECORDED], [{**self.WRITTEN, score: 5.001}], relative=1e-3), [])
            self.assertEqual(len(self.problems([self.RECORDED], [{k: v for k, v in self.WRITTEN.items() if k != score}])), 1)

    def test_identical_pictures_score_exactly_0(self):
        recorded, written = dict.fromkeys(self.RECORDED, 0.0), dict.fromkeys(self.WRITTEN, 0.0)
        self.assertEqual(self.problems([recorded], [written]), [])
        self.assertTrue(self.problems([recorded], [dict.fromkeys(written, 1e-7)], relative=1e-3))

    def test_nothing_to_compare_is_a_problem(self):
        self.assertTrue(self.problems([], []))
        self.assertTrue(self.problems([self.RECORDED], []))
        self.assertTrue(self.problems([self.RECORDED], [self.WRITTEN], scored=2))


class Metrics(unittest.TestCase):
    def test_words(self):
        metrics = {m.name: m for m in (metric("ssim", 1, [], "integer_ssim"), metric("float_ssim", 11, [], "ssim"))}
        self.assertEqual(words(metrics), ["integer_ssim", "float_ssim"])

    def test_chroma(self):
        self.assertEqual([chroma_of(f) for f in ("yuv420p10le", "gray16le", "yuv444p")], ["4:2:0", "4:0:0", "4:4:4"])
        with self.assertRaises(ValueError):
            chroma_of("rgb24")

    def test_a_build_without_metrics_is_no_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError):
                read_metrics(folder)
            file = pathlib.Path(folder) / "tools/docs/metrics.json"
            file.parent.mkdir(parents=True)
            file.write_text("[]")
            with self.assertRaises(ValueError):
                read_metrics(folder)


if __name__ == "__main__":
    unittest.main()
