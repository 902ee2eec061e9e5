# SPDX-License-Identifier: BSD-2-Clause-Patent
"""check-style's tables, how long pages are, that links lead somewhere and pictures are shown, that docs/design/design.md names what
exists, and that tools/README.md has every command. The commands of README and guide: tests/cli/test_documentation.py."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
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


def pages(*patterns):
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def words(path):
    """Bars and dashes of tables are none."""
    return sum(1 for word in path.read_text(encoding="utf-8").split() if re.search(r"\w", word))


class Sizes(unittest.TestCase):
    """What a reader can take in: a page that grows beyond its limit is two pages, or says too much."""

    def test_readme(self):
        self.assertLessEqual(words(ROOT / "README.md"), 700)

    def test_guide(self):
        found = {path.name: words(path) for path in pages("docs/guide/*.md")}
        self.assertGreater(len(found), 10)
        self.assertEqual({name: count for name, count in found.items() if count > 900}, {})

    def test_all(self):
        self.assertLessEqual(sum(map(words, pages("docs/**/*.md"))), 40000)

    def test_pictures(self):
        self.assertLessEqual(sum(path.stat().st_size for path in (ROOT / "docs/images").iterdir()), 600_000)


def anchors(text):
    """Of headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def links(text):
    return re.findall(r"""\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)\"""", text)


def broken_links(path):
    """Relative ones whose file or heading is not there."""
    found = []
    for target in (one or other for one, other in links(path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        page, _, anchor = target.partition("#")
        file = path.parent / page if page else path
        if not file.exists() or anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            found.append(target)
    return found


class Links(unittest.TestCase):
    def test_all_lead_somewhere(self):
        found = {str(path.relative_to(ROOT)): broken_links(path) for path in pages("*.md", "docs/**/*.md", "tools/*.md", "kernels/**/*.md")}
        self.assertGreater(len(found), 30)
        self.assertEqual({name: broken for name, broken in found.items() if broken}, {})

    def test_those_that_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "a.md"
            page.write_text("# A `b`, c\n[1](a.md) [2](#a-b-c) [3](#d) [4](e.md) [5](https://f.example/g)\n![6](h.png)\n```\n# d\n```\n")
            self.assertEqual(broken_links(page), ["#d", "e.md", "h.png"])

    def test_every_page_is_reached_from_the_index(self):
        reached, waiting = set(), [ROOT / "docs/README.md"]
        while waiting:
            page = waiting.pop()
            if page in reached:
                continue
            reached.add(page)
            targets = [(page.parent / target.partition("#")[0]).resolve() for target, _ in links(page.read_text(encoding="utf-8")) if target]
            waiting += [target for target in targets if target.suffix == ".md" and target.exists()]
        self.assertEqual([str(path) for path in pages("docs/**/*.md") if path not in reached], [])

    def test_three_pictures_of_the_readme(self):
        """Each of docs/images is shown, and the README shows three (one of them for light and for dark)."""
        shown = {one or other for one, other in links((ROOT / "README.md").read_text(encoding="utf-8"))}
        pictures = {f"docs/images/{path.name}" for path in (ROOT / "docs/images").iterdir()}
        self.assertEqual({name.replace("_dark", "").replace("_light", "") for name in shown & pictures},
                         {"docs/images/report.png", "docs/images/heat.jpg", "docs/images/speed.svg"})
        self.assertEqual(pictures - shown, set())

    def test_the_bars_are_those_of_the_table(self):
        subprocess.run([ROOT / "tools/docs/speed-chart", "--check"], check=True)


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
