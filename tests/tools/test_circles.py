# SPDX-License-Identifier: BSD-2-Clause-Patent
"""No file of the command, of the filter or of run/ leads back to itself: no header by its includes, no source by its calls."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_rooms  # noqa: E402

PLACES = ("cli/", "filter/", "run/")
HEADERS = (".h", ".hpp")

UNREAD = re.compile(r"""(?sx) //[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" """)
UNNAMED = re.compile(r"(?ms)^namespace \{$.*?^\} // namespace$")  # what no other file can call
# Where a line begins: a type, a name, perhaps its class before it, an open bracket. Both styles have functions there.
FUNCTION = re.compile(r"(?m)^(?!return\b|else\b|typedef\b)((?:[A-Za-z_][\w:<>,&* \t]*[\s*&>])?)((?:\w+::)*)(~?\w+)\(")
BODY = re.compile(r"[^;{]*\{")
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
UNIQUE = re.compile(r"\b(?:ff|qcr)_\w+")  # names that mean a function without a call, too
CLASS = re.compile(r"(?m)^(?:class|struct)\s+(\w+)\b[^;]*?\{")


class File:
    """What others may know of a file, and what it knows of them, by name."""

    def __init__(self, path, text):
        code, named = UNREAD.sub(" ", text), UNREAD.sub(" ", UNNAMED.sub(" ", text))
        self.is_header = path.endswith(HEADERS)
        found = [(match, bool(BODY.match(code, match.end()))) for match in FUNCTION.finditer(code)]
        self.own = {match[3] for match, has_body in found if has_body and not match[2]}
        self.declares = {match[3] for match, has_body in found if not has_body and not match[2]}
        self.classes = set(CLASS.findall(code))
        public = [match for match in FUNCTION.finditer(named) if BODY.match(named, match.end()) and not match[1].startswith("static")]
        self.defines = {match[3] for match in public if not match[2]}
        self.has_methods_of = {match[2].split("::")[-2] for match in public if match[2]}
        self.calls = (set(CALL.findall(code)) | set(UNIQUE.findall(code))) - self.own
        self.words = set(re.findall(r"\w+", code))


def includes_of(files):
    found = {path: set() for path in files}
    for path, text in files.items():
        for quoted, angled in test_rooms.INCLUDE.findall(text):
            included = test_rooms.resolve(path, quoted or angled, files)
            found[path] |= {included} - {None}
    return found


def reached(start, ways):
    """All that can be reached from a place, itself only if a way leads back."""
    found, left = set(), [start]
    while left:
        new = ways[left.pop()] - found
        found |= new
        left += new
    return found


def calls_of(files, includes):
    """For each source those that define what it calls, or the methods of a class that it names."""
    known = {path: File(path, text) for path, text in files.items()}
    seen = {path: reached(path, includes) for path in files}
    sources = [path for path in files if not known[path].is_header]
    ways = {path: set() for path in files}
    for definer in sources:
        its = known[definer]
        functions, classes = {}, {}
        for header in seen[definer]:
            for names, place in ((its.defines & known[header].declares, functions),
                                 (its.has_methods_of & known[header].classes, classes)):
                for name in names:
                    place.setdefault(name, set()).add(header)
        for user in sources:
            mine = known[user]
            if user != definer and (any(seen[user] & functions[name] for name in mine.calls & functions.keys()) or any(
                    seen[user] & classes[name] for name in (mine.words - mine.has_methods_of) & classes.keys())):
                ways[user].add(definer)
    return ways


def circles(ways):
    """Groups of places each of which leads to every other one."""
    ends = {place: reached(place, ways) for place in ways}
    groups = {frozenset(other for other in ends[place] if place in ends[other]) for place in ways if place in ends[place]}
    return sorted(sorted(group) for group in groups)


def ours(files):
    return {path: text for path, text in files.items() if path.startswith(PLACES) and not path.endswith("_test.cpp")}


