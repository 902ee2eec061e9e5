# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A real Slurm of several nodes on this machine, for tests; and programs that only take notes of how Slurm was asked."""

import fcntl
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from workbench import COMMAND, FFMPEG, ROOT, TIMEOUT_SECONDS, folder

STARTER = pathlib.Path(os.environ.get("QC_SHARED", ROOT.parent / "shared")) / "cluster/slurm-on-one-machine"
NODES = 3
PORT = 16817
PROGRAMS = ("sbatch", "squeue", "scontrol", "scancel", "sinfo", "slurmctld", "slurmd", "munged")


def wait_for_other_suites(test):
    """All clusters of tests have the same ports: until the end of a class of tests no other process has one."""
    lock = open(STARTER, "rb")  # pylint: disable=consider-using-with
    test.addClassCleanup(lock.close)
    fcntl.flock(lock, fcntl.LOCK_EX)


def why_not():
    """Why there can be no cluster; empty: there can."""
    if not STARTER.exists():
        return f"no {STARTER.name} in shared/cluster (QC_SHARED names shared)"
    missing = [name for name in PROGRAMS if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]
    if missing:
        return f"no {' '.join(missing)} (apt-get install slurm-wlm munge)"
    if os.geteuid() != 0:
        return "slurm-on-one-machine needs root"
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            return f"port {PORT} is another Slurm's"
    return ""


class Cluster:
    """One, from start() to stop()."""

    def __init__(self):
        self.place = folder() / "slurm"
        self.environment = {**os.environ, "SLURM_CONF": str(self.place / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def start(self):
        subprocess.run([STARTER, "start", self.place, str(NODES)], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=TIMEOUT_SECONDS, check=True)

    def stop(self):
        self.tell("scancel", "--user=root", check=False)
        for process in self.processes():
            kill(process)
        daemons = [path.read_text().strip() for path in self.place.glob("*.pid")]
        subprocess.run([STARTER, "stop", self.place], env=self.environment, timeout=TIMEOUT_SECONDS, check=False)
        end = time.monotonic() + 20
        while any(pathlib.Path("/proc", daemon).exists() for daemon in daemons) and time.monotonic() < end:
            time.sleep(0.2)  # they write until they end

    def tell(self, *arguments, check=True):
        return subprocess.run([*map(str, arguments)], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                              check=check).stdout

    def processes(self, node=None):
        """What jobs of this cluster run, and who looks after it."""
        found = set()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "environ").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):
                continue
            if f"SLURM_CONF={self.place}/slurm.conf".encode() not in words or not any(word.startswith(b"SLURM_JOB_ID=") for word in words):
                continue
            if node is not None and f"SLURMD_NODENAME={node}".encode() not in words:
                continue
            found.add(int(entry.name))
            try:
                if pathlib.Path(f"/proc/{parent}/comm").read_text().strip() == "slurmstepd":
                    found.add(parent)
            except OSError:
                pass
        return found

    def lose(self, node):
        """The machine is gone, with all that ran on it."""
        subprocess.run([STARTER, "kill-node", self.place, node.removeprefix("n")], env=self.environment, check=True)
        for process in self.processes(node):
            kill(process)

    def mend(self, node):
        self.tell("slurmd", "-N", node)

    def hurry(self):
        """What is queued again waits for two minutes, by Slurm's own rule: not here."""
        for line in self.tell("squeue", "--noheader", "--array", "--states=PD", "--format=%i %r").splitlines():
            job, reason = line.split(" ", 1)
            if reason == "BeginTime":
                self.tell("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)

    def nodes_at_work(self):
        return sorted(set(self.tell("squeue", "--noheader", "--states=R", "--format=%N").split()))


class OnCluster(unittest.TestCase):
    """Tests that share a cluster; SKIPPED where there can be none."""

    @classmethod
    def setUpClass(cls):
        if STARTER.exists():
            wait_for_other_suites(cls)
        reason = why_not()
        if reason:
            raise unittest.SkipTest("SKIPPED: " + reason)
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def ffmpeg_that(place, what):
    """An ffmpeg that does something first where it scores a part. @param what lines for a shell, "$*" are its arguments"""
    program = place / "ffmpeg"
    program.write_text(f'#!/bin/bash\nif [[ "$*" == *record=*rate=* || "$*" == *rate=*record=* ]]; then\n{what}\nfi\nexec {FFMPEG} "$@"\n')
    program.chmod(0o755)
    probe = place / "ffprobe"
    if not probe.is_symlink():
        probe.symlink_to(FFMPEG.with_name("ffprobe"))
    return program


#: Takes notes and answers; what it answers is the files' of $STAND_IN.
STAND_IN = """#!/usr/bin/env python3
import json, os, pathlib, sys
place = pathlib.Path(os.environ["STAND_IN"])
name = pathlib.Path(sys.argv[0]).name
calls = place / "calls.json"
notes = json.loads(calls.read_text()) if calls.exists() else []
notes.append([name, *sys.argv[1:]])
calls.write_text(json.dumps(notes))
refused = place / f"{name}.refuses"
if refused.exists():
    sys.exit(refused.read_text())
answer = place / f"{name}.answers"
print(answer.read_text() if answer.exists() else 100 + len([each for each in notes if each[0] == name]))
"""


def stand_in(place, **answers):
    """@return the environment in which Slurm's commands are stand-ins"""
    programs = place / "slurm"
    programs.mkdir()
    for name in ("sbatch", "squeue", "scontrol", "scancel", "sinfo"):
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    for name, text in {"sinfo": "(null)\n", "scontrol": "MaxArraySize            = 1001\n", **answers}.items():
        (programs / f"{name}.answers").write_text(text)
    return {"PATH": f"{programs}:{os.environ['PATH']}", "STAND_IN": str(programs)}


def start_command(environment, *arguments):
    return subprocess.Popen([COMMAND, *map(str, arguments)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
