# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Where logs and lines of statistics go: odd files, odd names, files of others, pipes, full disks. Scores are never lost."""

import contextlib
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import threading
import unittest
import xml.etree.ElementTree

from harness import FFMPEG, HERE, TIMEOUT_SECONDS, FilterTest, exit_code, ffmpeg, is_threaded, preloading

NOBODY = 65534
END_SECONDS = 20  # a run that ends at all has ended by then


class FileTest(FilterTest):
    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=10)
        self.distorted = self.clip

    def command(self, options, *output):
        inputs = ["-i", self.distorted, "-i", self.clip]
        graph = f"[0:v][1:v]quality_cuda=metrics=psnr:backend=cpu:{options}"
        command = [FFMPEG, "-hide_banner", "-nostdin", "-nostats", "-y", *inputs, "-lavfi", graph, *output, "-f", "null", "-"]
        return [os.fspath(word) for word in command]

    def popen(self, options, *output, **arguments):
        """A run beside the test."""
        process = subprocess.Popen(self.command(options, *output), cwd=self.folder, stderr=subprocess.PIPE, **arguments)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    @staticmethod
    @contextlib.contextmanager
    def guarded(process):
        """A run that does not go on is killed, so that the test fails instead of waiting."""
        guard = threading.Timer(END_SECONDS, process.kill)
        guard.start()
        yield
        guard.cancel()

    def wait_for_output(self, process):
        """Until ffmpeg has begun; what it says then is for rest_of()."""
        with self.guarded(process):
            while b"Output #0" not in (line := process.stderr.readline()):
                self.assertTrue(line, "ffmpeg ended before it began")

    def rest_of(self, process):
        """What it still says until it ends."""
        with self.guarded(process):
            text = process.stderr.read().decode()
            process.wait()
        return text

    def run_raw(self, options, *output, **arguments):
        """A run whose output need be no text; its code and messages."""
        process = subprocess.run(self.command(options, *output), cwd=self.folder, stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS,
                                 check=False, **arguments)
        return process.returncode, process.stderr.decode(errors="replace")

    def write(self, name, text="what was there"):
        (self.folder / name).write_text(text)
        return self.folder / name

    def assert_log(self, path, frames=10):
        log = json.loads(pathlib.Path(path).read_text())
        self.assertEqual(len(log["frames"]), frames)
        return log

    def kept_aside(self, text):
        found = re.search(r'the scores are in "([^"]+)"', text)
        self.assertTrue(found, text)
        self.addCleanup(os.unlink, found[1])
        return found[1]

    def names(self):
        return sorted(entry.name for entry in self.folder.iterdir())


