# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Who takes the lines of log_fmt=jsonl, and what happens when nobody does: the video goes on, whatever becomes of them."""

import fcntl
import http.server
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest

from harness import FFMPEG, TIMEOUT_SECONDS, FilterTest, Run, avfilter_major, build_library, preloading

SET_PIPE_SIZE = 1031  # Linux: F_SETPIPE_SZ
LONGEST_END = 20  # seconds; a run may wait 3 for a receiver, and the machine may be slow


def escaped(url):
    return url.replace(":", "\\\\:")


def parse(data):
    """Whole lines; what a connection was cut off in is left out."""
    return [json.loads(line) for line in data[:data.rfind(b"\n") + 1].splitlines()]


class StreamServer:
    """Accepts one receiver after the other on a stream socket; script(connection, number) is what each does."""

    def __init__(self, family, address, script):
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        self.socket.bind(address)
        self.socket.listen(1)
        self.script = script
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.socket.getsockname()[1]

    def serve(self):
        number = 0
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                self.script(connection, number)
            number += 1

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join(TIMEOUT_SECONDS)


def read_all(connection):
    data = b""
    while part := connection.recv(65536):
        data += part
    return data


def reset(connection):
    """Ends a connection as a process does that was killed with data unread."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class ReceiverTest(FilterTest):
    FRAMES = 75

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=self.FRAMES)

    def command(self, path, options="", paced=False):
        pace = ["-re"] if paced else []
        graph = f"[0:v][1:v]quality_cuda=psnr:backend=cpu:log_fmt=jsonl:log_path={escaped(path)}{':' + options if options else ''}"
        return [str(FFMPEG), "-hide_banner", "-nostdin", "-nostats", "-y", "-v", "info", *pace, "-i", str(self.clip), *pace, "-i", str(self.clip),
                "-lavfi", graph, "-flush_packets", "1", "-f", "framemd5", "out.framemd5"]

    def stream(self, path, options="", paced=False):
        process = subprocess.run(self.command(path, options, paced), cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                                 check=False)
        return Run(process, self.folder)

    def start(self, path, options="", paced=True, environment=None):
        process = subprocess.Popen(self.command(path, options, paced), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **(environment or {})})
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stderr.close()))
        return process

    def serve(self, script, family=socket.AF_INET, address=("127.0.0.1", 0)):
        server = StreamServer(family, address, script)
        self.addCleanup(lambda: server.thread.is_alive() and server.close())
        return server

    def counts(self, text):
        """Of the closing message: lines, dropped, receivers."""
        return tuple(map(int, re.search(r"log_path=\S+ lines:(\d+) dropped:(\d+) receivers:(\d+)", text).groups()))

    def assert_whole(self, lines):
        """Every line arrived."""
        self.assertEqual([line["n"] for line in lines if line["type"] == "frame"], list(range(self.FRAMES)))
        self.assertEqual((lines[-1]["type"], lines[-1]["end"], len(lines)), ("end", "end of stream", self.FRAMES + 1))

    def assert_video(self, run):
        self.assert_ok(run)
        self.assertEqual(len(run.out), self.FRAMES)


class Kinds(ReceiverTest):
    def test_tcp_and_unix(self):
        path = str(self.folder / "socket")
        for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, path)):
            got = []
            server = self.serve(lambda connection, _: got.append(read_all(connection)), family, address)
            run = self.stream(f"tcp://127.0.0.1:{server.port}" if family == socket.AF_INET else f"unix:{path}")
            server.close()
            self.assert_video(run)
            self.assert_whole(parse(b"".join(got)))
            self.assertEqual(self.counts(run.text), (self.FRAMES + 1, 0, 1))

    def test_udp(self):
        """Each line is a datagram of its own."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            receiver.bind(("127.0.0.1", 0))
            receiver.settimeout(LONGEST_END)
            self.assert_video(self.stream(f"udp://127.0.0.1:{receiver.getsockname()[1]}"))
            self.assert_whole([json.loads(receiver.recv(65536)) for _ in range(self.FRAMES + 1)])

    def test_http(self):
        got = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):  # pylint: disable=invalid-name
                data = b""
                while size := int(self.rfile.readline(), 16):
                    data += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                got[self.path] = data
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            run = self.stream(f"http://127.0.0.1:{server.server_port}/lines")
            server.shutdown()
            thread.join()
        self.assert_video(run)
        self.assert_whole(parse(got["/lines"]))

    def test_paths(self):
        for name in ("lines.jsonl", "./a:b.jsonl", "file:other.jsonl"):
            self.assert_video(self.stream(name))
            self.assert_whole(parse((self.folder / name.removeprefix("file:")).read_bytes()))

    def test_standard_output(self):
        for name in ("-", "pipe:", "pipe:1", "/dev/stdout"):
            run = self.stream(name)
            self.assert_video(run)
            self.assert_whole(parse(run.stdout.encode()))

    def test_a_named_pipe(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start("fifo", paced=False)
        data = (self.folder / "fifo").read_bytes()
        _, text = process.communicate(timeout=LONGEST_END)
        self.assertEqual(process.returncode, 0, text)
        self.assert_whole(parse(data))

    def test_refusals(self):
        self.assert_fails(self.stream("gopherx://host/"), "log_path=gopherx://host/: this FFmpeg has no such protocol; accepted: a path")
        self.assert_fails(self.stream("nowhere/lines"), "log_path=nowhere/lines cannot be written: No such file or directory")
        self.assert_fails(self.stream(""), "log_fmt=jsonl needs log_path")
        self.assert_fails(self.stream("lines", "log_queue=0"), "log_queue", "1 - 1e+06")
        self.assert_fails(self.stream("lines", "stats_file=lines"), "stats_file=lines is the same file as log_path")


class Stalls(ReceiverTest):
    """A receiver that stands still."""

    FRAMES = 400
    # Names of alerts make lines of a kilobyte: what a system keeps for a socket is then not enough.
    LONG_LINES = "alert='" + "|".join(f"psnr_y>0.{n:014}" for n in range(30)) + "'"

    def check_end(self, process, started):
        """The run ended by itself, and lost lines."""
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 0, text)
        lines, dropped, receivers = self.counts(text)
        self.assertEqual(receivers, 1, text)
        self.assertGreaterEqual(lines + dropped, self.FRAMES + 1, text)
        self.assertGreater(dropped, 50)
        self.assertLess(time.monotonic() - started, 60)
        self.assertEqual(len(Run(subprocess.CompletedProcess([], 0, "", text), self.folder).out), self.FRAMES)
        return lines, dropped

    def test_a_named_pipe(self):
        os.mkfifo(self.folder / "fifo")
        reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, SET_PIPE_SIZE, 4096)
        started = time.monotonic()
        self.check_end(self.start("fifo", "log_queue=100", paced=False), started)

    def check_socket(self, family, address, url):
        over = threading.Event()
        server = self.serve(lambda connection, _: over.wait(TIMEOUT_SECONDS), family, address)
        started = time.monotonic()
        try:
            self.check_end(self.start(url(server), f"log_queue=20:{self.LONG_LINES}", paced=False), started)
        finally:
            over.set()

    @unittest.skipIf(avfilter_major() < 11, "SKIPPED: before FFmpeg 8 the URL cannot limit what the system keeps, which may be megabytes")
    def test_tcp(self):
        self.check_socket(socket.AF_INET, ("127.0.0.1", 0), lambda server: f"tcp://127.0.0.1:{server.port}?send_buffer_size=4096")

    def test_unix(self):
        path = str(self.folder / "socket")
        self.check_socket(socket.AF_UNIX, path, lambda _: f"unix:{path}")

    def test_standard_output(self):
        started = time.monotonic()
        process = self.start("-", "log_queue=100", paced=False)
        fcntl.fcntl(process.stdout, SET_PIPE_SIZE, 4096)
        text = process.stderr.read()
        self.assertEqual(process.wait(TIMEOUT_SECONDS), 0, text)
        self.assertGreater(self.counts(text)[1], 50)
        self.assertLess(time.monotonic() - started, 60)

    def test_one_that_goes_on(self):
        """It is told what it missed, just where it missed it; what it got is whole."""
        os.mkfifo(self.folder / "fifo")
        process = self.start("fifo", "log_queue=20", paced=False)
        with open(self.folder / "fifo", "rb") as pipe:
            fcntl.fcntl(pipe, SET_PIPE_SIZE, 4096)
            while process.poll() is None and not (self.folder / "out.framemd5").exists():
                time.sleep(0.01)
            deadline = time.monotonic() + TIMEOUT_SECONDS
            while len((self.folder / "out.framemd5").read_text().splitlines()) < 200 and time.monotonic() < deadline:
                time.sleep(0.01)
            data = pipe.read()
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
        lines, dropped, _ = self.counts(text)
        got = parse(data)
        frames = [line for line in got if line["type"] == "frame"]
        gaps = [line for line in got if line["type"] == "stream"]
        self.assertGreater(len(gaps), 0)
        self.assertEqual(sum(line["dropped"] for line in gaps), dropped)
        self.assertEqual(gaps[-1]["dropped_total"], dropped)
        self.assertEqual(len(frames) + 1, lines)
        self.assertEqual(got[-1]["type"], "end")
        expected = 0
        for line in got[:-1]:
            if line["type"] == "stream":
                expected += line["dropped"]
            else:
                self.assertEqual(line["n"], expected)
                expected += 1

    def test_sigterm(self):
        """Ends a run at once, whatever its receiver does."""
        over = threading.Event()
        server = self.serve(lambda connection, _: over.wait(TIMEOUT_SECONDS))
        process = self.start(f"tcp://127.0.0.1:{server.port}?send_buffer_size=4096", f"log_queue=5:{self.LONG_LINES}")
        try:
            time.sleep(3)
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, text = process.communicate(timeout=LONGEST_END)
        finally:
            over.set()
        self.assertLess(time.monotonic() - started, LONGEST_END / 2)
        self.assertIn("the program got SIGTERM" if "the program got" in text else "SIGTERM", text)
        self.assertIn("INCOMPLETE after", text)


