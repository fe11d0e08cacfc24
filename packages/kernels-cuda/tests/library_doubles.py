"""Doubles of cuBLASLt and cuDNN, which compute with NumPy on the memory of the driver's double.

Their functions are function pointers of ctypes with the names and arguments of the libraries', they
put their work into the streams of the double, and they know only what their descriptors say: a
wrong layout, an operand exchanged, an attribute of a wrong size give wrong numbers or a status.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Mapping
from ctypes import CFUNCTYPE, c_int, c_uint64, c_void_p
from itertools import count
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.libraries import cublas, cudnn
from byparts_opset.dtypes import numpy_dtype

INVALID, NOT_SUPPORTED = 7, 15


class Wrong(Exception):
    """A status that a function returns."""


class _LibraryDouble:
    """Function pointers by name.

    Args:
        driver: whose streams and memory are used.

    Attributes:
        alive: how many of each kind of descriptor there are.
        counts: how often each function was called.
        refuses: whether no algorithm is advised.
    """

    functions: Mapping[str, tuple[Any, ...]]
    words: str

    def __init__(self, driver: Double) -> None:
        self.driver, self.things = driver, dict[int, dict[Any, Any]]()
        self.alive, self.counts, self.refuses = Counter[str](), Counter[str](), False
        self._numbers = count(0x100)
        self._said = ctypes.create_string_buffer(b"words of the double")
        self._words = CFUNCTYPE(c_void_p, c_int)(lambda status: ctypes.addressof(self._said))

    def __getattr__(self, name: str) -> Any:
        if name == self.words:
            return self._words
        if name not in self.functions:
            raise AttributeError(name)
        types = self.functions[name]

        def call(*arguments: Any) -> int:
            self.counts[name] += 1
            try:
                self.do(name, arguments)
            except Wrong as wrong:
                return int(wrong.args[0])
            except Exception as error:  # ctypes would print it and go on
                print(f"{name}: {type(error).__name__}: {error}")
                return 999
            return 0

        function = CFUNCTYPE(c_int, *types)(call)
        setattr(self, name, function)
        return function

    def do(self, name: str, arguments: tuple[Any, ...]) -> None:
        raise NotImplementedError

    def made(self, place: int, kind: str, **about: Any) -> None:
        """Write the handle of a new thing."""
        handle = next(self._numbers)
        self.things[handle] = {"kind": kind, **about}
        self.alive[kind] += 1
        c_uint64.from_address(place).value = handle

    def thing(self, handle: int | None, kind: str) -> dict[Any, Any]:
        """What a handle stands for."""
        thing = self.things.get(handle or 0)
        if thing is None or thing["kind"] != kind:
            raise Wrong(INVALID)
        return thing

    def gone(self, handle: int) -> None:
        self.alive[self.things.pop(handle)["kind"]] -= 1

    def enqueue(self, stream: int | None, work: Callable[[], object]) -> None:
        """Let the driver's double do it when its turn comes."""
        self.driver.machine._add(stream, work)

    def array(self, address: int, dtype: str, size: int) -> Any:
        """Numbers in the memory of the GPU."""
        kind = numpy_dtype(dtype)
        self.driver.machine._on_gpu(address, size * kind.itemsize)
        buffer: Any = (ctypes.c_char * (size * kind.itemsize)).from_address(address)
        return np.frombuffer(buffer, kind)


def number(address: int, dtype: str) -> float:
    """A scalar of the host."""
    kind = ctypes.c_double if dtype == "f64" else ctypes.c_float
    return float(kind.from_address(address).value)


_SIZES = {  # of attributes, in bytes
    "MatmulDesc": {3: 4, 4: 4, 7: 4, 8: 8},
    "MatrixLayout": {5: 4, 6: 8},
    "MatmulPreference": {1: 8, 5: 4, 6: 4, 7: 4, 8: 4},
}


