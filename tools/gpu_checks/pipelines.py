# SPDX-License-Identifier: BSD-2-Clause-Patent
"""ffmpeg with NVDEC: surfaces in place against software decoding, what is copied, and what happens when it goes wrong."""

import contextlib
import ctypes
import json
import os
import re

from gpu_checks.clips import NoClip
from gpu_checks.report import last_lines, refused_cleanly

PAIRS = [("dist_1080p.h264", "ref_1080p.h264"), ("dist_1080p.hevc", "ref_1080p.hevc"),
         ("dist_2160p.h264", "ref_2160p.h264"), ("dist_1080p.h264", "ref_1080p.hevc"),
         ("dist_1080p_10bit.hevc", "ref_1080p_10bit.hevc"), ("dist_1080p_444.hevc", "ref_1080p_444.hevc"),
         ("dist_1080p.obu", "ref_1080p.obu"), ("dist_1080p_10bit.obu", "ref_1080p_10bit.obu")]
HARDWARE = ["-hwaccel", "cuda", "-hwaccel_output_format", "cuda"]
# A graph's read-back holds accumulators; the smallest picture of the pipelines is far larger.
LARGEST_RESULT_COPY = 64 * 1024
# What the filter says of an input whose frames are on the GPU.
SURFACES = re.compile(r"input [^\n]* cuda/")
# What FFmpeg says where the GPU's decoder lacks a codec: not every data centre's card has AV1.
NOT_DECODED = re.compile(r"Your platform doesn't sup+ort hardware accelerated AV1 decoding")
# What the engine or the driver says of memory that it did not get; the session's description names memory too.
NO_MEMORY = re.compile(r"(device|page-locked) memory: |out[ _]of[ _]memory", re.IGNORECASE)


def read_json(path):
    """None for a file that is not there, or not whole."""
    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        return json.load(file)
    return None


def metrics_of(log):
    """By frame, of a log as read_json() gives it."""
    return [frame["metrics"] for frame in (log or {}).get("frames", [])]


def traced(context, trace):
    """The environment of a run that leaves a trace of the driver's calls there."""
    with contextlib.suppress(OSError):
        os.remove(trace)
    return dict(os.environ, LD_PRELOAD=context.tool("tests", "libdriver_trace.so"), QC_DRIVER_TRACE=trace)


def score(context, distorted, reference, hardware, options="", trace=None, extra=(), timeout=300, fail_launch=None):
    """One run of ffmpeg. Returns (process, per-frame metrics, head of the log). fail_launch: which launch of a graph fails."""
    log = os.path.join(context.out, "scores.json")
    with contextlib.suppress(OSError):
        os.remove(log)
    inputs = []
    for clip, is_hardware in zip((distorted, reference), hardware):
        # FFmpeg 5.1 takes a software decoder for AV1 even then.
        decoder = ["-c:v", "av1"] if is_hardware and clip.endswith(".obu") else []
        inputs += (HARDWARE if is_hardware else []) + decoder + ["-i", clip]
    graph = f"quality_cuda=backend=cuda:log_path={log}" + (f":{options}" if options else "")
    environment = traced(context, trace) if trace else dict(os.environ)
    if fail_launch:
        environment.update(LD_PRELOAD=context.tool("tests", "libdriver_trace.so"), QC_DRIVER_FAIL_LAUNCH=str(fail_launch))
    command = [context.ffmpeg, "-hide_banner", "-nostdin", "-v", "verbose", *inputs, "-lavfi", graph, *extra, "-f", "null", "-"]
    done = context.run(command, timeout=timeout, env=environment)
    data = read_json(log) or {}
    return done, metrics_of(data), data


def pipelines(context):
    for distorted, reference in PAIRS:
        with reported(context, f"NVDEC {distorted} / {reference}"):
            pipeline(context, distorted, reference)
    with reported(context, "an encode is scored while it runs") as name:
        loopback(context, name)
    for alias in ("libvmaf", "libvmaf_cuda"):
        with reported(context, f"surfaces under the name {alias}") as name:
            surfaces_by_alias(context, name, alias)
    with reported(context, "a downloaded picture shows in the trace") as name:
        download_is_seen(context, name)


@contextlib.contextmanager
def reported(context, name):
    """For what needs clips: if one is missing, that is what is reported."""
    try:
        yield name
    except NoClip as reason:
        context.report.add(name, reason.outcome, str(reason))


