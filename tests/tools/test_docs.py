# SPDX-License-Identifier: BSD-2-Clause-Patent
"""check-style's tables, that README's figures of speed are those of docs/design/performance.md, that docs/design/design.md names what exists,
and that tools/README.md has every command."""

import fnmatch
import os
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import scripts  # noqa: E402


class Tables(unittest.TestCase):
    def found(self, *lines):
        return [finding.split(":", 2)[1:] for finding in scripts.load("check-style").broken_tables("x.md", list(lines))]

    def test_good_tables(self):
        self.assertEqual(self.found("| a | b |", "|---|:-:|", "| 1 | 2 \\| 3 |", "", "text", "| c |", "|---|"), [])
        self.assertEqual(self.found("```", "| no table |", "```"), [])

    def test_a_blank_line_ends_a_table(self):
        self.assertEqual(self.found("| a |", "|---|", "| 1 |", "", "| 2 |"), [["5", " a table's row without a header above it"]])

    def test_number_of_cells(self):
        self.assertEqual(self.found("| a | b |", "|---|---|", "| 1 |"), [["3", " 1 cells in a table of 2 columns"]])


class Figures(unittest.TestCase):
    def test_those_of_the_readme_are_measured(self):
        """Pairs and frames a second, and shares: numbers with a comma, before fps, and in per cent."""
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        speed = re.search(r"(?s)\nOn one H200.*?\n\n", readme)[0]
        figures = re.findall(r"\d+,\d{3}", speed) + [m.replace("\n", " ") for m in re.findall(r"\d+\.\d+ %|\d+(?=\s+fps)", speed)]
        self.assertGreater(len(figures), 8)
        measured = (ROOT / "docs/design/performance.md").read_text(encoding="utf-8").split("## What bounds it")[0]
        self.assertEqual([f for f in figures if not re.search(rf"(?<![\d,.]){re.escape(f)}(?![\d,])", measured)], [])


class Names(unittest.TestCase):
    """What docs/design/design.md writes `like this` is a file, a folder, or a word of the sources."""

    @classmethod
    def setUpClass(cls):
        cls.paths = scripts.load("check-style").all_files()
        cls.sources = {name: (ROOT / name).read_text(encoding="utf-8") for name in cls.paths
                       if name.endswith((".c", ".h", ".cpp", ".hpp", ".cu", ".build", ".py")) and not name.startswith("tests/tools/")}

    def is_path(self, name):
        pattern = name.replace("NAME", "*")
        return any(fnmatch.fnmatch(path, some) for path in self.paths for some in (pattern, "*/" + pattern, pattern + "/*"))

    def is_word(self, word):
        return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) for text in self.sources.values())

    def is_member(self, kind, member):
        """Declared in a file that declares the type or namespace, or written out somewhere."""
        if self.is_word(f"{kind}::{member}"):
            return True
        declared = re.compile(rf"\b(?:class|struct|namespace)\s+(?:\w+::)*{kind}\b")
        return any(declared.search(text) and re.search(rf"\b{member}\b", text) for text in self.sources.values())

    def exists(self, name):
        name = name.removesuffix("()")
        if name.startswith("<"):
            return True  # a header from elsewhere
        if "/" in name or re.search(r"\.(\*|[a-z]+)$", name):
            return self.is_path(name)
        return self.is_member(*name.rsplit("::", 1)) if "::" in name else self.is_path(name) or self.is_word(name)

    def test_those_of_the_design_exist(self):
        names = set(re.findall(r"`([^`\n]+)`", (ROOT / "docs/design/design.md").read_text(encoding="utf-8")))
        self.assertGreater(len(names), 150)
        self.assertEqual(sorted(name for name in names if not self.exists(name)), [])

    def test_others_do_not(self):
        for name in ("engine/session.cpp", "vf_quality.c", "engine/pla", "NAME_kernel.hpp", "Session::retire", "Sessions::create",
                     "qc_session_finish()"):
            self.assertFalse(self.exists(name), name)


class Tools(unittest.TestCase):
    def test_every_command_has_one_line(self):
        commands = [path.name for path in (ROOT / "tools").iterdir() if path.is_file() and os.access(path, os.X_OK)]
        self.assertGreater(len(commands), 15)
        listed = re.findall(r"(?m)^\| `([^`]+)` \|", (ROOT / "tools/README.md").read_text(encoding="utf-8"))
        self.assertEqual(sorted(listed), sorted(commands))


if __name__ == "__main__":
    unittest.main()
