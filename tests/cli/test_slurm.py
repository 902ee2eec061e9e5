# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Slurm runs a title's shards, and a catalogue's: what it is asked for, and, with a real one, nodes that are lost, tasks that fail, jobs
that are cancelled."""

import json
import shutil
import signal
import time
import unittest

from slurm_cluster import OnCluster, ffmpeg_that, stand_in, start_command
from workbench import FFMPEG, TIMEOUT_SECONDS, clip, command, comparable, fresh, single


class Asked(unittest.TestCase):
    """What Slurm's commands are given: they are stand-ins here."""

    def setUp(self):
        self.place = fresh("asked_" + self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"
        self.plan = self.place / "plan.json"

    def submit(self, *more, parts=5, environment=None, **answers):
        environment = environment or stand_in(self.place, **answers)
        run = command("score", clip("long.mkv"), clip("long.mkv"), "-m", "psnr", "--parts", parts, "-o", self.log, "--on", "slurm", *more,
                      environment=environment)
        calls = self.place / "slurm/calls.json"
        return run, [call[1:] for call in (json.loads(calls.read_text()) if calls.exists() else []) if call[0] == "sbatch"]

    def test_array_and_merge(self):
        run, (array, merge) = self.submit("--no-wait")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout, "submitted: array 101 of 5 tasks, merge 102; scancel 101 102 ends what was submitted\n")
        for option in ("--array=0-4", "--requeue", "--parsable", "--open-mode=append", f"--output={self.log}.plan.shards/task-%A_%a.out"):
            self.assertIn(option, array)
        self.assertIn("--dependency=afterany:101", merge)
        self.assertFalse([option for option in (*array, *merge) if option.startswith("--gres")])
        self.assertIn(f"shard {self.log}.plan --ffmpeg {FFMPEG} --hwaccel auto $((SLURM_ARRAY_TASK_ID + 0))/5\n", array[-1])
        self.assertIn("-lt 2 ]", array[-1])
        self.assertIn(f"merge {self.log}.plan ", merge[-1])

    def test_json(self):
        run, _ = self.submit("--no-wait", "--json", "--quiet")
        self.assertEqual(json.loads(run.stdout), {"arrays": ["101"], "merge": "102", "tasks": 5})

    def test_a_cluster_with_gpus(self):
        """A task gets a GPU, and as many shards as that scores side by side. The merge needs none."""
        run, (array, merge) = self.submit("--no-wait", "--retries", 7, parts=6, sinfo="(null)\ngpu:h100:4\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("--gres=gpu:1", array)
        self.assertIn("--array=0-1", array)
        self.assertIn("$((SLURM_ARRAY_TASK_ID + 0))/2\n", array[-1])
        self.assertIn("-lt 7 ]", array[-1])
        self.assertFalse([option for option in merge if option.startswith("--gres")])

    def test_resources_that_were_asked_for(self):
        for wish, passed, tasks in (("none", [], 6), ("gpu:h100:2", ["--gres=gpu:h100:2"], 1), ("gpu:h100", ["--gres=gpu:h100"], 2)):
            with self.subTest(wish):
                shutil.rmtree(self.place)
                self.place.mkdir()
                run, (array, _) = self.submit("--no-wait", "--gres", wish, parts=6, sinfo="gpu:4\n")
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual([option for option in array if option.startswith("--gres")], passed)
                self.assertIn(f"))/{tasks}\n", array[-1])

    def test_what_uses_no_gpu_asks_for_none(self):
        _, (array, _) = self.submit("--no-wait", "--hwaccel", "none", "--backend", "cpu", sinfo="gpu:4\n")
        self.assertFalse([option for option in array if option.startswith("--gres")])

    def test_options_of_sbatch(self):
        _, (array, merge) = self.submit("--no-wait", "--sbatch", "--partition=gpu  --time=1:00:00", "--sbatch", "-A 'a project' --comment=\"x y\"")
        for job in (array, merge):
            at = job.index("--partition=gpu")
            self.assertEqual(job[at:at + 5], ["--partition=gpu", "--time=1:00:00", "-A", "a project", "--comment=x y"])

    def test_what_is_done_is_not_submitted(self):
        command("plan", self.plan, clip("long.mkv"), clip("long.mkv"), "-m", "psnr", "--parts", 5, "-o", self.log)
        for number in (0, 3):
            self.assertEqual(command("shard", self.plan, number).returncode, 0)
        environment = stand_in(self.place)
        self.assertEqual(command("submit", self.plan, "--on", "slurm", "--no-wait", environment=environment).returncode, 0)
        for number in (1, 2, 4):
            self.assertEqual(command("shard", self.plan, number).returncode, 0)
        self.assertEqual(command("submit", self.plan, "--on", "slurm", "--no-wait", environment=environment).returncode, 0)
        calls = [call for call in json.loads((self.place / "slurm/calls.json").read_text()) if call[0] == "sbatch"]
        self.assertIn("--array=1-2,4", calls[0])
        self.assertEqual(len(calls), 3)
        self.assertFalse([option for option in calls[2] if option.startswith(("--array", "--dependency"))])

    def test_more_shards_than_an_array_may_have(self):
        run, jobs = self.submit("--no-wait", scontrol="Configuration\nMaxArraySize            = 2\nMaxJobCount = 9\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([[each for each in job if each.startswith("--array")] for job in jobs],
                         [["--array=0-1"], ["--array=0-1"], ["--array=0"], []])
        self.assertEqual([job[-1].split("TASK_ID + ")[1].split(")")[0] for job in jobs[:-1]], ["0", "2", "4"])
        self.assertIn("--dependency=afterany:101:102:103", jobs[-1])

    def test_names_that_mean_something(self):
        self.place = fresh("asked_o'dd %j $HOME")
        self.log = self.place / "scores.json"
        run, (array, _) = self.submit("--no-wait")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"--output={self.place}/scores.json.plan.shards/task-%A_%a.out".replace("%j", "%%j"), array)
        self.assertIn("asked_o'\\''dd %j $HOME/scores.json.plan'", array[-1])

    def refuse(self, said, *more, code=2, **answers):
        run, jobs = self.submit(*more, **answers)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (code, 1), run.stderr)
        self.assertIn(said, run.stderr)
        shutil.rmtree(self.place / "slurm")
        return jobs

    def test_mistakes(self):
        for said, *more in (("--sbatch=--array=3", "--sbatch", "--array=3"), ("--sbatch=--dep=1", "--sbatch", "-c 4 --dep=1"),
                            ("--sbatch=-d1", "--sbatch", "-d1"), ("--gres says which", "--sbatch", "--gpus-per-task=1"),
                            ("--sbatch=partition=x: no option", "--sbatch", "partition=x"), ("--sbatch=: no option", "--sbatch", ""),
                            ("a quote is not closed", "--sbatch", "--comment='x"), ("--gpus=0: of this machine", "--gpus", "0"),
                            ("--gres=gpu 2", "--gres", "gpu 2"), ("--retries", "--retries", "-1"), ("--on", "--on", "pbs"),
                            ("--fail-if=psnr_y.min<1", "--no-wait", "--fail-if", "psnr_y.min<1"), ("--strict", "--no-wait", "--strict")):
            with self.subTest(more):
                self.assertEqual(self.refuse(said, *more), [])

    def test_output_is_needed(self):
        run = command("score", clip("long.mkv"), clip("long.mkv"), "--on", "slurm", environment=stand_in(self.place))
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
        self.assertIn("--output", run.stderr)

    def test_cluster_options_without_cluster(self):
        for more in (["--no-wait"], ["--gres", "gpu:1"], ["--sbatch", "-c1"], ["--retries", 1]):
            run = command("score", clip("long.mkv"), clip("long.mkv"), *more)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
            self.assertIn("--on", run.stderr)

    def test_no_slurm(self):
        tools = self.place / "bin"
        tools.mkdir()
        run, _ = self.submit(environment={"PATH": str(tools)})
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
        self.assertRegex(run.stderr, r"--on=slurm: \w+ cannot be started \(No such file or directory\)")

    def test_refused(self):
        environment = stand_in(self.place)
        (self.place / "slurm/sbatch.refuses").write_text("sbatch: error: invalid partition specified: x\n"
                                                          "sbatch: error: Batch job submission failed: Invalid partition name specified\n")
        run, _ = self.submit(environment=environment)
        self.assertEqual((run.returncode, run.stderr), (1, "quality-cuda: --on=slurm: sbatch refused: invalid partition specified: x; "
                                                           "Batch job submission failed: Invalid partition name specified\n"))

    def test_a_merge_that_is_refused_takes_the_array_along(self):
        environment = stand_in(self.place)
        sbatch = self.place / "slurm/sbatch"
        refusing = "if '--dependency' in ' '.join(sys.argv):\n    sys.exit('no more jobs')\n"
        sbatch.write_text(sbatch.read_text().replace("refused = ", refusing + "refused = "))
        run, _ = self.submit(environment=environment)
        self.assertEqual((run.returncode, run.stderr), (1, "quality-cuda: --on=slurm: sbatch refused: no more jobs\n"))
        self.assertIn(["scancel", "101"], json.loads((self.place / "slurm/calls.json").read_text()))


