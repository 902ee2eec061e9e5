# SPDX-License-Identifier: BSD-2-Clause-Patent
"""What goes wrong with files and disks: one clear line each, no crash, and what is done stays done."""

import fcntl
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from workbench import COMMAND, FFMPEG, TIMEOUT_SECONDS, clip, command, comparable, ffmpeg_in, fresh, single

EDITS = 400 if os.environ.get("QC_TEST_LEVEL") == "all" else 40
VALUES = [None, True, -1, 0, 1, 3, 2.5, -1e308, 1e308, 2**31, 2**63, 2**64, -2**63, "", "x", "../x", "\u0000", "/", [], {}, [[]], "x" * 5000]


class Planned(unittest.TestCase):
    def setUp(self):
        self.place = fresh("bad_" + self.id().rpartition(".")[2])
        self.plan = self.place / "plan.json"
        self.log = self.place / "scores.json"
        self.distorted = self.place / "closed.mp4"
        shutil.copy(clip("closed.mp4"), self.distorted)

    def do(self, *arguments):
        run = command(*arguments)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def make_plan(self, parts=2, done=()):
        self.do("plan", self.plan, self.distorted, clip("ref.mkv"), "-m", "psnr", "--parts", parts, "-o", self.log)
        for number in done:
            self.do("shard", self.plan, number)

    def refuse(self, said, *arguments, code=1, **where):
        run = command(*arguments, **where)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (code, 1), run.stdout + run.stderr)
        self.assertRegex(run.stderr, said)
        return run

    def assert_equals_single(self):
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "bad.json")))


class Inputs(Planned):
    def test_missing_after_planning(self):
        self.make_plan(done=[0])
        self.distorted.rename(self.place / "away.mp4")
        self.refuse("quality-cuda: .*/closed.mp4: no such file", "shard", self.plan, 1)
        self.refuse("scores.json: not merged: .*/closed.mp4: no such file", "merge", self.plan)
        (self.place / "away.mp4").rename(self.distorted)
        self.assertEqual(self.do("shard", self.plan, 0), "shard 0: done before\n")

    def test_missing_of_one_title(self):
        """The others are merged."""
        titles = self.place / "titles.json"
        other = self.place / "other.json"
        titles.write_text(json.dumps([{"distorted": [str(self.distorted)], "reference": str(clip("ref.mkv")), "log": str(self.log)},
                                      {"distorted": [str(clip("closed.mp4"))], "reference": str(clip("ref.mkv")), "log": str(other)}]))
        self.do("plan", self.plan, "--titles", titles, "-m", "psnr", "--parts", 1)
        for number in (0, 1):
            self.do("shard", self.plan, number)
        self.distorted.unlink()
        run = self.refuse("not merged", "merge", self.plan)
        self.assertEqual(run.stdout, "titles merged: 1 of 2\n")
        self.assertTrue(other.exists() and not self.log.exists())

    def test_truncated_after_planning(self):
        """What a part asks for is not there any more."""
        self.make_plan(done=[0])
        self.distorted.write_bytes(self.distorted.read_bytes()[:6000])
        self.refuse("shard 1: .", "shard", self.plan, 1)
        self.refuse("missing shards: 0 1 ", "merge", self.plan)

    def test_mismatched(self):
        for step in (["score"], ["plan", self.plan]):
            self.refuse("scale first", *step, clip("small.mp4"), clip("ref.mkv"), "--parts", 2)
        self.assertFalse(self.plan.exists())

    def test_ffmpeg_without_the_filter(self):
        self.make_plan()
        program = ffmpeg_in(self.place, "#!/bin/sh\necho 'Unknown filter'\n")
        for step in (["shard", self.plan, 0], ["plan", self.plan, self.distorted, clip("ref.mkv")]):
            self.refuse("has no filter quality_cuda", *step, "--ffmpeg", program)

    def test_a_merge_needs_no_ffmpeg(self):
        self.make_plan(done=[0, 1])
        program = ffmpeg_in(self.place, f"#!/bin/sh\ntouch '{self.place}/started'\nexit 1\n")
        run = command("merge", self.plan, "--ffmpeg", program)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "titles merged: 1 of 1\n", ""))
        self.assertFalse((self.place / "started").exists())

    def test_a_name_that_json_cannot_hold(self):
        odd = os.fsencode(self.place) + b"/caf\xe9.mp4"
        shutil.copy(clip("closed.mp4"), odd)
        run = subprocess.run([COMMAND, "plan", self.plan, odd, clip("ref.mkv"), "--ffmpeg", FFMPEG], capture_output=True, timeout=TIMEOUT_SECONDS,
                             check=False)
        self.assertEqual((run.returncode, run.stderr.count(b"\n")), (1, 1), run.stderr)
        self.assertIn(b"UTF-8", run.stderr)


