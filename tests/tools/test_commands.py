# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands that an installation has: their manual pages and what bash completes, against their own --help."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = pathlib.Path("/usr/share/bash-completion/bash_completion")
COMMANDS = {"quality-cuda": ROOT / "build/cli/quality-cuda", "quality_bench": ROOT / "build/tools/bench/quality_bench",
            "quality-cuda-patch-ffmpeg": ROOT / "tools/patch-ffmpeg"}
HELP = {"quality-cuda": "--help-all"}  # of all its commands
ALWAYS = {"-h", "--help"}  # whether or not the text of --help lists them itself


def options_of(text):
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))


def of_help(name):
    text = subprocess.run([COMMANDS[name], HELP.get(name, "--help")], capture_output=True, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if re.match(r"\s+-", line)]
    return options_of("\n".join(re.split(r"\s{2,}", line.strip())[0] for line in lines)) | ALWAYS


def of_manual(name):
    """Options that the page has an entry for."""
    page = (ROOT / f"docs/man/{name}.1.in").read_text(encoding="utf-8").replace("\\-", "-").split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
    tags = "\n".join(entry.split("\n", 1)[0] for entry in page.split(".TP\n")[1:])
    return options_of(re.sub(r"\\f[BIR]", "", tags))


def completed(name, *words):
    """What bash offers for the last word."""
    script = (f". {COMPLETION}; . {ROOT}/tools/completion/{name}; PATH={COMMANDS[name].parent}:$PATH\n"
              'command=$1; shift; COMP_WORDS=("$command" "$@"); COMP_CWORD=$#; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}\n'
              "function=$(complete -p \"$COMPLETED\" | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
              '"$function" "$command" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\\n" "${COMPREPLY[@]}"')
    run = subprocess.run(["bash", "-c", script, "bash", str(COMMANDS[name]), *words], capture_output=True, text=True, check=True,
                         env={"COMPLETED": name, "PATH": "/usr/bin:/bin"}, cwd=ROOT)
    return set(run.stdout.split())


class Commands(unittest.TestCase):
    def need(self, name):
        if not COMMANDS[name].exists():
            self.skipTest(f"SKIPPED: no {COMMANDS[name].relative_to(ROOT)} (tools/setup)")

    def test_manual_pages_have_the_options_of_help(self):
        for name in COMMANDS:
            with self.subTest(name):
                self.need(name)
                self.assertEqual(of_manual(name), of_help(name))

    def test_every_installed_command_has_a_page_and_a_completion(self):
        """FFmpeg's two programs have a page in common, and so many options that FFmpeg's own documentation has them."""
        installed = {line.split("/")[-1] for path in (ROOT / "packaging/debian").glob("*.install")
                     for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("usr/bin/")}
        self.assertEqual(installed - set(COMMANDS), {"ffmpeg-quality-cuda", "ffprobe-quality-cuda"})
        for name in installed:
            self.assertEqual(len(list((ROOT / "docs/man").glob(f"{name}.1*"))), 1, name)
        for name in COMMANDS:
            self.assertTrue((ROOT / "tools/completion" / name).exists(), name)


class Completion(unittest.TestCase):
    def setUp(self):
        if not COMPLETION.exists():
            self.skipTest("SKIPPED: no bash-completion (tools/setup --packaging)")

    def test_options(self):
        if not COMMANDS["quality_bench"].exists():
            self.skipTest("SKIPPED: no build/tools/bench/quality_bench (tools/setup)")
        listed = {option for option in of_help("quality_bench") if option.startswith("--")} - {"--help"}
        self.assertEqual(completed("quality_bench", "--") - {"--help"}, listed)
        self.assertEqual(completed("quality_bench", "--b"), {"--batch", "--backend"})
        self.assertIn("--help", completed("quality-cuda-patch-ffmpeg", "--"))

    def test_values(self):
        self.assertEqual(completed("quality_bench", "--backend", ""), {"auto", "cuda", "cpu"})
        self.assertEqual(completed("quality_bench", "--backend", "cu"), {"cuda"})
        self.assertEqual(completed("quality_bench", "--scaling", "bi"), {"bicubic", "bilinear"})
        self.assertIn("README.md", completed("quality_bench", "--json", "READ"))
        self.assertEqual(completed("quality_bench", "--size", "1"), set())
        self.assertEqual(completed("quality-cuda-patch-ffmpeg", "engi"), {"engine"})


if __name__ == "__main__":
    unittest.main()
