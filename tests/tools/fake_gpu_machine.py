# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A build folder and a machine for gpu-check, of programs that answer at once as those of a healthy GPU would.

Each program is this file under another name: it looks at how it was called, and leaves what its model would leave.
"""

import itertools
import json
import os
import pathlib
import re
import sys

BUILD_PROGRAMS = ("ffmpeg/bin/ffmpeg", "ffmpeg/bin/ffprobe", "tests/check_test", "tools/bench/quality_bench")
MACHINE_PROGRAMS = ("nvidia-smi", "compute-sanitizer")
METRICS = ("psnr", "vif")


def install(folder):
    """Returns (build folder, folder of the machine's programs)."""
    build, machine = folder / "build", folder / "machine"
    for path in [build / name for name in BUILD_PROGRAMS] + [machine / name for name in MACHINE_PROGRAMS]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable} -IS\n" + pathlib.Path(__file__).read_text(encoding="utf-8"))
        path.chmod(0o755)
    (build / "tools/docs").mkdir(exist_ok=True)
    described = {"smallest_side": {}, "cuda_bound": {}, "outputs": []}
    (build / "tools/docs/metrics.json").write_text(json.dumps([dict(described, name=name, short_name="") for name in METRICS]))
    return build, machine


FRAMES = 150  # of a clip that gpu-check makes


def after(arguments, option, default=""):
    return arguments[arguments.index(option) + 1] if option in arguments else default


def write(path, content):
    pathlib.Path(path).write_text(json.dumps(content))


def fake_ffmpeg(arguments):
    scores_an_encode = "-dec" in arguments
    graph = after(arguments, "-filter_complex" if scores_an_encode else "-lavfi")
    if "-b:v" in arguments and not scores_an_encode:
        pathlib.Path(arguments[-1]).write_bytes(b"clip")
    if "QC_DRIVER_TRACE" in os.environ:
        largest = 10**7 if "hwdownload,format=nv12" in arguments else 2304
        write(os.environ["QC_DRIVER_TRACE"], {"host_to_device": {"largest": 4096}, "device_to_host": {"largest": largest}, "graph_launches": 5})
    renditions = int((re.findall(r"renditions=(\d+)", graph) or [1])[0])
    for log, k in itertools.product(re.findall(r"log_path=([^:,]+)", graph), range(renditions)):
        write(log.replace(".json", f".rendition{k}.json") if k else log,
              {"complete": True, "frames": [{"metrics": {"psnr_y": 30, "vmaf": 90}}] * FRAMES})
    if "key=main" in graph:  # a frame is held until the next one comes
        print("main=1\nreference=1\n" + "main=1\nreference=1\nout=1\n" * FRAMES)
    for _ in range(arguments.count("-hwaccel")):
        print("distorted: input 0 (x), 1920x1080 cuda/nv12")
    print(f"frame= {after(arguments, '-frames:v', '100')} \nVMAF score: 90")


def fake_check_test(arguments):
    for argument in arguments:
        if argument.startswith("--gtest_output=json:"):
            write(argument.split(":", 1)[1], {"testsuites": [{"name": "Check", "testsuite": [{"name": "All", "time": "1s"}]}]})
    print("[  PASSED  ] 1 test.")


def fake_quality_bench(arguments):
    if "-j" not in arguments:
        return print("2 right, 0 wrong, 0 failed")
    lists = [after(arguments, option, default).split(",") for option, default in (("-m", "vmaf"), ("-b", "16"))]
    write(after(arguments, "-j"), [{"metrics": metrics, "batch": int(batch), "us_per_pair_median": 1.5 if metrics == "all" else 1.0}
                                   for metrics, batch in itertools.product(*lists)])
    return print(f"{after(arguments, '-r')} repetitions of {after(arguments, '-d')} s")


def fake_compute_sanitizer(arguments):
    write(after(arguments, "--log-file"), "ERROR SUMMARY: 0 errors")
    print("[  PASSED  ] 1 test.")


def fake_nvidia_smi(arguments):
    several = (pathlib.Path(sys.argv[0]).parent / "several").exists()
    print("551" if "memory.used" in " ".join(arguments) else "\n".join(["Fake GPU, 1.0, 16384"] * (2 if several else 1)))


if __name__ == "__main__":
    program = pathlib.Path(sys.argv[0]).name.replace("-", "_")
    if "FAKE_GPU_LOG" in os.environ and "CUDA_VISIBLE_DEVICES" in os.environ and program != "nvidia_smi":
        with open(os.environ["FAKE_GPU_LOG"], "a", encoding="utf-8") as file:
            file.write(f"{program} {os.environ['CUDA_VISIBLE_DEVICES']}\n")
    globals()[f"fake_{program}"](sys.argv[1:])
