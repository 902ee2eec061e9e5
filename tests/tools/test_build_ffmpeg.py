# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which source tools/build-ffmpeg builds, and in which lines of FFmpeg the filter is tested. What fetches and patches is played."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests/suites"))
import ffmpeg_lines  # noqa: E402

# Makes the tree of $OFFER, or fails as without an archive; notes what it was asked.
FETCH = """#!/bin/bash
echo "$*" >> "$ASKED"
while [ $# -gt 1 ]; do [ "$1" != --codec-headers ] || [ -z "$OFFER" ] || mkdir -p "$2"; shift; done
[ ! -e "$1/configure" ] || exit 0
[ -n "$OFFER" ] || { echo "no archive" >&2; exit 3; }
mkdir -p "$1/libavfilter" && echo '%s' > "$1/configure" && touch "$1/libavfilter/allfilters.c" && echo "$OFFER" > "$1/RELEASE"
""" % (CONFIGURE := 'check_pkg_config ffnvcodec "ffnvcodec >= 99.1"')  # no headers that are installed will do


class Source(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="qc-build-"))
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "tools").mkdir()
        for name in ("build-ffmpeg", "common.sh", "ffmpeg-sources"):
            shutil.copy(REPOSITORY / "tools" / name, self.root / "tools")
        self.script("fetch-ffmpeg-source", FETCH)
        self.script("patch-ffmpeg", "#!/bin/bash\necho \"patched $1 $(cat \"$1/RELEASE\")\"\n")

    def script(self, name, text):
        path = self.root / "tools" / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def tree(self, name, release):
        folder = self.root / name
        (folder / "libavfilter").mkdir(parents=True)
        (folder / "configure").write_text(CONFIGURE)
        (folder / "libavfilter/allfilters.c").touch()
        (folder / "RELEASE").write_text(release + "\n")

    def run_tool(self, *options, offer=""):
        environment = {**os.environ, "OFFER": offer, "ASKED": str(self.root / "asked")}
        return subprocess.run([self.root / "tools/build-ffmpeg", "--only-source", *options], capture_output=True, text=True, cwd=self.root,
                              env=environment, check=False)

    def patched(self, *options, offer=""):
        """(folder in build/, release) of the tree that was patched"""
        run = self.run_tool(*options, offer=offer)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        words = next(line.split() for line in run.stdout.splitlines() if line.startswith("   patched "))
        return os.path.relpath(words[1], self.root), words[2]

    def asked(self):
        """What the archives were asked for, and forgotten: each time "LINE" of FFmpeg, or "headers" alone."""
        path = self.root / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line.partition("--ffmpeg ")[2].split()[0] if "--ffmpeg" in line else "headers" for line in lines]

    def test_the_newest_is_fetched_once(self):
        self.assertEqual(self.patched(offer="9.0.2"), ("build/ffmpeg-src-9.0", "9.0.2"))
        self.assertEqual(self.asked(), ["newest"])
        self.assertEqual(self.patched(), ("build/ffmpeg-src-9.0", "9.0.2"))
        self.assertEqual(self.asked(), [], "headers came in passing")
        self.assertTrue((self.root / "build/codec-headers-9.0").is_dir())

    def test_an_older_newest_is_kept_too(self):
        self.assertEqual(self.patched(offer="7.1.5"), ("build/ffmpeg-src-7.1", "7.1.5"))
        self.assertEqual(self.patched(offer="9.0.2"), ("build/ffmpeg-src-7.1", "7.1.5"))
        self.assertEqual(self.asked(), ["newest"])
        self.assertEqual(self.patched("--ffmpeg", "9.0", offer="9.0.2"), ("build/ffmpeg-src-9.0", "9.0.2"))

    def test_a_line(self):
        self.assertEqual(self.patched("--ffmpeg", "5.1", offer="5.1.9"), ("build/ffmpeg-src-5.1", "5.1.9"))
        self.assertEqual(self.asked(), ["5.1", "headers"], "those that suit the line")
        self.assertEqual(self.patched(offer="9.0.2"), ("build/ffmpeg-src-9.0", "9.0.2"), "another line is not the newest")
        self.assertEqual(self.patched("--ffmpeg", "5.1"), ("build/ffmpeg-src-5.1", "5.1.9"))

    def test_without_an_archive(self):
        run = self.run_tool()
        self.assertEqual(run.returncode, 3)
        self.assertIn("no source of FFmpeg; unpack one yourself", run.stderr)
        self.assertEqual(self.run_tool("--ffmpeg", "8.1").returncode, 3)
        self.tree("build/ffmpeg-src", "5.1.9")
        self.assertEqual(self.patched(), ("build/ffmpeg-src", "5.1.9"))
        self.tree("build/ffmpeg-src-7.1", "7.1.5")
        self.tree("build/ffmpeg-src-6.1", "6.1.1")
        self.asked()
        self.assertEqual(self.patched(), ("build/ffmpeg-src-7.1", "7.1.5"))
        self.assertEqual(self.asked(), ["newest"], "it is asked once, not for the headers again")

    def test_a_tree_by_hand(self):
        """It serves for its own line, and where no other can be had; not in place of the newest."""
        self.tree("build/ffmpeg-src", "5.1.9")
        self.assertEqual(self.patched("--ffmpeg", "5.1", offer="5.1.1"), ("build/ffmpeg-src", "5.1.9"))
        self.assertEqual(self.asked(), ["headers"])
        self.assertTrue((self.root / "build/codec-headers-5.1").is_dir())
        self.assertEqual(self.patched(offer="9.0.2"), ("build/ffmpeg-src-9.0", "9.0.2"))

    def test_a_folder(self):
        self.tree("mine", "6.0.1")
        self.assertEqual(self.patched("--ffmpeg", "./mine"), ("mine", "6.0.1"))
        self.assertEqual(self.patched("--ffmpeg", str(self.root / "mine")), ("mine", "6.0.1"))
        for value, text in (("./other", "--ffmpeg ./other: no FFmpeg source tree"),
                            ("6.1", "--ffmpeg 6.1: there are 5.1, 7.1, 8.1, 9.0, or a folder (./6.1)")):
            run = self.run_tool("--ffmpeg", value)
            self.assertEqual(run.returncode, 1)
            self.assertIn(text, run.stderr)