def pipeline(context, distorted, reference):
    name = f"{distorted} / {reference}"
    clips = context.clips.path(distorted), context.clips.path(reference)
    options = "metrics=vmaf+psnr"
    trace = os.path.join(context.out, "trace.json")
    done, surfaces, head = score(context, *clips, (True, True), options, trace)
    if NOT_DECODED.search(done.stdout):
        context.report.add(f"NVDEC {name}", "skipped", "this GPU's decoder does not know AV1")
        return
    if not context.report.check(f"NVDEC {name}", done.returncode == 0 and bool(surfaces) and head.get("complete") is True,
                                f"{len(surfaces)} frames, {context.clips.origin(distorted)}" if surfaces else last_lines(done.stdout)):
        return
    # Where a decoder does not start on the GPU, ffmpeg decodes in software and says little.
    on_device = len(SURFACES.findall(done.stdout))
    context.report.check(f"both inputs are surfaces {name}", on_device == 2, f"{on_device} of 2")
    hidden = re.findall(r"auto_scale\w*|hwdownload\w*|hwupload\w*", done.stdout)
    context.report.check(f"no conversion filter {name}", not hidden, ", ".join(sorted(set(hidden))))
    copies(context, name, trace, len(surfaces))
    for label, hardware in [("software", (False, False)), ("mixed", (True, False))]:
        done, frames, _ = score(context, *clips, hardware, options)
        same = frames == surfaces  # which are not empty
        context.report.check(f"{label} decoding gives the same scores {name}", done.returncode == 0 and same,
                             "" if same else f"{len(frames)} frames, {last_lines(done.stdout, 3)}")


def stays(counted):
    """Whether a trace shows work on the GPU, and nothing copied from there that may be a picture. Results come by a kernel."""
    return counted["device_to_host"]["largest"] <= LARGEST_RESULT_COPY and counted["graph_launches"] > 0


def copies(context, name, trace, frames):
    counted = read_json(trace)
    if counted is None:
        context.report.add(f"copies counted {name}", "failed", "the trace was not written")
        return
    context.numbers[f"copies {name}"] = counted
    context.report.check(f"no pixel copied to the host {name}", stays(counted), f"{frames} frames; {json.dumps(counted)}")


def loopback(context, name):
    """The reference from NVDEC, the distorted frames from a loopback decoder: scores of the encode as it is afterwards."""
    clip, encoded = context.clips.path("ref_1080p.h264"), os.path.join(context.out, "encoded.mkv")
    log = os.path.join(context.out, "loopback.json")
    command = [context.ffmpeg, "-hide_banner", "-nostdin", "-y", "-i", clip, *HARDWARE, "-i", clip, "-map", "0:v", "-c:v", "libx264",
               "-preset", "veryfast", "-b:v", "2500k", encoded, "-dec", "0:0", "-filter_complex",
               f"[dec:0][1:v]quality_cuda=backend=cuda:log_path={log}:metrics=vmaf+psnr[out]", "-map", "[out]", "-f", "null", "-"]
    done = context.run(command, timeout=120)
    for missing in ("Unrecognized option 'dec'", "Unknown encoder 'libx264'"):
        if missing in done.stdout:
            context.report.add(name, "skipped", f"this ffmpeg says: {missing}")
            return
    during = metrics_of(read_json(log))
    if not during:
        context.report.add(name, "failed", last_lines(done.stdout))
        return
    _, after, _ = score(context, encoded, clip, (True, True), "metrics=vmaf+psnr")
    context.report.check(name, done.returncode == 0 and len(after) == context.clips.frames("ref_1080p.h264") and during == after,
                         f"{len(during)} frames, {len(after)} afterwards")


def surfaces_by_alias(context, name, alias):
    """libvmaf's commands on frames of the GPU: the scores that quality_cuda gives them, and no pixel copied."""
    clips = context.clips.path("dist_1080p.h264"), context.clips.path("ref_1080p.h264")
    log, trace = os.path.join(context.out, f"{alias}.json"), os.path.join(context.out, f"{alias}-trace.json")
    with contextlib.suppress(OSError):
        os.remove(log)
    done = context.run([context.ffmpeg, "-hide_banner", "-nostdin", *HARDWARE, "-i", clips[0], *HARDWARE, "-i", clips[1], "-lavfi",
                        f"{alias}=log_fmt=json:log_path={log}", "-f", "null", "-"], timeout=120, env=traced(context, trace))
    if re.search(f"No such filter: '{alias}'", done.stdout):
        context.report.add(name, "skipped", f"this ffmpeg has no filter {alias}")
        return
    found = metrics_of(read_json(log))
    _, expected, _ = score(context, *clips, (True, True), "metrics=vmaf")
    same = len(found) == len(expected) > 0 and all(one["vmaf"] == other["vmaf"] for one, other in zip(found, expected))
    counted = read_json(trace)
    in_place = counted is not None and stays(counted)
    context.report.check(name, done.returncode == 0 and same and in_place and "VMAF score: " in done.stdout,
                         f"{len(found)} frames of {len(expected)}, the same scores: {same}, in place: {in_place}"
                         + ("" if done.returncode == 0 else f"; {last_lines(done.stdout)}"))


