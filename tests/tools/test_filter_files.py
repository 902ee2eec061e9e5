# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Which of the filter's files uses which: docs/design/design.md's table "The filter's files", against every call and every include.

usage: test_filter_files.py [--write | options of unittest]

--write puts into the table what the sources do now. Look at what has changed before you commit it.
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DESIGN = ROOT / "docs/design/design.md"
HEAD = "| file | uses |\n|---|---|\n"
ROWS = re.compile(r"\A(?:\|.*\n)*")
# A comment, or a string, which an #include's name must not be taken for.
UNREAD = re.compile(r'(?sx) //[^\n]* | /\*.*?\*/ | (?<!include[ ]) "(?:\\.|[^"\\\n])*"')
DEFINITION = re.compile(r"(?m)^(?!extern\b)[A-Za-z_][\w \t*]*?\b(ff_\w+)\s*(?:\[[^\]]*\]\s*)?([(=;])")
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s*["<](?:quality_cuda/)?(\w+)\.h[">]')
EVERYBODYS = "compat"
HOLDS_ALL = "state.h"  # it has one struct of each concern, and includes their headers for that


def without_comments(text):
    return UNREAD.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def definitions(files):
    """Where each function or variable of the name ff_... is defined, a header's inline functions among them: word -> file."""
    found = {}
    for name, code in files.items():
        for match in DEFINITION.finditer(code):
            is_body = match[2] != "(" or re.match(r"[^;{]*\{", code[match.end():])
            if is_body and (name.endswith(".c") or "inline" in match[0]):
                found[match[1]] = name.rsplit(".", 1)[0]
    return found


def uses(texts):
    """@param texts by name, "queue.c" and "queue.h"; @return for each file, both endings in one, those that it calls or includes"""
    files = {name: without_comments(text) for name, text in texts.items()}
    defined = definitions(files)
    found = {name.rsplit(".", 1)[0]: set() for name in files}
    for name, code in files.items():
        own = name.rsplit(".", 1)[0]
        found[own] |= {defined[word] for word in re.findall(r"\bff_\w+", code) if word in defined}
        if name != HOLDS_ALL:
            found[own] |= found.keys() & set(INCLUDE.findall(code))
    del found[EVERYBODYS]
    return {name: used - {name, EVERYBODYS} for name, used in found.items()}


def read_table(design):
    """@return for each file those that the table allows"""
    rows = ROWS.match(design.split(HEAD)[1])[0].splitlines()
    cells = [re.findall(r"`(\w+)`", row) for row in rows]
    return {names[0]: set(names[1:]) for names in cells}


def row(name, used):
    return f"| `{name}` | {', '.join(f'`{each}`' for each in sorted(used)) or 'none'} |"


def with_table(design, found):
    before, rest = design.split(HEAD)
    return before + HEAD + "".join(row(name, found[name]) + "\n" for name in sorted(found)) + ROWS.sub("", rest, count=1)


def sources():
    folder = ROOT / "filter"
    return {path.name: path.read_text(encoding="utf-8") for path in [folder / "vf_quality_cuda.c", *folder.glob("quality_cuda/*.[ch]")]}


class Repository(unittest.TestCase):
    def test_the_table_is_what_the_files_do(self):
        found, allowed = uses(sources()), read_table(DESIGN.read_text(encoding="utf-8"))
        self.assertGreater(len(found), 5)
        different = [f"{row(name, found[name])} instead of {sorted(allowed.get(name, {'no row'}))}"
                     for name in sorted(found) if found[name] != allowed.get(name)]
        self.assertEqual(different, [])
        self.assertEqual(sorted(allowed.keys() - found.keys()), [])


class Rules(unittest.TestCase):
    """That the check sees what it is there for."""

    FILES = {
        "compat.h": "#define A 1\n",
        "state.h": '#include "compat.h"\n#include "low.h"\nvoid ff_qc_say(int a);\n',
        "state.c": '#include "state.h"\nvoid ff_qc_say(int a)\n{\n}\n',
        "low.h": '#include "compat.h"\nint ff_qc_low(int a,\n              int b);\nextern const int ff_qc_table[3];\n'
                 "static inline int ff_qc_inline(void)\n{\n    return 1;\n}\n",
        "low.c": '#include "low.h"\nint ff_qc_low(int a,\n              int b)\n{\n    return a;\n}\nconst int ff_qc_table[3] = {1};\n',
    }

    def of_high(self, text):
        return uses({**self.FILES, "high.c": text})["high"]

    def test_uses(self):
        for text, used in [("", set()), ("int f(void)\n{\n    return ff_qc_low(1, 2);\n}\n", {"low"}), ('#include "low.h"\n', {"low"}),
                           ('#include "quality_cuda/low.h"\n', {"low"}), ("int a = ff_qc_table[1];\n", {"low"}),
                           ("int a = ff_qc_inline();\n", {"low"}), ("void *f = ff_qc_low;\n", {"low"}),
                           ('#include "state.h"\n', {"state"}), ('#include "compat.h"\n', set()), ("int ff_other(void);\n", set()),
                           ("// ff_qc_low()\n/* ff_qc_say(1) */\n", set()), ('const char *a = "ff_qc_low(";\n', set())]:
            self.assertEqual(self.of_high(text), used, text)

    def test_what_state_holds_it_does_not_use(self):
        self.assertEqual(uses(self.FILES), {"state": set(), "low": set()})
        self.assertEqual(uses({**self.FILES, "state.c": "int a = ff_qc_low(1, 2);\n"})["state"], {"low"})

    def test_the_table_can_be_written(self):
        design = "## A\n\n" + HEAD + "| `low` | `gone` |\n\nRest.\n\n## B\n"
        written = with_table(design, {"low": set(), "high": {"low", "a"}})
        self.assertEqual(written, "## A\n\n" + HEAD + "| `high` | `a`, `low` |\n| `low` | none |\n\nRest.\n\n## B\n")
        self.assertEqual(read_table(written), {"high": {"a", "low"}, "low": set()})
        self.assertEqual(with_table(design.replace("| `low` | `gone` |\n", ""), {"low": set()}),
                         "## A\n\n" + HEAD + "| `low` | none |\n\nRest.\n\n## B\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        DESIGN.write_text(with_table(DESIGN.read_text(encoding="utf-8"), uses(sources())), encoding="utf-8")
    else:
        unittest.main()