class RealSlurm(OnCluster):
    def setUp(self):
        self.place = fresh("slurm_" + self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"
        self.plan = self.place / "plan.json"

    def do(self, *arguments, code=0):
        run = command(*arguments, environment=self.cluster.environment)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr + self.outputs())
        return run

    def outputs(self):
        return "".join(f"{path.name}: {path.read_text()}" for path in sorted(self.place.glob("*.shards/*.out")))

    def title(self, parts=4):
        return ["score", clip("open.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", parts, "-o", self.log, "--on", "slurm"]

    def assert_equals_single(self, log=None, distorted="open.mp4"):
        expected = single([clip(distorted), clip("ref.mkv")], "metrics=psnr", f"slurm_{distorted}.json")
        self.assertEqual(comparable(log or self.log), comparable(expected))

    def await_that(self, what, happens, seconds=TIMEOUT_SECONDS):
        end = time.monotonic() + seconds
        while not happens():
            self.assertLess(time.monotonic(), end, f"{what}\n{self.cluster.tell('squeue', '--states=all')}{self.outputs()}")
            time.sleep(0.1)

    def finish(self, process, code, hurried=False):
        if hurried:
            self.await_that("it ends", lambda: self.cluster.hurry() or process.poll() is not None)
        out, said = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, code, out + said + self.outputs())
        return out, said

    def test_one_title(self):
        run = self.do(*self.title(), "--fail-if", "psnr_y.min<99", code=3)
        self.assertIn("frames: 150, scored: 150", run.stdout)
        self.assertRegex(run.stderr, r"submitted: array \d+ of 4 tasks, merge \d+")
        self.assert_equals_single()
        self.assertEqual([path.name for path in self.place.iterdir()], ["scores.json"])

    def test_at_once(self):
        run = self.do(*self.title(), "--no-wait", "--json")
        jobs = json.loads(run.stdout)
        code = self.place / f"scores.json.plan.shards/merge-{jobs['merge']}.code"
        self.await_that("the merge ends", code.exists)
        self.assertEqual(code.read_text(), "0\n")
        self.assert_equals_single()

    def make_catalogue(self):
        titles = self.place / "titles.json"
        self.catalogue = {name: self.place / f"{name}.json" for name in ("open.mp4", "hevc.mkv", "mpeg2.ts")}
        titles.write_text(json.dumps([{"distorted": [str(clip(name))], "reference": str(clip("ref.mkv")), "log": str(log)}
                                      for name, log in self.catalogue.items()]))
        return int(self.do("plan", self.plan, "--titles", titles, "-m", "psnr", "--parts", 3).stdout)

    def test_a_node_is_lost(self):
        self.assertEqual(self.make_catalogue(), 9)
        slow = ffmpeg_that(self.place, "sleep 4")
        with start_command(self.cluster.environment, "submit", self.plan, "--on", "slurm", "--ffmpeg", slow) as process:
            self.await_that("two nodes are at work", lambda: {"n2", "n3"} <= set(self.cluster.nodes_at_work()))
            time.sleep(1)
            task = self.cluster.tell("squeue", "--noheader", "--nodelist=n2", "--states=R", "--format=%i").strip()
            self.cluster.lose("n2")
            out, said = self.finish(process, 0, hurried=True)
        self.assertEqual(out, "titles merged: 3 of 3\n", said)
        self.assertIn("down", self.cluster.tell("sinfo", "--noheader", "--nodes=n2", "--format=%T"))
        self.assertIn("Restarts=1 ", self.cluster.tell("scontrol", "show", "job", task))
        self.cluster.mend("n2")
        for name, log in self.catalogue.items():
            self.assert_equals_single(log, name)

    def test_a_task_that_fails_is_queued_again(self):
        failing = ffmpeg_that(self.place, f'once={self.place}/once.$SLURM_ARRAY_TASK_ID; if mkdir "$once"; then echo "a bad day" >&2; exit 1; fi')
        with start_command(self.cluster.environment, *self.title(parts=2), "--ffmpeg", failing, "--retries", 1) as process:
            self.finish(process, 0, hurried=True)
        self.assert_equals_single()
        self.assertEqual(len(list(self.place.glob("once.*"))), 2)

    def test_a_task_that_fails_for_good(self):
        failing = ffmpeg_that(self.place, 'if [ "$SLURM_ARRAY_TASK_ID" = 2 ]; then echo "a bad day" >&2; exit 1; fi')
        run = self.do(*self.title(), "--ffmpeg", failing, "--retries", 0, code=1)
        self.assertRegex(run.stderr, r"quality-cuda: missing shards: 2 \(1 of 4\); .*; shard 2: a bad day\n\Z")
        self.assertFalse(self.log.exists())
        self.do(*self.title())  # goes on where it was
        self.assert_equals_single()

    def test_an_array_that_is_cancelled(self):
        slow = ffmpeg_that(self.place, "sleep 60")
        with start_command(self.cluster.environment, *self.title(), "--ffmpeg", slow) as process:
            self.await_that("tasks run", self.cluster.nodes_at_work)
            array = self.cluster.tell("squeue", "--noheader", "--format=%F %r").split()[0]
            self.cluster.tell("scancel", array)
            said = self.finish(process, 1)[1]
        self.assertIn("missing shards: 0 1 2 3 (4 of 4)", said)
        self.await_that("nothing is queued again", lambda: not self.cluster.tell("squeue", "--noheader"))

    def test_a_merge_that_is_cancelled(self):
        slow = ffmpeg_that(self.place, "sleep 60")
        with start_command(self.cluster.environment, *self.title(), "--ffmpeg", slow) as process:
            line = process.stderr.readline()
            array, merge = line.split("scancel ")[1].split()[:2]
            self.cluster.tell("scancel", merge)
            said = self.finish(process, 1)[1]
            self.cluster.tell("scancel", array)
        self.assertEqual(said, f"quality-cuda: the merge, job {merge}, gave no result (CANCELLED); what is done stays done, submit again\n")

    def test_parts_that_do_not_make_one_run(self):
        """What to do is said; in one part it is done."""
        video = ["score", clip("refresh.ts"), clip("ref.mkv"), "-m", "psnr", "-o", self.log, "--on", "slurm"]
        self.assertRegex(self.do(*video, "--parts", 2, code=1).stderr, r"quality-cuda: .*plan this title with --parts 1\n\Z")
        self.do(*video, "--parts", 1)
        self.assert_equals_single(distorted="refresh.ts")

    def test_interrupted(self):
        """The jobs go on, and how to end them is said."""
        slow = ffmpeg_that(self.place, "sleep 2")
        with start_command(self.cluster.environment, *self.title(), "--ffmpeg", slow) as process:
            line = process.stderr.readline()
            jobs = line.split("scancel ")[1].split()[:2]
            process.send_signal(signal.SIGINT)
            said = self.finish(process, 1)[1]
        self.assertEqual(said, f"quality-cuda: interrupted: Interrupt; the jobs go on, and scancel {' '.join(jobs)} ends what was submitted\n")
        self.await_that("the log appears", self.log.exists)
        self.assert_equals_single()

    def test_refused(self):
        run = self.do(*self.title(), "--sbatch", "--partition=nowhere", code=1)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertRegex(run.stderr, "--on=slurm: sbatch refused: .*nvalid partition")
        run = self.do(*self.title(), "--sbatch", "--nonsense=3", code=1)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn("nonsense", run.stderr)
        run = self.do(*self.title(), "--gres", "gpu:1", code=1)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual(self.cluster.tell("squeue", "--noheader"), "")


if __name__ == "__main__":
    unittest.main()
