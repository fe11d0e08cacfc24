"""A GPU: the context that its calls are made in, and its streams.

The context is the primary one of the device, which torch uses too, so both see one memory.  The
stream is a blocking one: it waits for the stream 0, torch's default, and that for it, so programs
of both are in order without a word between them.  CUDA graphs are recorded on a stream of their own
that waits for nobody, since what a thread of torch calls must not break a recording.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from ctypes import byref, c_size_t, c_void_p
from threading import local
from typing import Any
from weakref import WeakSet

from byparts_graph_ir import GraphError
from byparts_graph_ir.fork import make_lock
from byparts_kernels_cuda.driver import functions as api
from byparts_kernels_cuda.driver.api import Driver, driver
from byparts_kernels_cuda.driver.errors import GONE, OUT_OF_MEMORY, DeviceMemoryError, DriverError
from byparts_kernels_cuda.stream_call import Told

_lock = make_lock()
_known: dict[tuple[int, int], Gpu] = {}
_here = local()  # the backends within whose contexts this thread is
_all: WeakSet[Gpu] = WeakSet()


class Gpu:
    """A GPU; `with gpu:` makes its context that of the calling thread.

    Args:
        driver: the library or its double.
        index: the number of the GPU.

    Attributes:
        name: of the memory space and in messages, e.g. "cuda:0".
        capability: e.g. (9, 0): which instructions it has.
        stream: on which everything is done.
        recording: on which CUDA graphs are recorded.

    Raises:
        RuntimeError: there is no such GPU.
        DriverError: it does not start.
    """

    def __init__(self, driver: Driver, index: int) -> None:
        count = driver.number("cuDeviceGetCount")
        if not count:
            raise RuntimeError("the NVIDIA driver finds no GPU on this machine")
        if not 0 <= index < count:
            raise RuntimeError(f"no cuda:{index}: the driver finds {count}, from cuda:0 on")
        self.driver, self.index, self.name = driver, index, f"cuda:{index}"
        self.process = os.getpid()
        self._device = driver.number("cuDeviceGet", index)
        self.capability = (
            self.attribute(api.CAPABILITY_MAJOR),
            self.attribute(api.CAPABILITY_MINOR),
        )
        self._context = c_void_p()
        driver.cuDevicePrimaryCtxRetain(byref(self._context), self._device)
        self._is_recording, self._released_late = False, list[tuple[str, Any]]()
        self._noted = local()
        self.lock = make_lock()
        _all.add(self)
        with self:
            self.stream = self.made("cuStreamCreate", api.STREAM_DEFAULT)
            self.recording = self.made("cuStreamCreate", api.STREAM_NON_BLOCKING)

    def __enter__(self) -> None:
        if os.getpid() != self.process:
            raise GraphError(
                f"{self.name}: this process was forked from one that used the GPU, and CUDA does "
                'not survive that; start it with multiprocessing.get_context("spawn")'
            )
        self.driver.cuCtxPushCurrent_v2(self._context)

    def __exit__(self, *raised: object) -> None:
        try:
            self.driver.cuCtxPopCurrent_v2(byref(c_void_p()))
        except DriverError:  # of a GPU that is lost, which has been said then
            if raised[0] is None:
                raise

    def attribute(self, number: int) -> int:
        """Ask the driver for an attribute of the device by its number."""
        return self.driver.number("cuDeviceGetAttribute", number, self._device)

    @property
    def title(self) -> str:
        """Name of the device in the words of the driver, e.g. "NVIDIA H100 80GB HBM3"."""
        text = ctypes.create_string_buffer(256)
        self.driver.cuDeviceGetName(ctypes.addressof(text), len(text), self._device)
        return text.value.decode()

    def made(self, function: str, *arguments: Any) -> int:
        """The handle that a function writes to its first argument."""
        handle = c_void_p()
        getattr(self.driver, function)(byref(handle), *arguments)
        return handle.value or 0

    def allocate(self, size_bytes: int) -> int:
        """The address of new memory of undefined contents, at least a byte.

        Raises:
            DeviceMemoryError: there is no room.
        """
        address = api.Address()
        try:
            self.driver.cuMemAlloc_v2(byref(address), max(1, size_bytes))
        except DriverError as error:
            if error.status != OUT_OF_MEMORY:
                raise
            free, total = self.memory()
            raise DeviceMemoryError(
                f"{self.name}: {size_bytes:,} bytes were asked for, and {free:,} of "
                f"{total:,} are free"
            ) from error
        return address.value

    def memory(self) -> tuple[int, int]:
        """Bytes that are free, and all; other processes have theirs."""
        free, total = c_size_t(), c_size_t()
        self.driver.cuMemGetInfo_v2(byref(free), byref(total))
        return free.value, total.value

    def release(self, function: str, handle: Any) -> None:
        """Give something back; nothing is left to do where the GPU or its context is gone."""
        if os.getpid() != self.process or sys.is_finalizing():
            return
        if self._is_recording:  # the collector of garbage may run at any time
            self._released_late.append((function, handle))
            return
        try:
            with self:
                getattr(self.driver, function)(handle)
        except DriverError as error:
            if error.status not in GONE:
                raise

    def wait(self) -> None:
        """Until all that was asked for is done."""
        self.driver.cuStreamSynchronize(self.stream)

    @property
    def alone(self) -> bool:
        """Whether no other GPU has been used by this process so far."""
        library = self.driver.library
        return all(g.index == self.index for g in _all if g.driver.library is library)

    @property
    def told(self) -> list[Told]:
        """Runs of this thread that may have an error to report at the next wait."""
        told: list[Told] = self._noted.__dict__.setdefault("told", [])
        return told

    def begin_recording(self) -> None:
        """Begin to record all calls on `recording`; the caller holds `lock`."""
        self._is_recording = True
        try:
            if not self.recording:
                self.recording = self.made("cuStreamCreate", api.STREAM_NON_BLOCKING)
            self.driver.cuStreamBeginCapture_v2(self.recording, api.CAPTURE_THREAD_LOCAL)
        except BaseException:
            self._is_recording = False
            raise

    def end_recording(self) -> int:
        """The graph of it."""
        try:
            graph = c_void_p()
            self.driver.cuStreamEndCapture(self.recording, byref(graph))
            return graph.value or 0
        except DriverError:  # whatever the stream does now, it does it alone
            broken, self.recording = self.recording, 0
            self.driver.cuStreamDestroy_v2(broken)
            raise
        finally:
            self._is_recording = False
            late, self._released_late = self._released_late, []
            for function, handle in late:
                self.release(function, handle)

    def abandon_recording(self) -> None:
        """End it without a graph; what went wrong is known."""
        with suppress(DriverError):
            graph = self.end_recording()
            self.driver.cuGraphDestroy(graph)

    def __repr__(self) -> str:
        return f"Gpu({self.name!r})"


def backend_mode() -> str:
    """Mode to emit kernels in: that of the backend that compiles, else of `driver()`."""
    inside: list[Gpu] = _here.__dict__.get("inside", [])
    return inside[-1].driver.mode if inside else driver().mode


class Context:
    """For one run of a backend: the context of its GPU; what a run that failed had to tell is told.

    Args:
        gpu: of the backend.
    """

    __slots__ = ("_gpu",)

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def __enter__(self) -> None:
        self._gpu.__enter__()
        _here.__dict__.setdefault("inside", []).append(self._gpu)

    def __exit__(self, *raised: object) -> None:
        _here.inside.pop()
        if raised[0] is not None:
            self._gpu.told.clear()
        self._gpu.__exit__(*raised)


def gpu(index: int) -> Gpu:
    """The GPU of this number; one object for a process.

    Raises:
        RuntimeError: there is no driver, or no such GPU.
        DriverError: it does not start.
    """
    api = driver()
    with _lock:
        key = (id(api), index)
        if key not in _known:
            _known[key] = Gpu(api, index)
        return _known[key]