class Titles(Planned):
    def plan_of(self, titles, said, code=1):
        path = self.place / "titles.json"
        path.write_text(titles if isinstance(titles, str) else json.dumps(titles))
        self.refuse(said, "plan", self.plan, "--titles", path, "-m", "psnr", code=code)
        self.assertFalse(self.plan.exists())

    def test_broken_lists(self):
        reference = str(clip("ref.mkv"))
        for titles, said in (("", "no list of titles"), ("{", "no list of titles"), ("3", "no list of titles"), ("[]", "has no titles"),
                             ("{}", "has no titles"), ([{}], "distorted"), ([{"distorted": "x", "reference": reference}], "no list of titles"),
                             ([{"distorted": [], "reference": reference}], "no distorted video"),
                             ([{"distorted": [str(self.distorted)]}], "reference"),
                             ([{"distorted": [str(self.distorted)], "reference": reference, "log": 3}], "no list of titles"),
                             ([{"distorted": ["/nowhere.mp4"], "reference": reference}], "nowhere.mp4: no such file")):
            with self.subTest(titles):
                self.plan_of(titles, said)

    def test_two_titles_with_one_log(self):
        reference = str(clip("ref.mkv"))
        self.plan_of([{"distorted": [str(self.distorted)], "reference": reference}] * 2, "closed.mp4.scores.json is the log of two titles", code=2)
        self.plan_of([{"distorted": [str(self.distorted)] * 2, "reference": reference, "log": "a.json"},
                      {"distorted": [str(self.distorted)], "reference": reference, "log": "a.rendition1.json"}], "is the log of two titles", code=2)

    def test_missing_list(self):
        self.refuse("nowhere.json cannot be read: No such file", "plan", self.plan, "--titles", "nowhere.json")


class Names(Planned):
    def test_a_name_that_is_no_utf_8(self):
        """JSON has no such texts: the byte is replaced there, in what is printed, and the scores are not lost."""
        name = os.fsencode(self.place) + b"/a\xff.mp4"
        shutil.copy(self.distorted, name)
        for more in ((), ("--parts", 2)):
            run = subprocess.run([COMMAND, "score", name, clip("ref.mkv"), "-m", "psnr", "--json", "-q", *map(str, more), "--ffmpeg", FFMPEG],
                                 capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, b""))
            rendition, = json.loads(run.stdout.decode("utf-8"))["renditions"]
            self.assertTrue(rendition["distorted"].endswith("/a\ufffd.mp4"), rendition["distorted"])