def download_is_seen(context, name):
    """The check of copies can fail: a filter that downloads pictures shows in the trace."""
    trace, clip = os.path.join(context.out, "download.json"), context.clips.path("ref_1080p.h264")
    done = context.run([context.ffmpeg, "-hide_banner", "-nostdin", *HARDWARE, "-i", clip, "-vf",
                        "hwdownload,format=nv12", "-frames:v", "3", "-f", "null", "-"], timeout=120, env=traced(context, trace))
    largest = (read_json(trace) or {}).get("device_to_host", {}).get("largest", 0)
    context.report.check(name, done.returncode == 0 and largest > LARGEST_RESULT_COPY,
                         f"largest copy to the host {largest} bytes" if done.returncode == 0 else last_lines(done.stdout))


def errors(context):
    for name, check in (("GPU memory exhausted", exhausted_memory), ("two CUDA contexts", two_contexts),
                        ("the GPU fails under its surfaces", broken_launch)):
        with reported(context, name):
            check(context, name, context.clips.path("ref_1080p.h264"))


def exhausted_memory(context, name, clip):
    with hold_gpu_memory(leave=260 << 20) as held:
        if not held:
            context.report.add(name, "skipped", "the memory could not be taken")
            return
        done, _, _ = score(context, clip, clip, (False, False), "metrics=vmaf:async_depth=1024")
    text = [line for line in done.stdout.splitlines() if NO_MEMORY.search(line)]
    context.report.check(name, refused_cleanly(done) and bool(text),
                         f"exit {done.returncode}; {text[0] if text else last_lines(done.stdout)}")


def scores_of(log):
    """The metrics by the frame's number."""
    return {frame.get("frameNum"): frame["metrics"] for frame in log.get("frames", [])}


def broken_launch(context, name, clip):
    """on_error: the video goes on, without scores or with the CPU backend, which is handed the decoder's surfaces."""
    distorted, found = context.clips.path("dist_1080p.h264"), []
    _, _, whole = score(context, distorted, clip, (True, True), "metrics=psnr")
    frames, expected = whole.get("pairing", {}).get("frames", 0), scores_of(whole)
    for wish in ("pass", "cpu"):
        done, _, log = score(context, distorted, clip, (True, True), f"metrics=psnr:on_error={wish}", fail_launch=6)
        pairing = log.get("pairing", {})
        scored, failed = pairing.get("scored", 0), pairing.get("failed", 0)
        same = all(metrics == expected.get(number) for number, metrics in scores_of(log).items())
        if wish == "pass":
            went_on, said = 0 < failed == frames - scored, "CUDA error 719" in (log.get("reason") or "")
        else:  # what had not been taken in when the launch failed is scored by the CPU: nothing has to be missing
            went_on, said = failed == frames - scored < frames / 2, " on: CPU: " in log.get("engine", "")
        found.append((done.returncode == 0 and scored > 0 and same and went_on and said,
                      f"{wish}: exit {done.returncode}, {scored} of {frames} scored, {failed} failed, the same scores: {same}"))
    context.report.check(name, all(good for good, _ in found), "; ".join(text for _, text in found))


def two_contexts(context, name, clip):
    command = [context.ffmpeg, "-hide_banner", "-nostdin", *HARDWARE, "-hwaccel_device", "0", "-i", clip, *HARDWARE,
               "-hwaccel_device", "0", "-i", clip, "-lavfi", "quality_cuda", "-f", "null", "-"]
    done = context.run(command, timeout=120)
    refused = refused_cleanly(done) and "another CUDA context" in done.stdout
    scored = done.returncode == 0 and "VMAF score" in done.stdout
    context.report.check(name, refused or scored,
                         "refused with the remedy" if refused else "scored" if scored else last_lines(done.stdout))


@contextlib.contextmanager
def hold_gpu_memory(leave):
    """Takes all GPU memory but `leave` bytes, in a context of this process."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        yield False
        return
    context, device = ctypes.c_void_p(), ctypes.c_int()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda.cuInit(0)
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    taken = []
    if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) != 0 or cuda.cuCtxPushCurrent_v2(context) != 0:
        yield False
        return
    cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    # The other process needs a context of its own, about half a gigabyte on large cards.
    want = free.value - leave - (600 << 20)
    address = ctypes.c_uint64()
    good = want > 0 and cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(want)) == 0
    if good:
        taken.append(address.value)
    try:
        yield good
    finally:
        for block in taken:
            cuda.cuMemFree_v2(ctypes.c_uint64(block))
        cuda.cuDevicePrimaryCtxRelease_v2(device)
