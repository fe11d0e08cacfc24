"""Behaviour of the driver's functions in the double; each is a method of the same name.

A method raises `Fault` with the status that the driver would return; else the status is 0.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from itertools import count
from threading import get_ident, local
from time import perf_counter
from typing import Any

from byparts_kernels_cuda.driver import functions as api
from byparts_kernels_cuda.driver.double_kernels import Fault, Function, Module
from byparts_kernels_cuda.driver.double_memory import Memories
from byparts_kernels_cuda.driver.double_streams import Event, Graph, Stream, Streams, Work

INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE, INVALID_DEVICE = 1, 2, 3, 100, 101
INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND = 201, 400, 500
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, CAPTURE_UNMATCHED = 900, 901, 903
NAMES = {
    1: "CUDA_ERROR_INVALID_VALUE",
    2: "CUDA_ERROR_OUT_OF_MEMORY",
    3: "CUDA_ERROR_NOT_INITIALIZED",
    201: "CUDA_ERROR_INVALID_CONTEXT",
    400: "CUDA_ERROR_INVALID_HANDLE",
    700: "CUDA_ERROR_ILLEGAL_ADDRESS",
    716: "CUDA_ERROR_MISALIGNED_ADDRESS",
    719: "CUDA_ERROR_LAUNCH_FAILED",
    900: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
}
_ATTRIBUTES = {
    api.MAX_THREADS_PER_BLOCK: 1024,
    api.MAX_SHARED_BYTES: 48 << 10,
    api.MAX_SHARED_BYTES_OPTIN: 227 << 10,
    api.MULTIPROCESSORS: 4,
    api.CAPABILITY_MAJOR: 9,
    api.CAPABILITY_MINOR: 0,
}
_WITHOUT_CONTEXT = ("cuInit", "cuDriverGetVersion", "cuDevice", "cuCtxPush", "cuCtxPop", "cuCtxGet")
_NOT_WHILE_CAPTURING = (
    *("cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemFreeHost", "cuModuleLoadData"),
    *("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuModuleUnload"),
)


class Machine:
    """GPUs, their memory, and all that was made.

    Attributes:
        words: status -> why it was last returned.
    """

    def __init__(self, devices: int, memory_bytes: int) -> None:
        self.memory_bytes, self.memories = memory_bytes, Memories()
        self.streams = [Streams(i) for i in range(devices)]
        self.retained = [0] * devices
        self.lost: dict[int, tuple[int, str]] = {}  # device -> status of all calls, words
        self.words: dict[int, str] = {}
        self.texts: dict[bytes, ctypes.Array[ctypes.c_char]] = {}
        self.handles: dict[int, Any] = {}
        self._numbers = count(0x1000, 16)
        self.thread = local()
        self.ready = False

    # -- what all functions have in common -------------------------------------------------------

    def check(self, name: str) -> None:
        """Whether the function may be called now, by this thread."""
        if not self.ready and name != "cuInit":
            raise Fault(NOT_INITIALIZED, f"{name} before cuInit")
        if name.startswith(_WITHOUT_CONTEXT):
            return
        device = self.device()
        if device in self.lost:
            raise Fault(*self.lost[device])
        for stream in self.streams[device].others if name in _NOT_WHILE_CAPTURING else ():
            if stream.capturing is not None and stream.thread == get_ident():
                stream.broken = True
                raise Fault(CAPTURE_UNSUPPORTED, f"{name} while a stream captures")

    def device(self) -> int:
        """The GPU of the context that this thread calls in."""
        if not self._contexts():
            raise Fault(INVALID_CONTEXT, "no context is current in this thread")
        return self._contexts()[-1]

    def within(self, device: int, call: Callable[[], object]) -> None:
        """Call something in the context of a GPU."""
        self._contexts().append(device)
        try:
            call()
        finally:
            self._contexts().pop()

    def lose(self, status: int, words: str) -> None:
        """The GPU of this thread gives this status from now on."""
        for device in self._contexts()[-1:]:
            self.lost[device] = (status, words)

    def alive(self) -> Counter[str]:
        """Count the objects of each kind that were made and not given back."""
        kinds = Counter(type(x).__name__.lower() for x in self.handles.values())
        del kinds["function"]  # nobody gives them back
        devices = range(len(self.streams))
        kinds["memory"] = sum(len(self.memories.of(d)) for d in devices)
        kinds["pinned"] = len(self.memories.of(-1))
        return +kinds

    def _contexts(self) -> list[int]:
        contexts: list[int] = self.thread.__dict__.setdefault("contexts", [])
        return contexts

    def _made(self, place: Any, thing: Any) -> None:
        handle = next(self._numbers)
        self.handles[handle] = thing
        place[0] = handle

    def _thing(self, handle: int | None, kind: type[Any]) -> Any:
        thing = self.handles.get(handle or 0)
        if not isinstance(thing, kind):
            raise Fault(INVALID_HANDLE, f"{handle} is no {kind.__name__.lower()} that lives")
        if getattr(thing, "device", self.device()) != self.device():
            raise Fault(INVALID_HANDLE, f"a {kind.__name__.lower()} of another GPU")
        return thing

    def _stream(self, handle: int | None) -> Stream:
        zero = self.streams[self.device()].zero
        return self._thing(handle, Stream) if handle else zero

    def _add(self, stream: int | None, work: Work) -> None:
        queue = self._stream(stream)
        if queue is self.streams[queue.device].zero:
            for other in self.streams[queue.device].others:
                if other.capturing is not None and other.blocking:
                    other.broken = True
                    raise Fault(906, "stream 0 is used while a blocking stream captures")
        self.streams[queue.device].add(queue, work)

    # -- the driver and its devices --------------------------------------------------------------

    def cuInit(self, flags: int) -> None:
        self.ready = True
        if not self.streams:
            raise Fault(NO_DEVICE, "no CUDA-capable device is detected")

    def cuDriverGetVersion(self, version: Any) -> None:
        version[0] = 13000

    def cuGetErrorName(self, status: int, text: Any) -> None:
        self._text(text, NAMES.get(status, "CUDA_ERROR_OF_THE_DOUBLE"))

    def cuGetErrorString(self, status: int, text: Any) -> None:
        self._text(text, self.words.get(status, "no words"))

    def _text(self, place: Any, words: str) -> None:
        kept = self.texts.setdefault(words.encode(), ctypes.create_string_buffer(words.encode()))
        ctypes.cast(place, ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(kept)

    def cuDeviceGetCount(self, count: Any) -> None:
        count[0] = len(self.streams)

    def cuDeviceGet(self, device: Any, index: int) -> None:
        if not 0 <= index < len(self.streams):
            raise Fault(INVALID_DEVICE, f"no device {index}")
        device[0] = index

    def cuDeviceGetName(self, place: int, size: int, device: int) -> None:
        name = b"double of a GPU"[: size - 1] + b"\0"
        ctypes.memmove(place, name, len(name))

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: int) -> None:
        value[0] = _ATTRIBUTES[attribute]

    # -- contexts --------------------------------------------------------------------------------

    def cuDevicePrimaryCtxRetain(self, context: Any, device: int) -> None:
        self.retained[device] += 1
        context[0] = device + 1

    def cuDevicePrimaryCtxRelease_v2(self, device: int) -> None:
        self.retained[device] -= 1

    def cuCtxPushCurrent_v2(self, context: int) -> None:
        if not 0 < (context or 0) <= len(self.streams) or not self.retained[context - 1]:
            raise Fault(INVALID_CONTEXT, f"{context} is no context that is retained")
        self._contexts().append(context - 1)

    def cuCtxPopCurrent_v2(self, context: Any) -> None:
        context[0] = self._contexts().pop() + 1

    def cuCtxGetCurrent(self, context: Any) -> None:
        context[0] = self._contexts()[-1] + 1 if self._contexts() else None

    def cuCtxSynchronize(self) -> None:
        self.streams[self.device()].finish_all()

    # -- memory ----------------------------------------------------------------------------------

    def cuMemGetInfo_v2(self, free: Any, total: Any) -> None:
        free[0], total[0] = self._free_bytes(), self.memory_bytes

    def _free_bytes(self) -> int:
        return self.memory_bytes - self.memories.used_bytes[self.device()]

    def cuMemAlloc_v2(self, address: Any, size: int) -> None:
        if not size:
            raise Fault(INVALID_VALUE, "an allocation of 0 bytes")
        if size > self._free_bytes():
            raise Fault(OUT_OF_MEMORY, "out of memory")
        address[0] = self.memories.allocate(size, self.device()).start

    def cuMemFree_v2(self, address: int) -> None:
        self.streams[self.device()].finish_all()
        self._free(address, False)

    def cuMemHostAlloc(self, place: Any, size: int, flags: int) -> None:
        if not size:
            raise Fault(INVALID_VALUE, "an allocation of 0 bytes")
        place[0] = self.memories.allocate(size, -1).start

    def cuMemFreeHost(self, address: int) -> None:
        self.streams[self.device()].finish_all()
        self._free(address, True)

    def _free(self, address: int, on_host: bool) -> None:
        if wrong := self.memories.free(address, on_host=on_host):
            raise Fault(INVALID_VALUE, wrong)

    def cuMemcpyHtoDAsync_v2(self, to: int, of: int, size: int, stream: int | None) -> None:
        self._on_gpu(to, size)
        if self._is_pinned(of):
            self._add(stream, lambda: ctypes.memmove(to, of, size))
        else:
            data = ctypes.string_at(of, size)
            self._add(stream, lambda: ctypes.memmove(to, data, size))

    def cuMemcpyDtoHAsync_v2(self, to: int, of: int, size: int, stream: int | None) -> None:
        self._on_gpu(of, size)
        self._add(stream, lambda: ctypes.memmove(to, of, size))
        if not self._is_pinned(to):  # the driver waits, too
            self.cuStreamSynchronize(stream)

    def cuMemcpyDtoDAsync_v2(self, to: int, of: int, size: int, stream: int | None) -> None:
        self._on_gpu(to, size)
        self._on_gpu(of, size)
        self._add(stream, lambda: ctypes.memmove(to, of, size))

    def cuMemsetD8Async(self, to: int, byte: int, size: int, stream: int | None) -> None:
        self._on_gpu(to, size)
        self._add(stream, lambda: ctypes.memset(to, byte, size))

    def _is_pinned(self, address: int) -> bool:
        block = self.memories.find(address)
        return block is not None and block.device < 0

    def _on_gpu(self, address: int, size: int) -> None:
        block = self.memories.find(address, size)
        if block is None or block.device != self.device():
            raise Fault(INVALID_VALUE, f"{size} bytes at {address:#x} are not all in one block")

    # -- streams, events, graphs -----------------------------------------------------------------

    def cuStreamCreate(self, place: Any, flags: int) -> None:
        stream = Stream(self.device(), flags == api.STREAM_DEFAULT)
        self.streams[stream.device].others.append(stream)
        self._made(place, stream)

    def cuStreamDestroy_v2(self, handle: int) -> None:
        stream = self._thing(handle, Stream)
        self.streams[stream.device].finish(stream)
        self.streams[stream.device].others.remove(stream)
        del self.handles[handle]

    def cuStreamSynchronize(self, handle: int | None) -> None:
        stream = self._stream(handle)
        self.streams[stream.device].finish(stream)

    def cuStreamWaitEvent(self, handle: int | None, event: int, flags: int) -> None:
        awaited = self._thing(event, Event)
        self._add(handle, self._reaching(awaited))

    def _reaching(self, event: Event) -> Callable[[], None]:
        stream, at = event.stream, event.at

        def reach() -> None:
            if stream is not None:
                self.streams[stream.device].finish(stream, at)

        return reach

    def cuStreamBeginCapture_v2(self, handle: int, mode: int) -> None:
        stream = self._thing(handle, Stream)
        if stream.capturing is not None:
            raise Fault(CAPTURE_UNSUPPORTED, "the stream captures already")
        stream.capturing, stream.thread, stream.broken = [], get_ident(), False

    def cuStreamEndCapture(self, handle: int, place: Any) -> None:
        stream = self._thing(handle, Stream)
        work, stream.capturing = stream.capturing, None
        if work is None:
            raise Fault(CAPTURE_UNMATCHED, "the stream does not capture")
        if stream.broken:
            raise Fault(CAPTURE_INVALIDATED, "something forbidden was called while capturing")
        self._made(place, Graph(stream.device, tuple(work)))

    def cuEventCreate(self, place: Any, flags: int) -> None:
        self._made(place, Event(self.device()))

    def cuEventDestroy_v2(self, handle: int) -> None:
        self._thing(handle, Event)
        del self.handles[handle]

    def cuEventRecord(self, handle: int, stream: int | None) -> None:
        event, queue = self._thing(handle, Event), self._stream(stream)
        event.stream = queue

        def reached() -> None:
            event.time_s = perf_counter()

        event.at = self.streams[queue.device].add(queue, reached)

    def cuEventSynchronize(self, handle: int) -> None:
        self._reaching(self._thing(handle, Event))()

    def cuEventElapsedTime(self, place: Any, start: int, end: int) -> None:
        first, last = (self._thing(h, Event) for h in (start, end))
        place[0] = 1000 * (last.time_s - first.time_s)

    def cuGraphInstantiateWithFlags(self, place: Any, graph: int, flags: int) -> None:
        recorded = self._thing(graph, Graph)
        self._made(place, Executable(recorded.device, recorded.work))

    def cuGraphDestroy(self, handle: int) -> None:
        self._thing(handle, Graph)
        del self.handles[handle]

    def cuGraphExecDestroy(self, handle: int) -> None:
        self._thing(handle, Executable)
        del self.handles[handle]

    def cuGraphLaunch(self, handle: int, stream: int | None) -> None:
        if self._stream(stream).capturing is not None:
            self._stream(stream).broken = True
            raise Fault(CAPTURE_UNSUPPORTED, "a graph is launched into a capture")
        for work in self._thing(handle, Executable).work:
            self._add(stream, work)

    # -- code ------------------------------------------------------------------------------------

    def cuModuleLoadData(self, place: Any, text: int) -> None:
        self._made(place, Module(self.device(), ctypes.string_at(text)))

    def cuModuleUnload(self, handle: int) -> None:
        self._thing(handle, Module)
        del self.handles[handle]

    def cuModuleGetFunction(self, place: Any, module: int, name: bytes) -> None:
        loaded = self._thing(module, Module)
        kernel = loaded.kernels.get(name.decode())
        if kernel is None:
            raise Fault(NOT_FOUND, f"the module has no {name.decode()}")
        self._made(place, Function(loaded, name.decode(), kernel))

    def cuFuncSetAttribute(self, function: int, attribute: int, value: int) -> None:
        self._thing(function, Function)
        if attribute != api.MAX_DYNAMIC_SHARED_BYTES or value > 227 << 10:
            raise Fault(INVALID_VALUE, f"attribute {attribute} = {value}")

    def cuLaunchKernel(self, handle: int, *configuration: Any) -> None:
        function = self._thing(handle, Function)
        grid, block = configuration[0:3], configuration[3:6]
        shared_bytes, stream, arguments = configuration[6:9]
        if function.module.device != self.device():
            raise Fault(INVALID_HANDLE, "a function of another GPU")
        count = len(function.kernel.arguments)
        values = [ctypes.c_uint64.from_address(arguments[i]).value for i in range(count)]
        if wrong := function.limits(grid, block, shared_bytes, values):
            raise Fault(INVALID_VALUE, f"{function.title}: {wrong}")
        self._add(stream, lambda: self._run(function, values))

    def _run(self, function: Function, addresses: list[int]) -> None:
        device = function.module.device
        if device in self.lost:
            raise Fault(*self.lost[device])
        function.run(self.memories, addresses)


class Executable(Graph):
    """A graph that can be launched."""