class Names(ReceiverTest):
    """A name server that is silent, which nothing can interrupt: the run ends without it."""

    SILENCE = 60  # seconds

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = {**preloading(build_library(cls.clips, "slow_resolver")), "QC_RESOLVER_SECONDS": str(cls.SILENCE)}

    def seconds_to_end(self, process, url):
        started = time.monotonic()
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertIn("name server asked", text)
        self.assertEqual(self.counts(text)[2], 0)
        self.assertEqual(len(re.findall(f"log_path={re.escape(url)}: ", text)), 1, text)
        return time.monotonic() - started, text

    def test_the_end(self):
        urls = ("tcp://monitor.invalid:9000", "udp://monitor.invalid:9000", "http://monitor.invalid/lines")
        for url, process in [(url, self.start(url, paced=False, environment=self.environment)) for url in urls]:
            took, text = self.seconds_to_end(process, url)
            self.assertEqual((process.returncode, self.counts(text)), (0, (0, self.FRAMES + 1, 0)), text)
            self.assertLess(took, LONGEST_END)

    def test_sigint(self):
        url = "tcp://monitor.invalid:9000"
        process = self.start(url, environment=self.environment)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        took, text = self.seconds_to_end(process, url)
        self.assertRegex(text, "INCOMPLETE after .*SIGINT")
        self.assertLess(took, LONGEST_END / 2)


