# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Reads packaging/Containerfile, of which only a few instructions may be used: so that a test can do what a container's build does."""
import dataclasses
import json
import re

# What changes nothing in the file system.
SETTINGS = ("ARG", "ENV", "FROM", "LABEL", "WORKDIR")
MOUNT = re.compile(r"--mount=type=bind,source=(\S+),target=/packages\s+(.*)", re.DOTALL)


@dataclasses.dataclass
class Step:
    source: str  # folder of the repository that lies in /packages
    command: str


@dataclasses.dataclass
class Recipe:
    steps: list
    entry_point: list


def read(path):
    text = re.sub(r"(?m)^#.*\n", "", path.read_text(encoding="utf-8")).replace("\\\n", "")
    recipe = Recipe([], [])
    for line in filter(None, map(str.strip, text.splitlines())):
        word, rest = line.split(None, 1)
        if word == "RUN":
            mount = MOUNT.fullmatch(rest)
            if not mount:
                raise ValueError(f"{path}: RUN without the packages: {line}")
            recipe.steps.append(Step(*mount.groups()))
        elif word == "ENTRYPOINT":
            recipe.entry_point = json.loads(rest)
        elif word not in SETTINGS:
            raise ValueError(f"{path}: {word} is not known here")
    if not recipe.steps or not recipe.entry_point:
        raise ValueError(f"{path}: nothing is installed, or nothing is run")
    return recipe
