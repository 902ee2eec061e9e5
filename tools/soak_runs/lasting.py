# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Processes that run for as long as the soak does: what they hold has to stay flat.

steady      one graph over endless inputs with gaps, pauses and a further rendition
regraphed   ffmpeg builds its graph anew all the time, for the reference changes its size: instances come and go in one process
sessions    the library alone: sessions of several kinds are opened, used and closed in turn
live        lines of JSON, alerts and a file for Prometheus, of a stream of 320x180; who takes the lines hangs up every few seconds
"""

import dataclasses
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

from gpu_checks import memory
from soak_runs.pictures import Size, gray_png

SAMPLES = 600              # of a run, at most
MOST_SAMPLES_A_SECOND = 20
PATIENCE_SECONDS = 120     # to end when asked to
LONGEST_SLEEP_SECONDS = 0.2
# Where the user may: a process that other work keeps from running for minutes has more frames in flight than one that runs.
FIRST_SERVED = ["nice", "-n", "-10"]
MOST_SPOOLS = 2            # temporary files of scores at once
# What waits in queues takes memory up to a bound, which a process meets when the system has no time for it, be it after an hour. Held
# up on purpose before the first look that counts, it has met it by then; what still grows is lost.
STALL_SECONDS, SECONDS_BETWEEN_STALLS = 2, 10
PART_WITH_STALLS = 0.08    # of the run
PERIOD_OF_GAPS, GAP = 997, 20            # frames that the reference lacks
PERIOD_OF_PAUSES, PAUSE = 3001, (100, 130)
SIZE = Size(176, 144)
LIVE_SIZE, LIVE_RATE = Size(320, 180), 30
LIVE_PICTURES = 30         # which repeat: making each anew would take most of the time
PERIOD_OF_ALERTS, ALERT = 900, (300, 450)  # frames with noise
CONNECTION_SECONDS = 5


@dataclasses.dataclass(frozen=True)
class Sample:
    frame: float           # seconds since the start: memory.judge() asks for a position in the run
    resident_kib: int
    own_kib: int           # of it: except for pages of files
    descriptors: int       # except for those of temporary files
    threads: int
    gpu_mib: int
    spools: int            # temporary files


def look_at(pid, elapsed, spool, read_gpu):
    """None if the process is gone."""
    try:
        held, threads = memory.held_by(pid), memory.facts_of(pid)["Threads"]
        targets = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        spools = sum(target.startswith(spool) for target in targets)
        return Sample(elapsed, *held, len(targets) - spools, threads, read_gpu(), spools)
    except (OSError, KeyError):  # one that has ended holds no memory
        return None


@dataclasses.dataclass
class Lasting:
    """A process that lasts, and what has to hold when it has ended."""
    name: str
    command: list
    folder: str
    table: str             # file that gets the samples
    check: object = None   # function of the folder, returns what is wrong or None


@dataclasses.dataclass(frozen=True)
class Programs:
    ffmpeg: str
    library: str           # the engine


def programs_of(build):
    return Programs(os.path.join(build, "ffmpeg", "bin", "ffmpeg"), os.path.join(build, "engine", "libquality_cuda.so"))


def source(pace, size=SIZE):
    return f"testsrc2=size={size.width}x{size.height}:rate={pace or 100:g}"


def messages(folder):
    """What a process that has ended printed."""
    with open(os.path.join(folder, "stderr.txt"), encoding="utf-8", errors="replace") as file:
        return file.read()


def inputs(sources, pace):
    arguments = []
    for each in sources:
        arguments += [*(["-re"] if pace else []), *each]
    return arguments


def steady(programs, backend, folder, pace):
    first, last = PAUSE
    graph = (f"[0:v]split[a][b];[a]noise=alls=4[d];[b]noise=alls=8,select=not(eq(mod(n\\,{PERIOD_OF_GAPS + 16})\\,50))[e];"
             f"[1:v]select=not(lt(mod(n\\,{PERIOD_OF_GAPS})\\,{GAP}))[r];"
             f"[d][r][e]quality_cuda=metrics=vmaf+psnr+ssim:backend={backend}:renditions=2:n_threads=2:stats_file=/dev/null:"
             f"log_path=steady.csv:log_fmt=csv:enable=not(between(mod(n\\,{PERIOD_OF_PAUSES})\\,{first}\\,{last}))")
    return [programs.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "warning",
            *inputs([["-f", "lavfi", "-i", source(pace)]] * 2, pace), "-lavfi", graph, "-f", "null", "-"], check_steady


def pairs_of_steady(frames):
    """So many of the first frames have a partner and are not switched off."""
    first, last = PAUSE
    return sum(number % PERIOD_OF_GAPS >= GAP and not first <= number % PERIOD_OF_PAUSES <= last for number in range(frames))


def check_steady(folder):
    """Counts and log of a run that SIGINT ended."""
    text = messages(folder)
    counts = re.search(r"frames:(\d+) scored:(\d+) unscored:(\d+) \(before the reference:(\d+)", text)
    ended = re.search(r"INCOMPLETE after (\d+) frames: SIGINT", text)
    if not counts or not ended:
        return f"no counts, or no word of the signal: {text[-300:]}"
    frames, scored = int(counts[1]), int(counts[2])
    expected = pairs_of_steady(frames)
    # The inputs end one after the other: the last frames may lack a partner that was not read.
    if not max(expected - 3 * GAP, 1) <= scored <= expected or int(counts[4]) != GAP:
        return f"{counts[0]}: expected {expected} scored, {GAP} before the reference"
    for name, most in (("steady.csv", scored), ("steady.rendition1.csv", scored)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            rows = sum(1 for _ in file) - 1
        if not (rows == most if name == "steady.csv" else most * 0.98 - 1 <= rows <= most):
            return f"{name} has {rows} rows, expected {most}"
    return None


def regraphed(programs, backend, folder, pace):
    path = os.path.join(folder, "sizes.png")
    with open(path, "wb") as file:
        for size in (SIZE, Size(SIZE.width + 16, SIZE.height), Size(SIZE.width, SIZE.height - 16)):
            for level in range(20, 220, 8):
                file.write(gray_png(size, level))
    graph = (f"[1:v]scale={SIZE.width}:{SIZE.height},format=gray[r];[0:v]format=gray[d];"
             f"[d][r]quality_cuda=metrics=vmaf+psnr:backend={backend}:n_threads=2")
    endless = ["-stream_loop", "-1", "-f", "png_pipe", "-framerate", f"{pace or 100:g}", "-i", path]
    return [programs.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "error",
            *inputs([["-f", "lavfi", "-i", source(pace)], endless], pace), "-lavfi", graph, "-f", "null", "-"], None


def sessions(programs, backend, folder, pace):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sessions.py")
    return [sys.executable, script, programs.library, backend, str(pace / 50)], check_sessions


def check_sessions(folder):
    text = messages(folder)
    done = re.search(r"^(\d+) sessions$", text, re.MULTILINE)
    return None if done and int(done[1]) >= 10 else f"too few sessions, or a failure: {text[-300:]}"


class Receiver(threading.Thread):
    """Takes lines of JSON on a socket, and hangs up every few seconds."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections, self.lines, self.wrong = 0, 0, None

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            self.connections += 1
            with connection, connection.makefile("rb") as file:
                try:
                    self.take(file, time.monotonic() + CONNECTION_SECONDS)
                except (OSError, ValueError, KeyError) as error:
                    self.wrong = f"connection {self.connections}: {error!r}"

    def take(self, file, hang_up):
        number = -1
        for line in file:
            if not line.endswith(b"\n"):
                return  # it was cut off
            content = json.loads(line)
            if "n" in content:  # it has scores
                if content["n"] <= number:
                    self.wrong = f"line {content['n']} behind {number}"
                number = content["n"]
            self.lines += 1
            if time.monotonic() > hang_up:
                return