class Fuzz(Planned):
    """Edits by chance: no signal, no hanging, no second line but those of titles."""

    def check(self, what):
        for step in (["shard", self.plan, "0"], ["merge", self.plan]):
            run = subprocess.run([COMMAND, *map(str, step), "--ffmpeg", FFMPEG], capture_output=True, text=True, errors="replace", timeout=60,
                                 check=False, cwd=self.place)
            with self.subTest(what=what, step=step[0]):
                self.assertIn(run.returncode, (0, 1, 2), run.stderr[-2000:])
                self.assertEqual(run.returncode == 0, run.stderr == "" or "warning" in run.stderr, run.stderr[-2000:])
                self.assertLessEqual(run.stderr.count("\n"), 2, run.stderr[-2000:])
                self.assertNotRegex(run.stderr, r"std::|exception|at\(\)")

    def test_texts(self):
        self.make_plan(done=[1])
        whole = self.plan.read_bytes()
        for seed in range(EDITS):
            chance = random.Random(seed)
            text = bytearray(whole)
            for _ in range(chance.choice([1, 1, 2, 5])):
                at = chance.randrange(len(text))
                kind = chance.randrange(4)
                if kind == 0:
                    text[at] = chance.randrange(256)
                elif kind == 1:
                    del text[at:at + chance.choice([1, 4, 100])]
                elif kind == 2:
                    text[at:at] = text[at:at + 40]
                else:
                    text[at] = ord(chance.choice("0123456789-.e[]{}\","))
            self.plan.write_bytes(text)
            self.check(seed)

    def places(self, value, path=()):
        """Every place in a tree, as keys."""
        found = [path] if path else []
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            found += self.places(inner, (*path, key))
        return found

    def test_values(self):
        self.make_plan(done=[1])
        whole = self.plan.read_text()
        for seed in range(EDITS):
            chance = random.Random(seed)
            plan = json.loads(whole)
            for _ in range(chance.choice([1, 1, 2])):
                *way, last = chance.choice(self.places(plan))
                inner = functools.reduce(lambda at, key: at[key], way, plan)
                kind = chance.randrange(4)
                if kind == 0:
                    del inner[last]
                elif kind == 1 and isinstance(inner, list):
                    inner.insert(last, inner[last])
                else:
                    inner[last] = chance.choice(VALUES)
            self.plan.write_text(json.dumps(plan))
            self.check(seed)

    def test_no_parts_and_no_inputs(self):
        """What a shard or a merge would read beyond."""
        self.make_plan()
        whole = json.loads(self.plan.read_text())
        title, = whole["titles"]
        for titles, shards in (([{**title, "inputs": [], "parts": [{**part, "inputs": []} for part in title["parts"]]}], whole["shards"]),
                               ([{**title, "parts": []}], []), ([title], whole["shards"][:1]), ([title], whole["shards"][::-1]), ([], [])):
            self.plan.write_text(json.dumps({**whole, "titles": titles, "shards": shards}))
            for step in (["shard", self.plan, 0], ["merge", self.plan]):
                self.refuse("plan.json is damaged: ", *step)

    def test_records(self):
        """Whatever becomes of one is seen, and it is made again."""
        self.make_plan(done=[0, 1])
        record = self.place / "plan.json.shards/1.record"
        whole = record.read_bytes()
        for seed in range(EDITS // 4):
            chance = random.Random(seed)
            text = bytearray(whole)
            at = chance.choice([0, len(text) - 1 - chance.randrange(40), chance.randrange(len(text))])
            kind = chance.randrange(3)
            if kind == 0:
                text[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                del text[at:at + chance.choice([1, 8, 10000])]
            else:
                text[at:at] = bytes(chance.randrange(256) for _ in range(8))
            record.write_bytes(text)
            self.refuse(r"missing shards: 1 \(1 of 2\)", "merge", self.plan)
        self.do("shard", self.plan, 1)
        self.do("merge", self.plan)
        self.assert_equals_single()

    def test_numbers_of_shards(self):
        self.make_plan()
        for number in ("2", "-1", "x", "", "1.5", "99999999999999999999", "2/2", "0/0", "/2", "1/", "1/2/3", "0x1"):
            self.refuse(r"shard .*: (the plan has 0\.\.1|a task's number and how many)", "shard", self.plan, number, code=2)
        self.assertEqual(self.do("shard", self.plan, "2/3"), "")  # a task that is left without any
        self.assertEqual(sorted(self.do("shard", self.plan, "0/1").splitlines()), ["shard 0: done", "shard 1: done"])
        self.do("merge", self.plan)
        self.assert_equals_single()


@unittest.skipIf(shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode != 0,
                 "SKIPPED: no mount name space of one's own (unshare -rm) for a small disk")
class FullDisk(Planned):
    """A file system of some KiB, which only the command sees."""

    def on_small_disk(self, size, mount, *steps, environment=None, before="true", after="true"):
        """@return for each step (exit code, standard error); and what is printed behind them, with the names that are left on the disk"""
        text = (f'mount -t tmpfs -o size={size}k tmpfs "$0" && {before} && '
                f'for step in "$@"; do bash -c "$step" 2>&1 >/dev/null; echo "code $?"; done; {after} 2> /dev/null; ls "$0"')
        quoted = [" ".join(f"'{word}'" for word in map(str, (COMMAND, *step, "--ffmpeg", FFMPEG))) for step in steps]
        run = subprocess.run(["unshare", "-rm", "bash", "-c", text, str(mount), *quoted], capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                             check=False, env={**os.environ, **(environment or {})})
        self.assertEqual(run.stderr, "")
        results, said = [], []
        for line in run.stdout.splitlines():
            if line.startswith("code "):
                results.append((int(line[5:]), said))
                said = []
            else:
                said.append(line)
        return results, said

    def assert_one_line(self, result, pattern):
        code, said = result
        self.assertEqual((code, len(said)), (1, 1), result)
        self.assertRegex(said[0], pattern)

    def test_shards(self):
        """The first one fits, the second one does not: the first one stands, and nothing lies about."""
        self.make_plan()
        (self.place / "plan.json.shards").mkdir()
        results, left = self.on_small_disk(200, self.place / "plan.json.shards", ["shard", self.plan, 0], ["shard", self.plan, 1],
                                           ["shard", self.plan, 0, "-q"], ["merge", self.plan])
        self.assertEqual(results[0], (0, []))
        self.assert_one_line(results[1], "quality-cuda: shard 1: .*No space left on device")
        self.assertEqual(results[2], (0, []))
        self.assert_one_line(results[3], r"missing shards: 1 \(1 of 2\)")
        self.assertEqual(left, ["0.record"])

    def test_merge(self):
        """The log that was there stays; where there was none there is none."""
        self.make_plan(done=[0, 1])
        logs = self.place / "logs"
        logs.mkdir()
        plan = json.loads(self.plan.read_text())
        plan["titles"][0]["log"] = str(logs / "scores.json")
        self.plan.write_text(json.dumps(plan))
        for before, kept in (("true", []), (f"echo kept > {logs}/scores.json", ["scores.json"])):
            results, left = self.on_small_disk(8, logs, ["merge", self.plan], before=before, environment={"TMPDIR": str(self.place)},
                                               after=f"grep -c kept {logs}/scores.json")
            self.assert_one_line(results[0], "scores.json.*: No space left on device")
            self.assertEqual(left, ["1", *kept] if kept else [])

    def test_plan(self):
        disk = self.place / "disk"
        disk.mkdir()
        results, left = self.on_small_disk(4, disk, ["plan", disk / "one.json", self.distorted, clip("ref.mkv"), "--parts", 4, "-q"],
                                           ["plan", disk / "two.json", self.distorted, clip("ref.mkv"), "--parts", 4, "-q"])
        self.assertEqual(results[0], (0, []))
        self.assert_one_line(results[1], "two.json cannot be written: No space left on device")
        self.assertEqual(left, ["one.json"])

    def test_score(self):
        disk = self.place / "tmp"
        disk.mkdir()
        results, left = self.on_small_disk(100, disk, ["score", self.distorted, clip("ref.mkv"), "-m", "psnr", "--parts", 2, "-o", self.log, "-q"],
                                           environment={"TMPDIR": str(disk)})
        self.assert_one_line(results[0], "No space left on device")
        self.assertEqual(left, [])
        self.assertFalse(self.log.exists())


class Abandoned(Planned):
    """The folders of runs that were killed go with a later one's."""

    def setUp(self):
        super().setUp()
        self.disk = self.place / "tmp"
        self.disk.mkdir()
        self.environment = {"TMPDIR": str(self.disk)}

    def score(self):
        run = command("score", self.distorted, clip("ref.mkv"), "-m", "psnr", "--parts", 2, "-q", environment=self.environment)
        self.assertEqual(run.returncode, 0, run.stderr)

    def age(self, path):
        os.utime(path, (time.time() - 3600,) * 2)

    def test_killed(self):
        with subprocess.Popen([COMMAND, "score", self.distorted, clip("ref.mkv"), "-m", "psnr", "--parts", "2", "--ffmpeg", FFMPEG],
                              env={**os.environ, **self.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not list(self.disk.glob("*/part0.record")):
                self.assertIsNone(process.poll(), "it is to be killed in mid of its parts")
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        left, = self.disk.iterdir()
        self.score()
        self.assertEqual(list(self.disk.iterdir()), [left])  # it may just have been made
        self.age(left)
        self.score()
        self.assertEqual(list(self.disk.iterdir()), [])

    def test_what_is_somebodys(self):
        kept = [self.disk / "quality-cuda.run.abcdef", self.disk / "quality-cuda.run.of_mine", self.disk / "quality-cuda"]
        for path in kept:
            path.mkdir()
            self.age(path)
        held = os.open(kept[0], os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(held, fcntl.LOCK_EX)
        self.score()
        os.close(held)
        self.assertEqual(sorted(self.disk.iterdir()), sorted(kept))
        self.score()
        self.assertEqual(sorted(self.disk.iterdir()), sorted(kept[1:]))


if __name__ == "__main__":
    unittest.main()
