"""Convolutions by cuDNN.

Of its algorithms one is taken that gives the same result in every run, in the arithmetic that we
ask for (f32 by fused multiply-add, never in TF32), within our workspace: the first that the library
advises.  A handle of the library belongs to a stream, so there is one for the stream of programs
and one for that on which CUDA graphs are recorded.

https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-cnn-library.html
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_double, c_float, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Union

from byparts_graph_ir import TensorType
from byparts_kernels_cuda.driver.api import driver
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.libraries.library import Library, LibraryError, opened
from byparts_kernels_cuda.stream_call import StreamCall
from byparts_opset import Conv2d, Conv2dFilterGradient, Conv2dTranspose
from byparts_opset.convolution import TO_OIHW, placed
from byparts_opset.window import TO_NCHW

_P, _I = c_void_p, c_int
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cudnnCreate": (_P,),
    "cudnnSetStream": (_P, _P),
    "cudnnCreateTensorDescriptor": (_P,),
    "cudnnSetTensor4dDescriptor": (_P, *[_I] * 6),
    "cudnnDestroyTensorDescriptor": (_P,),
    "cudnnCreateFilterDescriptor": (_P,),
    "cudnnSetFilter4dDescriptor": (_P, *[_I] * 6),
    "cudnnDestroyFilterDescriptor": (_P,),
    "cudnnCreateConvolutionDescriptor": (_P,),
    "cudnnSetConvolution2dDescriptor": (_P, *[_I] * 8),
    "cudnnSetConvolutionGroupCount": (_P, _I),
    "cudnnSetConvolutionMathType": (_P, _I),
    "cudnnDestroyConvolutionDescriptor": (_P,),
    "cudnnGetConvolutionForwardAlgorithm_v7": (*[_P] * 5, _I, _P, _P),
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": (*[_P] * 5, _I, _P, _P),
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": (*[_P] * 5, _I, _P, _P),
    "cudnnConvolutionForward": (*[_P] * 7, _I, _P, c_size_t, _P, _P, _P),
    "cudnnConvolutionBackwardData": (*[_P] * 7, _I, _P, c_size_t, _P, _P, _P),
    "cudnnConvolutionBackwardFilter": (*[_P] * 7, _I, _P, c_size_t, _P, _P, _P),
}
# Numbers of `cudnn_graph.h` and `cudnn_ops.h`.
TYPES = {"f32": 0, "f64": 1, "f16": 2, "bf16": 9}  # CUDNN_DATA_FLOAT ...
LAYOUTS = {"NCHW": 0, "NHWC": 1}
CROSS_CORRELATION, DETERMINISTIC = 1, 1
TENSOR_OP_MATH, FMA_MATH = 1, 3
KINDS = {Conv2d: "Forward", Conv2dTranspose: "BackwardData", Conv2dFilterGradient: "BackwardFilter"}
_MOST_ALGORITHMS = 10
_MOST_WORKSPACE_BYTES = 64 << 20
Op = Union[Conv2d, Conv2dTranspose, Conv2dFilterGradient]
Four = tuple[int, int, int, int]


class Advice(ctypes.Structure):
    """cudnnConvolutionFwdAlgoPerf_t, and its sisters."""

    _fields_ = (
        ("algorithm", c_int),
        ("status", c_int),
        ("time_ms", c_float),
        ("memory_bytes", c_size_t),
        ("determinism", c_int),
        ("math", c_int),
        ("reserved", c_int * 3),
    )


@dataclass(frozen=True)
class Convolution:
    """A computation of the library: y = conv(x, w), or one of its gradients.

    Attributes:
        kind: one of `KINDS`.
        dtype: of all arrays.
        layout: of images; filters are OIHW, or O, height, width, I.
        x, w, y: n, c, h, w of images; o, i, h, w of the filter.
        pads, strides, dilations: along height and width.
        groups: of channels.
    """

    kind: str
    dtype: str
    layout: str
    x: Four
    w: Four
    y: Four
    pads: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    groups: int

    @property
    def workspace_bytes(self) -> int:
        """Most bytes of workspace that an algorithm may take."""
        return _MOST_WORKSPACE_BYTES


def convolution_of(op: Op, types: Sequence[TensorType]) -> Convolution | None:
    """The convolution of an op; `None` where the library has none.

    It pads both sides of an image alike, and its filters of NHWC images have another order than
    ours, so those are ours alone.
    """
    (result,) = op.infer(*types)
    x, w, y = types[0], types[1], result
    if isinstance(op, Conv2dTranspose):
        x, y = y, x
    elif isinstance(op, Conv2dFilterGradient):
        y, w = types[1], types[2]
    if x.dtype not in TYPES or op.layout != "NCHW" or not x.size * w.size * y.size:
        return None
    around = op.padding if isinstance(op, Conv2dTranspose) else placed(op, x, w)[1]
    images = [tuple([t.dims[a] for a in TO_NCHW[op.layout]]) for t in (x, y)]
    filters = tuple([w.dims[a] for a in TO_OIHW[op.layout]])
    lower = (around[0][0], around[1][0])
    for axis in (0, 1):
        reach = (filters[2 + axis] - 1) * op.dilations[axis] + 1
        room = images[0][2 + axis] + 2 * lower[axis] - reach
        if lower[axis] < 0 or room // op.strides[axis] + 1 != images[1][2 + axis]:
            return None
    return Convolution(
        KINDS[type(op)],
        x.dtype,
        op.layout,
        *(images[0], filters, images[1]),  # type: ignore[arg-type]  # of four
        lower,
        op.strides,
        op.dilations,
        op.groups,
    )


@lru_cache(maxsize=1)
def library() -> Library | None:
    """cuDNN of this machine; `None` without one, and for the double of the driver."""
    if driver().mode:
        return None
    loaded = opened("cudnn", ("9", "8"))
    return None if loaded is None else Library(loaded, FUNCTIONS, "cudnnGetErrorString")


class Convolve:
    """A convolution on a GPU, described to the library, with the algorithm that it advises.

    Args:
        gpu: where.  Its context is current.
        library: cuDNN.
        c: the convolution.

    Raises:
        LibraryError: the library has no such algorithm, or no memory.
    """

    def __init__(self, gpu: Gpu, library: Library, c: Convolution) -> None:
        self.library, self.c, self.gpu = library, c, gpu
        self._created: list[tuple[str, c_void_p]] = []
        kind, layout = TYPES[c.dtype], LAYOUTS[c.layout]
        self.x, self.y = (self._new("Tensor") for _ in "xy")
        for descriptor, extents in ((self.x, c.x), (self.y, c.y)):
            library.cudnnSetTensor4dDescriptor(descriptor, layout, kind, *extents)
        self.w = self._new("Filter")
        library.cudnnSetFilter4dDescriptor(self.w, kind, layout, *c.w)
        self.operation = self._new("Convolution")
        sums = TYPES["f64" if c.dtype == "f64" else "f32"]
        steps = (*c.pads, *c.strides, *c.dilations)
        library.cudnnSetConvolution2dDescriptor(self.operation, *steps, CROSS_CORRELATION, sums)
        library.cudnnSetConvolutionGroupCount(self.operation, c.groups)
        self.math = TENSOR_OP_MATH if c.dtype in ("f16", "bf16") else FMA_MATH
        library.cudnnSetConvolutionMathType(self.operation, self.math)
        self.best = self._advised()

    def call(self, first: int, second: int, result: int, workspace: int) -> StreamCall:
        """The call for arrays at these addresses, in the order of the op's inputs."""
        number = c_double if self.c.dtype == "f64" else c_float
        one, zero = number(1), number(0)
        if self.c.kind == "BackwardData":  # of w and dy, where ours is of dy and w
            first, second = second, first
        a, b, y = self._described()
        return _OfHandle.of(
            getattr(self.library, f"cudnnConvolution{self.c.kind}"),
            *(handle_for(self.gpu, self.library, self.gpu.stream), ctypes.addressof(one)),
            *(a, first, b, second, self.operation, self.best.algorithm),
            *(workspace, self.best.memory_bytes, ctypes.addressof(zero), y, result),
            at=0,
            kept=(one, zero, self),
        )

    def _described(self) -> tuple[c_void_p, c_void_p, c_void_p]:
        """The descriptors in the order of the library's arguments."""
        orders = {
            "Forward": (self.x, self.w, self.y),
            "BackwardData": (self.w, self.y, self.x),
            "BackwardFilter": (self.x, self.y, self.w),
        }
        return orders[self.c.kind]

    def _advised(self) -> Advice:
        a, b, y = self._described()
        advice, count = (Advice * _MOST_ALGORITHMS)(), c_int()
        ask = getattr(self.library, f"cudnnGetConvolution{self.c.kind}Algorithm_v7")
        handle = handle_for(self.gpu, self.library, self.gpu.stream)
        places = (ctypes.addressof(count), ctypes.addressof(advice))
        ask(handle, a, b, self.operation, y, _MOST_ALGORITHMS, *places)
        for algorithm in advice[: count.value]:
            fits = algorithm.memory_bytes <= self.c.workspace_bytes
            same = algorithm.determinism == DETERMINISTIC and algorithm.math in (0, self.math)
            if not algorithm.status and fits and same:
                return algorithm
        raise LibraryError(f"cuDNN has no algorithm for {self.c}")

    def _new(self, kind: str) -> c_void_p:
        handle = c_void_p()
        getattr(self.library, f"cudnnCreate{kind}Descriptor")(byref(handle))
        self._created.append((f"cudnnDestroy{kind}Descriptor", handle))
        return handle

    def __del__(self) -> None:
        for destroy, handle in self.__dict__.get("_created", ()):
            getattr(self.library, destroy)(handle)


class _OfHandle(StreamCall):
    """A call whose first argument is a handle that belongs to a stream."""

    def on(self, stream: int) -> StreamCall:
        """The same call on another stream."""
        convolve: Convolve = next(x for x in self.kept if isinstance(x, Convolve))
        handle = handle_for(convolve.gpu, convolve.library, stream)
        arguments = (handle, *self.args[1:])
        return _OfHandle.of(self.func, *arguments, at=0, kept=self.kept)


_handles: dict[tuple[int, int, int], tuple[c_void_p, Gpu, Library]] = {}


def handle_for(gpu: Gpu, library: Library, stream: int) -> c_void_p:
    """The library's own state for a stream of a GPU; one for a process."""
    key = id(gpu), id(library), stream
    if key not in _handles:
        handle = c_void_p()
        library.cudnnCreate(byref(handle))
        library.cudnnSetStream(handle, stream)
        _handles[key] = handle, gpu, library
    return _handles[key][0]
