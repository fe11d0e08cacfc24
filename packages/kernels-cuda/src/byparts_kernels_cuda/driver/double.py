"""A double of the driver: the functions of `FUNCTIONS`, with their names and arguments, in Python.

It stands where the library stands: each attribute is a function pointer of ctypes, so whatever the
caller hands over goes through C as it would to the driver.  Its GPUs are memory of the host, its
kernels were made by a C compiler from the very functions of tensor-ir that become CUDA.  It does
work as late as a GPU may, refuses what a GPU refuses, and more: a write beyond a block, arguments
that overlap, handles of another GPU.

Args of `Double` and its attributes serve tests: what to refuse, and what is still alive.
"""

from __future__ import annotations

import os
from collections import Counter
from ctypes import CFUNCTYPE, c_int
from functools import partial
from threading import RLock
from typing import Any

from byparts_kernels_cuda.driver.double_kernels import Fault
from byparts_kernels_cuda.driver.double_machine import Machine
from byparts_kernels_cuda.driver.errors import NOT_INITIALIZED, STICKY
from byparts_kernels_cuda.driver.functions import FUNCTIONS

_GIVE_BACK = {name for name in FUNCTIONS if "Free" in name or "Destroy" in name}
_ANSWERS = ("cuGetErrorName", "cuGetErrorString")  # also of a GPU that is lost


class Double:
    """Function pointers by the names of the driver.

    Args:
        devices: how many GPUs there are.
        memory_bytes: of each.

    Attributes:
        machine: the state.
        counts: how often each function was called.
        log: the names in order, where it is a list.
    """

    def __init__(self, devices: int = 2, memory_bytes: int = 64 << 30) -> None:
        self.machine = Machine(devices, memory_bytes)
        self.counts: Counter[str] = Counter()
        self.log: list[str] | None = None
        self._refused: dict[str, tuple[range, int]] = {}
        self._lock, self._process = RLock(), os.getpid()
        self._within, self._late = False, list[Any]()

    def refuse(self, name: str, nth: int = 1, status: int = 999, times: int = 1) -> None:
        """Let the nth call of a function from now on fail, and more, before they do anything."""
        first = self.counts[name] + nth
        self._refused[name] = (range(first, first + times), status)

    def accept(self) -> None:
        """No call that was not made yet is told to fail."""
        self._refused.clear()

    def alive(self) -> Counter[str]:
        """Count the objects of each kind that were made and not given back."""
        return self.machine.alive()

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(name)
        types = FUNCTIONS[name]

        def call(*arguments: Any) -> int:
            with self._lock:
                return self._outermost(name, arguments)

        function = CFUNCTYPE(c_int, *types)(call)
        setattr(self, name, function)
        return function

    def _outermost(self, name: str, arguments: tuple[Any, ...]) -> int:
        """Call a function; what the collector of garbage gives back meanwhile comes after it."""
        if self._within:
            if name in _GIVE_BACK:
                self._late.append((self.machine.device(), name, arguments))
                return 0
            return self._status(name, arguments)
        self._within = True
        try:
            status = self._status(name, arguments)
            while self._late:
                device, *call = self._late.pop()
                self.machine.within(device, partial(self._status, *call))
            return status
        finally:
            self._within = False

    def _status(self, name: str, arguments: tuple[Any, ...]) -> int:
        self.counts[name] += 1
        if self.log is not None:
            self.log.append(name)
        if os.getpid() != self._process:
            return NOT_INITIALIZED
        calls, status = self._refused.get(name, ((), 0))
        if self.counts[name] in calls:
            return self._failed(status, f"{name} was told to fail")
        try:
            if name not in _ANSWERS:
                self.machine.check(name)
            getattr(self.machine, name)(*arguments)
        except Fault as fault:
            return self._failed(fault.status, str(fault))
        except Exception as error:  # ctypes would print it and go on
            return self._failed(999, f"{type(error).__name__} in the double: {error}")
        return 0

    def _failed(self, status: int, words: str) -> int:
        self.machine.words[status] = words
        if status in STICKY:
            self.machine.lose(status, words)
        return status
