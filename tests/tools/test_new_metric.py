# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Adds a metric as CONTRIBUTING.md tells, by its very commands, to a copy of the repository: one folder and one word in a
list have to be enough for a library that scores it, for its own tests and for those of every metric.

Built without CUDA, without optimisation, and with few of the other metrics, which take most of the time. QC_FFMPEG names the
ffmpeg that scores; default: build/ffmpeg/bin/ffmpeg.
"""

import hashlib
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FFMPEG = pathlib.Path(os.environ.get("QC_FFMPEG", REPOSITORY / "build/ffmpeg/bin/ffmpeg"))
LIST = "kernels/meson.build"
LIBRARY = "libquality_cuda.so"
SETUP = ["-Dcuda=disabled", "-Dbench=false", "--buildtype=plain", "-Doptimization=0", "-Ddebug=false"]
KEPT = ("psnr", "ssim")  # of the other metrics
WIDTH, HEIGHT, FRAMES = 40, 26, 3


def told_commands():
    """The first block of commands under "How to add a metric"."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return re.search(r"(?s)\n## How to add a metric\n.*?\n```sh\n(.*?)```\n", text)[1]


def told_name():
    return re.match(r"name=(\w+) ", told_commands())[1]


def run(command, folder, **options):
    """Runs a command; what it printed, also when it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout[-6000:]}")
    return done.stdout


def repository_files():
    """Tracked files and those that git would add, as they are now."""
    listed = subprocess.run(["git", "-C", str(REPOSITORY), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode != 0:
        raise unittest.SkipTest("no git checkout")
    names = {name for name in listed.stdout.decode().split("\0") if name}
    return sorted(name for name in names if (REPOSITORY / name).is_file())


def fingerprints(folder):
    """All files: name -> (content's hash, mode)."""
    return {str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
            for path in sorted(folder.rglob("*")) if path.is_file()}


def shorten(path):
    """Leaves few metrics in the list: kernels/meson.build."""
    names = re.compile(r"(?s)(\nmetrics = \[\n)(.*?)(\n\]\n)")
    text = path.read_text(encoding="utf-8")
    kept = "\n".join(f"  '{name}'," for name in KEPT if f"'{name}'" in names.search(text)[2])
    path.write_text(names.sub(lambda found: found[1] + kept + found[3], text), encoding="utf-8")


class NewMetric(unittest.TestCase):
    """A copy with the metric in it, built once for all tests."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("QC_TEST_LEVEL") == "quick":
            raise unittest.SkipTest("not part of --quick")
        missing = [tool for tool in ("meson", "ninja", "bash") if not shutil.which(tool)]
        if missing:
            raise unittest.SkipTest(f"no {missing[0]}")
        files = repository_files()
        cls.name = told_name()
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="qc-new-metric-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.source, cls.build = cls.scratch / "source", cls.scratch / "build"
        for name in files:
            (cls.source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, cls.source / name)
        shorten(cls.source / LIST)
        cls.list_before = (cls.source / LIST).read_text().splitlines()
        cls.before = fingerprints(cls.source)
        run(["bash", "-euc", told_commands()], cls.source)
        cls.after = fingerprints(cls.source)
        run(["meson", "setup", *SETUP, cls.build], cls.source)
        library = next(line for line in run(["ninja", "-C", cls.build, "-t", "targets", "all"], cls.source).splitlines()
                       if re.match(rf"engine/{LIBRARY}[.\d]*: ", line)).split(":")[0]
        own = f"tests/{cls.name}_test"
        run(["ninja", "-C", cls.build, *cls.jobs(), library, "tests/contract_test", own], cls.source)
        cls.library = cls.build / library

    @staticmethod
    def jobs():
        return ["-j", os.environ["QC_JOBS"]] if os.environ.get("QC_JOBS") else []

    # ---- what was touched

    def test_the_folder_and_one_word_are_all(self):
        folder = f"kernels/metrics/{self.name}/"
        changed = {name for name in {**self.before, **self.after} if self.before.get(name) != self.after.get(name)}
        added = {name for name in changed if name.startswith(folder)}
        self.assertEqual(changed - added, {LIST})
        old, new = self.list_before, (self.source / LIST).read_text().splitlines()
        word = f"'{self.name}',"
        self.assertEqual([line for line in new if line not in old], [f"  {word}"])
        new.remove(f"  {word}")
        self.assertEqual(new, old)

        skeleton = sorted(name for name in self.before if name.startswith("kernels/metrics/skeleton/"))
        self.assertEqual(sorted(added), [name.replace("skeleton", self.name) for name in skeleton])
        for name in added:
            text = (self.source / name).read_text(encoding="utf-8")
            self.assertNotIn("skeleton", text.lower(), name)
            self.assertNotIn("is_example", text, name)

    def test_a_metric_has_all_files(self):
        """Those of the table in CONTRIBUTING.md that a metric cannot do without."""
        told = re.findall(r"(?m)^\| `NAME(\S+)` \|", (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"))
        self.assertGreater(len(told), 8)
        for ending in told:
            self.assertIn(f"kernels/metrics/{self.name}/{self.name}{ending}", self.after)

    def test_removed_again_nothing_is_left(self):
        """Building and testing wrote nothing into the sources either."""
        copy = self.scratch / "removed"
        shutil.copytree(self.source, copy)
        self.addCleanup(shutil.rmtree, copy)
        shutil.rmtree(copy / "kernels/metrics" / self.name)
        text = (copy / LIST).read_text()
        (copy / LIST).write_text(text.replace(f"  '{self.name}',\n", "", 1))
        self.assertEqual(fingerprints(copy), self.before)

    # ---- what works

    def passed_tests(self, program, *arguments):
        """Names of the cases; fails unless all of them ran and passed."""
        text = run([self.build / "tests" / program, *arguments], self.scratch, env={**os.environ, "TMPDIR": str(self.scratch)})
        self.assertEqual(re.findall(r"(?m)^\[ +(?:FAILED|SKIPPED) +\] .*", text), [])
        return re.findall(r"(?m)^\[ +OK \] (\S+)", text)

    def test_the_contract_finds_it(self):
        cases = self.passed_tests("contract_test", f"--gtest_filter=*/{self.name}")
        source = (REPOSITORY / "tests/check/contract_test.cpp").read_text(encoding="utf-8")
        promised = re.findall(r"(?m)^TEST_P\(Contract, (\w+)\)", source)
        self.assertGreater(len(promised), 0)
        self.assertEqual(sorted(cases), sorted(f"Metrics/Contract.{case}/{self.name}" for case in promised))

    def test_its_own_tests_pass(self):
        """As many as the skeleton has, those of the kernels among them."""
        folder = REPOSITORY / "kernels/metrics/skeleton"
        cases = [case for path in folder.glob("*_test.cpp")
                 for case in re.findall(r"(?m)^TEST\(\w+, (\w+)\)", path.read_text(encoding="utf-8"))]
        passed = self.passed_tests(f"{self.name}_test")
        self.assertGreater(len(cases), 0)
        self.assertEqual(sorted(name.split(".")[1] for name in passed), sorted(cases))
        self.assertTrue(any("Emulation." in name for name in passed), passed)

    def planes(self, seed, size):
        """Luma of each frame, and the clip's raw 4:2:0 file of 8 bits."""
        draw = random.Random(seed)
        frames = [[draw.randrange(256) for _ in range(size)] for _ in range(FRAMES)]
        path = self.scratch / f"{seed}.yuv"
        path.write_bytes(b"".join(bytes(frame) + bytes(draw.randrange(256) for _ in range(size // 2)) for frame in frames))
        return frames, path

    def test_ffmpeg_scores_it(self):
        if not FFMPEG.exists():
            self.skipTest(f"no {FFMPEG.name} in {FFMPEG.parent} (tools/setup)")
        size = WIDTH * HEIGHT
        (distorted, main), (reference, other) = self.planes("distorted", size), self.planes("reference", size)
        expected = [sum(abs(a - b) for a, b in zip(*pair)) / size for pair in zip(distorted, reference)]
        raw = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}", "-i"]
        graph = f"[0:v][1:v]quality_cuda=metrics={self.name}:backend=cpu,metadata=print:file=-"
        # The library's own run path goes before LD_LIBRARY_PATH.
        text = run([FFMPEG, "-v", "error", "-nostdin", *raw, main, *raw, other, "-lavfi", graph, "-f", "null", "-"], self.scratch,
                   env={**os.environ, "LD_PRELOAD": str(self.library)})
        scores = [float(value) for value in re.findall(rf"(?m)^lavfi\.quality_cuda\.{self.name}_mad=(\S+)$", text)]
        self.assertEqual(len(scores), FRAMES, text)
        for score, mean in zip(scores, expected):
            self.assertTrue(math.isclose(score, mean, abs_tol=1e-5), f"{scores} instead of {expected}")


if __name__ == "__main__":
    unittest.main()
