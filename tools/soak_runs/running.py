# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Runs a graph in ffmpeg, ends it as it asks for, and collects what it left."""

import dataclasses
import functools
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

from soak_runs import graphs

TIMEOUT_SECONDS = 240
PREFIX = "lavfi.quality_cuda."
OLD_LOG = "what an earlier run had written\n"


@dataclasses.dataclass
class Outcome:
    """What one run left in its folder."""
    folder: str
    code: int
    text: str
    hung: bool

    @property
    def failed(self):
        """FFmpeg 5.1 says so and ends with 0 where a filter's error comes behind the end of all inputs."""
        return self.code != 0 or "Error while filtering: " in self.text

    @property
    def has_threads(self):
        """From FFmpeg 7 (libavformat 61) on inputs and filters run in threads of their own. Where no output was opened it is not told."""
        return any(int(major) >= 61 for major in re.findall(r"encoder +: Lavf(\d+)", self.text))

    def read(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read()

    def stats(self, number):
        """Lines of stats_file as dictionaries; a last line that is cut is left out."""
        text = self.read(f"stats{number}.txt") or ""
        return [dict(item.split(":", 1) for item in line.split()) for line in text.split("\n")[:-1]]

    def tagged(self, number):
        """Frames that left with metadata."""
        frames = []
        for line in (self.read(f"metadata{number}.txt") or "").splitlines():
            if line.startswith("frame:"):
                frames.append({})
            elif line.startswith(PREFIX):
                key, value = line[len(PREFIX):].split("=", 1)
                frames[-1][key] = value
        return frames

    def out(self, number):
        """Checksums of the frames that left."""
        lines = (self.read(f"out{number}.framemd5") or "").splitlines()
        return [line.split(",")[5].strip() for line in lines if not line.startswith("#")]


@dataclasses.dataclass
class Log:
    """A log in any layout. What a layout has no room for is None."""
    rows: list             # (frame number, {score: value}), None for sub
    complete: object = None
    end: object = None
    reason: object = None
    pairing: object = None
    pooled: object = None


def read_log(text, layout):
    return {"json": json_log, "xml": xml_log, "csv": csv_log, "sub": sub_log}[layout](text)


def json_log(text):
    data = json.loads(text)
    rows = [(frame["frameNum"], frame["metrics"]) for frame in data["frames"]]
    return Log(rows, data["complete"], data["end"], data["reason"], data["pairing"], data["pooled_metrics"])


def xml_log(text):
    root = xml.etree.ElementTree.fromstring(text)
    facts = root.find("fyi").attrib
    pairing = {key: {"true": True, "false": False}[value] if value in ("true", "false") else float(value)
               for key, value in root.find("pairing").attrib.items()}
    rows = [(int(frame.attrib["frameNum"]), {key: float(value) for key, value in frame.attrib.items() if key != "frameNum"})
            for frame in root.iter("frame")]
    return Log(rows, facts["complete"] == "true", facts["end"], facts.get("reason"), pairing)


def csv_log(text):
    titles, *lines = text.splitlines()
    names = titles.split(",")[1:-1]
    cells = [line.split(",") for line in lines]
    return Log([(int(line[0]), {name: float(cell) for name, cell in zip(names, line[1:])}) for line in cells])


def sub_log(text):
    rows = []
    for line in text.splitlines():
        number, scores = re.fullmatch(r"\{(\d+)\}\{\d+\}frame: \d+\|(.*)", line).groups()
        rows.append((int(number), {name: float(value) for name, value in (item.split(": ") for item in scores.split("|")[:-1])}))
    return Log(rows)


@functools.cache
def setpts_keeps_rate(ffmpeg):
    """That of FFmpeg 7.1 does not: behind it the frame rate is unknown."""
    arguments = ["-f", "lavfi", "-i", "testsrc2=r=25:d=0.04", "-vf", "setpts=PTS,showinfo", "-f", "null", "-"]
    process = subprocess.run([ffmpeg, "-hide_banner", "-nostdin", *arguments], capture_output=True, text=True, check=True)
    return re.search(r"config in time_base: \S+, frame_rate: (\d+/\d+)", process.stderr)[1] == "25/1"


def wait_for_scores(process, path, deadline):
    while process.poll() is None and time.monotonic() < deadline:
        if os.path.exists(path) and os.path.getsize(path):
            return
        time.sleep(0.02)


def end_by_signal(graph, process, folder, start):
    name, delay, waits = graph.stop
    if waits:
        wait_for_scores(process, os.path.join(folder, "stats0.txt"), start + TIMEOUT_SECONDS)
    time.sleep(delay)
    if process.poll() is None:
        process.send_signal(getattr(signal, name))


def run(graph, ffmpeg, backend, folder, spool):
    """One run in `folder`; temporary files go to `spool`."""
    graphs.write_inputs(graph, folder)
    if graph.ending == "kill":
        with open(os.path.join(folder, graphs.log_name(0)), "w", encoding="utf-8") as file:
            file.write(OLD_LOG)
    start, hung = time.monotonic(), False
    with open(os.path.join(folder, "stderr.txt"), "w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(graphs.command(graph, ffmpeg, backend), cwd=folder, env={**os.environ, "TMPDIR": spool},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        try:
            if graph.ending in graphs.IN_REAL_TIME:
                end_by_signal(graph, process, folder, start)
            process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            hung = True
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        errors.seek(0)
        return Outcome(folder, process.returncode, errors.read(), hung)
