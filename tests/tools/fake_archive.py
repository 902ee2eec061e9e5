#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Plays apt-get, apt-cache and dpkg-source, by whichever of these names it is called, for test_fetch_ffmpeg.py.

The file that FAKE_ARCHIVE names describes the archives: "targets", what apt uses, [uri, release] each; "suites", release -> source
packages, "name=version" each; "problems", release -> what apt says instead of its lists; "gone", names of files that cannot be
downloaded. Lines of all that was asked are added to the file's name with ".asked".
"""
import json
import os
import pathlib
import sys

WORLD = json.loads(pathlib.Path(os.environ["FAKE_ARCHIVE"]).read_text())
FILES = pathlib.Path(os.environ["FAKE_ARCHIVE"]).parent / "files"


def releases(arguments):
    listed = next(word for word in arguments if word.startswith("Dir::Etc::SourceList=")).partition("=")[2]
    lines = pathlib.Path(listed).read_text().splitlines()
    assert all(line.startswith("deb-src [signed-by=") or "signed-by" not in line for line in lines)
    return [line.partition("] ")[2].split()[1] if "[" in line else line.split()[2] for line in lines]


def stem(package, version):
    return f"{package}_{version.rpartition(':')[2]}"


def files_of(package, version, tar_only):
    orig = f"{package}_{version.rpartition(':')[2].partition('-')[0]}.orig.tar.xz"
    return [orig] if tar_only else [f"{stem(package, version)}.dsc", orig]


def apt_get(arguments):
    if arguments[0] == "indextargets":
        print("".join(f"Packages {uri} {release} main\n" for uri, release in WORLD["targets"]), end="")
        return 0
    asked = releases(arguments)
    with open(os.environ["FAKE_ARCHIVE"] + ".asked", "a", encoding="utf-8") as file:
        file.write("".join(f"{release}\n" for release in asked if "update" in arguments))
    if "update" in arguments:
        problems = [WORLD["problems"][release] for release in asked if release in WORLD["problems"]]
        print("".join(f"E: {problem}\n" for problem in problems), end="", file=sys.stderr)
        return 100 if problems else 0
    package, _, version = arguments[-1].partition("=")
    status = 0
    for name in files_of(package, version, "--tar-only" in arguments):
        if name in WORLD["gone"]:
            print(f"E: Failed to fetch {name}  404  Not Found [IP: 192.0.2.1 80]", file=sys.stderr)
            status = 100
        else:
            pathlib.Path(name).write_bytes((FILES / name).read_bytes())
    return status


def apt_cache(arguments):
    for release in releases(arguments):
        for each in WORLD["suites"].get(release, []) if release not in WORLD["problems"] else []:
            package, _, version = each.partition("=")
            print(f"Package: {package}\nBinary: {package}, other\nVersion: {version}\nFiles:\n 0 0 {stem(package, version)}.dsc\n")
    return 0


def dpkg_source(arguments):
    """With what only Debian's part has: a changelog."""
    dsc, dest = map(pathlib.Path, arguments[-2:])
    version = dsc.stem.partition("_")[2].partition("-")[0]
    tarball = dsc.with_name(f"{dsc.name.partition('_')[0]}_{version}.orig.tar.xz")
    dest.mkdir()
    status = os.system(f"tar -xf '{tarball}' -C '{dest}' --strip-components=1")
    (dest / "debian").mkdir()
    return status


if __name__ == "__main__":
    play = {"apt-get": apt_get, "apt-cache": apt_cache, "dpkg-source": dpkg_source}[pathlib.Path(sys.argv[0]).name]
    sys.exit(play(sys.argv[1:]))
