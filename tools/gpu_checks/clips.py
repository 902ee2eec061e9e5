# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The clips of gpu-check: the shared ones where they are, else made with the build's own ffmpeg.

A made clip is a zoom into a fractal under test patterns that move, with grain, encoded as the shared ones are: elementary
streams with B frames, which begin with a key frame and so can be joined to any length. Reference and distorted clip are
the same pictures at two rates; so the clips of a set are all shared or all made.
"""

import concurrent.futures
import contextlib
import dataclasses
import os
import re
import shlex
import threading
import time

from gpu_checks.report import last_lines, run

RATE = 25
# A small picture scaled up costs little, and is as soft as footage is; the grain comes after it.
PICTURES = ("mandelbrot=size=480x270:rate={rate}:start_scale=0.5:end_scale=0.01:maxiter=100,format=yuv420p,gblur=sigma=1[zoom];"
            "testsrc2=size=480x270:rate={rate},format=yuv420p[moving];[zoom][moving]blend=all_mode=average,{grain}")
# The filter has no grain of 10 bits; what is scaled afterwards uses them.
GRAIN = {8: "scale={width}:{height}:flags=bicubic,noise=alls=4:allf=t:all_seed=7,format={format}",
         10: "noise=alls=8:allf=t:all_seed=7,format={format},scale={width}:{height}:flags=bicubic"}
# By the name's ending, which is FFmpeg's name of the elementary stream too.
ENCODERS = {"h264": ["libx264", "-preset", "veryfast", "-bf", "3"],
            "hevc": ["libx265", "-preset", "ultrafast", "-bf", "3", "-x265-params", "log-level=error:open-gop=0"],
            "obu": ["libsvtav1", "-preset", "11", "-g", "75"]}
SECONDS_TO_MAKE = 300


@dataclasses.dataclass(frozen=True)
class Clip:
    name: str
    width: int
    height: int
    rate: str         # of the encoder
    frames: int       # of a made one
    shared_frames: int = 0
    format: str = "yuv420p"

    @property
    def stream(self):
        return self.name.rsplit(".", 1)[1]

    @property
    def encoder(self):
        return ENCODERS[self.stream][0]

    @property
    def depth(self):
        return 10 if "10" in self.format else 8

    @property
    def work(self):
        """Of making it, in no unit."""
        return self.width * self.height * self.frames


# The names of the shared clips are one set, then come those that no shared clip has. The rates are about those of the shared ones.
CLIP_SETS = [
    [Clip("ref_1080p.h264", 1920, 1080, "7M", 150, 300), Clip("dist_1080p.h264", 1920, 1080, "2500k", 150, 300),
     Clip("ref_1080p.hevc", 1920, 1080, "4M", 150, 300), Clip("dist_1080p.hevc", 1920, 1080, "900k", 150, 300),
     Clip("dist_720p.h264", 1280, 720, "1800k", 150, 300), Clip("dist_540p.h264", 960, 540, "900k", 150, 300),
     Clip("ref_2160p.h264", 3840, 2160, "13M", 60, 120), Clip("dist_2160p.h264", 3840, 2160, "7M", 60, 120)],
    *[[Clip(f"{side}_1080p{kind}", 1920, 1080, rate, 75, format=pixels) for side, rate in (("ref", "4M"), ("dist", "900k"))]
      for kind, pixels in (("_10bit.hevc", "yuv420p10le"), ("_444.hevc", "yuv444p"), (".obu", "yuv420p"), ("_10bit.obu", "yuv420p10le"))],
]
EVERY_CLIP = [clip for clips in CLIP_SETS for clip in clips]
BY_NAME = {clip.name: clip for clip in EVERY_CLIP}


class NoClip(Exception):
    """A clip that is not there and was not made; says why, and whether that is a failure or a lack of means."""

    def __init__(self, text, outcome="failed"):
        super().__init__(text)
        self.outcome = outcome


def command_for(clip, ffmpeg, path):
    """Grain has its random numbers from one thread, so that two clips of the same pictures have the same grain."""
    grain = GRAIN[clip.depth].format(width=clip.width, height=clip.height, format=clip.format)
    return [ffmpeg, "-hide_banner", "-nostdin", "-y", "-v", "error", "-stats", "-filter_complex_threads", "1",
            "-filter_complex", PICTURES.format(rate=RATE, grain=grain), "-frames:v", str(clip.frames),
            "-c:v", *ENCODERS[clip.stream], "-b:v", clip.rate, "-f", clip.stream, path]


def make(clip, ffmpeg, folder, timeout):
    """Makes a clip unless this recipe's is there already. Returns (path, what was done); raises NoClip."""
    path, note = os.path.join(folder, clip.name), os.path.join(folder, clip.name + ".txt")
    command = command_for(clip, ffmpeg, path + ".part")
    recipe = shlex.join(command[1:-1])
    with contextlib.suppress(OSError), open(note, encoding="utf-8") as file:
        if file.read() == recipe and os.path.getsize(path) > 0:
            return path, f"made earlier, {clip.frames} frames"
    start = time.monotonic()
    os.makedirs(folder, exist_ok=True)
    try:
        done = run(command, timeout=timeout)
    except OSError as error:
        raise NoClip(f"{clip.name} cannot be made: {error}") from error
    if f"Unknown encoder '{clip.encoder}'" in done.stdout:
        raise NoClip(f"{clip.name} is not there, and this ffmpeg has no {clip.encoder} to make it", "skipped")
    frames = re.findall(r"frame=\s*(\d+)", done.stdout)
    if done.returncode != 0 or not frames or int(frames[-1]) != clip.frames:
        raise NoClip(f"{clip.name} could not be made, exit {done.returncode}: {last_lines(done.stdout, 3)}")
    os.replace(path + ".part", path)
    with open(note, "w", encoding="utf-8") as file:
        file.write(recipe)
    return path, f"made, {clip.frames} frames, {os.path.getsize(path) / 1e6:.1f} MB in {time.monotonic() - start:.1f} s"