class Lines(unittest.TestCase):
    def lines(self, level, own, without_source=()):
        """Lines whose FFmpeg the filter's tests ran in, and the outcome."""
        ran = []

        def build(outcome, line, name):
            if line in without_source:
                outcome.skip(name, "no source")
            return line not in without_source

        def run_in(line, _name, _level):
            ran.append(line)
            return ffmpeg_lines.Outcome(passed=1)
        with mock.patch.multiple(ffmpeg_lines, FFMPEG=REPOSITORY, line_of=lambda _: own, build=build, run_in=run_in):
            return ran, ffmpeg_lines.lines(level)

    def test_the_oldest_beside_the_newest(self):
        ran, outcome = self.lines("default", "9.0")
        self.assertEqual(ran, ["5.1"])
        self.assertEqual(outcome.skipped, ["FFmpeg 8.1: with tools/test --all only", "FFmpeg 7.1: with tools/test --all only"])

    def test_all(self):
        self.assertEqual(self.lines("all", "9.0")[0], ["8.1", "7.1", "5.1"])
        self.assertEqual(self.lines("all", "5.1")[0], ["9.0", "8.1", "7.1"])
        self.assertEqual(self.lines("all", "")[0], ["9.0", "8.1", "7.1", "5.1"], "a version of its own beside all of them")

    def test_not_twice(self):
        ran, outcome = self.lines("default", "5.1")
        self.assertEqual((ran, len(outcome.skipped)), ([], 3))

    def test_quick(self):
        ran, outcome = self.lines("quick", "9.0")
        self.assertEqual((ran, len(outcome.skipped)), ([], 3))

    def test_what_cannot_be_had_is_skipped(self):
        ran, outcome = self.lines("all", "9.0", without_source=("8.1",))
        self.assertEqual((ran, outcome.skipped, outcome.failed), (["7.1", "5.1"], ["FFmpeg 8.1: no source"], []))

    def built(self, status):
        outcome = ffmpeg_lines.Outcome()
        done = subprocess.CompletedProcess([], status, stdout="much\nno source of FFmpeg 8.1\n")
        with mock.patch.object(ffmpeg_lines.subprocess, "run", lambda *_, **__: done):
            return ffmpeg_lines.build(outcome, "8.1", "FFmpeg 8.1"), outcome

    def test_only_a_missing_source_is_an_excuse(self):
        done, outcome = self.built(3)
        self.assertEqual((done, outcome.skipped, outcome.failed), (False, ["FFmpeg 8.1: no source of FFmpeg 8.1"], []))
        done, outcome = self.built(1)
        self.assertEqual((done, outcome.skipped, len(outcome.failed)), (False, [], 1))
        self.assertEqual(self.built(0)[0], True)


if __name__ == "__main__":
    unittest.main()
