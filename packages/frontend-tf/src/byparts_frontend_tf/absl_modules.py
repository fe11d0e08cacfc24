"""`absl` for programs that are run as they are: TensorFlow 1's flags are absl's, and here ours.

A program that defines flags by `absl.flags` and starts by `tf.app.run`, or the other way round,
has one command line.  What ours has not is taken from an absl that is installed.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from byparts_frontend_tf.symbols import named


def install_absl() -> None:
    """Let programs import `app`, `flags` and `logging` of `absl`."""
    installed = find_spec("absl") is not None
    package = import_module("absl") if installed else ModuleType("absl")
    if not installed:
        package.__path__ = []
        sys.modules["absl"] = package
    for name in ("app", "flags", "logging"):
        theirs = import_module(f"absl.{name}") if installed else None
        made = _Module(f"absl.{name}", theirs)
        sys.modules[made.__name__] = made
        setattr(package, name, made)


class _Module(ModuleType):
    """A module of absl: our names, then those of an installed absl, then of a Python logger."""

    def __init__(self, name: str, theirs: ModuleType | None) -> None:
        super().__init__(name, f"TensorFlow's tf.{name.removeprefix('absl.')}.")
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        area = self.__name__.removeprefix("absl.")
        if name.startswith("__"):
            raise AttributeError(name)
        if (area, name) == ("app", "UsageError"):
            return ValueError
        try:
            return named(f"{area}.{name}")
        except AttributeError:
            found = getattr(self._theirs, name, None)
            if found is None and area == "logging":
                found = getattr(logging.getLogger("tensorflow"), name, None)
            if found is None:
                raise
            return found