class CublasDouble(_LibraryDouble):
    """Column-major products."""

    functions = cublas.FUNCTIONS
    words = "cublasLtGetStatusString"

    def do(self, name: str, arguments: tuple[Any, ...]) -> None:
        stem = name.removeprefix("cublasLt")
        if stem == "Create":
            self.made(arguments[0], "handle")
        elif stem.endswith("Destroy"):
            self.gone(arguments[0])
        elif stem.endswith("Create"):
            self.made(arguments[0], stem.removesuffix("Create"), about=arguments[1:])
        elif stem.endswith("SetAttribute"):
            of, attribute, value, size = arguments
            kind = stem.removesuffix("SetAttribute")
            if _SIZES[kind].get(attribute) != size:
                raise Wrong(INVALID)
            data = int.from_bytes(ctypes.string_at(value, size), "little")
            self.thing(of, kind)[attribute] = data
        elif stem == "MatmulAlgoGetHeuristic":
            self.advise(*arguments)
        else:
            self.multiply(*arguments)

    def advise(self, handle: int, operation: int, *rest: Any) -> None:
        *layouts, preference, wanted, results, found = rest
        self.thing(handle, "handle")
        self.thing(operation, "MatmulDesc")
        assert [self.thing(x, "MatrixLayout") for x in layouts]
        most = self.thing(preference, "MatmulPreference")[cublas.MOST_WORKSPACE]
        best = cublas.Heuristic.from_address(results)
        best.algorithm[0], best.workspace_bytes, best.state = 77, min(most, 512), 0
        c_int.from_address(found).value = 0 if self.refuses else wanted

    def multiply(
        self,
        handle: int,
        operation: int,
        alpha: int,
        a: int,
        a_layout: int,
        b: int,
        b_layout: int,
        beta: int,
        c: int,
        c_layout: int,
        d: int,
        d_layout: int,
        algorithm: int,
        workspace: int,
        workspace_bytes: int,
        stream: int,
    ) -> None:
        how = self.thing(operation, "MatmulDesc")
        dtype = _named(cublas.TYPES, self.thing(d_layout, "MatrixLayout")["about"][0])
        assert how["about"] == (70 if dtype == "f64" else 68, 1 if dtype == "f64" else 0)
        assert c_uint64.from_address(algorithm).value == 77
        self.driver.machine._on_gpu(workspace, workspace_bytes)
        places = ((a, a_layout), (b, b_layout), (c, c_layout), (d, d_layout))
        views = [self._columns(at, self.thing(x, "MatrixLayout"), dtype) for at, x in places]
        left, right = (
            v.transpose(0, 2, 1) if how.get(attribute) == cublas.TRANSPOSE else v
            for v, attribute in zip(views, (cublas.TRANSA, cublas.TRANSB), strict=False)
        )
        scale, more = number(alpha, dtype), number(beta, dtype)
        bias = None
        if how.get(cublas.EPILOGUE, 1) == cublas.EPILOGUE_BIAS:
            bias = self.array(how[cublas.BIAS_POINTER], dtype, views[3].shape[1])[:, None]

        def work() -> None:
            y = scale * (left.astype(np.float64) @ right.astype(np.float64))
            y = y + more * views[2].astype(np.float64) if more else y
            views[3][...] = (y if bias is None else y + bias.astype(np.float64)).astype(
                views[3].dtype
            )

        self.enqueue(stream, work)

    def _columns(self, address: int, layout: dict[Any, Any], dtype: str) -> Any:
        """(batch, row, column) of matrices in columns."""
        kind, rows, columns, step = layout["about"]
        assert kind == cublas.TYPES[dtype]
        count, offset = layout.get(cublas.BATCH_COUNT, 1), layout.get(cublas.BATCH_OFFSET, 0)
        size = (count - 1) * offset + (columns - 1) * step + rows
        flat = self.array(address, dtype, size)
        item = flat.itemsize
        shape, strides = (count, rows, columns), (offset * item, item, step * item)
        return np.lib.stride_tricks.as_strided(flat, shape, strides)