class Losses(ReceiverTest):
    """A receiver that goes, and one that never comes."""

    def test_one_that_comes_back(self):
        got = {}

        def script(connection, number):
            if number == 0:
                got[0] = connection.recv(300)
                reset(connection)
            else:
                got[number] = read_all(connection)

        server = self.serve(script)
        run = self.stream(f"tcp://127.0.0.1:{server.port}", paced=True)
        server.close()
        self.assert_video(run)
        second = parse(got[1])
        self.assertEqual((second[0]["type"], second[0]["receiver"]), ("stream", 2))
        self.assertEqual(second[-1]["type"], "end")
        numbers = [line["n"] for line in second if line["type"] == "frame"]
        self.assertEqual(numbers, list(range(numbers[0], self.FRAMES)))
        self.assertEqual(self.counts(run.text)[2], 2)
        self.assertEqual(len(run.messages("takes no lines")), 1, run.text)

    def test_a_named_pipes_reader_that_comes_back(self):
        os.mkfifo(self.folder / "fifo")
        process = self.start("fifo")
        with open(self.folder / "fifo", "rb") as pipe:
            pipe.readline()
        time.sleep(0.5)
        data = (self.folder / "fifo").read_bytes()
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 0, text)
        second = parse(data)
        self.assertEqual((second[0]["type"], second[0]["receiver"], second[-1]["type"]), ("stream", 2, "end"))

    def test_one_that_comes_late(self):
        """Nothing is lost that the queue has room for."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = self.start(f"tcp://127.0.0.1:{port}")
        time.sleep(1)
        got = []
        server = self.serve(lambda connection, _: got.append(read_all(connection)), address=("127.0.0.1", port))
        _, text = process.communicate(timeout=TIMEOUT_SECONDS)
        server.close()
        self.assertEqual(process.returncode, 0, text)
        self.assert_whole(parse(b"".join(got)))
        self.assertIn(f"log_path=tcp://127.0.0.1:{port} takes no lines: Connection refused", text)

    def test_nobody(self):
        os.mkfifo(self.folder / "fifo")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            url = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        for name, why in (("fifo", "no process reads from it"), (url, "Connection refused"), ("unix:nothing", "No such file or directory")):
            started = time.monotonic()
            run = self.stream(name, "log_queue=10")
            self.assert_video(run)
            self.assertLess(time.monotonic() - started, LONGEST_END)
            self.assertEqual(self.counts(run.text), (0, self.FRAMES + 1, 0))
            self.assertEqual(len(run.messages(f"log_path={name} takes no lines: {why}")), 1, run.text)

    def test_a_full_disk(self):
        """The video goes on; but a file is there to keep everything: the exit code says that it did not."""
        run = self.stream("/dev/full", "log_queue=10")
        self.assert_fails(run, "log_path=/dev/full takes no lines: No space left on device; scoring goes on")
        self.assert_whole_video(run, self.FRAMES)
        self.assertEqual(self.counts(run.text), (0, self.FRAMES + 1, 1))
        self.assert_video(self.stream("/dev/full", "log_queue=10:on_error=pass"))

    def test_a_file_that_may_not_grow(self):
        """No half line stays in it."""
        limited = f'ulimit -f 2; exec "$@"'  # blocks of 1024 bytes
        process = subprocess.run(["bash", "-c", limited, "bash", *self.command("lines.jsonl")], cwd=self.folder,
                                 capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        data = (self.folder / "lines.jsonl").read_bytes()
        self.assertNotEqual(process.returncode, 0, process.stderr)
        self.assertGreater(len(data), 1000)
        self.assertTrue(data.endswith(b"}\n"), data[-100:])
        self.assertEqual([line["n"] for line in parse(data)], list(range(len(parse(data)))))

    def test_sigterm(self):
        """A receiver that takes lines gets the last one, too."""
        got = []
        server = self.serve(lambda connection, _: got.append(read_all(connection)))
        process = self.start(f"tcp://127.0.0.1:{server.port}")
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LONGEST_END)
        server.close()
        lines = parse(b"".join(got))
        self.assertEqual((lines[-1]["type"], lines[-1]["end"], lines[-1]["reason"]), ("end", "interrupted", "the program got SIGTERM"))
        scored = [line["n"] for line in lines[:-1] if "n" in line]
        self.assertEqual(scored, list(range(len(scored))))
        # The inputs end wherever they are: the distorted one may be ahead.
        self.assertLessEqual({line["unscored"] for line in lines[len(scored):-1]}, {"unpaired"})


if __name__ == "__main__":
    unittest.main()
