# SPDX-License-Identifier: BSD-2-Clause-Patent
"""No hand-written file is above 600 lines, and no function in C, C++, CUDA or Python above 80.

The 600 are lines of code. Prose has no limit; the documentation in a public header does not count, nor do the tables of tests: who
adds a sentence or a case there must not have to shorten another.
"""

import ast
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from support import scripts  # noqa: E402

LONGEST_FILE, LONGEST_FUNCTION = 600, 80
NOT_HAND_WRITTEN = ("LICENSE", "LICENSES/", "engine/models/vmaf_", "tests/fuzz/corpus/", "patches/",
                    "docs/images/")  # licences, figures, bytes, copies, pictures
PROSE = (".md", ".texi", ".1", ".1.in", "NOTICE")
C_FAMILY = (".c", ".h", ".cpp", ".hpp", ".cu", ".cuh")
PUBLIC_HEADER = re.compile(r"(^|/)include/.*\.h$")
TEST = re.compile(r"^tests/|_(test|test_support|emulation|frozen|pictures)\.[ch]pp$")

# Comments, strings and characters; a quote between digits separates thousands.
UNREAD = re.compile(r"""(?sx) //(?:\\\n|[^\n])* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+' """)
DIRECTIVE = re.compile(r"(?m)^[ \t]*\#(?:\\\n|[^\n])*")
ELSE_BRANCH = re.compile(r"(?m)^[ \t]*\#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b")
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def first_branches(text):
    """Without what follows an #else or #elif: two branches may open the same brace."""
    lines, hidden = text.split("\n"), []
    for i, line in enumerate(lines):
        word = ELSE_BRANCH.match(line)
        if word and word[1].startswith("if"):
            hidden.append(False)
        elif word and word[1] == "endif" and hidden:
            hidden.pop()
        elif word and hidden:
            hidden[-1] = True
        elif any(hidden):
            lines[i] = ""
    return "\n".join(lines)


def without_templates(head):
    """What stands before a brace, without "template <class T>", attributes and the like."""
    head = re.sub(r"\balignas\s*\([^()]*\)|\[\[.*?\]\]", " ", head)
    while head.lstrip().startswith("template"):
        depth, end = 0, head.index("<")
        for end in range(end, len(head)):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            if depth == 0:
                break
        head = head[end + 1:]
    return head.strip()


def kind_of(head):
    """What a brace behind these words opens outside of functions: "scope", "function", or "value"."""
    head = without_templates(head)
    at_start = re.sub(r"\([^()]*\)", "()", re.sub(r"\boperator\s*[^\s\w(]+", "operator", head))
    if re.search(r"\)\s*(noexcept\s*)?:[^:{}]*\w$", at_start):  # a constructor's member with its first value
        return "member"
    if "=" in re.sub(r"\(.*\)", "", at_start, flags=re.S):
        return "value"
    if "(" in head:
        return "function"
    return "scope" if SCOPE.search(head) else "value"


def c_functions(text):
    """First line and number of lines of every function, lambdas and local types as part of theirs."""
    code = UNREAD.sub(blank, text)
    whole = DIRECTIVE.sub(blank, code)
    if whole.count("{") != whole.count("}"):
        whole = DIRECTIVE.sub(blank, first_branches(code))
    found, stack, head_at = [], [], 0
    for match in re.finditer(r"[{};]", whole):
        at, inside = match.start(), bool(stack) and stack[-1][0] != "scope"
        if match[0] == "{":
            stack.append(("inner" if inside else kind_of(whole[head_at:at]), head_at))
        elif match[0] == "}" and stack:
            kind, begin = stack.pop()
            if kind == "function":
                start = begin + len(whole[begin:]) - len(whole[begin:].lstrip())
                found.append((whole.count("\n", 0, start) + 1, whole.count("\n", start, at) + 1))
            if kind in ("member", "inner"):
                continue
        elif inside:
            continue
        if not stack or stack[-1][0] == "scope":
            head_at = match.end()
    return found