def live(programs, backend, folder, pace):
    receiver = Receiver()
    receiver.start()
    first, last = ALERT
    pictures = f"{source(LIVE_RATE, LIVE_SIZE)},loop=loop=-1:size={LIVE_PICTURES}"
    url = f"tcp://127.0.0.1:{receiver.port}".replace(":", "\\\\:")
    graph = (f"[0:v]noise=alls=40:enable=between(mod(n\\,{PERIOD_OF_ALERTS})\\,{first}\\,{last})[d];"
             f"[d][1:v]quality_cuda=metrics=vmaf+psnr:backend={backend}:n_threads={2 if pace else 0}:log_fmt=jsonl:log_path={url}:"
             f"alert=psnr_y<40@1s:metrics_file=live.prom")
    return [programs.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-v", "info",
            *inputs([["-f", "lavfi", "-i", pictures]] * 2, pace), "-lavfi", graph, "-f", "null", "-"], \
        lambda folder: check_live(folder, receiver)


def check_live(folder, receiver):
    """Every line was taken or counted, what came is whole and in order, and the files are those of a run that has ended."""
    text = messages(folder)
    counts = re.search(r"frames:(\d+) scored:(\d+)", text)
    sent = re.search(r"log_path=\S+ lines:(\d+) dropped:(\d+) receivers:(\d+)", text)
    if not counts or not sent:
        return f"no counts: {text[-300:]}"
    frames, (lines, dropped, receivers) = int(counts[1]), map(int, sent.groups())
    if receiver.wrong or lines + dropped < frames or receiver.lines > lines or receivers != receiver.connections:
        return f"{counts[0]}, {sent[0]}; {receiver.lines} lines came in {receiver.connections} connections: {receiver.wrong}"
    if frames > PERIOD_OF_ALERTS and not re.search(r"alert psnr_y<40 ends at ", text):
        return "no alert came and went"
    with open(os.path.join(folder, "live.prom"), encoding="utf-8") as file:
        return None if re.search(r"(?m)^quality_cuda_running\{.*\} 0$", file.read()) else "live.prom is not that of a run that has ended"


KINDS = {"steady": steady, "regraphed": regraphed, "sessions": sessions, "live": live}


