# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Drives a real ffmpeg with the quality_cuda filter and reads back everything it leaves: exit code, messages, metadata,
statistics file, log, frames.

QC_FFMPEG names the binary; default: build/ffmpeg/bin/ffmpeg of this repository.
"""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
FFMPEG = pathlib.Path(os.environ.get("QC_FFMPEG", REPOSITORY / "build/ffmpeg/bin/ffmpeg"))
SANITIZER_RUNTIME = os.environ.get("QC_SANITIZER_RUNTIME")  # of the binary; tests/suites/other_builds.py names it
PREFIX = "lavfi.quality_cuda."
TIMEOUT_SECONDS = 300


@functools.cache
def avfilter_major():
    """8: FFmpeg 5.1, 9: 6, 10: 7, 11: 8, 12: 9"""
    text = subprocess.run([FFMPEG, "-version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"libavfilter +(\d+)\.", text)[1])


def is_threaded():
    """From FFmpeg 7 on every part of the command line is a thread: a graph gets frames as they come, not as it asks for them, and is
    taken down whenever it is found out that an encoder has enough, or that something failed."""
    return avfilter_major() >= 10


def exit_code(error):
    """Of the command line, where a filter fails with an errno."""
    return -error & 255 if is_threaded() else 1


def preloading(*libraries):
    """Environment of a run that loads these first: only the runtime of a sanitizer has to come before them."""
    return {"LD_PRELOAD": ":".join([*filter(None, [SANITIZER_RUNTIME]), *map(str, libraries)])}


def build_library(folder, name):
    """A library to be preloaded, made in a folder of a file beside this one."""
    compiler = os.environ.get("CC", "cc").split()
    if not shutil.which(compiler[-1]):
        raise unittest.SkipTest(f"SKIPPED: no C compiler for {name}.c, which is preloaded")
    library = pathlib.Path(folder) / (name + ".so")
    subprocess.run([*compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", HERE / (name + ".c"), "-o", library], check=True)
    return library


def stop_behind(number, after=""):
    """Has a run end behind so many frames. From FFmpeg 7 on -frames:v ends the encoder, and the graph some time later, so a filter
    has to count; it looks at one frame more.

    @return (arguments of score(), how many frames count)
    """
    if is_threaded():
        return {"output": (), "after": f"{after},trim=end_frame={number}".lstrip(",")}, number + 1
    return {"output": ("-frames:v", str(number)), "after": after}, number


class Run:
    """What one ffmpeg run left behind."""

    def __init__(self, process, folder):
        self.code = process.returncode
        self.text = process.stderr
        self.stdout = process.stdout
        # Read at once: the next run in this folder writes over them.
        self.texts = {path.name: path.read_text(errors="replace") for path in folder.iterdir()
                      if path.suffix in (".json", ".txt", ".framemd5") and path.is_file() and os.access(path, os.R_OK)}

    def _read(self, name):
        return self.texts.get(name)

    @property
    def log(self):
        return self.log_named("log.json")

    def log_named(self, name):
        text = self._read(name)
        return None if text is None else json.loads(text)

    @property
    def pairing(self):
        return self.log["pairing"]

    @property
    def stats(self):
        """Lines of stats_file as dictionaries of numbers."""
        lines = (self._read("stats.txt") or "").splitlines()
        return [{key: float(value) for key, value in (item.split(":") for item in line.split())} for line in lines]

    @property
    def tagged(self):
        """Frames that left with metadata: (pts_time, {key without prefix: text})."""
        frames = []
        for line in (self._read("metadata.txt") or "").splitlines():
            if line.startswith("frame:"):
                time = line.split("pts_time:")[1].replace(",", ".")  # FFmpeg's own line follows the locale
                frames.append((float(time), {}))
            elif line.startswith(PREFIX):
                key, value = line[len(PREFIX):].split("=", 1)
                frames[-1][1][key] = value
        return frames

    @property
    def out(self):
        """Frames that left: (pts, checksum)."""
        lines = (self._read("out.framemd5") or "").splitlines()
        fields = [[field.strip() for field in line.split(",")] for line in lines if not line.startswith("#")]
        return [(int(field[2]), field[5]) for field in fields]

    def messages(self, text):
        return [line for line in self.text.splitlines() if text in line]


def ffmpeg(arguments, folder, environment=None, launcher=()):
    """launcher: a command that runs the one behind it."""
    command = [*launcher, str(FFMPEG), "-hide_banner", "-nostdin", "-nostats", "-y", *map(str, arguments)]
    process = subprocess.run(command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True,
                             timeout=TIMEOUT_SECONDS, check=False)
    return Run(process, pathlib.Path(folder))


def make(folder, name, source, *arguments):
    """Generates a clip once; fails loudly, since a test without its clip would prove nothing."""
    path = pathlib.Path(folder) / name
    if not path.exists():
        run = ffmpeg([*(["-f", "lavfi"] if "=" in str(source) else []), "-i", source, *arguments, path], folder)
        if run.code != 0:
            raise RuntimeError(f"making {name} failed:\n{run.text}")
    return path


class FilterTest(unittest.TestCase):
    """Base of all tests here: a folder per test, clips shared by the class."""

    SIZE = "176x144"
    environment = None

    @classmethod
    def setUpClass(cls):
        if not FFMPEG.exists():
            raise RuntimeError(f"{FFMPEG} does not exist; build it with tools/setup or set QC_FFMPEG")
        cls.clips = pathlib.Path(tempfile.mkdtemp(prefix="qc-clips-"))
        cls.addClassCleanup(shutil.rmtree, cls.clips)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="qc-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def source(self, rate="25", frames=10, size=None, extra=""):
        """Lossless moving test picture; frame n of any two sources of equal rate is the same."""
        name = f"src-{rate.replace('/', '_')}-{frames}-{size or self.SIZE}{'-' + extra if extra else ''}.nut".replace("=", "_")
        graph = f"testsrc2=s={size or self.SIZE}:r={rate},trim=end_frame={frames}{',' + extra if extra else ''}"
        return make(self.clips, name, graph, "-c:v", "ffv1", "-pix_fmt", "yuv420p")

    def remux(self, path, container):
        return make(self.clips, f"{path.stem}-copy.{container}", path, "-c", "copy")

    def worse(self, path):
        """A lossy encode of a clip."""
        return make(self.clips, f"{path.stem}-worse.mp4", path, "-c:v", "mpeg4", "-b:v", "100k")

    def changing(self, half):
        """So many frames of one size, and as many of another."""
        halves = [make(self.clips, f"half{index}-{half}.raw", f"testsrc2=s={size}:r=25,trim=end_frame={half}", "-c:v", "mjpeg", "-q:v", "2",
                       "-f", "rawvideo") for index, size in enumerate((self.SIZE, "320x180"))]
        stream = self.clips / f"changing-{half}.mjpeg"
        stream.write_bytes(b"".join(part.read_bytes() for part in halves))
        return make(self.clips, f"changing-{half}.mkv", stream, "-c", "copy")

    def score(self, *inputs, options="", before=None, before_inputs=(), output=(), environment=None, after="", verbosity="info",
              launcher=()):
        """Scores inputs[0] against inputs[1] (further ones: renditions).

        before: filters per input, by index; before_inputs: ffmpeg options per input; after: filters behind the scoring one.
        """
        graph, pads = "", ""
        for index in range(len(inputs)):
            chain = (before or {}).get(index)
            graph += f"[{index}:v]{chain}[i{index}];" if chain else ""
            pads += f"[i{index}]" if chain else f"[{index}:v]"
        defaults = "metrics=psnr:backend=cpu:stats_file=stats.txt:log_path=log.json"
        graph += f"{pads}quality_cuda={defaults}{':' + options if options else ''}"
        graph += f",metadata=print:file=metadata.txt{',' + after if after else ''}[out]"
        arguments = ["-v", verbosity]
        for index, path in enumerate(inputs):
            arguments += [*(before_inputs[index] if index < len(before_inputs) else ()), "-i", path]
        arguments += ["-lavfi", graph, "-map", "[out]", *output, "-fps_mode", "passthrough", "-f", "framemd5", "out.framemd5"]
        return ffmpeg(arguments, self.folder, environment or self.environment, launcher)

    # --- assertions ---

    def assert_whole_video(self, run, frames):
        """Every frame left. Up to FFmpeg 6 a filter that fails at the end takes the frames along that a muxer has not written yet."""
        self.assertLessEqual(len(run.out), frames)
        self.assertGreaterEqual(len(run.out), frames if run.code == 0 or is_threaded() else frames - 5)

    def assert_ok(self, run):
        self.assertEqual(run.code, 0, run.text)

    def assert_fails(self, run, *texts):
        self.assertNotEqual(run.code, 0, "expected a failure:\n" + run.text)
        for text in texts:
            self.assertIn(text, run.text)
        self.assertGreater(run.code, 0, "killed by a signal:\n" + run.text)

    def assert_counts(self, run, **counts):
        self.assertIsNotNone(run.log, run.text)
        found = {key: run.pairing[key] for key in counts}
        self.assertEqual(found, counts, run.text)

    @staticmethod
    def is_identical(row):
        """True if a row of scores says that both pictures are the same; knows the real engine's and the stand-in's features."""
        if "mad" in row:
            return float(row["mad"]) == 0.0
        return float(row["psnr_y"]) >= 60.0

    def assert_all_identical(self, run):
        self.assertTrue(run.stats, run.text)
        wrong = [row for row in run.stats if not self.is_identical(row)]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(run.stats)} pairs differ")


class WithFakeEngine(FilterTest):
    """Base of the tests that need the stand-in engine of fake_engine.c."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not shutil.which(os.environ.get("CC", "cc")):
            raise unittest.SkipTest("SKIPPED: no C compiler for the stand-in engine")
        cls.fake = pathlib.Path(tempfile.mkdtemp(prefix="qc-fake-"))
        cls.addClassCleanup(shutil.rmtree, cls.fake)
        subprocess.run([HERE / "build_fake_engine", cls.fake], check=True)

    def setUp(self):
        super().setUp()
        self.clip = self.source(frames=20)

    def fake_engine(self):
        return preloading(self.fake / "libfake_engine.so")

    def fake_score(self, *inputs, environment=None, **arguments):
        library = {**self.fake_engine(), **(environment or {})}
        run = self.score(*inputs, environment=library, **arguments)
        self.assertIn("fake engine", run.text, "the stand-in engine was not used")  # its folder's name has "fake" too
        return run
