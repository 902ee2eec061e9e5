# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The tarball and the Debian packages: built, checked, used and removed. A suite of run_suites.py that takes long: it runs with
--all."""
import json
import os
import pathlib
import shutil
import tempfile

import container_recipe
from clean_system import CleanSystem, why_no_clean_system
from other_builds import KERNELS, WITHOUT_CUDA, run_logged
from outcome import BUILD, FFMPEG, ROOT, Outcome

PACKAGES = BUILD / "packages"
BUILDER = ("dpkg-buildpackage", "dh", "meson")
# What a run of the filter scores: the same two clips for the packages' programs and those of build/.
CLIP = "testsrc2=s=192x176:r=25:d=1,{}format=yuv420p"
GRAPH = "[0:v][1:v]quality_cuda=metrics=vmaf|psnr|ssim:backend=cpu:log_path={}"


def packages(level):
    outcome = Outcome()
    reason = "with tools/test --all only" if level != "all" else missing_tool()
    if reason:
        outcome.skip("packages", reason)
    elif build_packages(outcome):
        build_tarball(outcome)
        check_with_lintian(outcome)
        build_against_library(outcome)
        use_in_clean_system(outcome)
    return outcome


def missing_tool():
    missing = [name for name in BUILDER if not shutil.which(name)]
    return f"no {missing[0]} (tools/setup --packaging)" if missing else ""


def build_packages(outcome):
    """From what is committed, with the kernels of the main build. No git repository is seen from the package's source tree."""
    command = [ROOT / "tools/build-packages", "--no-packages", "--lean"]
    if any(KERNELS.glob("*.fatbin")):
        command += ["--compiled-kernels", KERNELS]
    if not run_logged(outcome, "packages build", command, {"GIT_CEILING_DIRECTORIES": str(PACKAGES)}):
        return False
    outcome.passed += 1
    return True


