# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The filter's tests in FFmpeg's own suite, FATE: run by its script, on the ffmpeg that is tested, as make fate does in a build."""

import re
import subprocess
import sys
import unittest

from harness import FFMPEG, REPOSITORY, FilterTest, ffmpeg

sys.path.insert(0, str(REPOSITORY / "tests"))
from support import ffmpeg_trees  # noqa: E402

TESTS = REPOSITORY / "filter/fate/filter-quality_cuda.mak"
REFERENCES = REPOSITORY / "filter/fate/ref"


def read_tests(folder, *missing):
    """name -> command, as make sees them in a build that has all components but those that are missing."""
    (folder / "Makefile").write_text(
        f"ALLYES = $(if $(filter {' '.join(missing) or 'none'},$(1)),,yes)\n"
        "FILTERFRAMECRC = $(call ALLYES,$(1:%=%_FILTER) FRAMECRC_MUXER)\n"
        "all: fate-filter-quality_cuda\n"
        f"include {TESTS}\n"
        "fate-filter-quality_cuda-%: ; @printf '%s\\t%s\\n' $@ '$(CMD)'\n"
        "fate-vfilter fate-filter-quality_cuda: ; @true\n")
    run = subprocess.run(["make", "-s", "-C", folder], capture_output=True, text=True, check=True)
    return dict(line.split("\t") for line in run.stdout.splitlines())


class Fate(FilterTest):
    def script(self):
        """FATE's own, of the line that is tested."""
        version = ffmpeg(["-version"], self.folder).stdout
        line = re.match(r"ffmpeg version n?(\d+\.\d+)", version)[1]
        tree = ffmpeg_trees.source_tree(line)
        return tree / "tests/fate-run.sh" if tree else self.skipTest(f"no source tree of FFmpeg {line} in build/ or $QC_FFMPEG_SOURCES")

    def test_scores(self):
        script = self.script()
        if not re.search(r"(?m)^ \S+ avgblur ", ffmpeg(["-filters"], self.folder).stdout):
            self.skipTest(f"{FFMPEG} has no filter avgblur")
        (self.folder / "tests/data/fate").mkdir(parents=True)
        for name, command in read_tests(self.folder).items():
            with self.subTest(test=name):
                reference = REFERENCES / name.removeprefix("fate-")
                run = subprocess.run(["sh", script, name, "", "", FFMPEG.parent, command, "diff", reference],
                                     cwd=self.folder, capture_output=True, text=True, check=False)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class Lists(FilterTest):
    def test_every_test_has_a_reference(self):
        names = [name.removeprefix("fate-") for name in read_tests(self.folder)]
        self.assertEqual(sorted(names), sorted(path.name for path in REFERENCES.iterdir()))
        self.assertGreater(len(names), 5)

    def test_none_is_run_without_the_filter(self):
        self.assertEqual(read_tests(self.folder, "QUALITY_CUDA_FILTER"), {})
        self.assertEqual(read_tests(self.folder, "FRAMECRC_MUXER").keys(),
                         read_tests(self.folder).keys() - {"fate-filter-quality_cuda-frames"})


if __name__ == "__main__":
    unittest.main()