class LogsThatCannotBeReplaced(FileTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        compiler = os.environ.get("CC", "cc").split()
        cls.shim = None
        if shutil.which(compiler[0]):
            cls.shim = cls.clips / "refuse_rename.so"
            subprocess.run([*compiler, "-shared", "-fPIC", "-o", cls.shim, HERE / "refuse_rename.c"], check=True)

    def test_renaming_is_refused(self):
        if not self.shim:
            self.skipTest("SKIPPED: no C compiler for the library that refuses renaming")
        for error in (errno.EBUSY, errno.EPERM, errno.EACCES):
            log = self.write("log.json", "x" * 100000)
            inode = log.stat().st_ino
            run = self.score(self.clip, self.clip, environment={**preloading(self.shim), "QC_RENAME_ERRNO": str(error)})
            self.assert_ok(run)
            self.assert_log(log)
            self.assertEqual(log.stat().st_ino, inode)
            self.assertEqual(self.names(), ["log.json", "metadata.txt", "out.framemd5", "stats.txt"])

    def test_a_file_that_is_a_mount(self):
        inside = self.write("inside.json")
        self.write("log.json", "")
        script = 'mount --bind inside.json log.json && exec "$@"'
        unshare = ["unshare", "-rm", "sh", "-c"]
        if not shutil.which("unshare") or subprocess.run([*unshare, script, "sh", "true"], cwd=self.folder, capture_output=True,
                                                         check=False).returncode != 0:
            self.skipTest("SKIPPED: this user may not mount in a namespace of its own")
        process = subprocess.run([*unshare, script, "sh", *self.command("log_path=log.json")], cwd=self.folder, capture_output=True, text=True,
                                 timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assert_log(inside)

    def test_another_users_file_in_a_sticky_folder(self):
        if os.geteuid() != 0:
            self.skipTest("SKIPPED: only root can act as two users")
        sticky = self.folder / "sticky"
        sticky.mkdir()
        for path, mode in ((self.folder, 0o755), (self.clips, 0o755), (sticky, 0o1777)):
            path.chmod(mode)
        log = self.write("sticky/log.json")
        log.chmod(0o666)
        with contextlib.suppress(OSError):
            if subprocess.run([FFMPEG, "-version"], user=NOBODY, group=NOBODY, capture_output=True, check=False).returncode == 0:
                code, text = self.run_raw(f"log_path={log}", user=NOBODY, group=NOBODY)
                self.assertEqual(code, 0, text)
                self.assert_log(log)
                self.assertEqual((log.stat().st_uid, stat.S_IMODE(log.stat().st_mode)), (0, 0o666))
                log.chmod(0o644)
                code, text = self.run_raw(f"log_path={log}", user=NOBODY, group=NOBODY)
                self.assertNotEqual(code, 0)
                self.assertIn("cannot be written: Permission denied", text)
                self.assertNotIn("scored:", text, "it was found at the start")
                return
        self.skipTest("SKIPPED: another user may not run this ffmpeg")

    def test_names_of_any_length(self):
        name = "n" * 245
        self.assert_ok(self.score(self.clip, self.clip, options=f"log_path={name}"))
        self.assert_log(self.folder / name)
        (self.folder / "out.framemd5").unlink()
        run = self.score(self.clip, self.clip, self.clip, options=f"log_path={name}:renditions=2")
        self.assert_fails(run, f"log_path={name}.rendition1 cannot be written: File name too long")
        self.assertEqual(run.out, [], "it was found at the start")

    def test_mode_and_links_stay(self):
        log = self.write("log.json")
        log.chmod(0o640)
        os.link(self.write("first.json"), self.folder / "second.json")
        (self.folder / "dangling.json").symlink_to("target.json")
        for path in ("log.json", "first.json", "dangling.json"):
            self.assert_ok(self.score(self.clip, self.clip, options=f"log_path={path}"))
        self.assert_log(log)
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o640)
        self.assert_log(self.folder / "second.json")
        self.assertTrue((self.folder / "dangling.json").is_symlink())
        self.assert_log(self.folder / "target.json")

    def test_the_folder_vanishes(self):
        """What cannot be written where it should be lies somewhere else, and the message says where."""
        (self.folder / "logs").mkdir()
        process = self.popen("log_path=logs/log.json,realtime=speed=0.2", env={**os.environ, "TMPDIR": str(self.folder)})
        self.wait_for_output(process)
        shutil.rmtree(self.folder / "logs")
        text = self.rest_of(process)
        self.assertGreater(process.returncode, 0, text)
        kept = self.kept_aside(text)
        self.assertEqual(pathlib.Path(kept).parent, self.folder)
        self.assert_log(kept)

    def test_a_full_disk(self):
        for output in ((), ("-frames:v", "5"), ("-t", "0.2")):
            code, text = self.run_raw("log_path=/dev/full", *output, env={**os.environ, "TMPDIR": str(self.folder)})
            # From FFmpeg 7 on a filter that is freed, since nobody wants more of it, cannot fail.
            self.assertIn(code, [exit_code(errno.EIO)] + [0] * (is_threaded() and output != ()), text)
            self.assertIn('cannot write log "/dev/full": No space left on device', text)
            frames = json.loads(pathlib.Path(self.kept_aside(text)).read_text())["frames"]
            self.assertGreaterEqual(len(frames), 5 if output else 10)

    def test_a_full_disk_and_decoders_that_hold_frames_back(self):
        self.clip = self.source(frames=100)
        self.distorted = self.worse(self.clip)
        self.test_a_full_disk()


class FilesOfOthers(FileTest):
    def test_the_check_at_the_start_touches_nothing(self):
        for name in ("log.json", "stats.txt"):
            self.write(f"{name}.probe")
            (self.folder / f"{name}.other.probe").symlink_to("victim")
        for suffix in ("", ".other"):
            self.assert_ok(self.score(self.clip, self.clip, options=f"log_path=log.json{suffix}:stats_file=stats.txt{suffix}"))
            self.assertFalse((self.folder / "victim").exists())
        for name in ("log.json", "stats.txt"):
            self.assertEqual((self.folder / f"{name}.probe").read_text(), "what was there")
            self.assertTrue((self.folder / f"{name}.other.probe").is_symlink())

    def test_a_refused_run_leaves_the_files_as_they_were(self):
        for name in ("log.json", "stats.txt"):
            self.write(name)
        self.assert_fails(self.score(self.clip, self.source(frames=3, size="64x64")), "")
        for name in ("log.json", "stats.txt"):
            self.assertEqual((self.folder / name).read_text(), "what was there")


class SharedFiles(FileTest):
    """Two filters of one command."""

    def two(self, first, second):
        graph = "[0:v]split[a][b];[1:v]split[r][q];"
        for pads, options, out in (("[a][r]", first, "x"), ("[b][q]", second, "y")):
            graph += f"{pads}quality_cuda=psnr:backend=cpu:{options}[{out}];"
        run = ffmpeg(["-i", self.clip, "-i", self.clip, "-lavfi", graph[:-1], "-map", "[x]", "-map", "[y]", "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        return run

    def lines(self, name):
        lines = (self.folder / name).read_text().splitlines()
        self.assertEqual([line.split()[0] for line in lines], [f"n:{n}" for n in range(10)])

    def test_statistics(self):
        for names in (("al.txt", "al.txt"), ("./al.txt", "al.txt"), ("al.txt", f"{self.folder}/al.txt")):
            run = self.two(*(f"stats_file={name}" for name in names))
            self.assertTrue(run.messages(f"stats_file={names[1]} belongs to another filter of this run"), run.text)
            second = pathlib.Path(names[1])
            for name in ("al.txt", second.with_name("al.2.txt")):
                self.lines(name)
                (self.folder / name).unlink()

    def test_one_log_under_two_names(self):
        os.link(self.write("hard.json"), self.folder / "link.json")
        (self.folder / "soft.json").symlink_to("hard.json")
        for first, second, other in (("al.json", "./al.json", "al.2.json"), ("hard.json", "link.json", "link.2.json"),
                                     ("soft.json", "hard.json", "hard.2.json")):
            self.two(f"log_path={first}", f"log_path={second}")
            self.assert_log(self.folder / first)
            self.assert_log(self.folder / other)

    def test_a_name_that_another_filter_would_get(self):
        run = self.two("log_path=q.2.json", "log_path=q.json")
        self.assertFalse(run.messages("belongs to"))
        self.assertEqual([name for name in self.names() if name.endswith(".json")], ["q.2.json", "q.json"])

    def test_log_and_statistics(self):
        run = self.score(self.clip, self.clip, options="log_path=one:stats_file=./one")
        self.assert_fails(run, "stats_file=./one is the same file as log_path")
        self.assertEqual(run.out, [])
        self.two("log_path=one", "stats_file=one")
        self.assert_log(self.folder / "one")
        self.lines("one.2")


class Pipes(FileTest):
    def pipe(self):
        path = self.folder / "pipe"
        os.mkfifo(path)
        return path

    def reader(self, path):
        process = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_reader_from_the_start(self):
        for option in ("log_path", "stats_file"):
            reader = self.reader(self.pipe())
            process = self.popen(f"{option}=pipe")
            _, text = process.communicate(timeout=END_SECONDS)
            self.assertEqual(process.returncode, 0, text)
            got = reader.communicate(timeout=END_SECONDS)[0].decode()
            self.assertEqual(len(json.loads(got)["frames"] if option == "log_path" else got.splitlines()), 10)
            (self.folder / "pipe").unlink()

    def test_no_reader(self):
        self.pipe()
        process = self.popen("log_path=pipe")
        _, text = process.communicate(timeout=END_SECONDS)
        self.assertGreater(process.returncode, 0)
        self.assertIn("no process reads from it", text.decode())
        self.assert_log(self.kept_aside(text.decode()))
        process = self.popen("stats_file=pipe:log_path=log.json")
        _, text = process.communicate(timeout=END_SECONDS)
        self.assertGreater(process.returncode, 0)
        self.assertIn("stats_file=pipe cannot be written: no process reads from it", text.decode())
        self.assert_log(self.folder / "log.json")

    def test_a_signal_ends_the_run(self):
        self.pipe()
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.popen("log_path=pipe,realtime=speed=0.1")
            self.wait_for_output(process)
            process.send_signal(number)
            text = self.rest_of(process)
            self.assertGreater(process.returncode, 0, text)
            self.kept_aside(text)

    def test_renditions(self):
        self.pipe()
        run = self.score(self.clip, self.clip, self.clip, options="log_path=pipe:renditions=2")
        self.assert_fails(run, "log_path=pipe is a pipe, which takes the log of one rendition; renditions=2 needs a file")


class OpenDescriptors(FileTest):
    def test_standard_output_that_is_a_file(self):
        """It goes on where it stands: nothing that others wrote there is lost."""
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"):
            with contextlib.suppress(FileExistsError):
                (self.folder / "link").symlink_to("/dev/stdout")
            with open(self.folder / "output", "w+b") as output:
                output.write(b"before\n")
                output.flush()
                code, text = self.run_raw(f"log_path={name}", "-f", "framecrc", "-", stdout=output)
                self.assertEqual(code, 0, text)
                output.seek(0, os.SEEK_END)
                output.write(b"after\n")
            content = (self.folder / "output").read_text()
            self.assertTrue(content.startswith("before\n"), content[:100])
            self.assertTrue(content.endswith("after\n"), content[-100:])
            self.assertEqual(len(re.findall(r"(?m)^0, +\d+, +\d+, ", content)), 10, "frames' checksums")
            self.assertEqual(len(json.loads(content[content.index("{\n"):content.rindex("}\n") + 2])["frames"]), 10)

    def test_statistics_on_standard_output_that_is_a_file(self):
        for name in ("/dev/stdout", "-"):
            with open(self.folder / "output", "w+b") as output:
                output.write(b"before\n")
                output.flush()
                code, text = self.run_raw(f"stats_file={name}", stdout=output)
            self.assertEqual(code, 0, text)
            lines = (self.folder / "output").read_text().splitlines()
            self.assertEqual([line.split()[0] for line in lines], ["before"] + [f"n:{n}" for n in range(10)])

    def test_another_descriptor(self):
        reading, writing = os.pipe()
        with open(reading, encoding="utf-8") as pipe:
            process = self.popen(f"log_path=/dev/fd/{writing}", pass_fds=[writing])
            os.close(writing)
            self.assertEqual(len(json.loads(pipe.read())["frames"]), 10)
        self.assertEqual(process.wait(timeout=END_SECONDS), 0)

    def test_standard_error(self):
        code, text = self.run_raw("log_path=/dev/stderr")
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count('"frameNum"'), 10)

    def test_one_that_is_not_open_for_writing(self):
        for name in ("/dev/fd/77", "/dev/stdin"):
            with open(os.devnull, encoding="ascii") as nothing:
                code, text = self.run_raw(f"log_path={name}", stdin=nothing)
            self.assertGreater(code, 0)
            self.assertIn(f"log_path={name} cannot be written: ", text)

    def test_renditions_follow_each_other(self):
        run = ffmpeg(["-v", "error", "-i", self.clip, "-i", self.clip, "-i", self.clip, "-lavfi",
                      "[0:v][1:v][2:v]quality_cuda=psnr:backend=cpu:renditions=2:log_path=/dev/stdout", "-f", "null", "-"], self.folder)
        self.assert_ok(run)
        self.assertEqual(run.stdout.count('"frameNum"'), 20)


class Statistics(FileTest):
    def test_a_full_disk(self):
        """The lines are lost, and said to be; the scores are not, for the log has them."""
        for options, output in (("", ()), ("stats_format=psnr:", ()), ("", ("-frames:v", "5"))):
            code, text = self.run_raw(f"{options}stats_file=/dev/full:log_path=log.json", *output)
            self.assertTrue(code > 0 or is_threaded() and "-frames:v" in output, text)
            self.assertIn("stats_file=/dev/full cannot be written: No space left on device", text)
            self.assertIn("stats_file=/dev/full is not complete", text)
            self.assertEqual(text.count("/dev/full cannot be written"), 1)
            self.assertGreaterEqual(len(json.loads((self.folder / "log.json").read_text())["frames"]), 5)
        if not is_threaded():
            self.assert_log(self.write("log.json", (self.folder / "log.json").read_text()), 5)

    def test_an_old_file_is_cut_also_where_there_are_no_lines(self):
        self.write("stats.txt")
        self.score(self.clip, self.clip, before={0: "setpts=PTS+100/TB"})
        self.assertEqual((self.folder / "stats.txt").read_text(), "")


class Models(FileTest):
    """Files of VMAF models with odd names or figures."""

    def model(self, name, coefficient="100", slope="1"):
        svm = f"svm_type nu_svr\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n{coefficient} 1:0.5 \n"
        model = {"model_type": "LIBSVMNUSVR", "norm_type": "linear_rescale", "slopes": [float(slope), 1], "intercepts": [0, 0],
                 "feature_names": ["VMAF_integer_feature_motion2_score"], "model": svm}
        path = os.path.join(os.fsencode(self.folder), name)
        with open(path, "w", encoding="ascii") as file:
            json.dump({"param_dict": {}, "model_dict": model}, file)

    def test_a_name_that_is_no_text(self):
        self.model(b"m\xff\xc3\x28.json")
        command = [os.fsencode(word) for word in self.command("log_path=log.json:metrics=vmaf:model=path=NAME")]
        command = [word.replace(b"NAME", b"m\xff\xc3\x28.json\\\\:name=vmaf") for word in command]
        process = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        log = json.loads((self.folder / "log.json").read_bytes().decode("utf-8"))
        self.assertEqual(log["models"][0]["model"], "m\ufffd\ufffd(.json")

    def test_figures_beyond_all_measure(self):
        for coefficient, slope in (("1e308", "1e-308"), ("-1e308", "1e-308"), ("1e60", "1"), ("0", "0")):
            self.model(b"extreme.json", coefficient, slope)
            run = self.score(self.clip, self.clip, options="metrics=vmaf:model=path=extreme.json")
            self.assertNotIn("-nan", run.text)
            self.assertNotIn("VMAF score", run.text)
            self.assert_fails(run, "extreme.json")


class Temporary(FileTest):
    def test_a_missing_folder_ends_no_run(self):
        """More rows than stay in memory by themselves."""
        frames = 9000
        graph = f"testsrc2=s=16x16:r=25,trim=end_frame={frames},split[a][b];[a][b]quality_cuda=psnr:backend=cpu:log_path=log.json"
        run = ffmpeg(["-lavfi", graph, "-f", "null", "-"], self.folder, {"TMPDIR": "/nowhere/at/all"})
        self.assert_ok(run)
        self.assertTrue(run.messages('no temporary file can be made in "/nowhere/at/all": No such file or directory'), run.text)
        self.assert_log(self.folder / "log.json", frames)

    def test_xml_says_how_the_run_ended(self):
        for output, end in (((), "end of stream"), (("-t", "0.2"), "stopped early")):
            self.assertEqual(self.run_raw("log_path=log.xml:log_fmt=xml", *output)[0], 0)
            root = xml.etree.ElementTree.parse(self.folder / "log.xml").getroot()
            self.assertEqual(root.find("fyi").attrib["end"], end)
            self.assertIn("distorted_format", root.find("fyi").attrib)


if __name__ == "__main__":
    unittest.main()
