# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What packaging/ repeats of the sources: versions, names, symbols. Building the packages is tests/suites/package_builds.py's."""

import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/suites"))
import container_recipe  # noqa: E402
import package_builds  # noqa: E402

DEBIAN = ROOT / "packaging/debian"


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


class Packaging(unittest.TestCase):
    def setUp(self):
        self.packages = re.findall(r"(?m)^Package: (\S+)", text("packaging/debian/control"))
        self.soname = re.search(r"soversion: '(\d+)'", text("engine/meson.build"))[1]

    def test_versions(self):
        self.assertIn(f"libquality-cuda{self.soname}", self.packages)
        version = re.search(r"version: '([^']+)'", text("meson.build"))[1]
        self.assertRegex(text("packaging/debian/changelog"), rf"\Aquality-cuda \({re.escape(version)}-\d+\) ")

    def test_files_belong_to_packages(self):
        owners = {path.name.rsplit(".", 1)[0] for path in DEBIAN.glob("*.*")}
        self.assertEqual(owners - set(self.packages), set())
        self.assertGreater(len(owners), 3)

    def test_pages_that_help_names_are_packaged(self):
        """Those that options, manual pages and the pages themselves name."""
        sources = {"ffmpeg-quality-cuda": ["filter/vf_quality_cuda.c", "docs/man/quality_cuda.7.in"],
                   "quality-cuda-tools": ["docs/man/quality-cuda.1.in",
                                          *(str(path.relative_to(ROOT)) for path in (ROOT / "cli/options").glob("*.cpp"))]}
        for package, files in sources.items():
            packaged = text(f"packaging/debian/{package}.docs").split()
            named = {name for file in files for name in re.findall(r"docs/[\w/]+\.md", text(file))}
            if package == "ffmpeg-quality-cuda":  # its manual page has the table of options
                table = text("docs/reference/ffmpeg.md").partition("| option | default | meaning |")[2].partition("\n\n")[0]
                named |= {"docs/reference/" + name for name in re.findall(r"\]\((\w+\.md)", table)}
            self.assertTrue(named, package)
            shipped = {name for name in named if any(name == each or name.startswith(each + "/") for each in packaged)}
            self.assertEqual(named - shipped, set(), package)
            for name in packaged:
                self.assertTrue((ROOT / name).exists(), name)

    def test_symbols_are_the_headers_functions(self):
        headers = text("engine/include/quality_cuda.h") + text("run/include/quality_cuda_run/engine.h")
        declared = set(re.findall(r"\b(qc_\w+)\(", re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", headers)))
        listed = text(f"packaging/debian/libquality-cuda{self.soname}.symbols").splitlines()
        self.assertEqual(listed[0], f"libquality_cuda.so.{self.soname} libquality-cuda{self.soname} #MINVER#")
        self.assertEqual({line.split("@")[0].strip() for line in listed[1:]}, declared)


class Container(unittest.TestCase):
    def read(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "Containerfile"
            path.write_text(content)
            return container_recipe.read(path)

    def test_the_recipe_installs_what_is_packaged(self):
        recipe = container_recipe.read(ROOT / "packaging/Containerfile")
        self.assertEqual([step.source for step in recipe.steps], [str(package_builds.PACKAGES.relative_to(ROOT))])
        named = re.findall(r"/packages/([\w.-]+)_\*\.deb", recipe.steps[0].command)
        packaged = re.findall(r"(?m)^Package: (\S+)", text("packaging/debian/control"))
        self.assertEqual(sorted(named), sorted(name for name in packaged if not name.endswith("-dev")))
        self.assertIn(f"usr/bin/{recipe.entry_point[0]}\n", (DEBIAN / "ffmpeg-quality-cuda.install").read_text())

    def test_instructions_that_no_test_could_follow(self):
        run = "RUN --mount=type=bind,source=a,target=/packages b \\\n c\n"
        self.assertEqual(self.read(run + 'ENTRYPOINT ["d"]').steps, [container_recipe.Step("a", "b  c")])
        for content in (run, 'ENTRYPOINT ["d"]', "RUN b\n" + run, "COPY a b\n" + run):
            with self.assertRaises(ValueError):
                self.read(content)


class Suite(unittest.TestCase):
    def test_what_is_missing_is_named(self):
        self.assertEqual(package_builds.packages("default").skipped, ["packages: with tools/test --all only"])
        with mock.patch.object(package_builds.shutil, "which", lambda name: None if name == "dh" else "/" + name):
            self.assertEqual(package_builds.packages("all").skipped, ["packages: no dh (tools/setup --packaging)"])


if __name__ == "__main__":
    unittest.main()
