# SPDX-License-Identifier: BSD-2-Clause-Patent
"""There is one maker of pictures, tests/support: no other test puts planes together from memory of its own."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = re.compile(r"(kernels/.*_(test|test_support|emulation|frozen|pictures)|tests/(unit|check)/[^/]+)\.(cpp|hpp)$")
# A view of a plane whose memory is a container of the test's.
OWN_PLANE = re.compile(r"\bplane\w*(?:\[[^\]]*\])?\s*=\s*\{[^;]*\.data\(\)")


def own_planes(text):
    """The lines on which planes are put together."""
    return [text.count("\n", 0, match.start()) + 1 for match in OWN_PLANE.finditer(text)]


class OneMaker(unittest.TestCase):
    def test_no_test_makes_planes_of_its_own(self):
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, check=False)
        if listed.returncode != 0:
            self.skipTest("no git checkout")
        paths = [path for path in listed.stdout.decode().split("\0") if TESTS.match(path) and (ROOT / path).is_file()]
        self.assertGreater(len(paths), 80)
        found = [f"{path}:{line}" for path in paths for line in own_planes((ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [], "tests/support/sample_picture.hpp makes pictures and surfaces")

    def test_what_counts(self):
        self.assertEqual(own_planes("int a;\n  host.plane[p] = {\n narrow ? n[p].data() : w.data(), pitch};"), [2])
        self.assertEqual(own_planes("plane = {memory.data() + offset, 4, 1, 0};"), [1])
        self.assertEqual(own_planes("device_.plane[0] = {samples.data()};"), [1])
        self.assertEqual(own_planes("task.plane[0] = {.blocks = 4}; words.data();"), [])
        self.assertEqual(own_planes("pair.reference.plane[0] = picture.plane(0);"), [])


if __name__ == "__main__":
    unittest.main()
