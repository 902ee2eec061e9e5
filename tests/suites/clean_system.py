# SPDX-License-Identifier: BSD-2-Clause-Patent
"""A system with nothing but its base packages, of this machine's distribution and from its own archives, in a folder."""
import os
import pathlib
import shutil
import subprocess

from other_builds import run_logged
from outcome import Outcome

# What changes by itself, or by apt's own doing.
VOLATILE = ("dev", "packages", "proc", "run", "sys", "tmp", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log")


def why_no_clean_system():
    """@return a reason, or nothing"""
    if os.geteuid() != 0:
        return "not root: debootstrap and chroot need it"
    for tool, package in (("debootstrap", "debootstrap"), ("unshare", "util-linux"), ("apt-get", "apt")):
        if not shutil.which(tool):
            return f"no {tool} (package {package}; tools/setup --packaging)"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
        return "this machine does not let root make name spaces (unshare)"
    return "" if code_name() and archives() else "apt knows no Debian or Ubuntu archive on this machine"


def code_name():
    release = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    return next((line.split("=")[1].strip('"') for line in release.splitlines() if line.startswith("VERSION_CODENAME=")), "")


def archives():
    """The distribution's archives that this machine uses: [(URI, suite, component)]."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)"],
                            capture_output=True, text=True).stdout
    words = [line.split() for line in listed.splitlines()]
    return sorted({tuple(found[1:]) for found in words if found[0] == "Packages" and ("/debian" in found[1] or "/ubuntu" in found[1])})


class CleanSystem:
    """What is run in it is run_logged()'s; a failure is one of the outcome's."""

    def __init__(self, outcome, root):
        self.outcome, self.root = outcome, root

    def install(self):
        """@return why it cannot be had"""
        release = next((archive for archive in archives() if archive[1] == code_name()), None)
        if release is None:
            return f"this machine's archives have no suite {code_name()}"
        command = ["unshare", "--mount", "debootstrap", "--variant=minbase", code_name(), self.root, release[0]]
        fetched = Outcome()  # a failure here is a reason to skip
        if not run_logged(fetched, "clean system", command):
            return f"debootstrap failed: {fetched.failed[0]}"
        lines = [f"deb {uri} {suite} {component}\n" for uri, suite, component in archives()]
        (self.root / "etc/apt/sources.list").write_text("".join(lines))
        # How this machine reaches its archives.
        settings = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout.splitlines()
        proxies = [line + "\n" for line in settings if line.startswith("Acquire::http") and "roxy" in line]
        (self.root / "etc/apt/apt.conf.d/99machine").write_text("".join(proxies))
        return "" if self.run("lists of the clean system", ["apt-get", "-q", "update"]) else "its package lists cannot be had"

    def run(self, name, command):
        """Mounts and processes end with the command. @return whether it succeeded"""
        inside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"']
        environment = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "HOME": "/root", "TMPDIR": "/tmp",
                       "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        return run_logged(self.outcome, f"clean system {name}", [*inside, self.root, *command], environment)

    @staticmethod
    def apt_install(*packages):
        return ["apt-get", "-q", "install", "-y", "--no-install-recommends", *packages]

    def copy(self, path, folder):
        (self.root / folder).mkdir(exist_ok=True)
        shutil.copy(path, self.root / folder)

    def state(self):
        """Names of all files but volatile ones, and what dpkg knows of which package."""
        found = set()
        for folder, folders, files in os.walk(self.root):
            here = pathlib.Path(folder).relative_to(self.root)
            folders[:] = [name for name in folders if str(here / name) not in VOLATILE]
            found.update(str(here / name) for name in [*folders, *files])
        status = subprocess.run(["dpkg-query", f"--admindir={self.root}/var/lib/dpkg", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"],
                                capture_output=True, text=True, check=True).stdout
        return found | set(status.splitlines())
