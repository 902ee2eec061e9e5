# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The engine and the filter built otherwise than they are installed: by clang, under sanitizers, and for arm64. Suites of
run_suites.py; the last two take long and run with --all."""
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time

from meson_tests import run_meson_tests
from outcome import BUILD, FFMPEG, ROOT, Outcome, run_reporting_script

WITHOUT_CUDA = ["-Dcuda=disabled"]
SLOW_TESTS = 20  # times as long as meson.build allows: a sanitizer watches every access, an emulator computes
KERNELS = BUILD / "kernels"
SOURCE = BUILD / "ffmpeg-build/src"  # FFmpeg's configure leaves this link


def run_logged(outcome, name, command, environment=None, folder=ROOT):
    """Keeps the output in build/logs; a failure is one of the outcome's. @return whether it succeeded"""
    log, start = BUILD / f"logs/{name.replace(' ', '-')}.log", time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.run([str(word) for word in command], cwd=folder, env={**os.environ, **(environment or {})},
                                stdout=file, stderr=subprocess.STDOUT).returncode
    outcome.durations.append((time.monotonic() - start, name))
    if status != 0:
        outcome.failed.append(f"{name}: ended with {status}; the output is in {log.relative_to(ROOT)}")
    return status == 0


def configure(outcome, name, build, options, environment=None):
    again = ["--reconfigure"] if (build / "build.ninja").exists() else []  # metrics' folders may hold new files
    return run_logged(outcome, f"{name} setup", ["meson", "setup", *again, "-Dbench=false", *options, build, ROOT], environment)


def cuda_options():
    """The CUDA backend's host code is built anew, to run on the stand-in driver; its kernels for GPUs are those of the main build."""
    return ["-Dcuda=enabled", f"-Dcompiled_kernels={KERNELS}"] if any(KERNELS.glob("*.fatbin")) else WITHOUT_CUDA


# ---- clang ----------------------------------------------------------------------------------------------------------

CLANG = BUILD / "clang"
PROGRAMS = ["cli/quality-cuda", "tests/score_bits", "docs/man/quality_cuda.7"]  # beside the tests: what is installed, too
CHOSEN_TESTS = ["--suite", "unit", "--no-suite", "long"]


def clang(level):
    """The engine with all metrics, run/ and cli/ with their tests, hardly optimised: what clang makes of them, not how fast it is."""
    outcome, reason = Outcome(), ""
    if level == "quick":
        reason = "not part of --quick"
    elif not shutil.which("clang") or not shutil.which("clang++"):
        reason = "clang is not installed (tools/setup --fuzz)"
    if reason:
        outcome.skip("clang", reason)
        return outcome
    cached = ["ccache"] if shutil.which("ccache") else []
    environment = {"CC": " ".join([*cached, "clang"]), "CXX": " ".join([*cached, "clang++"])}
    if configure(outcome, "clang", CLANG, [*WITHOUT_CUDA, "-Doptimization=1"], environment):
        outcome.add(run_meson_tests(CLANG, "clang", options=CHOSEN_TESTS, targets=[*PROGRAMS, *chosen_programs(CLANG)]))
        compare_bits(outcome, "scores of clang's build are those of this one", CLANG)
    return outcome


def chosen_programs(build):
    """What the chosen tests run, and what that needs."""
    def told(what):
        return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, text=True, check=True).stdout)

    tests = [test for test in told("--tests") if "quality_cuda:unit" in test["suite"] and "quality_cuda:long" not in test["suite"]]
    needed = {name for test in tests for name in test["depends"]}
    files = [file for target in told("--targets") if target["id"] in needed for file in target["filename"]]
    return sorted({os.path.relpath(file, build) for file in files + [test["cmd"][0] for test in tests]})


# ---- sanitizers -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Sanitizer:
    name: str
    runtime: str
    flags: str
    environment: dict  # what makes a finding a failure


SANITIZERS = [
    Sanitizer("address", "libasan.so", "address,undefined", {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}),
    Sanitizer("thread", "libtsan.so", "thread",
              {"TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={ROOT / 'tests/suites/thread_sanitizer.supp'}"}),
]


