# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The pages of docs/guide that run quality-cuda, as they stand there."""

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from slurm_cluster import OnCluster
from workbench import COMMAND, FFMPEG, ROOT, TIMEOUT_SECONDS, clip, comparable, fresh, single


@functools.cache
def commands_of(page, language="sh"):
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", (ROOT / "docs/guide" / page).read_text(encoding="utf-8"))


def by_name(part):
    """The one that speaks of it."""
    command, = [each for each in commands_of("cluster.md") if part in each]
    return command


class Catalogue(unittest.TestCase):
    METRICS = "metrics=vmaf+psnr"

    def setUp(self):
        self.place = fresh("recipe_" + self.id().rpartition(".")[2])
        # On the PATH as after an installation, with the ffmpeg beside it.
        programs = self.place / "bin"
        programs.mkdir()
        (programs / "quality-cuda").write_text(f'#!/bin/sh\ncommand=$1\nshift\nexec {COMMAND} "$command" --ffmpeg {FFMPEG} "$@"\n')
        (programs / "quality-cuda").chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        for name in ("open.mp4", "hevc.mkv", "ref.mkv"):
            (self.place / name).symlink_to(clip(name))
        self.titles = {"open.mp4": "open.json", "hevc.mkv": "hevc.json"}
        (self.place / "titles.json").write_text(json.dumps([{"distorted": [name], "reference": "ref.mkv", "log": log}
                                                            for name, log in self.titles.items()]))

    def run_recipe(self, command, program=("bash", "-ec"), code=0, **more):
        run = subprocess.run([*program, command], cwd=self.place, env={**self.environment, **more}, capture_output=True, text=True,
                             timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def plan(self):
        self.run_recipe(by_name("--titles"))
        self.shards = int((self.place / "shards.txt").read_text())
        self.assertGreater(self.shards, 4)

    def assert_logs(self):
        for name, log in self.titles.items():
            self.assertEqual(comparable(self.place / log), comparable(single([clip(name), clip("ref.mkv")], self.METRICS, "recipe_" + log)))


class Parallel(Catalogue):
    def setUp(self):
        super().setUp()
        found = subprocess.run(["parallel", "--version"], capture_output=True, text=True, check=False).stdout if shutil.which("parallel") else ""
        if not found.startswith("GNU parallel"):
            self.skipTest("SKIPPED: no GNU parallel (apt-get install parallel)")

    def test_as_it_stands(self):
        self.plan()
        self.run_recipe(by_name("parallel "), JOBS="2")
        self.assertEqual(len((self.place / "jobs.txt").read_text().splitlines()), 1 + self.shards)
        self.assert_logs()

    def test_one_that_fails(self):
        """It is tried three times; the merge says what is missing."""
        self.plan()
        wrapper = self.place / "bin/quality-cuda"
        noting = f'echo "$*" >> {self.place}/calls.txt\n[ "$*" != "shard plan.json 3" ] || exit 1\n'
        wrapper.write_text(wrapper.read_text().replace("command=$1", noting + "command=$1"))
        run = self.run_recipe(by_name("parallel ").replace("plan.json\n", "plan.json || true\n", 1), JOBS="2", code=1)
        self.assertIn("missing shards: 3 ", run.stderr)
        self.assertEqual((self.place / "calls.txt").read_text().splitlines().count("shard plan.json 3"), 3)


class Slurm(Catalogue, OnCluster):
    def setUp(self):
        super().setUp()
        self.environment = {**self.cluster.environment, "PATH": f"{self.place}/bin:{self.cluster.environment['PATH']}"}
        self.plan()

    def test_submit(self):
        run = self.run_recipe(by_name("submit plan.json"))
        self.assertEqual(run.stdout, "titles merged: 2 of 2\n")
        self.assert_logs()

    def test_by_hand(self):
        self.run_recipe(by_name("sbatch --parsable"))
        self.assert_logs()


class Kubernetes(Catalogue):
    def setUp(self):
        super().setUp()
        if importlib.util.find_spec("yaml") is None:
            self.skipTest("SKIPPED: no yaml for this Python (apt-get install python3-yaml)")
        import yaml
        self.shard, self.merge = [yaml.safe_load(text) for text in commands_of("cluster.md", "yaml")]

    def container(self, job):
        container, = job["spec"]["template"]["spec"]["containers"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        volumes = [volume["name"] for volume in job["spec"]["template"]["spec"]["volumes"]]
        self.assertEqual(list(mounts), volumes)
        self.assertEqual(container["workingDir"], mounts["titles"])  # the folder that the test has in its place
        return container

    def test_commands(self):
        self.plan()
        command = self.container(self.shard)["command"]
        for index in range(self.shard["spec"]["completions"]):
            self.run_recipe(command[-1], program=command[:-1], JOB_COMPLETION_INDEX=str(index))
        command = self.container(self.merge)["command"]
        self.run_recipe(command[-1], program=command[:-1])
        self.assert_logs()

    def test_manifest(self):
        spec = self.shard["spec"]
        for job in (self.shard, self.merge):
            self.assertEqual((job["apiVersion"], job["kind"], job["spec"]["template"]["spec"]["restartPolicy"]), ("batch/v1", "Job", "Never"))
        self.assertEqual((spec["completionMode"], spec["backoffLimitPerIndex"], spec["parallelism"]), ("Indexed", 3, spec["completions"]))
        container = self.container(self.shard)
        self.assertEqual(container["resources"]["limits"], {"nvidia.com/gpu": 1})
        self.assertIn(f"$JOB_COMPLETION_INDEX/{spec['completions']}\"", container["command"][-1])
        rule, = spec["podFailurePolicy"]["rules"]
        self.assertEqual((rule["action"], rule["onExitCodes"]), ("FailIndex", {"operator": "In", "values": [2]}))


#: What the recipe uses of Ray, in one process and one by one.
STAND_IN = """
def init():
    print("stand-in")
def cluster_resources():
    return {"CPU": 3.0}
def get(found):
    return found
def remote(**options):
    assert options == {"num_gpus": 0, "max_retries": 3, "retry_exceptions": True}, options
    def made(function):
        function.remote = function
        return function
    return made
"""


class Ray(Catalogue):
    def recipe(self, program, **more):
        self.plan()
        text, = commands_of("cluster.md", "python")
        self.run_recipe(text, program=(program, "-c"), **more)
        self.assert_logs()

    def test_with_a_stand_in(self):
        (self.place / "ray.py").write_text(STAND_IN)
        self.recipe(sys.executable, PYTHONPATH=str(self.place))

    def test_with_ray(self):
        program = os.environ.get("QC_PYTHON_WITH_RAY", sys.executable)
        if subprocess.run([program, "-c", "import ray"], capture_output=True, check=False).returncode != 0:
            self.skipTest("SKIPPED: no Ray for this Python (QC_PYTHON_WITH_RAY names one that has it)")
        self.recipe(program)


if __name__ == "__main__":
    unittest.main()
