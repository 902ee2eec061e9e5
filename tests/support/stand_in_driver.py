# SPDX-License-Identifier: BSD-2-Clause-Patent
"""The driver that is not there (tests/device/stand_in.hpp) and the programs of the build, for tests of scripts and tools."""

import os
import shutil
import subprocess
import unittest

from support.metrics import build_folder

LIBRARY = "tests/device/libcuda.so.1"


def build(*programs):
    """Builds the driver and programs, each a path in the build folder. Returns that folder; skips a test class without one."""
    folder = build_folder()
    if shutil.which("ninja") is None or not (folder / "build.ninja").exists():
        raise unittest.SkipTest("SKIPPED: no build folder to build the driver in")
    targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True, check=False)
    if f"{LIBRARY}:" not in targets.stdout:
        raise unittest.SkipTest("SKIPPED: this build has no CUDA backend")
    subprocess.run(["ninja", "-C", folder, LIBRARY, *programs], capture_output=True, check=True)
    return folder


def environment(folder, **more):
    """Under which programs find the driver."""
    return dict(os.environ, LD_LIBRARY_PATH=str((folder / LIBRARY).parent), **more)