class Clips:
    """All clips of a run, each made once, in the background, from when the first of them is asked for."""

    def __init__(self, ffmpeg, shared, folder, seconds=lambda: SECONDS_TO_MAKE):
        """`seconds`: how many a clip may take, asked for when it begins."""
        self.ffmpeg, self.shared, self.folder, self._seconds = ffmpeg, shared, folder, seconds
        self._made, self._lock = None, threading.Lock()

    def shared_path(self, clip):
        return os.path.join(self.shared, clip.name)

    def is_shared(self, clip):
        whole = next(clips for clips in CLIP_SETS if clip in clips)
        return all(os.path.exists(self.shared_path(each)) for each in whole)

    def begin(self):
        """Begins to make what is not shared; the most work first."""
        with self._lock:
            if self._made is None:
                wanted = sorted((clip for clip in EVERY_CLIP if not self.is_shared(clip)), key=lambda clip: -clip.work)
                pool = concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 1) // 2))
                self._made = {clip.name: pool.submit(self._make, clip) for clip in wanted}
                pool.shutdown(wait=False)

    def _make(self, clip):
        return make(clip, self.ffmpeg, self.folder, min(SECONDS_TO_MAKE, self._seconds()))

    def get(self, name):
        """(path, where it is from); waits for one that is being made; raises NoClip."""
        clip = BY_NAME[name]
        if self.is_shared(clip):
            return self.shared_path(clip), "the shared one"
        self.begin()
        return self._made[name].result()

    def settle(self):
        """Waits until nothing is being made any more."""
        concurrent.futures.wait((self._made or {}).values())

    def path(self, name):
        return self.get(name)[0]

    def origin(self, name):
        """For reports, of any clip of a set."""
        return "shared clips" if self.is_shared(BY_NAME[name]) else "made clips"

    def frames(self, name):
        clip = BY_NAME[name]
        return clip.shared_frames if self.is_shared(clip) and clip.shared_frames else clip.frames


def report_all(context):
    """A line for every clip: where it is from, or why it is not there."""
    for clip in EVERY_CLIP:
        try:
            context.report.add(f"clip {clip.name}", "passed", context.clips.get(clip.name)[1])
        except NoClip as reason:
            context.report.add(f"clip {clip.name}", reason.outcome, str(reason))