def make(name, programs, backend, folder, out, pace):
    command, check = KINDS[name](programs, backend, folder, pace)
    return Lasting(name, command, folder, os.path.join(out, f"memory-{name}.csv"), check)


def stall(process):
    """What has to be done meanwhile is done as fast as it goes afterwards."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(STALL_SECONDS)
    process.send_signal(signal.SIGCONT)


def watch(lasting, seconds, is_over=lambda: False, read_gpu=lambda: 0):
    """Runs the process for so long, or until it is over. Returns (what is wrong or None, samples, seconds)."""
    os.makedirs(spool_of(lasting), exist_ok=True)
    start = time.monotonic()
    next_stall, last_stall = start + SECONDS_BETWEEN_STALLS, start + PART_WITH_STALLS * seconds
    pause = max(seconds / SAMPLES, 1 / MOST_SAMPLES_A_SECOND)
    samples = []
    with open(os.path.join(lasting.folder, "stderr.txt"), "w", encoding="utf-8") as errors, \
            open(lasting.table, "w", encoding="utf-8", buffering=1) as table:
        table.write(",".join(field.name for field in dataclasses.fields(Sample)) + "\n")
        environment = {**os.environ, **memory.ONE_ARENA, "TMPDIR": spool_of(lasting)}
        process = subprocess.Popen([*FIRST_SERVED, *lasting.command], cwd=lasting.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        try:
            next_look = start
            while time.monotonic() < start + seconds and not is_over() and process.poll() is None:
                next_look += pause
                while time.monotonic() < min(next_look, start + seconds) and not is_over():
                    time.sleep(min(pause, LONGEST_SLEEP_SECONDS))
                sample = look_at(process.pid, time.monotonic() - start, spool_of(lasting), read_gpu)
                if sample:
                    samples.append(sample)
                    table.write(",".join(f"{value:.6g}" for value in dataclasses.astuple(sample)) + "\n")
                if next_stall < min(time.monotonic(), last_stall):
                    stall(process)
                    next_stall = time.monotonic() + SECONDS_BETWEEN_STALLS
            early = process.poll() is not None
            seconds = time.monotonic() - start
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            return f"it does not end {PATIENCE_SECONDS} s after SIGINT", samples, seconds
        finally:
            process.kill()
            process.wait()
    if early or process.returncode < 0:
        return f"it ended with {process.returncode} {'by itself' if early else 'after SIGINT'}", samples, seconds
    return None, samples, seconds


def spool_of(lasting):
    return os.path.join(lasting.folder, "spool")


def spread_of(samples, name):
    """What a tenth, a half and nine tenths of the samples do not exceed."""
    values = sorted(getattr(sample, name) for sample in samples)
    return [values[len(values) * tenths // 10] for tenths in (1, 5, 9)]


def judge(samples, seconds, with_gpu=False):
    """(None or what is wrong, what was found). Threads, descriptors and what a graph holds on the GPU come and go with it; what
    stays behind raises the whole of their spread, and how many looks fall between two graphs one part of it at most."""
    parts = memory.outer_thirds(samples, seconds)
    found = f"{len(samples)} samples, {len(parts[0])} early, {len(parts[1])} late"
    if min(map(len, parts)) < memory.LEAST_SAMPLES:
        return f"too few samples, {memory.LEAST_SAMPLES} in each of the outer thirds are needed", found
    resident, own = (memory.middles(name, *parts) for name in ("resident_kib", "own_kib"))
    found += f"; {resident[0]:.0f} to {resident[1]:.0f} KiB resident, of which {own[0]:.0f} to {own[1]:.0f} its own"
    growth = (own[1] - own[0]) / resident[0]
    grown = [f"memory grew by {100 * growth:.1f} %"] if growth > memory.LARGEST_GROWTH else []
    for name in ("descriptors", "threads", "gpu_mib") if with_gpu else ("descriptors", "threads"):
        early, late = (spread_of(part, name) for part in parts)
        found += f"; {early[1]} to {late[1]} {name}"
        room = [value * memory.LARGEST_GROWTH if name == "gpu_mib" else 1 for value in early]
        if sum(after > before + more for before, after, more in zip(early, late, room, strict=True)) > 1:
            grown.append(f"{name} grew")
    return ", ".join(grown) or None, found


def run(lasting, seconds, is_over=lambda: False, read_gpu=None):
    """(None or what is wrong, what was found as text)."""
    wrong, samples, seconds = watch(lasting, seconds, is_over, read_gpu or (lambda: 0))
    grown, found = judge(samples, seconds, read_gpu is not None)
    left, most = os.listdir(spool_of(lasting)), max((sample.spools for sample in samples), default=0)
    if not wrong and (left or most > MOST_SPOOLS):
        wrong = f"{most} temporary files at once, of which {len(left)} stay"
    if not wrong and lasting.check:
        wrong = lasting.check(lasting.folder)
    frames = re.search(r" frames:(\d+) scored:", messages(lasting.folder))
    return wrong or grown, f"{seconds:.0f} s, " + (f"{frames[1]} frames, " if frames else "") + found
