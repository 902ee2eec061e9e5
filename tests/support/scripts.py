# SPDX-License-Identifier: BSD-2-Clause-Patent
"""Scripts of tools/ whose names have no ending, for tests that look inside."""

import importlib.machinery
import importlib.util
import pathlib
import sys
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def load(name):
    """The script as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    with mock.patch.object(sys, "dont_write_bytecode", True):
        loader.exec_module(module)
    return module
