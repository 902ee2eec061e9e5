# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What strangers call their files and scores commands no terminal, and passwords of URLs are shown and kept nowhere."""

import base64
import http.server
import json
import re
import shutil
import subprocess
import threading
import unittest

from workbench import COMMAND, FFMPEG, ROOT, clip, command, fresh

OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b2J\u202e"


def without_ffmpeg(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


class Terminal(unittest.TestCase):
    def check(self, *arguments, codes=(0, 1, 2, 4), run=command):
        run = run(*arguments)
        self.assertIn(run.returncode, codes, run.stderr)
        self.assertIsNone(OBEYED.search(run.stdout), repr(run.stdout))
        self.assertIsNone(OBEYED.search(run.stderr), repr(run.stderr))
        return run.stdout + run.stderr

    def test_names_of_files(self):
        place = fresh("terminal")
        name = place / f"a{ESCAPES}.mp4"
        self.assertIn("\\x1b]0;title", self.check("score", name, clip("ref.mkv")))
        shutil.copy(clip("short.mp4"), name)
        self.assertIn("warning", self.check("score", name, clip("ref_short.mkv"), "-m", "psnr"))
        self.assertIn("\\x1b]0;title", self.check("score", place, clip("ref_short.mkv"), "-m", "psnr"))
        name.write_bytes(b"no video")
        self.check("score", name, clip("ref.mkv"))
        self.check("shard", name, 0)
        self.check("score", clip("short.mp4"), clip("ref.mkv"), "-m", ESCAPES)
        self.check("score", ESCAPES + "\n--b")

    def test_a_name_of_two_lines_is_one_line(self):
        run = command("score", "a\nquality-cuda: all is well", clip("ref.mkv"))
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_logs(self):
        place = fresh("terminal_logs")
        for name in ("a", "b"):
            frames = [{"frameNum": i, "metrics": {f"x{ESCAPES}": float(i), "vmaf": 50.0}} for i in range(20)]
            (place / f"{name}.json").write_text(json.dumps({"version": ESCAPES, "frames": frames}), encoding="utf-8")
        self.assertIn("\\u009b2J", self.check("compare", place / "a.json", place / "b.json", run=without_ffmpeg))
        self.check("report", place / "a.json", "--score", ESCAPES, "-o", place / "page.html")

    def test_there_is_one_way_out(self):
        """Whatever is printed goes through it."""
        for path in sorted((ROOT / "cli").rglob("*.cpp")):
            if path.name in ("terminal.cpp", "progress.cpp") or path.name.endswith("_test.cpp"):
                continue
            self.assertNotRegex(path.read_text(encoding="utf-8"), r"\b(fprintf|printf|fputs|puts|fwrite)\(|std::c(out|err)\b", path)


class WithPassword(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.headers.get("Authorization") != "Basic " + base64.b64encode(b"me:secret").decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="videos"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_):
        pass


class Passwords(unittest.TestCase):
    def test_passwords_of_urls(self):
        place = fresh("passwords")
        shutil.copy(clip("ref.mkv"), place / "ref.mkv")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *each: WithPassword(*each, directory=place))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url, log = f"http://me:secret@127.0.0.1:{server.server_port}/ref.mkv", place / "log.json"
        run = command("score", clip("closed.mp4"), url, "-m", "psnr", "-o", log, "--json")
        if "Protocol not found" in run.stderr:
            self.skipTest(f"SKIPPED: {FFMPEG} opens no http://")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("me:***@", (place / "log.json.commands").read_text())
        page = place / "page.html"
        paged = command("report", log, "--csv", place / "table.csv", "-o", page)
        failed = command("score", clip("closed.mp4"), url + ".none", "-m", "psnr")
        plan = command("plan", place / "plan", clip("closed.mp4"), url, "-m", "psnr", "-o", log)
        self.assertEqual((failed.returncode, plan.returncode), (1, 0), failed.stderr + plan.stderr)
        self.assertEqual(command("shard", place / "plan", 0).returncode, 0)
        self.assertEqual(command("merge", place / "plan").returncode, 0)
        for text in (run.stdout, run.stderr, paged.stdout, paged.stderr, failed.stderr):
            self.assertNotIn("secret", text)
        for path in place.iterdir():
            if path.is_file() and path.name != "plan":  # which opens it
                self.assertNotIn(b"secret", path.read_bytes(), path)


if __name__ == "__main__":
    unittest.main()
