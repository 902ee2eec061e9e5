# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The section for FFmpeg's documentation of filters says what the filter says of itself: every option, its default, its constants."""

import re
import unittest

from harness import REPOSITORY, FilterTest, ffmpeg

SECTION = REPOSITORY / "filter/doc/quality_cuda.texi"


def options_of_help(text):
    """name -> (default as it is printed, or None; names of constants), of what ffmpeg -h filter=quality_cuda prints."""
    options = {}
    for line in text.partition("quality_cuda AVOptions:\n")[2].splitlines():
        option = re.match(r" {3}(\w+) +<(\w+)> +[.A-Z]+ (.*)", line)
        constant = re.match(r" {5}(\w+) +-?\d+ +[.A-Z]+( |$)", line)
        if option:
            # The help of an option may speak of its default too; a string's own has quotes, and stands last like all others.
            quotes = '"' if option[2] == "string" else ""
            default = re.search(rf"\(default {quotes}([^()\"]*){quotes}\)$", option[3])
            options[option[1]] = (default and default[1], [])
            last = option[1]
        elif constant:
            options[last][1].append(constant[1])
        elif not line:
            break
    return options


def options_of_section(text):
    """The same of the first table of options in the documentation; names that share an item share what is said."""
    options, depth, names, said = {}, 0, [], ""
    for line in text.partition("the following options:\n")[2].splitlines() + [""]:
        depth += line.startswith("@table") - line.startswith("@end table")
        item = re.fullmatch(r"@item (.*)", line)
        if (item and depth == 1) or depth == 0 and names:
            default = re.search(r"Default is @(?:code|samp)\{([^}]*)\}", " ".join(said.split()))
            options.update({name: (default and default[1], constants) for name in names})
        if item and depth == 1:
            names, constants, said = item[1].split(", "), [], ""
        elif item:
            constants.append(item[1])
        elif depth == 0 and names:
            break
        elif depth == 1:
            said += line + "\n"
    return options


class Options(FilterTest):
    def test_the_same_as_in_the_help(self):
        run = ffmpeg(["-h", "filter=quality_cuda"], self.folder)
        self.assert_ok(run)
        documented, existing = options_of_section(SECTION.read_text(encoding="utf-8")), options_of_help(run.stdout)
        self.assertGreaterEqual(len(existing), 30)
        self.assertEqual(list(documented), list(existing))
        for name, (default, constants) in existing.items():
            with self.subTest(option=name):
                self.assertEqual(documented[name], (default, constants))


class Parsers(unittest.TestCase):
    """That a difference would be seen."""

    def test_help(self):
        text = ("Filter quality_cuda\nquality_cuda AVOptions:\n"
                "   metrics           <string>     ..FV....... names (default vmaf, that is)\n"
                "   pool              <string>     ..FV....... pooling (default \"mean\")\n"
                "   sync              <int>        ..FV....... how (from 0 to 2) (default nearest)\n"
                "     nearest         0            ..FV....... the nearest (default here)\n"
                "     floor           1            ..FV....... \n"
                "   shortest          <boolean>    ..FV....... end (default 0) (default false)\n"
                "\nThis filter has support for timeline\n")
        self.assertEqual(options_of_help(text), {"metrics": (None, []), "pool": ("mean", []), "sync": ("nearest", ["nearest", "floor"]),
                                                 "shortest": ("false", [])})

    def test_section(self):
        text = ("It has the following options:\n\n@table @option\n@item metrics, m\nNames.\n\n@item sync\nHow.\n\n@table @samp\n"
                "@item nearest\nThe nearest. Default is @code{0}.\n@item floor\nAnother.\n@end table\n\nDefault is\n@samp{nearest}.\n"
                "\n@item last\nLast. Default is @code{1}.\n@end table\n\n@table @option\n@item key\n@end table\n")
        self.assertEqual(options_of_section(text), {"metrics": (None, []), "m": (None, []), "sync": ("nearest", ["nearest", "floor"]),
                                                    "last": ("1", [])})


if __name__ == "__main__":
    unittest.main()
