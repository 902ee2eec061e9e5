# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Parts and shards are spread over the GPUs of a machine. Without one: device files that are none, and an ffmpeg that takes notes of
what it was given and decodes by itself."""

import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import unittest

from workbench import COMMAND, FFMPEG, TIMEOUT_SECONDS, clip, comparable, ffmpeg_in, fresh, rendition_logs, single

#: Which GPUs it sees and what it was asked for; then it goes on without a GPU.
NOTING = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
if "record=" in " ".join(words) or "log_path=" in " ".join(words) or "-/filter_complex" in words:
    with open(f"{os.environ['NOTES']}/{os.getpid()}.json", "w") as file:
        json.dump({"gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "words": words}, file)
for word in ("-hwaccel", "-hwaccel_output_format", "-init_hw_device"):
    while word in words:
        at = words.index(word)
        del words[at:at + 2]
os.execv(%r, [%r, *words])
"""


@functools.cache
def may_mount():
    return shutil.which("unshare") is not None and subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0


def is_running(pid):
    """A process that has ended may wait for its parent to notice."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class WithGpus(unittest.TestCase):
    def setUp(self):
        if not may_mount():
            self.skipTest("SKIPPED: no mount name space of one's own (unshare -rm) for a /dev with GPUs")
        self.place = fresh("gpus_" + self.id().rpartition(".")[2])
        self.log = self.place / "scores.json"
        self.plan = self.place / "plan.json"
        (self.place / "notes").mkdir()
        self.ffmpeg = ffmpeg_in(self.place, NOTING % (str(FFMPEG), str(FFMPEG)))

    def command(self, *arguments, gpus, visible=None):
        """@param gpus names of device files"""
        devices = fresh(f"{self.place.name}/dev")
        for name in ("null", "urandom", *gpus):
            (devices / name).touch()
        environment = {**os.environ, "NOTES": str(self.place / "notes")}
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        if visible is not None:
            environment["CUDA_VISIBLE_DEVICES"] = visible
        script = ('for each in null urandom; do mount --bind /dev/$each "$0/$each"; done; mount --rbind "$0" /dev; exec "$@"')
        return subprocess.run(["unshare", "-rm", "bash", "-c", script, devices, COMMAND, *map(str, arguments), "--ffmpeg", self.ffmpeg],
                              env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)

    def notes(self):
        notes = [json.loads(path.read_text()) for path in (self.place / "notes").glob("*.json")]
        return [each for each in notes if "end_frame" not in " ".join(each["words"])]  # the look at the head is the CPU's


class Gpus(WithGpus):
    def score(self, *more, **where):
        """@return the GPU of each process, and how many parts it scores"""
        run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "-o", self.log, *more, **where)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mkv")], "metrics=psnr", "gpus.json")))
        return sorted((each["gpus"] or "none", " ".join(each["words"]).count("record=") or 1) for each in self.notes())

    def test_parts_take_turns(self):
        self.assertEqual(self.score("--parts", 4, gpus=["nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"]), [("0", 2), ("1", 2)])
        for each in self.notes():  # of parts alone: a merge needs neither an ffmpeg nor a GPU
            self.assertEqual(each["words"].count("-hwaccel"), 4, each)

    def test_an_ffmpeg_that_does_one_thing_after_the_other(self):
        """Up to FFmpeg 6 parts of one process would wait for each other."""
        older = (f"import re, subprocess\nif '-h' in words:\n    help = subprocess.run([{str(FFMPEG)!r}, *words], capture_output=True, text=True)\n"
                 "    print(help.stdout)\n    print(re.sub('libavfilter +[0-9]+', 'libavfilter 9', help.stderr), file=sys.stderr)\n    sys.exit(0)\n"
                 "for word in")
        self.ffmpeg.write_text(self.ffmpeg.read_text().replace("for word in", older))
        self.assertEqual(self.score("--parts", 3, gpus=["nvidia0", "nvidia1"]), [("0", 1), ("0", 1), ("1", 1)])

    def test_parts_of_a_process_run_side_by_side(self):
        """ffmpeg would hold back those that are ahead in time. Read at the speed of playing, none gets far ahead of the others."""
        self.score("--parts", 4, gpus=["nvidia0", "nvidia1"])
        made = shlex.split(json.loads((self.place / "scores.json.commands").read_text())["parts"][0])
        words = [word for word in made if word not in ("-hwaccel", "-hwaccel_output_format", "cuda")]
        for at in reversed([k for k, word in enumerate(words) if word == "-i"]):
            words[at:at] = ["-re"]
        folder_of_run = re.search("record=(.*?)/part0", " ".join(words)).group(1)
        words = [word.replace(folder_of_run, str(self.place)) for word in words]
        first, second = self.place / "part0.record", self.place / "part2.record"
        with subprocess.Popen([FFMPEG, *words[1:]], stdout=subprocess.DEVNULL) as process:
            while not first.exists() and process.poll() is None:
                time.sleep(0.02)
            unfinished = second.with_name("part2.record.unfinished")
            size = unfinished.stat().st_size if unfinished.exists() else second.stat().st_size
            self.assertEqual(process.wait(TIMEOUT_SECONDS), 0)
        self.assertGreater(size, second.stat().st_size / 2)

    def test_one_gpu(self):
        self.assertEqual(self.score("--parts", 3, gpus=["nvidia0"]), [("0", 1), ("0", 1), ("0", 1)])

    def test_several_parts_that_fail(self):
        text = self.ffmpeg.read_text().replace("for word in", "if '-hwaccel' in words:\n    sys.exit('no decoder')\nfor word in")
        self.ffmpeg.write_text(text)
        run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), "--hwaccel", "cuda", "--parts", 4, gpus=["nvidia0", "nvidia1"])
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
        self.assertRegex(run.stderr, r"parts [01] [23] of .*: no decoder")

    def test_a_container_shows_some_device_files(self):
        self.assertEqual(self.score("--parts", 2, gpus=["nvidia3", "nvidia5"]), [("0", 1), ("1", 1)])

    def test_what_is_visible_is_respected(self):
        self.assertEqual(self.score("--parts", 3, gpus=["nvidia0", "nvidia1", "nvidia2", "nvidia3"], visible="3,1"), [("1", 1), ("3", 2)])

    def test_as_cuda_reads_the_list(self):
        """Up to the first entry that is none; none at all, and the CPU decodes."""
        self.assertEqual(self.score("--parts", 2, gpus=["nvidia0", "nvidia1"], visible="1,7,0"), [("1", 1), ("1", 1)])
        for path in (self.place / "notes").iterdir():
            path.unlink()
        self.score("--parts", 2, gpus=["nvidia0"], visible="NoDevFiles")
        self.assertEqual([each["words"].count("-hwaccel") for each in self.notes()], [0, 0])

    def test_chosen(self):
        self.assertEqual(self.score("--parts", 3, "--gpus", "2,GPU-0a1b", gpus=["nvidia0", "nvidia1", "nvidia2"], visible="0"),
                         [("2", 2), ("GPU-0a1b", 1)])

    def test_one_part(self):
        self.assertEqual(self.score("--parts", 1, "--gpus", "1", gpus=["nvidia0", "nvidia1"]), [("1", 1)])

    def test_no_gpu(self):
        self.assertEqual(self.score("--parts", 2, gpus=[]), [("none", 1), ("none", 1)])

    def test_refused(self):
        for wish, said in (("x", "joined by commas"), ("0,0", "different"), (",1", "joined by commas"), ("0,2", "has GPU 0 to 1"),
                           ("-1", "joined by commas")):
            with self.subTest(wish):
                run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), f"--gpus={wish}", gpus=["nvidia0", "nvidia1"])
                self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1), run.stderr)
                self.assertIn(f"--gpus={wish}", run.stderr)
                self.assertIn(said, run.stderr)
        run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), "--gpus", "0", gpus=[])
        self.assertEqual((run.returncode, run.stderr), (2, "quality-cuda: --gpus=0: this machine has no NVIDIA GPU\n"))

    def test_a_gpu_that_decodes_nothing(self):
        """The CPU does, and it is said."""
        text = self.ffmpeg.read_text().replace("for word in", "if '-hwaccel' in words:\n    sys.exit('no decoder')\nfor word in")
        self.ffmpeg.write_text(text)
        run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), "-m", "psnr", "--parts", 2, "-o", self.log, gpus=["nvidia0"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"decoding on the GPU failed, decoding on the CPU: part . of .*: no decoder")
        run = self.command("score", clip("closed.mp4"), clip("ref.mkv"), "--hwaccel", "cuda", "--parts", 2, gpus=["nvidia0"])
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)

    def test_shards_of_a_task(self):
        """Shards of one task run side by side, and take turns too; a single one goes by its number."""
        gpus = ["nvidia0", "nvidia1"]
        run = self.command("plan", self.plan, clip("long.mkv"), clip("long.mkv"), "-m", "psnr", "--parts", 5, "-o", self.log, gpus=gpus)
        self.assertEqual((run.returncode, run.stdout), (0, "5\n"), run.stderr)
        run = self.command("shard", self.plan, "1/2", gpus=gpus)
        self.assertEqual((run.returncode, sorted(run.stdout.splitlines())), (0, ["shard 1: done", "shard 3: done"]), run.stderr)
        self.assertEqual(sorted(each["gpus"] for each in self.notes()), ["0", "1"])
        for number in (0, 2, 4):
            self.assertEqual(self.command("shard", self.plan, number, gpus=gpus).returncode, 0)
        self.assertEqual(sorted(each["gpus"] for each in self.notes()), ["0", "0", "0", "0", "1"])
        self.assertEqual(self.command("merge", self.plan, gpus=gpus).returncode, 0)

    def test_a_gpu_that_is_slower(self):
        """What waits goes to the one that is free first."""
        gpus = ["nvidia0", "nvidia1"]
        run = self.command("plan", self.plan, clip("long.mkv"), clip("long.mkv"), "-m", "psnr", "--parts", 9, "-o", self.log, gpus=gpus)
        self.assertEqual((run.returncode, run.stdout), (0, "9\n"), run.stderr)
        slow = "import time; 'record=' in ' '.join(words) and os.environ['CUDA_VISIBLE_DEVICES'] == '0' and time.sleep(5)\nfor word in"
        self.ffmpeg.write_text(self.ffmpeg.read_text().replace("for word in", slow))
        self.assertEqual(self.command("shard", self.plan, "0/1", gpus=gpus).returncode, 0)
        self.assertEqual(sorted(each["gpus"] for each in self.notes()), ["0"] * 4 + ["1"] * 5)


def big(name):
    """A clip whose file is large: something that is no video lies at its end."""
    path = clip(name).with_name("big_" + name)
    if not path.exists():
        shutil.copy(clip(name), path)
        with open(path, "ab") as file:
            file.write((33 << 20).to_bytes(4, "big") + b"free")
            file.truncate(file.tell() - 8 + (33 << 20))
    return path


class EarlyProcesses(WithGpus):
    """Of a title that is long, by its files, processes are started before it is known where its parts begin."""

    def score(self, video, *more, gpus=("nvidia0", "nvidia1")):
        return self.command("score", video, clip("long_ref.mp4"), "-m", "psnr", "-o", self.log, *more, gpus=gpus)

    def changed(self, before, text):
        """Has the ffmpeg do something else before it goes on."""
        self.ffmpeg.write_text(self.ffmpeg.read_text().replace("for word in", f"if {before}:\n    {text}\nfor word in"))

    def of_parts(self):
        return [each["words"] for each in self.notes()]

    def assert_as_one_run(self, name="long.mp4"):
        self.assertEqual(comparable(self.log), comparable(single([clip(name), clip("long_ref.mp4")], "metrics=psnr", "early.json")))

    def test_are_those_that_score(self):
        for gpus, processes in ((["nvidia0", "nvidia1"], 2), (["nvidia0"], 4)):
            with self.subTest(gpus):
                for path in (self.place / "notes").iterdir():
                    path.unlink()
                run = self.score(big("long.mp4"), "--parts", 4, gpus=gpus)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assert_as_one_run()
                self.assertEqual([each.count("-/filter_complex") for each in self.of_parts()], [4 // processes] * processes)
                for each in self.of_parts():
                    self.assertLess(each.index("-init_hw_device"), each.index("-/filter_complex"))

    def test_commands_are_those_that_a_person_can_type(self):
        self.assertEqual(self.score(big("long.mp4"), "--parts", 4).returncode, 0)
        parts = json.loads((self.place / "scores.json.commands").read_text())["parts"]
        self.assertEqual([(each.count("-filter_complex"), each.count("-/"), each.count("record=")) for each in parts], [(2, 0, 2)] * 2)

    def test_a_ladder(self):
        """Each part reads files of its own for each of its videos."""
        run = self.command("score", big("long.mp4"), clip("closed.mp4"), clip("long_ref.mp4"), "-m", "psnr", "-o", self.log, "--parts", 3,
                           gpus=["nvidia0", "nvidia1"])
        self.assertEqual(run.returncode, 0, run.stderr)
        whole = single([clip("long.mp4"), clip("closed.mp4"), clip("long_ref.mp4")], "metrics=psnr", "early_ladder.json")
        for mine, other in zip(rendition_logs(self.log, 2), rendition_logs(whole, 2)):
            self.assertEqual(comparable(mine), comparable(other))

    def test_are_ended_where_there_is_one_part(self):
        """It has a single key frame: what was started has other inputs than what is needed."""
        run = self.score(big("one_key.mp4"), "--parts", 4)  # ends before its reference does
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one_run("one_key.mp4")
        self.assertGreater(sum("-/filter_complex" in each for each in self.of_parts()), 0)
        self.assertGreater(sum("-/filter_complex" not in each for each in self.of_parts()), 0)

    def test_are_ended_where_a_file_is_no_video(self):
        none = self.place / "none.mp4"
        with open(none, "wb") as file:
            file.truncate(33 << 20)
        run = self.score(none, "--parts", 4)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
        self.assertIn("none.mp4", run.stderr)

    def test_one_that_fails_before_it_is_told(self):
        self.changed("'-/filter_complex' in words", "sys.exit('no context')")
        run = self.score(big("long.mp4"), "--parts", 4)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"^decoding on the GPU failed, decoding on the CPU: parts [01] [23] of .*: no context\n$")
        self.assert_as_one_run()
        run = self.score(big("long.mp4"), "--parts", 4, "--hwaccel", "cuda")
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)

    def test_an_older_ffmpeg_has_none(self):
        older = ("import re, subprocess\n    help = subprocess.run([%r, *words], capture_output=True, text=True)\n"
                 "    print(help.stdout)\n    print(re.sub('libavfilter +[0-9]+', 'libavfilter 9', help.stderr), file=sys.stderr)\n"
                 "    sys.exit(0)") % str(FFMPEG)
        self.changed("'-h' in words", older)
        self.assertEqual(self.score(big("long.mp4"), "--parts", 4).returncode, 0)
        self.assertEqual([each.count("-/filter_complex") for each in self.of_parts()], [0] * 4)


class Leaving(WithGpus):
    """What gives its context back when the log is whole is not waited for."""

    def score(self, behind, before="pass"):
        text = self.ffmpeg.read_text().replace("import json", "import time, subprocess, json")
        at = text.index("os.execv")
        self.ffmpeg.write_text(text[:at] + "if '-hwaccel' in sys.argv:\n    %s\n    subprocess.run([%r, *words], check=True)\n    %s\n" %
                               (before, str(FFMPEG), behind) + text[at:])
        return self.command("score", clip("closed.mp4"), clip("ref.mp4"), "-m", "psnr", "-o", self.log, "--parts", 2,
                            gpus=["nvidia0", "nvidia1"])

    def test_one_that_is_slow_to_end(self):
        run = self.score(f"time.sleep({TIMEOUT_SECONDS})")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(comparable(self.log), comparable(single([clip("closed.mp4"), clip("ref.mp4")], "metrics=psnr", "leaving.json")))
        pids = [int(path.stem) for path in (self.place / "notes").iterdir()]
        deadline = time.monotonic() + 10
        while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([pid for pid in pids if is_running(pid)], [])

    def test_one_that_complains(self):
        """Is waited for, and believed."""
        run = self.score("time.sleep(3); sys.exit(3)", "print('all is lost', file=sys.stderr, flush=True)")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"^decoding on the GPU failed, decoding on the CPU: part . of .*: all is lost\n$")


class DefaultNumberOfParts(WithGpus):
    """Of a title that is long enough: eight streams keep the decoders of a GPU busy."""

    def parts(self, videos, gpus):
        run = self.command("plan", self.plan, *videos, "-m", "psnr", "-o", self.log, gpus=gpus)
        self.assertEqual(run.returncode, 0, run.stderr)
        return int(run.stdout)

    def test_by_streams(self):
        long = self.place / "long.mkv"
        subprocess.run([FFMPEG, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25,trim=end_frame=4600", "-pix_fmt", "yuv420p",
                        "-c:v", "mpeg4", "-g", "20", long], check=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(self.parts([long, long], ["nvidia0"]), 4)
        self.assertEqual(self.parts([long, long, long], ["nvidia0"]), 2)
        self.assertEqual(self.parts([long, long], ["nvidia0", "nvidia1"]), 8)
        self.assertEqual(self.parts([long, long], [f"nvidia{i}" for i in range(4)]), 9)  # of 500 frames at least


if __name__ == "__main__":
    unittest.main()
