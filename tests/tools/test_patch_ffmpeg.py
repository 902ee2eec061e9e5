# SPDX-License-Identifier: BSD-2-Clause-Patent
"""tools/patch-ffmpeg on small trees that have FFmpeg's anchors and nothing else; no ffmpeg is needed.

The trees are made of the lines that patches/ffmpeg-5.1.patch shows: so the tool is held against the reviewed patch.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FILTER = REPOSITORY / "filter"
SOURCES = ["vf_quality_cuda.c"] + sorted(f"quality_cuda/{path.name}" for path in (FILTER / "quality_cuda").iterdir())
LONG_AGO = 1_000_000_000  # seconds

# Real enough for configure: it lists the filters that allfilters.c declares.
PROLOGUE = {
    "configure": "#!/bin/sh\n"
                 "[ \"$1\" = --list-filters ] || exit 1\n"
                 "sed -n 's/^extern const .* ff_vf_\\(.*\\);$/\\1/p' \"$(dirname \"$0\")/libavfilter/allfilters.c\"\n"
                 "exit\n",
    "libavfilter/Makefile": "NAME = avfilter\n",
    "libavfilter/allfilters.c": "#include \"avfilter.h\"\n",
}


def read_patch():
    """The patched files: name -> (text without the filter, text with it), of the patch's lines alone."""
    files = {}
    for line in (REPOSITORY / "patches/ffmpeg-5.1.patch").read_text().splitlines(keepends=True):
        if line.startswith("+++ b/"):
            before, after = files.setdefault(line[len("+++ b/"):].strip(), ([], []))
        elif files and line.startswith((" ", "+")):
            after.append(line[1:])
            before += [line[1:]] if line.startswith(" ") else []
    return {name: (PROLOGUE[name] + "".join(before), PROLOGUE[name] + "".join(after))
            for name, (before, after) in files.items()}


class PatchFfmpeg(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp(prefix="qc-tree-"))
        self.addCleanup(shutil.rmtree, self.tree)
        self.patch = read_patch()
        self.assertEqual(set(self.patch), set(PROLOGUE))
        for name, (before, _) in self.patch.items():
            self.write(name, before)
        self.write("RELEASE", "5.1.9\n")
        (self.tree / "configure").chmod(0o755)

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(exist_ok=True)
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
        return {str(path.relative_to(self.tree)): path.read_bytes() for path in self.tree.rglob("*") if path.is_file()}

    def expected(self):
        """A tree with the filter: what the patch shows, and the repository's files."""
        files = {name: after.encode() for name, (_, after) in self.patch.items()}
        files.update({f"libavfilter/{name}": (FILTER / name).read_bytes() for name in SOURCES})
        return {**files, "RELEASE": b"5.1.9\n"}

    def grow_old(self):
        for path in self.tree.rglob("*"):
            os.utime(path, (LONG_AGO, LONG_AGO))

    def rewritten(self):
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*")
                      if path.is_file() and path.stat().st_mtime != LONG_AGO)

    def test_inserts_what_the_patch_shows(self):
        self.bring_up_to_date()
        self.assertEqual(self.contents(), self.expected())
        self.assertTrue(os.access(self.tree / "configure", os.X_OK))

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
        for name, (_, after) in self.patch.items():
            self.write(name, after)
        self.edit("libavfilter/Makefile", "include $(SRC_PATH)/libavfilter/quality_cuda/Makefile\n", "")
        self.edit("libavfilter/Makefile", "NAME = avfilter\n", "NAME = avfilter\n"
                  "OBJS-$(CONFIG_QUALITY_CUDA_FILTER)           += vf_quality_cuda.o\n")
        self.write("libavfilter/vf_quality_cuda.c", "everything\n")
        for _ in range(2):
            self.bring_up_to_date()
            self.assertEqual(self.contents(), self.expected())

    def test_replaces_an_older_folder(self):
        """A file that has left goes, with what was built of it; other objects of a build in the tree stay."""
        self.bring_up_to_date()
        for name in ("gone.c", "gone.h", "gone.o", "gone.d", "state.o", "state.d"):
            self.write(f"libavfilter/quality_cuda/{name}", "old\n")
        self.edit("libavfilter/quality_cuda/queue.c", "queue", "list")
        self.edit("configure", "quality_cuda >= 0.1.0", "quality_cuda >= 0.0.1")
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

    def test_type_of_later_versions(self):
        for name in ("ff_vf_qp", "ff_vf_random"):
            self.edit("libavfilter/allfilters.c", f"AVFilter {name};", f"FFFilter {name};")
        self.bring_up_to_date()
        self.assertIn("extern const FFFilter ff_vf_quality_cuda;\n", (self.tree / "libavfilter/allfilters.c").read_text())

    def test_own_libvmaf_cuda_wins_where_there_is_one(self):
        conflict = 'quality_cuda_libvmaf_cuda_filter_conflict="libvmaf_cuda_filter"\n'
        self.bring_up_to_date()
        self.assertNotIn(conflict, (self.tree / "configure").read_text())
        self.edit("libavfilter/allfilters.c", "extern const AVFilter ff_vf_qp;\n",
                  "extern const AVFilter ff_vf_libvmaf_cuda;\nextern const AVFilter ff_vf_qp;\n")
        self.bring_up_to_date()
        self.assertIn(conflict, (self.tree / "configure").read_text())

    def test_missing_anchor(self):
        """It is named, with the line to insert, and the tree stays as it was: no half of the insertions."""
        for name, anchor, ours in (("configure", "    libvmaf\n", "libquality_cuda"),
                                   ("libavfilter/Makefile", "include $(SRC_PATH)/libavfilter/dnn/Makefile\n", "quality_cuda/Makefile"),
                                   ("libavfilter/allfilters.c", "extern const AVFilter ff_vf_random;\n", "ff_vf_random")):
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

    def test_filter_that_configure_does_not_list(self):
        self.edit("configure", "ff_vf_", "ff_af_")
        run = self.run_tool(self.tree)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("configure --list-filters does not know quality_cuda", run.stderr)

    def test_wrong_arguments(self):
        for arguments in ((), (self.tree, self.tree), (self.tree / "libavfilter",), (self.tree / "nothing",)):
            self.assertNotEqual(self.run_tool(*arguments).returncode, 0)
        self.assertEqual(self.run_tool("--help").returncode, 0)
        self.assertEqual({name: text.decode() for name, text in self.contents().items() if name in self.patch},
                         {name: before for name, (before, _) in self.patch.items()})

    def test_every_source_is_built(self):
        """quality_cuda/Makefile, included as libavfilter's does it, names each C file once."""
        self.write("Makefile", "CONFIG_QUALITY_CUDA_FILTER = yes\n"
                   f"include {FILTER}/quality_cuda/Makefile\n"
                   "print: ; @echo $(OBJS-yes)\n")
        run = subprocess.run(["make", "-s", "-C", self.tree, "print"], capture_output=True, text=True, check=True)
        objects = [name.replace(".c", ".o") for name in SOURCES if name.endswith(".c")]
        self.assertEqual(sorted(run.stdout.split()), sorted(objects))


if __name__ == "__main__":
    unittest.main()
