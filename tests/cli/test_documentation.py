# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Every command of README.md, docs/faq.md and docs/guide runs as it stands, on small clips with the names of tools/demo's.

Pages that need more than these clips (a cluster, two streams over UDP) have tests of their own: test_recipes.py, here and in tests/filter.
"""

import os
import re
import subprocess
import sys
import unittest

from workbench import COMMAND, FFMPEG, ROOT, TIMEOUT_SECONDS, X264, fresh

SOURCE = "testsrc2=size=160x120:rate=25,noise=alls=8:allf=t:all_seed=1,format=yuv420p,trim=end_frame=40"
CLIPS = {
    "reference.mkv": ["-f", "lavfi", "-i", SOURCE, "-c:v", "ffv1"],
    "good.mp4": ["-i", "reference.mkv", *X264, "-crf", "10"],
    "poor.mp4": ["-i", "reference.mkv", "-vf", "scale=80:60", *X264, "-crf", "30"],
    "good.png": ["-i", "good.mp4", "-frames:v", "1"],
    "reference.png": ["-i", "reference.mkv", "-frames:v", "1"],
    "film_24.mkv": ["-r", "24", "-i", "reference.mkv", "-c:v", "ffv1"],
    "film_23976.mp4": ["-r", "24000/1001", "-i", "reference.mkv", *X264, "-crf", "20"],
}
ELSEWHERE = "".join((ROOT / f"tests/{suite}/test_recipes.py").read_text(encoding="utf-8") for suite in ("filter", "cli"))


def blocks_of(page):
    """@return [language, text] of each block that says sh or python"""
    return re.findall(r"(?ms)^```(sh|python)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"))


class Documentation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = fresh("documentation")
        cls.demo = cls.root / "build/demo"
        cls.demo.mkdir(parents=True)
        (cls.root / "build/ffmpeg").mkdir()
        (cls.root / "build/cli").symlink_to(COMMAND.resolve().parent)
        (cls.root / "build/ffmpeg/bin").symlink_to(FFMPEG.resolve().parent)
        for name, arguments in CLIPS.items():
            subprocess.run([FFMPEG, "-v", "error", *arguments, name], cwd=cls.demo, check=True, timeout=TIMEOUT_SECONDS)
        path, = re.findall(r"(?m)^    (PATH=.*)$", (ROOT / "README.md").read_text(encoding="utf-8"))
        cls.path = subprocess.run(["bash", "-c", f'{path}\necho "$PATH"'], cwd=cls.root, capture_output=True, text=True, check=True).stdout.strip()

    def run_block(self, language, text, folder=None):
        program = ["bash", "-e", "-o", "pipefail", "-c"] if language == "sh" else [sys.executable, "-c"]
        return subprocess.run([*program, text], cwd=folder or self.demo, env={**os.environ, "PATH": self.path}, capture_output=True,
                              text=True, timeout=TIMEOUT_SECONDS, check=False, stdin=subprocess.DEVNULL)

    def run_page(self, page, least):
        blocks = blocks_of(page)
        self.assertGreaterEqual(len(blocks), least, page)
        for language, text in blocks:
            run = self.run_block(language, text)
            self.assertEqual(run.returncode, 0, f"{page}:\n{text}{run.stdout}{run.stderr}")

    def test_readme(self):
        (_, enter), *jobs = blocks_of("README.md")
        self.assertEqual(len(jobs), 5)
        run = self.run_block("sh", enter + "".join(text for _, text in jobs), self.root)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(len(re.findall(r'(?m)^\{"type": "window"', run.stdout)), 2, "a line for each second")
        for made in ("ladder.json", "ladder.html", "vmaf.json"):
            self.assertGreater((self.demo / made).stat().st_size, 1000, made)
        gate = next(text for _, text in jobs if "--fail-if" in text)
        self.assertEqual(self.run_block("sh", gate.replace("<80", "<101")).returncode, 3)

    def test_faq(self):
        self.run_page("docs/faq.md", 15)

    def test_guide(self):
        pages = [page for page in sorted((ROOT / "docs/guide").glob("*.md")) if f'commands_of("{page.name}")' not in ELSEWHERE]
        self.assertGreater(len(pages), 4)
        for page in pages:
            with self.subTest(page.name):
                self.run_page(page.relative_to(ROOT), 1)

    def test_one_that_does_not_run(self):
        self.assertNotEqual(self.run_block("sh", "quality-cuda score no.mp4 reference.mkv").returncode, 0)
        self.assertNotEqual(self.run_block("python", "import json; json.loads('')").returncode, 0)


if __name__ == "__main__":
    unittest.main()
