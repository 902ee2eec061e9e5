# SPDX-License-Identifier: BSD-2-Clause-Patent
"""check-style's tables, and that README's figures of speed are those of docs/performance.md."""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(script):
    """A script whose name has no ending, as a module."""
    loader = importlib.machinery.SourceFileLoader(script.replace("-", "_"), str(ROOT / "tools" / script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


class Tables(unittest.TestCase):
    def found(self, *lines):
        return [finding.split(":", 2)[1:] for finding in load("check-style").broken_tables("x.md", list(lines))]

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
        measured = (ROOT / "docs/performance.md").read_text(encoding="utf-8").split("## What bounds it")[0]
        self.assertEqual([f for f in figures if not re.search(rf"(?<![\d,.]){re.escape(f)}(?![\d,])", measured)], [])


if __name__ == "__main__":
    unittest.main()
