# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What gpu-check runs when and for how long, and that nothing which it did not do goes without a word."""

import contextlib
import copy
import functools
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/tools"), str(ROOT / "tests")]
import fake_gpu_machine  # noqa: E402
from gpu_checks import plan, report, speed  # noqa: E402
from gpu_checks.parts import Parts  # noqa: E402
from gpu_checks.report import TIMED_OUT, Report, run, unittest_results  # noqa: E402
from support import scripts  # noqa: E402

# A script as on a machine with so many cores, where the crowd is gone as soon as each has run once or twice.
EIGHT_CORES = """import os, pathlib, runpy, sys
os.cpu_count = lambda: 8
sys.argv = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
from gpu_checks import crowd
crowd.SECONDS = 1
runpy.run_path(sys.argv[0], run_name='__main__')
"""
# A machine with a GPU that is none: its tools say nothing but that they are there.
NVIDIA_SMI = "#!/bin/sh\necho 'Stand-in, 0, 16384'\n"

PATIENCE_SECONDS = 120  # with a machine that has other things to do


def is_running(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


class Order(unittest.TestCase):
    def test_side_by_side_where_there_are_cores(self):
        self.assertEqual(plan.groups(plan.PARTS, 16), [["clips", "checks", "sanitizers", "goldens", "filter", "pipelines"],
                                                       ["errors"], ["latency"], ["memory"], ["bench"]])

    def test_one_after_the_other_on_small_machines(self):
        self.assertEqual(plan.groups(plan.PARTS, 4), [[part] for part in plan.PARTS])

    def test_only_what_is_wanted(self):
        self.assertEqual(plan.groups(["bench", "filter"], 16), [["filter"], ["bench"]])
        self.assertEqual(plan.groups(["memory"], 16), [["memory"]])

    def test_every_part_runs_once(self):
        for cpus in (1, 8, 64):
            self.assertEqual(sorted(part for group in plan.groups(plan.PARTS, cpus) for part in group), sorted(plan.PARTS))

    def test_what_measures_runs_alone(self):
        for part in ("errors", "latency", "memory", "bench"):
            self.assertIn([part], plan.groups(plan.PARTS, 64))

    def test_time_is_kept_for_the_parts_alone(self):
        least = plan.LEAST_SECONDS
        self.assertEqual(plan.kept_after(["checks", "filter"], plan.PARTS), sum(least.values()))
        self.assertEqual(plan.kept_after(["checks"], ["checks", "memory"]), least["memory"])
        self.assertEqual(plan.kept_after(["errors"], plan.PARTS), least["latency"] + least["memory"] + least["bench"])
        self.assertEqual(plan.kept_after(["bench"], plan.PARTS), 0)

    def test_sanitizers_at_once(self):
        self.assertEqual(plan.sanitizers_at_once(16, 143771), 12)
        self.assertEqual(plan.sanitizers_at_once(16, 8192), 4)  # as many as the GPU's memory holds
        self.assertEqual(plan.sanitizers_at_once(16, 0), 12)    # which is not known
        self.assertEqual(plan.sanitizers_at_once(1, 1024), 1)
        self.assertEqual(plan.sanitizers_at_once(64, 8192, gpus=4), 16)

    def test_gpus(self):
        self.assertEqual(plan.gpus(None, 3), ["0", "1", "2"])
        self.assertEqual(plan.gpus("2,GPU-0a", 4), ["2", "GPU-0a"])
        self.assertEqual(plan.gpus("", 0), ["0"])


class Time(unittest.TestCase):
    METRICS = [f"m{i}" for i in range(22)]

    def test_budget(self):
        clock = [100.0]
        budget = plan.Budget(560, now=lambda: clock[0])
        clock[0] = 300.0
        self.assertEqual((budget.spent(), budget.left(), budget.left(kept=150)), (200, 360, 210))
        self.assertEqual(plan.Budget(0, now=lambda: clock[0]).left(kept=1000), float("inf"))

    def test_the_default_fits_into_ten_minutes(self):
        self.assertLess(plan.DEFAULT_BUDGET, 600)

    def test_rows(self):
        self.assertEqual(speed.rows_of([["-m", "a,b", "-b", "1,4,16"], ["-u", "-m", "a,b", "-l", "nv12"], ["-m", "c"]]), 9)
        self.assertEqual(speed.rows_of(speed.benched(self.METRICS, False)), 24 * 3 + 6 + 2 + 23 * 4 + 23 + 2 + 1)

    def thoroughness(self, left):
        return plan.thoroughness(speed.rows_of(speed.benched(self.METRICS, False)), speed.END_TO_END_SECONDS, left)

    def test_bench_is_as_thorough_as_there_is_time(self):
        self.assertEqual(self.thoroughness(float("inf")), plan.THOROUGH)
        self.assertEqual(self.thoroughness(0), plan.SHORTEST)
        degrees = [self.thoroughness(left) for left in range(0, 3000, 10)]
        self.assertEqual(sorted(set(map(plan.DEGREES.index, degrees)), reverse=True), list(range(len(plan.DEGREES)))[::-1])
        self.assertEqual(degrees, sorted(degrees, key=plan.DEGREES.index, reverse=True))

    def test_bench_that_takes_longer_than_thought_becomes_shorter(self):
        left = [900.0]
        context = types.SimpleNamespace(quick=False, numbers={}, left=lambda: left[0])
        with contextlib.redirect_stdout(io.StringIO()) as text:
            degrees = [speed.degree_for(context, 100)]
            left[0] = 75.0
            degrees += [speed.degree_for(context, 50), speed.degree_for(context, 50), speed.degree_for(context, 0)]
        self.assertEqual([plan.DEGREES.index(degree) for degree in degrees], [0, 5, 5, 3])
        self.assertEqual(text.getvalue().count("bench: "), 3)
        self.assertEqual(context.numbers["bench_degree"], str(degrees[-1]))

    def test_what_is_kept_for_bench_is_enough_for_the_shortest(self):
        rows = speed.rows_of(speed.benched(self.METRICS, False))
        self.assertLessEqual(plan.SHORTEST.seconds_for(rows, speed.END_TO_END_SECONDS), plan.LEAST_SECONDS["bench"] * 1.1)

    def test_memory(self):
        self.assertEqual([plan.memory_frames(*case) for case in ((False, float("inf")), (False, 120), (False, 119), (True, 500))],
                         [100000, 100000, 20000, 20000])


class Running(unittest.TestCase):
    def test_output_and_status(self):
        done = run(["sh", "-c", "echo a; echo b >&2; exit 3"])
        self.assertEqual((done.returncode, done.stdout), (3, "a\nb\n"))

    def test_a_child_does_not_outlive_its_time(self):
        """Nor does the child's child, which has the same pipe and would keep it open."""
        start = time.monotonic()
        done = run(["sh", "-c", "echo begun; sleep 60 & sleep 60"], timeout=0.5)
        self.assertEqual(done.returncode, TIMED_OUT)
        self.assertIn("begun\n", done.stdout)
        self.assertIn("timed out after 0.5 s", done.stdout)
        self.assertLess(time.monotonic() - start, 20)

    def test_results_of_unittest(self):
        text = ("test_a (test_cuda.Upload.test_a)\nWhat it does. ... ok\nsetUpClass (test_cuda.Nvdec) ... skipped 'SKIPPED: no GPU'\n"
                "test_b (test_cuda.Upload.test_b) ... noise\nmore\nFAIL\n")
        self.assertEqual([(name, result) for name, _, result in unittest_results(text)],
                         [("test_a", "ok"), ("setUpClass", "skipped 'SKIPPED: no GPU'"), ("test_b", "FAIL")])


class NoClips:
    def begin(self):
        pass

    settle = begin


class Check:
    """A GpuCheck whose parts are functions of this test."""

    def __init__(self, out, budget=0, **parts):
        self.out, self.budget, self.kept = out, plan.Budget(budget), 0
        self.report, self.numbers, self.clips = Report(), {}, NoClips()
        self.parts = parts

    def for_part(self, kept):
        part = copy.copy(self)
        part.report, part.kept = Report(), kept
        for name, function in self.parts.items():
            setattr(part, name, functools.partial(function, part))
        return part

    def left(self):
        return self.budget.left(self.kept)


class WholeRun(unittest.TestCase):
    def go(self, cpus=16, budget=0, **parts):
        """(exit status, {name: outcome}, what was printed)"""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as text:
            whole = Parts(Check(folder, budget, **parts), list(parts))
            whole.all(cpus)
            status = whole.conclude()
            content = json.loads((pathlib.Path(folder) / "gpu-check.json").read_text())
        self.assertEqual(sorted(content["seconds"]), sorted(parts))
        return status, {entry["name"]: entry["outcome"] for entry in content["results"]}, text.getvalue()

    @staticmethod
    def passing(check):
        check.report.add("fine", "passed")

    def test_parts_run_side_by_side(self):
        both = threading.Barrier(2, timeout=30)

        def meet(check):
            both.wait()
            check.report.add("met", "passed")
        status, _, text = self.go(checks=meet, filter=meet)
        self.assertEqual(status, 0)
        self.assertTrue(text.startswith("checks, filter: without a limit of time\n"), text)
        self.assertTrue(text.endswith("2 passed, 0 failed, 0 skipped\n"), text)

    def test_measurements_wait_for_the_rest(self):
        ended = []

        def slow(check):
            time.sleep(0.2)
            ended.append("checks")
            self.passing(check)

        def measure(check):
            check.report.check("alone", ended == ["checks"])
        self.assertEqual(self.go(checks=slow, bench=measure)[0], 0)

    def test_an_exception_is_a_failure_of_its_part(self):
        def broken(_):
            raise FileNotFoundError("check_test")
        status, found, text = self.go(checks=broken, filter=self.passing)
        self.assertEqual((status, found), (1, {"checks": "failed", "fine": "passed"}))
        self.assertIn("failed: checks\n", text)
        self.assertIn("1 passed, 1 failed, 0 skipped", text)

    def test_a_part_without_a_result_has_failed(self):
        self.assertEqual(self.go(memory=lambda check: None)[:2], (1, {"memory": "failed"}))

    def test_a_part_without_time_has_failed(self):
        def slow(check):
            while check.left() > 0:
                time.sleep(0.05)
            self.passing(check)
        budget = plan.LEAST_SECONDS["bench"] + 1
        status, found, text = self.go(budget=budget, cpus=1, checks=slow, filter=self.passing, bench=self.passing)
        self.assertEqual(status, 1)
        self.assertIn(f"FAILED   filter: not begun: nothing is left of --budget {budget}", text)
        self.assertEqual(found, {"fine": "passed", "filter": "failed"})

    def test_seconds_are_printed(self):
        _, _, text = self.go(checks=self.passing, memory=self.passing)
        self.assertRegex(text, r"(?m)^-- checks: \d+\.\d s, ended \d+ s after the start$")
        self.assertRegex(text, r"(?m)^seconds: checks \d+, memory \d+; in all \d+$")


class Ending(unittest.TestCase):
    def test_a_process_that_was_just_being_started(self):
        """end_all() comes when a process is there, and not known yet: it ends all the same."""
        real, made = subprocess.Popen, []
        self.addCleanup(report._ending.clear)  # pylint: disable=protected-access

        def popen(*arguments, **options):
            made.append(real(*arguments, **options))
            report.end_all()
            return made[-1]

        with mock.patch.object(subprocess, "Popen", popen), self.assertRaisesRegex(RuntimeError, "ended from outside"):
            run(["sleep", "300"])
        self.assertEqual(made[0].returncode, -signal.SIGKILL)
        with self.assertRaisesRegex(RuntimeError, "ended from outside"):
            run(["true"])


class Script(unittest.TestCase):
    """tools/gpu-check itself."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def whole(self, *arguments, environment=None, root=ROOT):
        """Every part, on a machine where everything answers at once."""
        build, machine = fake_gpu_machine.install(self.folder)
        done = subprocess.run([sys.executable, "-c", EIGHT_CORES, root / "tools/gpu-check", "--out", self.folder / "out", "--shared",
                               "/nowhere", "--build", build, *arguments], text=True, timeout=120, stdout=subprocess.PIPE,
                              env=dict(os.environ, PATH=f"{machine}{os.pathsep}{os.environ['PATH']}", **(environment or {})),
                              stderr=subprocess.STDOUT, check=False)
        content = json.loads((self.folder / "out/gpu-check.json").read_text())
        return done.returncode, done.stdout, content

    def test_every_part_of_a_healthy_machine(self):
        """But `filter`, which has tests of its own."""
        code, text, content = self.whole("--only", ",".join(part for part in plan.PARTS if part != "filter"))
        self.assertIn("clips, checks, sanitizers, goldens, pipelines; then errors; then latency; then memory; then bench: at most 560 s", text)
        outcomes = {entry["name"]: entry["outcome"] for entry in content["results"]}
        # There is no driver to take memory from, nor one whose launches fail, and a run that takes no time cannot be sampled.
        del outcomes["GPU memory exhausted"], outcomes["the GPU fails under its surfaces"]
        self.assertEqual((code, outcomes.pop("memory stays flat")), (1, "failed"))
        self.assertEqual({name: outcome for name, outcome in outcomes.items() if outcome != "passed"}, {"goldens": "skipped"})
        self.assertLessEqual({"clip dist_2160p.h264", "check: Check.All", "quality_bench --selftest", "sanitizer racecheck 6/6",
                              "NVDEC dist_1080p_10bit.hevc / ref_1080p_10bit.hevc", "a downloaded picture shows in the trace",
                              "two CUDA contexts", "all metrics cost less than their sum, batch 16",
                              "end to end 2160p.h264 vmaf"}, set(outcomes))
        self.assertEqual(set(content["seconds"]), set(plan.PARTS) - {"filter"})
        self.assertEqual(content["numbers"]["end to end 1080p.hevc all"]["clips"], "made clips")

    def test_a_copy_of_what_its_help_names(self):
        text = " ".join(subprocess.run([ROOT / "tools/gpu-check", "--help"], capture_output=True, text=True, check=True).stdout.split())
        for name in re.search(r"of the repository ([^;]*?)\. ", text)[1].replace(" and ", ", ").split(", "):
            shutil.copytree(ROOT / name, self.folder / "copy" / name, ignore=shutil.ignore_patterns("__pycache__"))
        code, text, _ = self.whole("--only", "clips,pipelines", root=self.folder / "copy")
        self.assertEqual(code, 0, text)

    def test_several_gpus_share_the_processes(self):
        _, machine = fake_gpu_machine.install(self.folder)
        (machine / "several").touch()
        used = {}
        for visible in (None, "5"):
            log = self.folder / f"used-{visible}"
            environment = {"FAKE_GPU_LOG": str(log), **({"CUDA_VISIBLE_DEVICES": visible} if visible else {})}
            code, _, content = self.whole("--only", "checks,sanitizers", environment=environment)
            self.assertEqual(code, 0)
            used[visible] = set(log.read_text().split("\n")) - {""}
            tested = {entry["name"] for entry in content["results"] if "selftest" in entry["name"]}
            self.assertEqual(tested, {f"quality_bench --selftest on GPU {n}" for n in "01"} if visible is None else {"quality_bench --selftest"})
        self.assertEqual(used[None], {f"{program} {n}" for program in ("check_test", "compute_sanitizer", "quality_bench") for n in "01"})
        self.assertEqual(used["5"], {f"{program} 5" for program in ("check_test", "compute_sanitizer", "quality_bench")})

    def test_measurements_are_shortened_and_say_so(self):
        _, text, content = self.whole("--only", "memory,bench", "--budget", str(plan.LEAST_SECONDS["bench"] + 60))
        self.assertRegex(text, r"memory: 20000 frames instead of 100000 \(--budget leaves \d+ s\)")
        self.assertEqual(content["numbers"]["memory"]["frames"], 20000)
        code, text, content = self.whole("--only", "bench", "--budget", "25")
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"bench: 3 repetitions of 0\.05 s, 1 rounds of 50 % of the frames end to end \(--budget leaves \d+ s\)")
        self.assertIn("\n3 repetitions of 0.05 s\n", text)
        code, text, content = self.whole("--only", "bench", "--budget", "0")
        self.assertEqual((code, content["numbers"]["bench_degree"]), (0, str(plan.THOROUGH)))
        self.assertIn("\n7 repetitions of 0.5 s\n", text)

    def go(self, *arguments, gpu=True):
        with tempfile.TemporaryDirectory() as folder:
            if gpu:
                path = pathlib.Path(folder) / "nvidia-smi"
                path.write_text(NVIDIA_SMI)
                path.chmod(0o755)
            search = folder + (os.pathsep + os.environ["PATH"] if gpu else "")
            done = subprocess.run([sys.executable, ROOT / "tools/gpu-check", "--out", folder, "--shared", "/nowhere", "--build",
                                   "/nowhere/build", *arguments], env=dict(os.environ, PATH=search), text=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def test_goldens_cannot_be_made(self):
        code, text = self.go("--only", "goldens")
        self.assertEqual(code, 0, text)
        self.assertIn("SKIPPED  goldens: /nowhere/golden is not there, and libvmaf's scores cannot be made here", text)
        self.assertTrue(text.endswith("0 passed, 0 failed, 1 skipped\n"), text)

    def test_a_build_without_programs_fails_in_every_part(self):
        code, text = self.go("--only", "clips,checks,pipelines,errors,memory,bench")
        self.assertEqual(code, 1)
        for part in ("clip ref_1080p.h264", "checks", "two CUDA contexts", "memory", "bench"):
            self.assertIn(f"FAILED   {part}: ", text)

    def test_ended_from_outside_it_leaves_nothing_running(self):
        build, machine = fake_gpu_machine.install(self.folder)
        program, pids = build / "tests/check_test", self.folder / "pids"
        processes = 2 * scripts.load("gpu-check").CHECK_SHARDS
        program.write_text(f"#!/bin/sh\nsleep 300 & echo $! $$ >> {pids}; wait\n")
        with subprocess.Popen([sys.executable, ROOT / "tools/gpu-check", "--out", self.folder / "out", "--build", build, "--only", "checks"],
                              env=dict(os.environ, PATH=f"{machine}{os.pathsep}{os.environ['PATH']}"), stdout=subprocess.DEVNULL) as process:
            end = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < end and not (pids.exists() and len(pids.read_text().split()) == processes):
                time.sleep(0.05)
            process.terminate()
            self.assertEqual(process.wait(timeout=PATIENCE_SECONDS), 128 + signal.SIGTERM)
        left = [pid for pid in pids.read_text().split() if is_running(pid)]
        self.assertEqual((len(pids.read_text().split()), left), (processes, []))

    def test_no_gpu(self):
        code, text = self.go(gpu=False)
        self.assertEqual((code, text.splitlines()[-1]), (0, "0 passed, 0 failed, 1 skipped"))

    def test_arguments(self):
        for arguments, said in ((("--only", "nonsense"), "--only nonsense: clips, checks"), (("--budget", "-1"), "--budget -1"),
                                (("--budget", "nan"), "--budget nan")):
            code, text = self.go(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()