def python_functions(text):
    return [(node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def comment_lines(text):
    """Numbers of lines that have a comment and nothing else."""
    code = UNREAD.sub(blank, text).split("\n")
    return {number for number, line in enumerate(text.split("\n"), 1) if line.strip() and not code[number - 1].strip()}


def c_tables(text):
    """Numbers of lines inside of braces that hold values: no statement or declaration, so no semicolon."""
    code, found, stack = DIRECTIVE.sub(blank, UNREAD.sub(blank, text)), set(), []
    for match in re.finditer(r"[{};]", code):
        if match[0] == "{":
            stack.append([match.start(), True])
        elif match[0] == ";":
            for group in stack:
                group[1] = False
        elif stack:
            start, is_table = stack.pop()
            if is_table:
                found.update(range(code.count("\n", 0, start) + 2, code.count("\n", 0, match.start()) + 1))
    return found


def python_tables(text):
    """Numbers of lines inside of lists, tuples and dictionaries that are written out."""
    literals = (ast.List, ast.Tuple, ast.Dict, ast.Set)
    return {number for node in ast.walk(ast.parse(text)) if isinstance(node, literals)
            for number in range(node.lineno + 1, node.end_lineno + 1)}


def lines_of_code(name, text):
    if name.endswith(PROSE):
        return 0
    uncounted = comment_lines(text) if PUBLIC_HEADER.search(name) else set()
    if TEST.search(name) and name.endswith(C_FAMILY):
        uncounted = c_tables(text)
    elif TEST.search(name) and is_python(name, text):
        uncounted = python_tables(text)
    return text.count("\n") - len(uncounted)


def is_python(name, text):
    return name.endswith(".py") or text.startswith("#!/usr/bin/env python3")


def files():
    for name in scripts.load("check-style").all_files():
        if not name.startswith(NOT_HAND_WRITTEN):
            yield name, (ROOT / name).read_text(encoding="utf-8")


class Repository(unittest.TestCase):
    def test_files(self):
        lengths = {name: lines_of_code(name, text) for name, text in files()}
        self.assertGreater(len(lengths), 300)
        self.assertEqual({name: n for name, n in lengths.items() if n > LONGEST_FILE}, {})

    def test_functions(self):
        found, long = 0, []
        for name, text in files():
            functions = c_functions(text) if name.endswith(C_FAMILY) else python_functions(text) if is_python(name, text) else []
            found += len(functions)
            long += [f"{name}:{line}: {length} lines" for line, length in functions if length > LONGEST_FUNCTION]
        self.assertGreater(found, 2000)
        self.assertEqual(long, [])


class Measure(unittest.TestCase):
    def test_c_functions(self):
        code = '''namespace a {
struct S final : T {
    S(int x)
        : a_{x}, b_(x) {
    }
    int f() const { return 1'000; }
    enum E e() { return {}; }
};
const int kTable[] = {
    1, 2,
};
constexpr auto kMade = [] {
    return '{';
}();
template <class A, class B = C<A>>
bool operator==(A a, B b) {
    // }
    struct Local {
        int g() {
            return "}"[0];
        }
    };
    return [&] {
        return a;
    }() == b;
}
extern "C" {
static void h(void)
{
    if (x) {
    }
}
}
}
'''
        self.assertEqual(c_functions(code), [(3, 3), (6, 1), (7, 1), (15, 12), (28, 5)])

    def test_branches_that_open_the_same_brace(self):
        code = "#if A\nint f(int a) {\n#else\nint f(void) {\n#endif\n    return 1;\n}\nint g() {\n}\n"
        self.assertEqual(c_functions(code), [(2, 6), (8, 2)])

    def test_python_functions(self):
        self.assertEqual(python_functions("class A:\n    def f(self):\n        def g():\n            pass\n        return g\n"), [(2, 4), (3, 2)])

    def test_public_headers(self):
        header = "/* One\n * two.\n */\nint f(int); ///< three\n\n// four\n"
        self.assertEqual(lines_of_code("run/include/a/b.h", header), 2)
        self.assertEqual(lines_of_code("engine/api/b.h", header), 6)

    def test_tables_of_tests(self):
        code = "const Case kCases[] = {\n    {1, \"};\"},\n    {\n        2\n    }, // ;\n};\nint f() {\n    return g({\n        1,\n    });\n}\n"
        self.assertEqual(lines_of_code("kernels/metrics/a/a_test.cpp", code), 6)
        self.assertEqual(lines_of_code("tests/unit/a_test.cpp", code), 6)
        self.assertEqual(lines_of_code("kernels/metrics/a/a.cpp", code), 11)

    def test_tables_of_python(self):
        code = "CASES = [\n    (1,\n     2),\n]\n\n\ndef f():\n    return (1 +\n            2)\n"
        self.assertEqual(lines_of_code("tests/cli/test_a.py", code), 6)
        self.assertEqual(lines_of_code("tools/a.py", code), 9)

    def test_prose(self):
        self.assertEqual(lines_of_code("docs/a.md", "a\n" * 1000), 0)


if __name__ == "__main__":
    unittest.main()
