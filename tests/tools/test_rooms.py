# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The rooms of docs/design/design.md: no file includes what the table there does not allow to its folder."""

import fnmatch
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import scripts  # noqa: E402

SOURCES = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh")
FOLDERS_OF_INCLUDES = ("", "engine/", "engine/include/", "kernels/", "tests/", "filter/", "run/include/", "cli/")
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
FOREIGN = re.compile(r"(cuda|nlohmann/|gtest/|gmock/|boost/|png\.h|libav|libsw)")  # headers that are not everybody's
OWN = "quality_cuda.h"
FFMPEG = "FFmpeg"


class Room:
    """A line of the table: where it is, and what may be included there."""

    def __init__(self, place, allowed):
        self.place, self.allowed = place, allowed
        self.pattern = re.compile(re.escape(place).replace("NAME", "[^/]+").replace(r"\*", "[^/]*") + r"(?=/|$)")

    def part_of(self, path):
        """What of the room a file belongs to: "kernels/metrics/vif" of kernels/metrics/NAME; None: it lies elsewhere."""
        if self.place.startswith("*"):  # tests, in whatever folder of these
            return path if path.startswith(("cli/", "kernels/", "run/")) and fnmatch.fnmatch(path, self.place) else None
        match = self.pattern.match(path)
        return match and (self.place if "*" in self.place else match[0])


def read_rooms(design):
    """The table of the section "Rooms"."""
    section = re.search(r"(?s)\n## Rooms\n(.*?)\n## ", design)[1]
    rooms = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            allowed = re.findall(r"`([^`]+)`", cells[2]) + ([FFMPEG] if FFMPEG in cells[2] else [])
            rooms += [Room(place, allowed) for place in re.findall(r"`([^`]+)`", cells[0])]
    return rooms


def rooms_of(path, rooms):
    """A file's folder is the most exact line that fits; the lines of tests come on top."""
    fits = [room for room in rooms if room.part_of(path)]
    folders = sorted((room for room in fits if not room.place.startswith("*")), key=lambda room: len(room.place))
    return folders[-1:] + [room for room in fits if room.place.startswith("*")]


def is_test_code(path, rooms):
    return any(room.place.startswith("*") and room.part_of(path) for room in rooms)


def resolve(path, name, paths):
    """The file of ours that an #include names; None: it is not ours."""
    for folder in (path.rpartition("/")[0] + "/",) + FOLDERS_OF_INCLUDES:
        if folder + name in paths:
            return folder + name
    return None


def allows(room, path, included):
    if included.startswith("<"):
        return any(fnmatch.fnmatch(included, place) for place in room.allowed)
    own = room.part_of(path)
    within = any(included == place or included.startswith(place + "/") for place in room.allowed)
    return own == room.part_of(included) or within or (OWN in room.allowed and included == "engine/include/" + OWN)


def violations(rooms, files):
    """@param files their texts by path"""
    found = []
    for path, text in files.items():
        mine = rooms_of(path, rooms)
        if not mine:
            found.append(f"{path}: no line of docs/design/design.md's table has room for it")
            continue
        for quoted, angled in INCLUDE.findall(text):
            included = resolve(path, quoted or angled, files) if quoted or angled == OWN else None
            if included is None and quoted:
                included = FFMPEG if path.startswith("filter/") else f'"{quoted}", which is no file'
            elif included is None and FOREIGN.match(angled):
                included = f"<{angled}>"
            if included and is_test_code(included, rooms) and not is_test_code(path, rooms):
                fits = False
            elif included == FFMPEG:
                fits = any(FFMPEG in room.allowed for room in mine)
            else:
                fits = included is None or any(allows(room, path, included) for room in mine)
            if not fits:
                found.append(f"{path}: may not include {quoted or angled} ({included})")
    return found


def in_a_circle(rooms):
    """Places from which the table leads back to themselves."""
    folders = [room for room in rooms if not room.place.startswith("*")]
    ways = {room.place: {other.place for other in folders for place in room.allowed
                         if other is not room and (other.place + "/").startswith(place + "/")} for room in folders}
    for _ in folders:
        ways = {place: reached.union(*(ways[next_place] for next_place in reached)) for place, reached in ways.items()}
    return sorted(place for place, reached in ways.items() if place in reached)


def sources():
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in scripts.load("check-style").all_files() if name.endswith(SOURCES)}


