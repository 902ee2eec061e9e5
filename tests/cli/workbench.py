# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Small clips of many kinds, and the command quality-cuda on them.

QC_FFMPEG names ffmpeg, QC_COMMAND the command; default: those of this repository's build.
"""

import functools
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FFMPEG = pathlib.Path(os.environ.get("QC_FFMPEG", ROOT / "build/ffmpeg/bin/ffmpeg"))
COMMAND = pathlib.Path(os.environ.get("QC_COMMAND", ROOT / "build/cli/quality-cuda"))
TIMEOUT_SECONDS = 300
FRAMES = 150
SOURCE = f"testsrc2=s=160x120:r=25,noise=alls=12:allf=t:all_seed=7,trim=end_frame={FRAMES}"
LARGE = "testsrc2=s=320x240:r=25,trim=end_frame=16"  # enough for CAMBI
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-threads", "1"]
X265 = ["-c:v", "libx265", "-preset", "ultrafast"]

#: What a clip is made by: file name, arguments between source and file; "filter" replaces the source.
CLIPS = {
    "ref.mkv": {"encode": ["-c:v", "ffv1", "-g", "1"]},
    "ref.mp4": {"encode": [*X264, "-crf", "12", "-g", "30", "-bf", "2"]},
    "ref_25_of_50.mkv": {"filter": SOURCE.replace("r=25", "r=50").replace(f"end_frame={FRAMES}", f"end_frame={2 * FRAMES}"),
                         "encode": ["-c:v", "ffv1", "-g", "10"]},
    "ref_short.mkv": {"filter": SOURCE + ",trim=end_frame=80", "encode": ["-c:v", "ffv1", "-g", "5"]},
    "ref_late.mkv": {"filter": SOURCE + ",trim=start_frame=60", "encode": ["-c:v", "ffv1", "-g", "5", "-avoid_negative_ts", "disabled"]},
    "ref_gap.mkv": {"filter": SOURCE + ",select='not(between(n,60,83))'", "encode": ["-c:v", "ffv1", "-g", "5", "-fps_mode", "vfr"]},
    "closed.mp4": {"encode": [*X264, "-crf", "32", "-g", "24", "-bf", "3"]},
    "open.mp4": {"encode": [*X264, "-crf", "34", "-x264-params", "open-gop=1:keyint=20:min-keyint=20:bframes=3:b-pyramid=normal:scenecut=0"]},
    "open.mkv": {"encode": [*X264, "-crf", "30", "-x264-params", "open-gop=1:keyint=35:bframes=5:scenecut=0"]},
    "sparse.mkv": {"encode": [*X264, "-crf", "33", "-g", "100"]},
    "one_key.mp4": {"encode": [*X264, "-crf", "33", "-g", "1000"]},
    "refresh.ts": {"encode": [*X264, "-crf", "4", "-x264-params", "intra-refresh=1:keyint=60"]},
    "h264.ts": {"encode": [*X264, "-crf", "33", "-g", "20", "-bf", "2"]},
    "mpeg2.ts": {"encode": ["-c:v", "mpeg2video", "-q:v", "14", "-g", "12", "-bf", "2"]},
    "hevc.mp4": {"encode": [*X265, "-x265-params", "log-level=none:crf=34:keyint=25:open-gop=1:bframes=4"]},
    "hevc.mkv": {"encode": [*X265, "-x265-params", "log-level=none:crf=30:keyint=40:open-gop=0"]},
    "hevc.ts": {"encode": [*X265, "-x265-params", "log-level=none:crf=30:keyint=25:open-gop=1:bframes=3"]},
    "av1.mkv": {"encode": ["-c:v", "libsvtav1", "-preset", "12", "-crf", "45", "-g", "32", "-svtav1-params", "lp=1"]},
    "mpeg4.nut": {"encode": ["-c:v", "mpeg4", "-q:v", "9", "-g", "15", "-bf", "2"]},
    "mjpeg.mov": {"encode": ["-c:v", "mjpeg", "-q:v", "12", "-pix_fmt", "yuvj420p"]},
    "varying.mp4": {"filter": SOURCE + ",select='not(mod(n*n,7))+mod(n,3)'", "encode": [*X264, "-crf", "32", "-g", "22", "-bf", "2",
                                                                                       "-fps_mode", "vfr"]},
    "late.mkv": {"encode": [*X264, "-crf", "31", "-g", "24", "-output_ts_offset", "3.7"]},
    "late.ts": {"encode": [*X264, "-crf", "31", "-g", "24", "-bf", "2", "-output_ts_offset", "7.31"]},
    "ntsc.mkv": {"filter": SOURCE.replace("r=25", "r=30000/1001"), "encode": [*X264, "-crf", "33", "-g", "24", "-bf", "2"]},
    "ntsc.mp4": {"filter": SOURCE.replace("r=25", "r=30000/1001"), "encode": [*X264, "-crf", "16", "-g", "40", "-bf", "2"]},
    "high.mkv": {"encode": [*X264, "-crf", "33", "-g", "24", "-pix_fmt", "yuv420p10le"]},
    "rgb.mkv": {"encode": ["-c:v", "ffv1", "-g", "12", "-pix_fmt", "gbrp"]},
    "small.mp4": {"filter": SOURCE + ",scale=120:90", "encode": [*X264, "-crf", "28", "-g", "18", "-bf", "2"]},
    "large.mp4": {"filter": LARGE, "encode": [*X264, "-crf", "34", "-g", "12"]},
    "large_ref.mkv": {"filter": LARGE, "encode": ["-c:v", "ffv1", "-g", "5"]},
    "long.mkv": {"filter": SOURCE.replace(f"end_frame={FRAMES}", f"end_frame={2 * FRAMES}"), "encode": ["-c:v", "mpeg4", "-q:v", "9", "-g", "20"]},
    "long.mp4": {"filter": SOURCE.replace(f"end_frame={FRAMES}", f"end_frame={2 * FRAMES}"), "encode": [*X264, "-crf", "32", "-g", "20", "-bf", "2"]},
    "long_ref.mp4": {"filter": SOURCE.replace(f"end_frame={FRAMES}", f"end_frame={2 * FRAMES}"), "encode": [*X264, "-crf", "14", "-g", "24"]},
    "short.mp4": {"filter": SOURCE + ",trim=end_frame=90", "encode": [*X264, "-crf", "33", "-g", "20", "-bf", "2"]},
    "as_24.mp4": {"filter": SOURCE.replace("r=25", "r=24"), "encode": [*X264, "-crf", "31", "-g", "24"]},
    "plain.avi": {"encode": ["-c:v", "mpeg4", "-q:v", "9", "-g", "15"]},
    "raw.h264": {"encode": [*X264, "-crf", "33", "-g", "20", "-f", "h264"]},
    "interlaced.ts": {"encode": ["-c:v", "mpeg2video", "-q:v", "10", "-g", "12", "-bf", "2", "-flags", "+ilme+ildct", "-vf", "setfield=tff"]},
}


@functools.cache
def folder():
    """Of this process; goes when Python ends."""
    made = tempfile.TemporaryDirectory(prefix="quality-cuda-cli-")
    folder.keep = made
    os.environ["XDG_CACHE_HOME"] = made.name + "/cache"  # of pictures
    return pathlib.Path(made.name)


def ffmpeg(*arguments):
    process = subprocess.run([FFMPEG, "-hide_banner", "-nostdin", "-v", "error", "-y", *map(str, arguments)], capture_output=True,
                             text=True, timeout=TIMEOUT_SECONDS, check=False)
    assert process.returncode == 0, process.stderr
    return process


@functools.cache
def clip(name):
    path = folder() / name
    if name == "edited.mp4":  # an edit list hides the frames between the key frame and the cut
        ffmpeg("-ss", "0.5", "-i", clip("open.mp4"), "-c", "copy", path)
    elif name == "delayed.mkv":  # beside another stream, as beside sound with a delay of its own
        ffmpeg("-i", clip("mjpeg.mov"), "-itsoffset", "0.021333", "-i", clip("closed.mp4"), "-map", "1:v", "-map", "0:v", "-c", "copy", path)
    elif name == "cut.mkv":
        ffmpeg("-i", clip("closed.mp4"), "-c", "copy", "-copyts", path)
    else:
        recipe = CLIPS[name]
        ffmpeg("-f", "lavfi", "-i", recipe.get("filter", SOURCE), *(["-pix_fmt", "yuv420p"] if "-pix_fmt" not in recipe["encode"] else []),
               *recipe["encode"], path)
    return path


def comparable(path):
    """A log's bytes except for the rate of the run."""
    lines = pathlib.Path(path).read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(b'  "fps": ')]
    assert len(kept) == len(lines) - 1, "a log has one line of its rate"
    return b"".join(kept)


