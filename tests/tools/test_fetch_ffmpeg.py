# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which FFmpeg tools/fetch-ffmpeg-source takes, of archives that have this and that: fake_archive.py plays apt."""

import hashlib
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
DEBIAN, SECURITY, UBUNTU = "http://mirror.example/debian/", "http://mirror.example/debian-security/", "http://mirror.example/ubuntu/"
BOOKWORM = [[DEBIAN, "bookworm"], [DEBIAN, "bookworm-updates"], [SECURITY, "bookworm-security"], ["http://other.example/apt", "bookworm"]]
NINE, EIGHT, SEVEN, FIVE = "ffmpeg=7:9.0.2-4", "ffmpeg=7:8.1.2-2", "ffmpeg=7:7.1.5-0+deb13u1", "ffmpeg=7:5.1.9-0+deb12u1"
HEADERS, OLD_HEADERS = "nv-codec-headers=12.1.14.0-1", "nv-codec-headers=11.1.5.2-1"
DEBIAN_TODAY = {"sid": [SEVEN, EIGHT, NINE, HEADERS], "forky": [NINE, HEADERS], "trixie": [SEVEN, HEADERS],
                "bookworm": [FIVE, OLD_HEADERS], "bookworm-security": [FIVE]}
PINNED = {"9.0": (NINE, "sid forky"), "8.1": (EIGHT, "sid"), "7.1": (SEVEN, "trixie"), "5.1": (FIVE, "bookworm"),
          "12.1": (HEADERS, "sid trixie"), "11.1": (OLD_HEADERS, "bookworm")}
ASKED_HEADERS = {"9.0": "12.1.14.0", "8.1": "12.1.14.0", "7.1": "12.1.14.0", "5.1": "9.1.23.1"}  # by FFmpeg's configure


