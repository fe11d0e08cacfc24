"""The driver as Python calls it: checked functions of the library, or of its double.

A function is one of ctypes whose result goes through a look-up in C, `{0: None}[status]`; only a
status that is not 0 runs Python, and raises.  So a call of the driver executes no Python code, and
`partial(driver.cuLaunchKernel, ...)` can be a step that Ctrl-C does not cut in two.

`BYPARTS_CUDA=emulated` puts the double in the place of the library; `checked` and `reversed` run
its kernels with a checker, or their threads in the reverse order.
"""

from __future__ import annotations

import os
from ctypes import CDLL, byref, c_char_p, c_int
from threading import Lock
from typing import Any

from byparts_graph_ir import ArgumentError
from byparts_kernels_cuda.driver.errors import DriverError, error_of
from byparts_kernels_cuda.driver.functions import FUNCTIONS

LIBRARY = "libcuda.so.1"
MODES = ("emulated", "reversed", "checked")  # of the double
_lock = Lock()
_known: dict[str, Driver] = {}


class Driver:
    """The functions of `FUNCTIONS` as attributes; each raises where its status is not 0.

    Args:
        library: has functions of these names: a `ctypes.CDLL`, or a `Double`.
        mode: "" for a GPU, else one of `MODES`: how kernels of the double are compiled.

    Raises:
        DriverError: from each function; `DeviceLost` where nothing works any more.
    """

    def __init__(self, library: Any, mode: str = "") -> None:
        self.library, self.mode = library, mode
        for name, types in FUNCTIONS.items():
            function = getattr(library, name)
            function.argtypes = types
            function.restype = _Statuses(self, name).__getitem__
            setattr(self, name, function)
        self.cuInit(0)

    def __getattr__(self, name: str) -> Any:  # for the type checker: `__init__` sets them
        raise AttributeError(name)

    def number(self, function: str, *arguments: Any) -> int:
        """Call a function and return the int that it writes to its first argument."""
        number = c_int()
        getattr(self, function)(byref(number), *arguments)
        return number.value

    def describe(self, status: int) -> tuple[str, str]:
        """The driver's name of a status, and its words."""
        texts = []
        for function in ("cuGetErrorName", "cuGetErrorString"):
            text = c_char_p()
            try:
                getattr(self, function)(status, byref(text))
            except DriverError:
                texts.append("unknown")
            else:
                texts.append((text.value or b"unknown").decode())
        return texts[0], texts[1]


class _Statuses(dict[int, None]):
    """0 -> None; any other status raises the error of a function."""

    def __init__(self, driver: Driver, name: str) -> None:
        super().__init__({0: None})
        self.driver, self.name = driver, name

    def __missing__(self, status: int) -> None:
        known = self.name not in ("cuGetErrorName", "cuGetErrorString")
        words = self.driver.describe(status) if known else ("", "")
        raise error_of(self.name, status, *words)


def driver() -> Driver:
    """The driver of this process, or its double.

    Raises:
        RuntimeError: there is no driver on this machine.
        ArgumentError: `BYPARTS_CUDA` is none of `MODES`.
        DriverError: it does not start.
    """
    mode = os.environ.get("BYPARTS_CUDA", "")
    if mode and mode not in MODES:
        raise ArgumentError(f"BYPARTS_CUDA={mode}: one of {', '.join(MODES)}, or unset for a GPU")
    with _lock:
        known = _known.get(mode)
        if known is None:
            known = _known[mode] = Driver(_library(mode), mode)
        return known


def _library(mode: str) -> Any:
    if mode:
        from byparts_kernels_cuda.driver.double import Double  # not where there is a GPU

        return Double()
    try:
        return CDLL(LIBRARY)
    except OSError:
        raise RuntimeError(
            f"no NVIDIA driver on this machine ({LIBRARY} is not found); "
            "BYPARTS_CUDA=emulated runs the kernels on the CPU"
        ) from None