def sanitizers(level):
    outcome = Outcome()
    for sanitizer in SANITIZERS:
        if level != "all":
            outcome.skip(f"sanitizer {sanitizer.name}", "with tools/test --all only")
            continue
        build = BUILD / f"sanitize-{sanitizer.name}"
        # Without optimisation the emulated kernels take for ever; -O1 keeps what a sanitizer tells readable.
        options = [*cuda_options(), f"-Db_sanitize={sanitizer.flags}", "-Db_lundef=false", "-Doptimization=1", "-Ddebug=true"]
        if configure(outcome, f"sanitizer {sanitizer.name}", build, options):
            outcome.add(run_meson_tests(build, f"sanitizer {sanitizer.name}", options=["--timeout-multiplier", str(SLOW_TESTS)],
                                        environment=sanitizer.environment))
            outcome.add(filter_under(sanitizer, build))
    return outcome


def filter_under(sanitizer, build):
    """
    tests/filter with the filter's own files and the engine instrumented; the rest of FFmpeg is as it was built. But where
    threads are watched: they hand memory over by atomic counts, which are seen only where they are instrumented.
    """
    outcome, name = Outcome(), f"filter under {sanitizer.name}"
    if not FFMPEG.exists():
        outcome.skip(name, "no build/ffmpeg/bin/ffmpeg (tools/setup)")
        return outcome
    instrumented = build / "ffmpeg"
    if not run_logged(outcome, f"{name} engine", ["meson", "compile", "-C", build, "quality_cuda"]):
        return outcome
    shutil.rmtree(instrumented, ignore_errors=True)
    shutil.copytree(BUILD / "ffmpeg-build", instrumented, symlinks=True, copy_function=os.link)
    flag, whole = f"-fsanitize={sanitizer.flags}", sanitizer.name == "thread"
    stale = ["**/*.o", "**/*.a"] if whole else ["libavfilter/*quality_cuda.*", "libavfilter/quality_cuda/*", "libavfilter/libavfilter.*"]
    for file in [path for pattern in [*stale, "ff*_g", "ffmpeg", "ffprobe"] for path in instrumented.glob(pattern) if path.is_file()]:
        file.unlink()
    command = ["make", "-C", instrumented, "-j", os.environ.get("QC_JOBS", str(os.cpu_count())), f"LD=gcc {flag}",
               *([f"CC=gcc {flag} -g1"] if whole else []), f"QUALITY_CUDA_CFLAGS={flag} -g", "ffmpeg", "ffprobe"]
    if not run_logged(outcome, f"{name} build", command, {"LD_RUN_PATH": str(build / "engine")}):
        return outcome
    for program in ("ffmpeg", "ffprobe"):
        (instrumented / f"{program}_g").replace(instrumented / program)  # not stripped: findings and suppressions have names
    runtime = subprocess.run(["gcc", f"-print-file-name={sanitizer.runtime}"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {**sanitizer.environment, "QC_FFMPEG": str(instrumented / "ffmpeg"), "QC_FFPROBE": str(instrumented / "ffprobe"),
                   "QC_SANITIZER_RUNTIME": runtime}
    outcome.add(run_reporting_script(name, [sys.executable, "tests/suites/run_suites.py", "filter"], environment))
    return outcome


# ---- arm64 ----------------------------------------------------------------------------------------------------------

ARM64 = BUILD / "arm64"
TRIPLET = "aarch64-linux-gnu"
EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")


def arm64(level):
    """Cross-built, run by an emulator: its own tests, and the same bits as here."""
    outcome = Outcome()
    reason = "with tools/test --all only" if level != "all" else missing_for_arm64()
    if not reason:
        reason = fetch_libraries(outcome)
    if reason:
        outcome.skip("arm64", reason)
        return outcome
    write_cross_file()
    options = [*WITHOUT_CUDA, "--cross-file", str(ARM64 / "cross.ini"), f"--prefix={ARM64 / 'dist'}", "--libdir=lib"]
    if configure(outcome, "arm64", ARM64 / "engine", options):
        compare_bits(outcome, "arm64 scores are those of this machine", ARM64 / "engine", emulator())
        compare_logs(outcome)
        outcome.add(run_meson_tests(ARM64 / "engine", "arm64", options=["--timeout-multiplier", str(SLOW_TESTS)]))
    return outcome


def emulator():
    """Command line of the emulator, without what it is to run; None if there is none."""
    found = [path for name in EMULATORS if (path := shutil.which(name))]
    return [found[0], "-L", f"/usr/{TRIPLET}"] if found else None


def missing_for_arm64():
    if not shutil.which(f"{TRIPLET}-g++"):
        return f"no {TRIPLET}-g++ (tools/setup --arm64)"
    return "" if emulator() else "no qemu-aarch64 (tools/setup --arm64)"


def fetch_libraries(outcome):
    """What the tests link, from the distribution, unpacked into build/arm64/root: nothing is installed. @return why it cannot be had"""
    root, state = ARM64 / "root", ARM64 / "apt"
    if (root / "complete").exists():
        return ""
    shutil.rmtree(root, ignore_errors=True)
    for folder in (root, state / "lists/partial", state / "cache/archives/partial", state / "packages"):
        folder.mkdir(parents=True, exist_ok=True)
    (state / "apt.conf").write_text(f'APT::Architecture "arm64";\nAPT::Architectures {{ "arm64"; }};\nDir::State::Lists "{state}/lists";\n'
                                    f'Dir::Cache "{state}/cache";\nDir::State::status "/dev/null";\n')
    environment = {"APT_CONFIG": str(state / "apt.conf")}
    named = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n", "libboost-context1*-dev"],
                           capture_output=True, text=True).stdout.splitlines()
    packages = ["libgtest-dev", "nlohmann-json3-dev", *[line.split()[1] for line in named if line.startswith("installed ")]]
    fetched = Outcome()  # a failure here is a reason to skip
    steps = [("lists", ["apt-get", "-q", "update"]), ("download", ["apt-get", "-q", "download", *packages])]
    for name, command in steps:
        if not run_logged(fetched, f"arm64 {name}", command, environment, state / "packages"):
            return f"the packages of {', '.join(packages)} for arm64 cannot be had"
    for package in (state / "packages").glob("*.deb"):
        if not run_logged(outcome, f"arm64 unpack {package.stem}", ["dpkg-deb", "-x", package, root]):
            return "a package cannot be unpacked"
    # Static libraries only: the emulator then needs no path to shared ones. Headers of boost are the same everywhere.
    for library in (root / f"usr/lib/{TRIPLET}").glob("*.so*"):
        library.unlink()
    (root / "usr/include/boost").symlink_to("/usr/include/boost")
    (root / "complete").touch()
    return ""


def write_cross_file():
    cached = "'ccache', " if shutil.which("ccache") else ""
    root, library = ARM64 / "root", ARM64 / f"root/usr/lib/{TRIPLET}"
    (ARM64 / "cross.ini").write_text(f"""[binaries]
c = [{cached}'{TRIPLET}-gcc']
cpp = [{cached}'{TRIPLET}-g++']
ar = '{TRIPLET}-ar'
strip = '{TRIPLET}-strip'
pkgconfig = 'pkg-config'
exe_wrapper = {emulator()}

[properties]
sys_root = '{root}'
pkg_config_libdir = ['{library}/pkgconfig', '{root}/usr/share/pkgconfig']
boost_includedir = '{root}/usr/include'
boost_librarydir = '{library}'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
""")


def compare_bits(outcome, name, build, emulated_by=()):
    """Every score of tests/check/score_bits.cpp, with all its bits, of build/ and of another build."""
    texts = []
    for folder, command in ((BUILD, []), (build, emulated_by)):
        of = f"score_bits of {folder.relative_to(ROOT)}"
        if not run_logged(outcome, of.replace("/", " "), ["ninja", "-C", folder, "tests/score_bits"]):
            return
        start = time.monotonic()
        done = subprocess.run([*command, str(folder / "tests/score_bits")], capture_output=True, text=True)
        outcome.durations.append((time.monotonic() - start, of))
        if done.returncode != 0:
            outcome.failed.append(f"{name}: {of} ended with {done.returncode}")
            return
        texts.append(done.stdout.splitlines())
    different = [f"{here} / {there.split(' ')[-1]}" for here, there in zip(*texts) if here != there]
    if different or len(texts[0]) != len(texts[1]):
        print("   " + "\n   ".join(different[:40]))
        outcome.failed.append(f"{name}: {len(different)} of {len(texts[0])} differ")
    else:
        print(f"   {len(texts[0])} scores have the same bits")
        outcome.passed += 1


def build_filter(outcome):
    """An FFmpeg for arm64 with little more than the filter. @return whether there is one"""
    build, name = ARM64 / "ffmpeg", "arm64 filter"
    engine = ARM64 / "engine"
    if not run_logged(outcome, f"{name} engine", ["meson", "compile", "-C", engine, "quality_cuda", "manual"]) \
            or not run_logged(outcome, f"{name} engine install", ["meson", "install", "-C", engine, "--no-rebuild"]):
        return False
    build.mkdir(exist_ok=True)
    flags = ["--enable-cross-compile", "--arch=aarch64", "--target-os=linux", f"--cross-prefix={TRIPLET}-", "--pkg-config=pkg-config",
             "--disable-everything", "--disable-autodetect", "--disable-doc", "--disable-debug", "--disable-programs", "--enable-ffmpeg",
             "--enable-libquality-cuda", "--enable-filter=quality_cuda", "--enable-demuxer=matroska", "--enable-decoder=ffv1",
             "--enable-muxer=null", "--enable-encoder=wrapped_avframe", "--enable-protocol=file"]
    environment = {"PKG_CONFIG_LIBDIR": str(ARM64 / "dist/lib/pkgconfig"), "LD_RUN_PATH": str(ARM64 / "dist/lib")}
    if not (build / "config.h").exists() and not run_logged(outcome, f"{name} setup", [SOURCE / "configure", *flags],
                                                           environment, build):
        return False
    jobs = os.environ.get("QC_JOBS", str(os.cpu_count()))
    return run_logged(outcome, f"{name} build", ["make", "-j", jobs, "ffmpeg"], environment, build)


def compare_logs(outcome):
    """What the filter pairs, scores and writes, here and there, of two clips with different rates in whole milliseconds."""
    name, folder = "arm64 filter does what this machine's does", ARM64 / "clips"
    if not FFMPEG.exists() or not (SOURCE / "configure").exists():
        outcome.skip(name, "no build/ffmpeg/bin/ffmpeg (tools/setup)")
        return
    if not build_filter(outcome):
        return
    folder.mkdir(exist_ok=True)
    for clip, rate, blur in (("reference", "30000/1001", "null"), ("distorted", "25", "boxblur=2")):
        command = [FFMPEG, "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s=192x176:r={rate}:d=1,{blur},format=yuv420p10le",
                   "-c:v", "ffv1", f"{clip}.mkv"]
        if not run_logged(outcome, f"arm64 clip {clip}", command, folder=folder):
            return
    found = []
    for program, machine in (([FFMPEG], "here"), ([*emulator(), ARM64 / "ffmpeg/ffmpeg"], "there")):
        graph = f"[0:v][1:v]quality_cuda=metrics=vmaf|psnr|ssim|motion:backend=cpu:log_path={machine}.json:stats_file={machine}.txt"
        command = [*program, "-nostdin", "-i", "distorted.mkv", "-i", "reference.mkv", "-lavfi", graph, "-f", "null", "-"]
        if not run_logged(outcome, f"arm64 scores {machine}", command, folder=folder):
            return
        log = json.loads((folder / f"{machine}.json").read_text())
        log.pop("fps")
        found.append((log, (folder / f"{machine}.txt").read_text()))
    if found[0] == found[1] and found[0][0]["frames"]:
        outcome.passed += 1
    else:
        outcome.failed.append(f"{name}: {folder.relative_to(ROOT)}/here.json and there.json differ")
