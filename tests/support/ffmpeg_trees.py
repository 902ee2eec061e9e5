# SPDX-License-Identifier: BSD-2-Clause-Patent
"""FFmpeg's source trees, whole and as far as patches/ shows them, for tests of what tools/patch-ffmpeg and the patches do."""

import functools
import os
import pathlib
import subprocess
import tempfile

from support import scripts

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FILTER = REPOSITORY / "filter"
PATCHES = REPOSITORY / "patches"
LINES = sorted(path.name for path in PATCHES.iterdir() if path.is_dir())

# Of ours, and where they lie in FFmpeg's tree.
NEW_FILES = {
    "libavfilter/vf_quality_cuda.c": FILTER / "vf_quality_cuda.c",
    **{f"libavfilter/quality_cuda/{path.name}": path for path in sorted((FILTER / "quality_cuda").iterdir())},
    "tests/fate/filter-quality_cuda.mak": FILTER / "fate/filter-quality_cuda.mak",
    **{f"tests/ref/fate/{path.name}": path for path in sorted((FILTER / "fate/ref").iterdir())},
}

# Real enough for patch-ffmpeg: it lists the filters that allfilters.c declares.
CONFIGURE = ("#!/bin/sh\n"
             "[ \"$1\" = --list-filters ] || exit 1\n"
             "sed -n 's/^extern const .* ff_vf_\\(.*\\);$/\\1/p' \"$(dirname \"$0\")/libavfilter/allfilters.c\"\n"
             "exit\n")


@functools.cache
def common_patch():
    """Name and text of the one that adds the filter's files. It is made when it is asked for, and is the same in every line."""
    tool = scripts.load("update-patches")
    return tool.make_series(tool.shown_files(kept_text(LINES[0])))[0]


def kept_patches(line):
    """The patches of patches/ for a line's own files."""
    return sorted((PATCHES / line).iterdir())


def kept_text(line):
    return "".join(path.read_text(encoding="utf-8") for path in kept_patches(line))


def shown_files(line):
    """FFmpeg's own files as far as the line's patch shows them: name -> text, and a configure that can be run."""
    files = {name: text for name, (text, _) in scripts.load("update-patches").shown_files(kept_text(line)).items()}
    blank = "\n" * CONFIGURE.count("\n")
    assert files["configure"].startswith(blank)
    return {**files, "configure": CONFIGURE + files["configure"][len(blank):]}


def git(tree, *arguments):
    """git without the settings of whoever runs the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, GIT_COMMITTER_NAME="a test",
                       GIT_COMMITTER_EMAIL="test@localhost", GIT_AUTHOR_NAME="a test", GIT_AUTHOR_EMAIL="test@localhost")
    done = subprocess.run(["git", *map(str, arguments)], cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"git {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def apply_series(tree, line):
    """git am of the line's patches to a folder of FFmpeg's own files."""
    name, text = common_patch()
    with tempfile.TemporaryDirectory(prefix="qc-series-") as folder:
        common = pathlib.Path(folder) / name
        common.write_text(text, encoding="utf-8")
        apply_patches(tree, [common, *kept_patches(line)])


def apply_patches(tree, patches):
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message=FFmpeg")
    git(tree, "am", "--quiet", *patches)


def contents(tree):
    """name -> bytes; not git's."""
    return {str(path.relative_to(tree)): path.read_bytes() for path in pathlib.Path(tree).rglob("*")
            if path.is_file() and path.relative_to(tree).parts[0] != ".git"}


def time_stamps(tree):
    """name -> when it was last written."""
    return {str(path.relative_to(tree)): path.lstat().st_mtime_ns for path in tree.rglob("*") if not path.is_dir()}


def source_tree(line):
    """The source tree of a line that tools/setup fetched, or that lies in the folder QC_FFMPEG_SOURCES; None: there is none."""
    folders = sorted((REPOSITORY / "build").glob("ffmpeg-src*"))
    if "QC_FFMPEG_SOURCES" in os.environ:
        folders = [pathlib.Path(os.environ["QC_FFMPEG_SOURCES"]) / line, *folders]
    for folder in folders:
        release = folder / "RELEASE"
        if release.exists() and (folder / "configure").exists() and (release.read_text() + ".").startswith(line + "."):
            return folder
    return None