def command(*arguments, environment=None, limit_bytes=None, given=None):
    """@param limit_bytes no file becomes larger
    @param given standard input
    """
    if "--ffmpeg" not in arguments:
        arguments = (*arguments, "--ffmpeg", FFMPEG)
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error of write(), as on a full disk, and no signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                          env={**os.environ, **(environment or {})}, stdin=given, preexec_fn=None if limit_bytes is None else limit)


def ffmpeg_in(place, script):
    """An ffmpeg of a test's own, with the real ffprobe beside it. @param script all that the file holds; @return its path"""
    program = place / "ffmpeg"
    program.write_text(script)
    program.chmod(0o755)
    (place / "ffprobe").symlink_to(FFMPEG.with_name("ffprobe"))
    return program


def ffmpeg_that(place, pattern, act):
    """An ffmpeg that does something else, in shell, when its arguments have the pattern."""
    return ffmpeg_in(place, f'#!/bin/sh\ncase "$*" in {pattern}) {act};; esac\nexec {FFMPEG} "$@"\n')


def interrupt(arguments, temporary, has_begun):
    """Interrupts the command as soon as has_begun() says so. @param temporary for its temporary files; @return exit code, standard error"""
    temporary.mkdir()
    with subprocess.Popen([COMMAND, *map(str, arguments)], env={**os.environ, "TMPDIR": str(temporary)}, stderr=subprocess.PIPE,
                          text=True) as process:
        while not has_begun():
            time.sleep(0.01)
            assert process.poll() is None, "it is to be interrupted while it works"
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    return process.returncode, said


def single(videos, options, name):
    """One run of ffmpeg over the whole, as a person would type it. @return the log's path"""
    log = folder() / name
    distorted, reference = videos[:-1], videos[-1]
    inputs = [distorted[0], reference, *distorted[1:]]
    graph = "".join(f"[{i}:v:0]" for i in range(len(inputs))) + f"quality_cuda={options}:log_path={log}"
    if len(distorted) > 1:
        graph += f":renditions={len(distorted)}"
    arguments = [item for path in inputs for item in ("-i", path)]
    ffmpeg(*arguments, "-lavfi", graph, "-fps_mode", "passthrough", "-f", "null", "-")
    return log


def rendition_logs(log, count):
    return [log] + [log.with_name(f"{log.stem}.rendition{k}.json") for k in range(1, count)]


def fresh(name):
    path = folder() / name
    if path.is_dir():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path
