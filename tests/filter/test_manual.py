# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The filter's manual page, made of docs/reference/ffmpeg.md, against what ffmpeg itself lists of the filter."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from harness import FFMPEG, REPOSITORY, FilterTest

OPTION = re.compile(r"   (\w+) +<\w+>")
NAMED_VALUE = re.compile(r"     (\w+) +-?\d+ ")


def listed_options():
    """{option: [its named values]} of ffmpeg -h filter=quality_cuda"""
    text = subprocess.run([str(FFMPEG), "-hide_banner", "-h", "filter=quality_cuda"], capture_output=True, text=True, check=True).stdout
    options, name = {}, None
    for line in text.splitlines():
        if found := OPTION.match(line):
            name = found[1]
            options[name] = []
        elif found := NAMED_VALUE.match(line):
            options[name].append(found[1])
    return options


def manual_options():
    """{option: the text about it} of the page; names that mean the same have the same text."""
    with tempfile.TemporaryDirectory(prefix="qc-manual-") as folder:
        page = pathlib.Path(folder) / "quality_cuda.7"
        subprocess.run([sys.executable, REPOSITORY / "tools/filter-manual", REPOSITORY / "docs/man/quality_cuda.7.in",
                        REPOSITORY / "docs/reference/ffmpeg.md", "0", page], check=True)
        text = page.read_text(encoding="utf-8")
    section = text.split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0].split("\n.PP\n")[0]
    options = {}
    for entry in section.split(".TP\n")[1:]:
        names, meaning = entry.split("\n", 1)
        options.update({name: meaning for name in re.findall(r"\w+", names.replace("\\fB", "").replace("\\fR", ""))})
    return options


class Manual(FilterTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.listed, cls.manual = listed_options(), manual_options()

    def test_the_options_are_those_that_ffmpeg_lists(self):
        self.assertGreater(len(self.listed), 25)
        self.assertEqual(sorted(self.manual), sorted(self.listed))

    def test_named_values_are_told(self):
        untold = [f"{option}={value}" for option, values in self.listed.items() for value in values
                  if not re.search(rf"(?<!\w){value}(?!\w)", self.manual[option].replace("\\fB", " ").replace("\\fR", " "))]
        self.assertEqual(untold, [])


if __name__ == "__main__":
    unittest.main()
