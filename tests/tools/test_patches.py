# SPDX-License-Identifier: BSD-2-Clause-Patent
"""patches/ is what tools/update-patches makes; its series do to FFmpeg's sources what tools/patch-ffmpeg does.

Whole source trees are those that tools/setup left in build/, or the folders 5.1, 7.1 and so on in $QC_FFMPEG_SOURCES.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))
from support import ffmpeg_trees  # noqa: E402

SECTION = ffmpeg_trees.FILTER / "doc/quality_cuda.texi"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-patches-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_tool(self, tool, *arguments):
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class Current(Folder):
    def test_current(self):
        """From the trees that are there, and from what the patches show for the other lines."""
        trees = [tree for tree in map(ffmpeg_trees.source_tree, ffmpeg_trees.LINES) if tree]
        self.assertEqual(self.run_tool(REPOSITORY / "tools/update-patches", "--check", *trees), (0, ""))

    def test_two_small_patches_for_each_line(self):
        """A change of a source is not carried a second time by a patch."""
        for path in (REPOSITORY / "patches").rglob("*.patch"):
            self.assertRegex(str(path.relative_to(REPOSITORY)), r"\Apatches/[\d.]+/000[23]-")
            self.assertNotIn("libavfilter/quality_cuda/state.h", path.read_text(encoding="utf-8"))


class Stale(Folder):
    """A copy of what the tool reads, of two lines, which is changed."""

    LINES = ["5.1", "9.0"]

    def setUp(self):
        super().setUp()
        shutil.copytree(REPOSITORY / "filter", self.folder / "filter")
        shutil.copytree(REPOSITORY / "patches", self.folder / "patches",
                        ignore=shutil.ignore_patterns(*set(ffmpeg_trees.LINES).difference(self.LINES)))
        (self.folder / "tools").mkdir()
        for name in ("update-patches", "patch-ffmpeg"):
            shutil.copy2(REPOSITORY / "tools" / name, self.folder / "tools" / name)

    def update(self, *arguments):
        return self.run_tool(self.folder / "tools/update-patches", *arguments)

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def series(self, line):
        return sorted((self.folder / "build/patches" / line).glob("*.patch"))

    def test_a_source_that_changed(self):
        """It is in every series, and leaves what is kept as it is."""
        kept = ffmpeg_trees.contents(self.folder / "patches")
        self.edit("filter/quality_cuda/queue.c", "queue", "a_word_of_this_test")
        self.assertEqual(self.update("--check"), (0, ""))
        self.assertFalse((self.folder / "build").exists())
        self.assertEqual(self.update(), (0, "build/patches: the series of 5.1, 9.0\n"))
        self.assertEqual(ffmpeg_trees.contents(self.folder / "patches"), kept)
        for line in self.LINES:
            sources, *own = (path.read_text(encoding="utf-8") for path in self.series(line))
            self.assertEqual(len(own), 2)
            self.assertIn("a_word_of_this_test", sources)
            self.assertNotIn("a_word_of_this_test", "".join(own))

    def test_series_for_git_am(self):
        """What lies in build/patches/LINE, and nothing else, makes of a tree what tools/patch-ffmpeg makes of it."""
        stale = self.folder / "build/patches/9.0/0001-an-earlier-name.patch"
        stale.parent.mkdir(parents=True)
        stale.write_text("no patch\n", encoding="utf-8")
        self.assertEqual(self.update()[0], 0)
        for line in self.LINES:
            patched, copied = self.folder / line / "patched", self.folder / line / "copied"
            for tree in (patched, copied):
                for name, text in ffmpeg_trees.shown_files(line).items():
                    (tree / name).parent.mkdir(parents=True, exist_ok=True)
                    (tree / name).write_text(text, encoding="utf-8")
            ffmpeg_trees.apply_patches(patched, self.series(line))
            self.assertEqual(self.run_tool(REPOSITORY / "tools/patch-ffmpeg", "--files-only", copied)[0], 0)
            self.assertEqual(ffmpeg_trees.contents(patched), ffmpeg_trees.contents(copied))

    def test_cover_letter(self):
        """It names the patches that lie beside it, in lines that a mail has."""
        self.assertEqual(self.update()[0], 0)
        letter = (self.folder / "build/patches/9.0/0000-cover-letter.txt").read_text(encoding="utf-8")
        self.assertLess(max(map(len, letter.splitlines())), 76)
        self.assertIn("[PATCH 0/3]", letter)
        for path in self.series("9.0"):
            self.assertIn(re.search("(?m)^Subject: (.*)$", path.read_text(encoding="utf-8"))[1], letter)

    def test_a_section_that_changed(self):
        self.edit("filter/doc/quality_cuda.texi", "@item bitdepth", "@item depth")
        code, text = self.update("--check")
        self.assertEqual(code, 1)
        self.assertEqual(re.findall(r"patches/([\d.]+)/0003-", text), self.LINES)
        self.assertEqual(self.update()[0], 0)
        self.assertEqual(self.update("--check"), (0, ""))
        for line in self.LINES:
            self.assertIn("\n+@item depth\n", next((self.folder / "patches" / line).glob("0003-*")).read_text(encoding="utf-8"))

    def test_a_patch_that_was_edited(self):
        name = str(next((self.folder / "patches/5.1").glob("0003-*")).relative_to(self.folder))
        self.edit(name, "+- quality_cuda filter", "+- the quality_cuda filter")
        self.assertEqual(self.update("--check")[0], 1)

    def test_an_insertion_that_moved(self):
        """What a patch does not show has to be seen in a source tree."""
        self.edit("tools/patch-ffmpeg", "remap_opencl_filter_deps", "vmafmotion_filter_deps")
        code, text = self.update()
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\Aupdate-patches: the patch for FFmpeg 5\.1 needs a source tree.*vmafmotion_filter_deps")


class Trees(Folder):
    """Source trees, as far as anything here reads them: copying the rest takes ten times as long as all the checks."""

    READ = ("RELEASE", "configure", "libavfilter/Makefile", "tests/fate/source-check.sh",
            # what configure --list-filters looks at
            "lib*/all*.c", "lib*/parsers.c", "lib*/protocols.c", "lib*/bitstream_filters.c", "lib*/hwaccels.h")

    def pristine(self, line):
        """Of a line's tree, without the filter."""
        tree = ffmpeg_trees.source_tree(line)
        if tree is None:
            self.skipTest(f"no source tree of FFmpeg {line} in build/ or $QC_FFMPEG_SOURCES")
        copy = self.folder / "tree"
        for name in {*ffmpeg_trees.shown_files(line), *(path.relative_to(tree) for glob in self.READ for path in tree.glob(glob))}:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, copy / name)
        code, text = self.run_tool(REPOSITORY / "tools/patch-ffmpeg", "--remove", copy)
        self.assertEqual(code, 0, text)
        return copy

    def applied(self, tree, line):
        """A folder of FFmpeg's own files that the patches know, and its check of sources, with the patches."""
        own = self.folder / "own"
        for name in [*ffmpeg_trees.shown_files(line), "tests/fate/source-check.sh"]:
            (own / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, own / name)
        ffmpeg_trees.apply_series(own, line)
        return own

    def check_line(self, line):
        tree = self.pristine(line)
        own = self.applied(tree, line)
        check = subprocess.run(["sh", "tests/fate/source-check.sh", "tests"], cwd=own, capture_output=True, text=True, check=True)
        self.assertIn("license", check.stdout)
        self.assertNotIn("quality_cuda", check.stdout)

        before = ffmpeg_trees.time_stamps(tree)
        code, text = self.run_tool(REPOSITORY / "tools/patch-ffmpeg", tree)
        self.assertEqual(code, 0, text)
        self.assertIn("quality_cuda is listed", text)
        after = ffmpeg_trees.time_stamps(tree)
        self.assertEqual(before.keys() - after.keys(), set())
        changed = {name for name in after if before.get(name) != after[name]}
        self.assertEqual(changed, {*ffmpeg_trees.shown_files(line), *ffmpeg_trees.NEW_FILES})
        self.assertEqual([name for name in changed if (tree / name).read_bytes() != (own / name).read_bytes()], [])
        self.assertEqual(ffmpeg_trees.contents(own).keys(), {*changed, "tests/fate/source-check.sh"})

    def test_5_1(self):
        self.check_line("5.1")

    def test_7_1(self):
        self.check_line("7.1")

    def test_8_1(self):
        self.check_line("8.1")

    def test_9_0(self):
        self.check_line("9.0")

    def test_no_line_is_left_out(self):
        self.assertEqual(ffmpeg_trees.LINES, ["5.1", "7.1", "8.1", "9.0"])


class Section(Folder):
    def test_makeinfo_takes_it(self):
        """Without a warning, among others as in doc/filters.texi."""
        makeinfo = shutil.which("makeinfo") or self.skipTest("no makeinfo (package texinfo)")
        document = self.folder / "filters.texi"
        document.write_text("\\input texinfo\n@settitle Filters\n@chapter Video Filters\n\n@section qp\n\nOne.\n\n"
                            + SECTION.read_text(encoding="utf-8") + "\n@section random\n\nAnother.\n@bye\n", encoding="utf-8")
        done = subprocess.run([makeinfo, "--html", "--no-split", "--output", self.folder / "filters.html", document],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = (self.folder / "filters.html").read_text(encoding="utf-8")
        self.assertIn("renditions", text)
        self.assertEqual(len(re.findall("<h3", text)), 3)


if __name__ == "__main__":
    unittest.main()