class CudnnDouble(_LibraryDouble):
    """Convolutions of NCHW images."""

    functions = cudnn.FUNCTIONS
    words = "cudnnGetErrorString"

    def do(self, name: str, arguments: tuple[Any, ...]) -> None:
        stem = name.removeprefix("cudnn")
        if stem == "Create":
            self.made(arguments[0], "handle")
        elif stem == "SetStream":
            self.thing(arguments[0], "handle")["stream"] = arguments[1]
        elif stem.startswith("Create"):
            self.made(arguments[0], stem.removeprefix("Create").removesuffix("Descriptor"))
        elif stem.startswith("Destroy"):
            self.gone(arguments[0])
        elif stem.startswith("Set"):
            self.things[arguments[0]][stem] = arguments[1:]
        elif stem.startswith("Get"):
            self.advise(*arguments[-3:])
        else:
            self.convolve(stem.removeprefix("Convolution"), *arguments)

    def advise(self, wanted: int, found: int, results: int) -> None:
        """First one that is not deterministic, one that is too large, one in TF32; then a good one."""
        advice = (cudnn.Advice * wanted).from_address(results)
        for k, (memory, same, math) in enumerate(
            ((0, 0, 0), (1 << 40, 1, 0), (0, 1, 1), (0, 1, 3))
        ):
            advice[k].algorithm, advice[k].memory_bytes = k, memory
            advice[k].determinism, advice[k].math, advice[k].status = same, math, 0
        c_int.from_address(found).value = 0 if self.refuses else 4

    def convolve(self, kind: str, handle: int, alpha: int, *rest: Any) -> None:
        a, first, b, second, operation, algorithm, *_, beta, y, result = rest
        how = self.thing(operation, "Convolution")
        *steps, mode, sums = how["SetConvolution2dDescriptor"]
        assert (mode, number(alpha, "f32"), number(beta, "f32")) == (1, 1, 0) or sums == 1
        assert algorithm == (2 if how["SetConvolutionMathType"][0] == 1 else 3)
        places = ((a, first), (b, second), (y, result))
        x, w, out = (self._described(d, at) for d, at in places)
        pads, strides, dilations = (steps[i : i + 2] for i in (0, 2, 4))
        groups = how["SetConvolutionGroupCount"][0]
        around: Any = tuple([(p, p) for p in pads])
        op = ops.Conv2d(tuple(strides), around, tuple(dilations), groups, "NCHW")

        def work() -> None:
            out[...] = _computed(op, kind, x, w, out)

        self.enqueue(self.thing(handle, "handle")["stream"], work)

    def _described(self, descriptor: int, address: int) -> Any:
        about = self.things[descriptor]
        if about["kind"] == "Tensor":
            layout, kind, *extents = about["SetTensor4dDescriptor"]
        else:
            kind, layout, *extents = about["SetFilter4dDescriptor"]
        assert layout == 0
        dtype = _named(cudnn.TYPES, kind)
        return self.array(address, dtype, int(np.prod(extents))).reshape(extents)


def _computed(op: Any, kind: str, first: Any, second: Any, out: Any) -> Any:
    """What the library computes, by opset."""
    if kind == "Forward":
        return op.evaluate(first, second)[0]
    if kind == "BackwardFilter":
        back = ops.Conv2dFilterGradient(op.strides, op.padding, op.dilations, op.groups, op.layout)
        return back.evaluate(first, second, out)[0]
    around = []
    for axis, ((lower, _), stride) in enumerate(zip(op.padding, op.strides, strict=True)):
        reach = (first.shape[2 + axis] - 1) * op.dilations[axis] + 1
        whole = (second.shape[2 + axis] - 1) * stride + reach
        around.append((lower, whole - lower - out.shape[2 + axis]))
    pads: Any = tuple(around)
    transposed = ops.Conv2dTranspose(op.strides, pads, op.dilations, op.groups, op.layout)
    return transposed.evaluate(second, first)[0]


def _named(numbers: Mapping[str, int], wanted: int) -> str:
    return next(name for name, value in numbers.items() if value == wanted)