class Repository(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = ours(test_rooms.sources())
        cls.includes = includes_of(cls.files)
        cls.calls = calls_of(cls.files, cls.includes)

    def test_enough_is_seen(self):
        self.assertGreater(sum(map(len, self.includes.values())), 200)
        self.assertGreater(sum(map(len, self.calls.values())), 150)

    def test_includes(self):
        self.assertEqual(circles(self.includes), [])

    def test_calls(self):
        self.assertEqual(circles(self.calls), [])

    def test_calls_between_rooms_of_the_command(self):
        """A header might declare what lies in a room that its own room may not know."""
        rooms = test_rooms.read_rooms((test_rooms.ROOT / "docs/design/design.md").read_text(encoding="utf-8"))
        wrong = [(user, definer) for user in self.calls for definer in self.calls[user]
                 if user.startswith("cli/") and definer.startswith("cli/")
                 and not any(test_rooms.allows(room, user, definer) for room in test_rooms.rooms_of(user, rooms))]
        self.assertEqual(wrong, [])


class Rules(unittest.TestCase):
    """That the check sees what it is there for."""

    FILES = {
        "cli/a/low.hpp": "#pragma once\nclass Low {\n    int f() const;\n};\n/// high()\nint low(const Low& of);\nint table();\n",
        "cli/a/low.cpp": '#include "a/low.hpp"\nnamespace {\nint own() {\n}\n} // namespace\nint Low::f() const {\n    return 1;\n}\n'
                         "int low(const Low& of) {\n}\n",
        "cli/b/high.hpp": '#include "a/low.hpp"\nint high();\nint own();\n',
        "cli/b/high.cpp": '#include "b/high.hpp"\nint high() {\n    return low({});\n}\nint own() {\n}\n',
        "filter/a.h": "int ff_a(void);\n", "filter/b.h": "int ff_b(void);\n",
        "filter/a.c": '#include "a.h"\n#include "b.h"\nint ff_a(void)\n{\n    int (*f)(void) = ff_b;\n}\n',
        "filter/b.c": '#include "a.h"\n#include "b.h"\nint ff_b(void)\n{\n    const char *name = "ff_a";\n}\n',
    }

    def found(self, changed):
        files = {**self.FILES, **{path: self.FILES[path] + text for path, text in changed.items()}}
        includes = includes_of(files)
        return circles(includes), circles(calls_of(files, includes))

    def test_no_circle(self):
        for path, text in [("cli/a/low.cpp", ""), ("cli/a/low.cpp", "int other() {\n    return own();\n}\n"),
                           ("cli/a/low.cpp", "// high()\nint high(int);\n"), ("cli/a/low.cpp", "int other() {\n    return it.high();\n}\n"),
                           ("cli/a/low.cpp", '#include "b/high.hpp"\n'), ("filter/b.c", "/* ff_a() */\n")]:
            self.assertEqual(self.found({path: text}), ([], []), text)

    def test_circles(self):
        sources = [["cli/a/low.cpp", "cli/b/high.cpp"]]
        for changed, expected in [
                ({"cli/a/low.hpp": '#include "b/high.hpp"\n'}, ([["cli/a/low.hpp", "cli/b/high.hpp"]], [])),
                ({"cli/a/low.cpp": '#include "b/high.hpp"\nint other() {\n    return high();\n}\n'}, ([], sources)),
                ({"cli/b/high.hpp": "struct High {\n};\n", "cli/b/high.cpp": "int High::f() {\n}\n",
                  "cli/a/low.cpp": '#include "b/high.hpp"\nvoid other(const High& of) {\n}\n'}, ([], sources)),
                ({"filter/b.c": "static void other(void)\n{\n    ff_a();\n}\n"}, ([], [["filter/a.c", "filter/b.c"]]))]:
            self.assertEqual(self.found(changed), expected, changed)


if __name__ == "__main__":
    unittest.main()