def the_package(name):
    found = list(PACKAGES.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise FileNotFoundError(f"{name}: expected one package in {PACKAGES}, found {len(found)}")
    return found[0]


# ---- tarball --------------------------------------------------------------------------------------------------------


def build_tarball(outcome):
    """Elsewhere, without git, as one who has downloaded it: all that is installed, and the installed patch tool finds its files."""
    with tempfile.TemporaryDirectory(prefix="qc-tarball-") as name:
        folder = pathlib.Path(name)
        no_git = folder / "bin/git"
        no_git.parent.mkdir()
        no_git.write_text("#!/bin/sh\necho git is used >&2\nexit 1\n")
        no_git.chmod(0o755)
        environment = {"PATH": f"{no_git.parent}:{os.environ['PATH']}", "DESTDIR": str(folder / "root")}
        (folder / "source").mkdir()
        tarball = next(PACKAGES.glob("quality-cuda_*.orig.tar.xz"))
        # Configured once as it is by default, then with what is quick to compile.
        steps = [("unpack", ["tar", "-C", folder / "source", "--strip-components=1", "-xf", tarball]),
                 ("setup", ["meson", "setup", *WITHOUT_CUDA, folder / "default", folder / "source"]),
                 ("setup without tests", ["meson", "setup", *WITHOUT_CUDA, "-Dtests=false", "--prefix=/usr", folder / "build",
                                          folder / "source"]),
                 ("compile", ["meson", "compile", "-C", folder / "build"]),
                 ("install", ["meson", "install", "-C", folder / "build", "--no-rebuild"]),
                 ("patch tool", [folder / "root/usr/bin/quality-cuda-patch-ffmpeg", "--help"]),
                 ("filter's files", ["test", "-e", folder / "root/usr/share/quality-cuda/filter/vf_quality_cuda.c"])]
        for step, command in steps:
            if not run_logged(outcome, f"tarball {step}", command, environment, folder):
                return
    outcome.passed += 1


# ---- what the packages hold -----------------------------------------------------------------------------------------


def check_with_lintian(outcome):
    if not shutil.which("lintian"):
        outcome.skip("lintian", "no lintian (tools/setup --packaging)")
        return
    changes = next(PACKAGES.glob("*.changes"))
    if run_logged(outcome, "lintian", ["lintian", "--allow-root", "--fail-on", "error", changes]):
        outcome.passed += 1


def build_against_library(outcome):
    """The example program of the development package, against that package and the library's."""
    with tempfile.TemporaryDirectory(prefix="qc-dev-") as name:
        root = pathlib.Path(name)
        for package in ("libquality-cuda5", "libquality-cuda-dev"):
            if not run_logged(outcome, f"unpack {package}", ["dpkg-deb", "-x", the_package(package), root]):
                return
        folder = next(root.glob("usr/lib/*/pkgconfig"))
        environment = {"PKG_CONFIG_LIBDIR": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(root), "LD_LIBRARY_PATH": str(folder.parent)}
        example = root / "usr/share/doc/libquality-cuda-dev/examples/score_yuv.c"
        compile_it = f"gcc '{example}' $(pkg-config --cflags --libs quality_cuda) -o '{root}/score_yuv'"
        if run_logged(outcome, "example of the development package", ["sh", "-c", compile_it], environment) \
                and run_logged(outcome, "symbols of the library", ["sh", "-c", f"ldd -r '{root}/score_yuv' 2>&1 | grep -vz undefined"],
                               environment):
            outcome.passed += 1


# ---- in a clean system ----------------------------------------------------------------------------------------------


def use_in_clean_system(outcome):
    name = "packages in a clean system"
    reason = why_no_clean_system()
    if reason:
        outcome.skip(name, reason)
        return
    with tempfile.TemporaryDirectory(prefix="qc-system-", dir=BUILD) as folder:
        system = CleanSystem(outcome, pathlib.Path(folder) / "root")
        reason = system.install()
        if reason:
            outcome.skip(name, reason)
            return
        # Beside the distribution's, which must not notice.
        if not system.run("distribution's ffmpeg", system.apt_install("ffmpeg", "bash-completion")):
            return
        before = system.state()
        for package in PACKAGES.glob("*.deb"):
            system.copy(package, "packages")
        if install_packages(outcome, system) and use_packages(outcome, system):
            outcome.passed += 1
        remove_packages(outcome, system, before)


def install_packages(outcome, system):
    """As the container's recipe does, step by step, then the packages that a container does not need."""
    recipe = container_recipe.read(ROOT / "packaging/Containerfile")
    for number, step in enumerate(recipe.steps, 1):
        if step.source != str(PACKAGES.relative_to(ROOT)):
            outcome.failed.append(f"Containerfile: step {number} takes files from {step.source}, the packages are in {PACKAGES}")
            return False
        if not system.run(f"Containerfile step {number}", ["sh", "-c", step.command]):
            return False
    clip = ["-v", "error", "-f", "lavfi", "-i", CLIP.format(""), "-f", "null", "-"]
    return system.run("Containerfile entry point", [*recipe.entry_point, *clip]) \
        and system.run("package lists", ["apt-get", "update"]) \
        and system.run("other packages", ["sh", "-c", "apt-get install -y --no-install-recommends /packages/*.deb"])


def score(name, run, program, log):
    """@param run  called with a name and a command line"""
    inputs = [word for picture in ("boxblur=2,", "") for word in ("-f", "lavfi", "-i", CLIP.format(picture))]
    return run(f"scores of {name}", [program, "-nostdin", *inputs, "-lavfi", GRAPH.format(log), "-f", "null", "-"])


def scores(log):
    read = json.loads(log.read_text())
    return read["frames"], read["pooled_metrics"]


def use_packages(outcome, system):
    path = "PATH=/usr/lib/quality-cuda/bin:$PATH"
    commands = [
        ("distribution's ffmpeg is untouched", "dpkg -V ffmpeg && ffmpeg -version && ! ffmpeg -filters 2>&1 | grep quality_cuda"),
        ("plain name", f"{path}; ffmpeg -hide_banner -filters 2>&1 | grep ' quality_cuda '"),
        ("ffprobe", "ffprobe-quality-cuda -version"),
        ("quality_bench", "quality_bench --backend cpu --size 64x64 --repetitions 1 --seconds 0.01"),
        ("patch tool", "quality-cuda-patch-ffmpeg --help"),
        ("every command has a manual page", "dpkg -L $(dpkg-query -W -f '${Package} ' '*quality-cuda*') > /tmp/files; "
         "for program in $(sed -n 's,^/usr/bin/,,p' /tmp/files); do grep -x \"/usr/share/man/man1/$program.1.gz\" /tmp/files || exit; done"),
        ("completion", "bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader quality_bench; complete -p quality_bench'"),
    ]
    good = all([system.run(name, ["bash", "-c", command]) for name, command in commands])
    if not score("ffmpeg-quality-cuda", system.run, "ffmpeg-quality-cuda", "/tmp/log.json"):
        return False
    if not FFMPEG.exists():
        outcome.skip("scores of ffmpeg-quality-cuda are those of build/ffmpeg", "no build/ffmpeg/bin/ffmpeg (tools/setup)")
        return good
    with tempfile.TemporaryDirectory(prefix="qc-scores-") as folder:
        log = pathlib.Path(folder) / "log.json"
        if not score("build", lambda name, command: run_logged(outcome, name, command), FFMPEG, log):
            return False
        if scores(log) != scores(system.root / "tmp/log.json"):
            outcome.failed.append("ffmpeg-quality-cuda: its scores are not those of build/ffmpeg")
            return False
    return good


def remove_packages(outcome, system, before):
    """What purging leaves: nothing."""
    names = [package.name.split("_")[0] for package in PACKAGES.glob("*.deb")]
    if not system.run("purge", ["apt-get", "purge", "-y", "--autoremove", *names]):
        return
    shutil.rmtree(system.root / "packages")
    left = sorted(system.state() ^ before)
    if left:
        print("   " + "\n   ".join(left[:40]))
        outcome.failed.append(f"purge: {len(left)} differences to the system before, first {left[0]}")
    else:
        outcome.passed += 1