class Fetch(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-fetch-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder])
        for name in ("bin", "files"):
            (self.folder / name).mkdir()
        for name in ("apt-get", "apt-cache", "dpkg-source"):
            (self.folder / "bin" / name).symlink_to(HERE / "fake_archive.py")
        self.world = {"targets": BOOKWORM, "suites": dict(DEBIAN_TODAY), "problems": {}, "gone": []}
        self.tree = self.folder / "tree"
        self.write_pins()

    def offer(self, package):
        """Makes the files of a "name=version"; @return {name: checksum}"""
        name, _, version = package.partition("=")
        plain = version.rpartition(":")[2]
        release = plain.partition("-")[0]
        top = self.folder / "made" / f"{name}-{release}"
        (top / "libavfilter").mkdir(parents=True, exist_ok=True)
        (top / "RELEASE").write_text(release + "\n")
        asked = ASKED_HEADERS.get(release.rpartition(".")[0], "12.1.14.0")
        (top / "configure").write_text(f'check ffnvcodec "ffnvcodec >= {asked}" || check ffnvcodec "ffnvcodec >= 8.1.24.15 ffnvcodec < 8.2"\n')
        (top / "libavfilter/allfilters.c").touch()
        (top / "Makefile").write_text("install:\n\tmkdir -p $(PREFIX)/lib/pkgconfig\n"
                                      "\techo prefix=/usr/local > $(PREFIX)/lib/pkgconfig/ffnvcodec.pc\n")
        files = self.folder / "files"
        orig, dsc = files / f"{name}_{release}.orig.tar.xz", files / f"{name}_{plain}.dsc"
        if not orig.exists():
            with tarfile.open(orig, "w:xz") as archive:
                archive.add(top, top.name)
        dsc.write_text(f"Version: {version}\n")
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (orig, dsc)}

    def write_pins(self):
        text = "# a comment\n"
        for line, (package, suites) in PINNED.items():
            rows = "".join(f"\n {checksum} 1 {name}" for name, checksum in self.offer(package).items())
            name, _, version = package.partition("=")
            text += f"\nLine: {line}\nPackage: {name}\nVersion: {version}\nSuites: {suites}\nChecksums-Sha256:{rows}\n"
        (self.folder / "pins").write_text(text)

    def fetch(self, *options):
        for packages in self.world["suites"].values():
            for package in packages:
                self.offer(package)
        world = self.folder / "world.json"
        world.write_text(json.dumps(self.world))
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "FAKE_ARCHIVE": str(world)}
        return subprocess.run([REPOSITORY / "tools/fetch-ffmpeg-source", "--sources", self.folder / "pins", *options],
                              capture_output=True, text=True, env=environment, check=False)

    def got(self, *options):
        """What stands in RELEASE, and what was said except for the archives that were asked."""
        run = self.fetch(*options, self.tree)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        leftovers = list(self.folder.glob(".ffmpeg-source*"))
        self.assertEqual(leftovers, [])
        said = [line for line in run.stdout.splitlines() if not line.startswith("asking ")]
        return (self.tree / "RELEASE").read_text().strip(), said

    def asked(self):
        return (self.folder / "world.json.asked").read_text().split()

    def without(self, *packages):
        self.world["suites"] = {suite: [each for each in has if each not in packages] for suite, has in self.world["suites"].items()}

    def assert_unavailable(self, run, *texts):
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for text in texts:
            self.assertIn(text, run.stderr)

    # --- what is there ---

    def test_the_newest_is_the_default(self):
        self.assertEqual(self.got(), ("9.0.2", ["ffmpeg 7:9.0.2-4 of sid"]))
        self.assertEqual(self.asked(), ["sid"], "one list is enough")
        self.assertTrue((self.tree / "debian").is_dir())

    def test_every_line(self):
        for line, release, asked in (("9.0", "9.0.2", ["sid"]), ("8.1", "8.1.2", ["sid"]), ("7.1", "7.1.5", ["trixie", "trixie-security"]),
                                     ("5.1", "5.1.9", ["bookworm", "bookworm-security"])):
            with self.subTest(line):
                self.assertEqual(self.got("--ffmpeg", line)[0], release)
                self.assertEqual(self.asked(), asked)
            subprocess.run(["rm", "-rf", self.tree, self.folder / "world.json.asked"], check=True)

    def test_headers_in_passing(self):
        headers = self.folder / "headers"
        self.assertEqual(self.got("--codec-headers", headers)[1], ["ffmpeg 7:9.0.2-4 of sid", "nv-codec-headers 12.1.14.0-1 of sid"])
        self.assertEqual(self.asked(), ["sid"])
        self.assertEqual((headers / "lib/pkgconfig/ffnvcodec.pc").read_text(), "prefix=${pcfiledir}/../..\n")

    def test_headers_where_they_are(self):
        """With a line of another suite, and in a suite that does not come first."""
        headers = self.folder / "headers"
        self.world["suites"]["sid"] = []
        self.assertEqual(self.fetch("--ffmpeg", "7.1", "--codec-headers", headers, self.tree).returncode, 0)
        self.assertEqual(self.asked(), ["trixie", "trixie-security"], "what was asked already comes first")
        self.assertTrue((headers / "lib/pkgconfig/ffnvcodec.pc").exists())

    def test_each_line_has_its_headers(self):
        headers = self.folder / "headers"
        for line, version in (("5.1", "11.1.5.2-1"), ("8.1", "12.1.14.0-1")):
            self.assertEqual(self.got("--ffmpeg", line, "--codec-headers", headers)[1][-1].split()[:2], ["nv-codec-headers", version])
            self.assertTrue(headers.exists())
            subprocess.run(["rm", "-rf", headers], check=True)
            self.assertIn(f"nv-codec-headers {version}", self.fetch("--codec-headers", headers, self.tree).stdout, "of a tree that is there")
            subprocess.run(["rm", "-rf", self.tree, headers], check=True)

    def test_what_is_there_stays(self):
        self.got()
        (self.tree / "mine").touch()
        self.world["targets"] = []
        run = self.fetch(self.tree)
        self.assertEqual((run.returncode, run.stdout), (0, f"FFmpeg source is already in {self.tree}\n"))
        self.assertTrue((self.tree / "mine").exists())
        (self.tree / "configure").unlink()
        run = self.fetch(self.tree)
        self.assertEqual(run.returncode, 1)
        self.assertIn("is not an FFmpeg tree", run.stderr)

    # --- what is not ---

    def test_another_version_of_the_line(self):
        """A later archive does not break the build; the newest of several is taken, by their numbers."""
        self.without(NINE)
        self.world["suites"]["sid"] = [*self.world["suites"]["sid"], "ffmpeg=7:9.0.9-1", "ffmpeg=7:9.0.10-1", "ffmpeg=7:9.1-1"]
        release, said = self.got()
        self.assertEqual(release, "9.0.10")
        self.assertEqual(said[0], "ffmpeg 7:9.0.10-1 in place of 7:9.0.2-4, which sid has no longer: "
                                  "verified by the archive's signature alone")

    def test_the_tested_version_before_a_newer_one(self):
        self.world["suites"]["sid"] = [*self.world["suites"]["sid"], "ffmpeg=7:9.0.9-1"]
        self.assertEqual(self.got()[0], "9.0.2")

    def test_in_the_next_suite(self):
        self.world["suites"]["sid"] = [HEADERS]
        self.assertEqual(self.got(), ("9.0.2", ["ffmpeg 7:9.0.2-4 of forky"]))

    def test_the_next_older_line(self):
        self.without(NINE)
        self.assertEqual(self.got(), ("8.1.2", ["ffmpeg 7:8.1.2-2 of sid", "FFmpeg 8.1.2 in place of 9.0: 9.0 is not in sid, not in forky, "
                                                "not in this machine's own release"]))

    def test_a_suite_that_cannot_be_asked(self):
        """Whether unsigned or unreachable; only then a suite further down is asked."""
        self.world["problems"] = {"sid": "The repository 'http://mirror.example/debian sid InRelease' is not signed.", "forky": "no route"}
        release, said = self.got()
        self.assertEqual(release, "7.1.5")
        self.assertEqual(len(said), 2)
        self.assertIn("9.0 is not in sid (The repository 'http://mirror.example/debian sid InRelease' is not signed.), not in forky "
                      "(no route), ", said[1])
        self.assertIn("8.1 is not in sid (", said[1])

    def test_the_oldest_line_is_the_last(self):
        self.without(NINE, EIGHT, SEVEN)
        self.assertEqual(self.got()[0], "5.1.9")

    def test_without_debians_part(self):
        """FFmpeg's own release, which is held against its checksum all the same, serves."""
        self.world["gone"] = ["ffmpeg_9.0.2-4.dsc"]
        release, said = self.got()
        self.assertEqual(release, "9.0.2")
        self.assertEqual(said[0], "ffmpeg 7:9.0.2-4 comes without Debian's part, which the archive does not hand out "
                                  "(Failed to fetch ffmpeg_9.0.2-4.dsc 404 Not Found)")
        self.assertFalse((self.tree / "debian").exists())

    def test_files_that_are_gone(self):
        self.world["gone"] = ["ffmpeg_9.0.2-4.dsc", "ffmpeg_9.0.2.orig.tar.xz"]
        release, said = self.got()
        self.assertEqual(release, "8.1.2")
        self.assertIn("9.0 is ffmpeg 7:9.0.2-4 cannot be downloaded (Failed to fetch ffmpeg_9.0.2-4.dsc 404 Not Found)", said[-1])

    def test_another_file_under_a_pinned_name(self):
        self.fetch("--ffmpeg", "9.0", self.folder / "first")
        path = self.folder / "files/ffmpeg_9.0.2.orig.tar.xz"
        path.write_bytes(path.read_bytes() + b"\0")
        run = self.fetch(self.tree)
        self.assertEqual(run.returncode, 1)
        self.assertIn("ffmpeg_9.0.2.orig.tar.xz has the checksum ", run.stderr)
        self.assertFalse(self.tree.exists())

    def test_a_line_that_was_asked_for_is_not_replaced(self):
        self.without(NINE)
        self.assert_unavailable(self.fetch("--ffmpeg", "9.0", self.tree), "FFmpeg 9.0 cannot be had: not in sid, not in forky")
        self.assertFalse(self.tree.exists())

    def test_headers_that_cannot_be_had(self):
        """FFmpeg is there all the same; headers of before 12.1 are not taken."""
        self.without(HEADERS)
        self.assert_unavailable(self.fetch("--codec-headers", self.folder / "headers", self.tree), "nv-codec-headers cannot be had")
        self.assertTrue((self.tree / "configure").exists())
        self.assertFalse((self.folder / "headers").exists())

    def test_no_network(self):
        self.world["problems"] = {release: "Could not resolve" for release in ("sid", "forky", "trixie", "bookworm", "bookworm-updates")}
        self.world["suites"]["bookworm-security"] = []
        self.assert_unavailable(self.fetch(self.tree), "FFmpeg newest cannot be had", "(Could not resolve)")

    def test_no_archive(self):
        self.world["targets"] = [["http://other.example/apt", "bookworm"]]
        self.assert_unavailable(self.fetch(self.tree), "apt knows no Debian or Ubuntu archive on this machine")

    # --- Ubuntu ---

    def ubuntu(self, *packages):
        self.world.update(targets=[[UBUNTU, "here"], [UBUNTU, "here-updates"]], suites={"here": list(packages), **DEBIAN_TODAY})

    def test_ubuntu_has_what_it_has(self):
        """A line that is tested, or one in between."""
        for packages, release in ((["ffmpeg=7:7.1.1-1ubuntu1", "ffmpeg=7:7.1.2-1ubuntu1"], "7.1.2"), (["ffmpeg=7:6.1.1-3ubuntu5"], "6.1.1")):
            with self.subTest(release):
                self.ubuntu(*packages)
                self.assertEqual(self.got()[0], release)
                self.assertEqual(set(self.asked()), {"here", "here-updates"})
            subprocess.run(["rm", "-rf", self.tree], check=True)

    def test_ubuntu_is_too_old(self):
        self.ubuntu("ffmpeg=7:4.4.2-0ubuntu0.22.04.1")
        self.assert_unavailable(self.fetch(self.tree), "not in this machine's own release")

    # --- mistakes ---

    def test_mistakes(self):
        run = self.fetch("--ffmpeg", "6.1", self.tree)
        self.assertEqual((run.returncode, run.stderr), (1, "fetch-ffmpeg-source: --ffmpeg 6.1: there are 5.1, 7.1, 8.1, 9.0 and newest\n"))
        self.assertEqual(self.fetch().returncode, 2)


class Pins(unittest.TestCase):
    def test_the_lines(self):
        """The newest first; build-ffmpeg and the tests read them by two lines of the file that follow each other."""
        text = (REPOSITORY / "tools/ffmpeg-sources").read_text()
        self.assertRegex(text, r"(?s)\nLine: 9\.0\nPackage: ffmpeg\n.*\nLine: 8\.1\nPackage: ffmpeg\n.*\nLine: 7\.1\nPackage: ffmpeg\n.*"
                               r"\nLine: 5\.1\nPackage: ffmpeg\n.*\nLine: 12\.1\nPackage: nv-codec-headers\n.*\nLine: 11\.1\n")
        self.assertEqual(text.count("\nLine: "), 6)


if __name__ == "__main__":
    unittest.main()
