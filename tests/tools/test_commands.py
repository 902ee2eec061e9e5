# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The commands that an installation has: their manual pages and what shells complete, against their own --help."""

import pathlib
import re
import shutil
import subprocess
import tempfile
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

    def test_the_filters_page_is_no_markdown(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "quality_cuda.7"
            subprocess.run([ROOT / "tools/filter-manual", ROOT / "docs/man/quality_cuda.7.in", ROOT / "docs/reference/ffmpeg.md", "0", page],
                           check=True)
            text = page.read_text(encoding="utf-8")
        for mark in ("](", "`", "**", "<br>"):
            self.assertNotIn(mark, text)
        self.assertIn("docs/reference/live.md", text)

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


class CompletionOfQualityCuda(unittest.TestCase):
    """The scripts for all shells ask the program."""

    def setUp(self):
        if not COMMANDS["quality-cuda"].exists():
            self.skipTest("SKIPPED: no build/cli/quality-cuda (tools/setup)")

    def offered(self, *words):
        text = subprocess.run([COMMANDS["quality-cuda"], "__complete", *words], capture_output=True, text=True, check=True).stdout
        return [line.split("\t")[0] for line in text.splitlines()]

    def test_commands_and_their_own_options(self):
        self.assertEqual(set(self.offered("")), {"score", "plan", "shard", "submit", "merge", "report", "compare", "verify", "doctor", "help"})
        self.assertEqual(self.offered("comp"), ["compare"])
        for name in ("score", "report", "compare", "shard"):
            with self.subTest(name):
                text = subprocess.run([COMMANDS["quality-cuda"], name, "--help"], capture_output=True, text=True, check=True).stdout
                own = {word for line in text.splitlines() if re.match(r"\s+-", line) for word in options_of(re.split(r"\s{2,}", line.strip())[0])}
                self.assertEqual(set(self.offered(name, "--")), {word for word in own if word.startswith("--")} | {"--help", "--help-all"})

    def test_values(self):
        self.assertEqual(self.offered("score", "--align", ""), ["delay", "none", "start", "auto"])
        self.assertEqual(self.offered("score", "--scale", "bi"), ["bicubic", "bilinear"])
        self.assertEqual(self.offered("score", "a.mp4", "-m", "ssimu"), ["ssimulacra2", "ssimu2", "ssimulacra"])
        self.assertEqual(self.offered("score", "--metrics", "vmaf+xp"), ["vmaf+xpsnr"])
        self.assertEqual(self.offered("score", "--model", "ph"), ["phone", ":files"])
        self.assertIn("vmaf_v0.6.1neg", self.offered("plan", "--model", ""))
        self.assertEqual(self.offered("compare", "-m", "p"), [])
        self.assertEqual(self.offered("score", "--max-dt", ""), [])
        self.assertEqual(self.offered("report", "lo"), [":files"])
        self.assertEqual(self.offered("nonsense", ""), [])

    def test_bash(self):
        if not COMPLETION.exists():
            self.skipTest("SKIPPED: no bash-completion (tools/setup --packaging)")
        self.assertEqual(completed("quality-cuda", "sc"), {"score"})
        self.assertEqual(completed("quality-cuda", "score", "--al"), {"--align", "--allow-unpaired", "--all-scores"})
        self.assertEqual(completed("quality-cuda", "score", "--backend", "c"), {"cuda", "cpu"})
        self.assertIn("README.md", completed("quality-cuda", "report", "READ"))

    def test_the_other_shells_scripts(self):
        for shell, name, options in (("zsh", "_quality-cuda", ["-n"]), ("fish", "quality-cuda.fish", ["--no-execute"])):
            with self.subTest(shell):
                script = ROOT / "tools/completion" / name
                self.assertIn("__complete", script.read_text(encoding="utf-8"))
                if shutil.which(shell) is None:
                    self.skipTest(f"SKIPPED: no {shell}")
                subprocess.run([shell, *options, script], check=True)


if __name__ == "__main__":
    unittest.main()
