"""The emitters that a test of compiled code runs with."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

_MISSING = {
    "c": (not any(map(shutil.which, ("g++", "clang++", "c++"))), "no C++ compiler on the path"),
    "llvm": (find_spec("llvmlite") is None, "llvmlite is not installed"),
}
each_emitter = pytest.mark.parametrize(
    "emitter",
    [
        pytest.param(name, marks=pytest.mark.skipif(missing, reason=why))
        for name, (missing, why) in _MISSING.items()
    ],
)
all_emitters = pytest.mark.skipif(
    any(missing for missing, _ in _MISSING.values()),
    reason=", ".join([why for missing, why in _MISSING.values() if missing]),
)
c_emitter = pytest.mark.skipif(_MISSING["c"][0], reason=_MISSING["c"][1])