class Repository(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rooms = read_rooms((ROOT / "docs/design/design.md").read_text(encoding="utf-8"))
        cls.files = sources()

    def test_includes(self):
        self.assertGreater(len(self.files), 200)
        self.assertEqual(violations(self.rooms, self.files), [])

    def test_dependencies_go_one_way(self):
        self.assertEqual(in_a_circle(self.rooms), [])

    def test_no_line_is_left_over(self):
        used = {room.place for path in self.files for room in rooms_of(path, self.rooms)}
        self.assertEqual([room.place for room in self.rooms if room.place not in used], [])

    def test_metrics_are_on_their_own(self):
        """What the table must never allow, whatever is written into it."""
        for room in self.rooms:
            allowed = " ".join(room.allowed)
            self.assertNotIn("kernels/metrics", allowed, room.place)
            if room.place.startswith(("filter/", "examples")):
                self.assertLessEqual(set(room.allowed), {OWN, FFMPEG, "filter/quality_cuda", "run/include", "<png.h>"}, room.place)
            if room.place.startswith(("engine/", "kernels/", "run/")):
                self.assertNotIn(FFMPEG, room.allowed, room.place)
                self.assertNotIn("tests", allowed, room.place)


class Rules(unittest.TestCase):
    """That the check sees what it is there for."""

    TABLE = """
## Rooms

| room | knows | may include |
|---|---|---|
| `filter/a.*` | | nothing |
| `filter` | | `quality_cuda.h`, FFmpeg |
| `engine/include` | | nothing |
| `engine/low` | | `<cuda.h>` |
| `engine/high` | | `engine/low/a.hpp`, `kernels/contract` |
| `kernels/contract` | | `quality_cuda.h` |
| `kernels/metrics/NAME` | | `kernels/contract` |
| `*_test.cpp`, `*_test.hpp` | | `engine` |

## The end
"""
    FILES = dict.fromkeys(["filter/a.h", "filter/b.h", "engine/include/quality_cuda.h", "engine/low/a.hpp", "engine/low/b.hpp",
                           "engine/high/a.hpp", "kernels/contract/a.hpp", "kernels/metrics/m/m.hpp",
                           "kernels/metrics/m/m_test.hpp", "kernels/metrics/n/n.hpp"], "")

    def refused(self, path, line):
        return bool(violations(read_rooms(self.TABLE), {**self.FILES, path: line + "\n"}))

    def test_allowed(self):
        for path, line in [("filter/b.c", '#include "libavutil/a.h"'), ("filter/b.c", '#include "a.h"'), ("filter/a.c", '#include "a.h"'),
                           ("filter/b.c", "#include <quality_cuda.h>"), ("filter/a.c", "#include <stdint.h>"),
                           ("engine/low/c.cpp", '#include "low/b.hpp"'), ("engine/low/c.cpp", "#include <cuda.h>"),
                           ("engine/high/c.cpp", '# include "low/a.hpp"'), ("engine/high/c.cpp", '// #include "low/b.hpp"'),
                           ("kernels/metrics/m/m.cu", '#include "metrics/m/m.hpp"'),
                           ("kernels/metrics/m/m_test.cpp", '#include "metrics/m/m_test.hpp"'),
                           ("kernels/metrics/m/m_test.cpp", '#include "contract/a.hpp"\n#include "low/b.hpp"')]:
            self.assertFalse(self.refused(path, line), (path, line))

    def test_refused(self):
        for path, line in [("filter/a.c", '#include "libavutil/a.h"'), ("filter/a.c", '#include "b.h"'),
                           ("filter/a.c", "#include <quality_cuda.h>"), ("filter/b.c", '#include "low/a.hpp"'),
                           ("engine/low/c.cpp", '#include "high/a.hpp"'), ("engine/low/c.cpp", "#include <libavutil/a.h>"),
                           ("engine/low/c.cpp", '#include "metrics/m/m.hpp"'), ("engine/high/c.cpp", '#include "low/b.hpp"'),
                           ("engine/high/c.cpp", "#include <cuda.h>"), ("engine/high/c.cpp", '#include "nowhere.hpp"'),
                           ("kernels/contract/c.hpp", '#include "metrics/m/m.hpp"'),
                           ("kernels/metrics/m/m.cpp", '  #  include "metrics/n/n.hpp"'),
                           ("kernels/metrics/m/m.cpp", '#include "low/a.hpp"'),
                           ("kernels/metrics/m/m.cpp", '#include "metrics/m/m_test.hpp"'),
                           ("kernels/metrics/m/m_test.cpp", '#include "metrics/n/n.hpp"'), ("elsewhere/a.cpp", "")]:
            self.assertTrue(self.refused(path, line), (path, line))

    def test_circles(self):
        self.assertEqual(in_a_circle(read_rooms(self.TABLE)), [])
        turned = self.TABLE.replace("`<cuda.h>`", "`engine/high/a.hpp`, `engine/high`")
        self.assertEqual(in_a_circle(read_rooms(turned.replace("engine/low/a.hpp", "engine/low"))), ["engine/high", "engine/low"])


if __name__ == "__main__":
    unittest.main()
