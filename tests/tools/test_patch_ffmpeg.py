# SPDX-License-Identifier: BSD-2-Clause-Patent
"""tools/patch-ffmpeg on small trees that have FFmpeg's anchors and nothing else; no ffmpeg is needed.

The trees are made of the lines that patches/ shows: so the tool is held against the reviewed patches.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))
from support import ffmpeg_trees  # noqa: E402

LONG_AGO = 1_000_000_000  # seconds
RELEASE = b"5.1.9\n"


class PatchFfmpeg(unittest.TestCase):
    LINE = "5.1"

    def setUp(self):
        self.tree = self.make_folder()
        self.theirs = ffmpeg_trees.shown_files(self.LINE)
        for name, text in self.theirs.items():
            self.write(name, text)
        self.write("RELEASE", RELEASE.decode())
        (self.tree / "configure").chmod(0o755)

    def make_folder(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-tree-"))
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, old, new):
        text = (self.tree / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def run_tool(self, *arguments):
        return subprocess.run([REPOSITORY / "tools/patch-ffmpeg", *arguments], capture_output=True, text=True, check=False)

    def bring_up_to_date(self):
        run = self.run_tool(self.tree)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("quality_cuda is listed", run.stdout)
        return run.stdout

    def contents(self):
        return ffmpeg_trees.contents(self.tree)

    def expected(self):
        """A tree with the filter: what git makes of it with the patches."""
        tree = self.make_folder()
        for name, text in self.theirs.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text, encoding="utf-8")
        (tree / "configure").chmod(0o755)
        ffmpeg_trees.apply_series(tree, self.LINE)
        return {**ffmpeg_trees.contents(tree), "RELEASE": RELEASE}

    def grow_old(self):
        for path in self.tree.rglob("*"):
            os.utime(path, (LONG_AGO, LONG_AGO))

    def rewritten(self):
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*")
                      if path.is_file() and path.stat().st_mtime != LONG_AGO)

    def test_does_what_the_patches_do(self):
        for line in ffmpeg_trees.LINES:
            with self.subTest(line=line):
                self.LINE = line
                self.setUp()
                self.bring_up_to_date()
                self.assertEqual(self.contents(), self.expected())
                self.assertTrue(os.access(self.tree / "configure", os.X_OK))

    def test_takes_all_out_again(self):
        before = self.contents()
        self.bring_up_to_date()
        run = self.run_tool("--remove", self.tree)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.contents(), before)

    def test_files_only(self):
        (self.tree / "configure").chmod(0o644)  # not to be run
        run = self.run_tool("--files-only", self.tree)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.contents(), self.expected())

    def test_refuses_what_is_too_old(self):
        before = self.contents()
        for release, accepted in (("4.4.5", False), ("5.0.3", False), ("n4.3", False), ("5.1", True), ("5.1.9", True), ("10.0", True),
                                  ("9.1.git", True), ("", True)):
            with self.subTest(release):
                self.write("RELEASE", release + "\n")
                run = self.run_tool(self.tree)
                self.assertEqual(run.returncode == 0, accepted, run.stdout + run.stderr)
                if not accepted:
                    self.assertEqual(len(run.stderr.splitlines()), 1)
                    self.assertIn(f"is FFmpeg {release}; the filter compiles in 5.1, 6.0,", run.stderr)
                    self.assertEqual(self.contents(), {**before, "RELEASE": f"{release}\n".encode()})

    def test_takes_one_tree(self):
        before = self.contents()
        run = self.run_tool(self.tree, "5.1")
        self.assertEqual(run.returncode, 2)
        self.assertTrue(run.stderr.endswith("patch-ffmpeg: one SRC_DIR at a time, not also: 5.1\n"), run.stderr)
        self.assertEqual(self.contents(), before)

    def test_writes_nothing_the_second_time(self):
        self.assertIn("brought up to date", self.bring_up_to_date())
        self.grow_old()
        self.assertIn("is up to date", self.bring_up_to_date())
        self.assertEqual(self.rewritten(), [])
        self.assertEqual(self.contents(), self.expected())

    def test_replaces_the_single_file_form(self):
        """The first versions had one file, and its object in libavfilter/Makefile."""
        for name, text in self.expected().items():
            if name in self.theirs:
                self.write(name, text.decode())
        self.edit("libavfilter/Makefile", "include $(SRC_PATH)/libavfilter/quality_cuda/Makefile\n", "")
        self.edit("libavfilter/Makefile", "include $(SRC_PATH)/libavfilter/dnn/Makefile\n",
                  "include $(SRC_PATH)/libavfilter/dnn/Makefile\n"
                  "OBJS-$(CONFIG_QUALITY_CUDA_FILTER)           += vf_quality_cuda.o\n")
        self.write("libavfilter/vf_quality_cuda.c", "everything\n")
        for _ in range(2):
            self.bring_up_to_date()
            self.assertEqual(self.contents(), self.expected())

    def test_replaces_an_older_folder(self):
        """A file that has left goes, with what was built of it; other objects of a build in the tree stay."""
        self.bring_up_to_date()
        self.write("tests/ref/fate/filter-quality_cuda-gone", "old\n")
        for name in ("gone.c", "gone.h", "gone.o", "gone.d", "state.o", "state.d"):
            self.write(f"libavfilter/quality_cuda/{name}", "old\n")
        self.edit("libavfilter/quality_cuda/queue.c", "queue", "list")
        self.edit("configure", "quality_cuda >= 0.1.0", "quality_cuda >= 0.0.1")
        self.edit("doc/filters.texi", "@item bitdepth\n", "@item depth_of_bits\n\nNo line of this has the name in it.\n")
        built = {f"libavfilter/quality_cuda/state.{suffix}": b"old\n" for suffix in ("o", "d")}
        for _ in range(2):
            self.bring_up_to_date()
            self.assertEqual(self.contents(), {**self.expected(), **built})

    def test_writes_only_what_changed(self):
        self.bring_up_to_date()
        self.edit("libavfilter/quality_cuda/queue.c", "queue", "list")
        self.grow_old()
        self.bring_up_to_date()
        self.assertEqual(self.rewritten(), ["libavfilter/quality_cuda/queue.c"])

    def test_own_libvmaf_cuda_wins_where_there_is_one(self):
        conflict = 'quality_cuda_libvmaf_cuda_filter_conflict="libvmaf_cuda_filter"\n'
        self.bring_up_to_date()
        self.assertNotIn(conflict, (self.tree / "configure").read_text())
        self.edit("configure", 'libvmaf_filter_deps="libvmaf"\n', 'libvmaf_filter_deps="libvmaf"\nlibvmaf_cuda_filter_deps="libvmaf"\n')
        self.bring_up_to_date()
        self.assertIn(conflict, (self.tree / "configure").read_text())

    def test_missing_anchor(self):
        """It is named, with the line to insert, and the tree stays as it was: no half of the insertions."""
        for name, anchor, ours in (("configure", "    librabbitmq\n", "libquality_cuda"),
                                   ("libavfilter/Makefile", "include $(SRC_PATH)/libavfilter/dnn/Makefile\n", "quality_cuda/Makefile"),
                                   ("libavfilter/allfilters.c", "extern const AVFilter ff_vf_random;\n", "ff_vf_random"),
                                   ("doc/filters.texi", "@section random\n", "@section quality_cuda"),
                                   ("tests/Makefile", "include $(SRC_PATH)/tests/fate/filter-audio.mak\n", "filter-quality_cuda.mak")):
            before = (self.tree / name).read_text()
            for other in ("", anchor * 2):
                self.edit(name, anchor, other)
                tree = self.contents()
                run = self.run_tool(self.tree)
                self.assertNotEqual(run.returncode, 0, run.stdout)
                self.assertIn(name, run.stderr)
                self.assertIn(ours, run.stderr)
                self.assertEqual(self.contents(), tree)
                self.write(name, before)
        self.bring_up_to_date()

    def test_changelog_without_a_list_of_features(self):
        self.edit("Changelog", "version 5.1:\n", "version 5.1.1:\n")
        self.edit("Changelog", "version 5.0:\n", "")
        tree = self.contents()
        run = self.run_tool(self.tree)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertIn("Changelog: expected", run.stderr)
        self.assertEqual(self.contents(), tree)

    def test_changelog_between_releases(self):
        self.write("Changelog", "Sorted.\n\nversion <next>:\n- a filter\n\n\nversion 5.1.9:\n - a fix\n\nversion 5.1:\n- a decoder\n\n")
        self.bring_up_to_date()
        self.assertEqual((self.tree / "Changelog").read_text(), "Sorted.\n\nversion <next>:\n- a filter\n- quality_cuda filter\n\n\n"
                         "version 5.1.9:\n - a fix\n\nversion 5.1:\n- a decoder\n\n")

    def test_file_that_cannot_be_written(self):
        (self.tree / "tests/fate").write_text("no folder\n")
        run = self.run_tool(self.tree)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertIn("tests/fate", run.stderr)

    def test_filter_that_configure_does_not_list(self):
        self.edit("configure", "ff_vf_", "ff_af_")
        run = self.run_tool(self.tree)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("configure --list-filters does not know quality_cuda", run.stderr)

    def test_wrong_arguments(self):
        for arguments in ((), (self.tree, self.tree), (self.tree / "libavfilter",), (self.tree / "nothing",)):
            self.assertNotEqual(self.run_tool(*arguments).returncode, 0)
        self.assertEqual(self.run_tool("--help").returncode, 0)
        self.assertEqual({name: text.decode() for name, text in self.contents().items() if name in self.theirs}, self.theirs)

    def test_every_source_is_built(self):
        """quality_cuda/Makefile, included as libavfilter's does it, names each C file once."""
        self.write("Makefile", "CONFIG_QUALITY_CUDA_FILTER = yes\n"
                   f"include {ffmpeg_trees.FILTER}/quality_cuda/Makefile\n"
                   "print: ; @echo $(OBJS-yes)\n")
        run = subprocess.run(["make", "-s", "-C", self.tree, "print"], capture_output=True, text=True, check=True)
        objects = [name.removeprefix("libavfilter/").replace(".c", ".o") for name in ffmpeg_trees.NEW_FILES if name.endswith(".c")]
        self.assertEqual(sorted(run.stdout.split()), sorted(objects))


if __name__ == "__main__":
    unittest.main()
