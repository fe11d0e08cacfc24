"""Products of matrices by cuBLASLt.

It thinks in columns, so y (m, n) in rows is its (n, m): y^T = b^T a^T, with our b as its first
operand.  An operand that we store transposed is one that it need not transpose, and the other way
round.  f32 is computed in f32, never in TF32; halves are added up in f32.

https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import (
    byref,
    c_double,
    c_float,
    c_int,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Union

from byparts_graph_ir import TensorType
from byparts_kernels_cuda.driver.api import driver
from byparts_kernels_cuda.driver.functions import ALIGNMENT
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.libraries.library import Library, LibraryError, opened
from byparts_kernels_cuda.stream_call import StreamCall
from byparts_opset import AddMatmul, MatMul

_P, _I = c_void_p, c_int
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cublasLtCreate": (_P,),
    "cublasLtMatmulDescCreate": (_P, _I, _I),
    "cublasLtMatmulDescSetAttribute": (_P, _I, _P, c_size_t),
    "cublasLtMatmulDescDestroy": (_P,),
    "cublasLtMatrixLayoutCreate": (_P, _I, c_uint64, c_uint64, c_int64),
    "cublasLtMatrixLayoutSetAttribute": (_P, _I, _P, c_size_t),
    "cublasLtMatrixLayoutDestroy": (_P,),
    "cublasLtMatmulPreferenceCreate": (_P,),
    "cublasLtMatmulPreferenceSetAttribute": (_P, _I, _P, c_size_t),
    "cublasLtMatmulPreferenceDestroy": (_P,),
    "cublasLtMatmulAlgoGetHeuristic": (*[_P] * 7, _I, _P, _P),
    "cublasLtMatmul": (*[_P] * 14, c_size_t, _P),
}
# Numbers of `cublasLt.h` and `library_types.h`.
TYPES = {"f32": 0, "f64": 1, "f16": 2, "bf16": 14}  # CUDA_R_32F ...
COMPUTE = {"f32": 68, "f64": 70}  # CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_64F
TRANSPOSE = 1  # CUBLAS_OP_T
TRANSA, TRANSB, EPILOGUE, BIAS_POINTER = 3, 4, 7, 8  # CUBLASLT_MATMUL_DESC_...
EPILOGUE_BIAS = 4
BATCH_COUNT, BATCH_OFFSET = 5, 6  # CUBLASLT_MATRIX_LAYOUT_...
MOST_WORKSPACE, ALIGNMENTS = 1, (5, 6, 7, 8)  # CUBLASLT_MATMUL_PREF_...
_MOST_WORKSPACE_BYTES = 32 << 20  # what NVIDIA advises for an H100


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", c_uint64 * 8),
        ("workspace_bytes", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    )


@dataclass(frozen=True)
class Product:
    """A product that the library computes, in rows: y (m, n) = scale a b + what is added.

    Attributes:
        dtype: of all arrays.
        m, n, k: extents.
        transpose_a, transpose_b: how a and b are stored.
        batch: how many there are.
        steps: of a and b, elements from one to the next of the batch; 0 where all share one.
        scale: of the product.
        added: "" for nothing, "sum" for an array like y, "bias" for a row.
    """

    dtype: str
    m: int
    n: int
    k: int
    transpose_a: bool
    transpose_b: bool
    batch: int = 1
    steps: tuple[int, int] = (0, 0)
    scale: float = 1.0
    added: str = ""

    @property
    def workspace_bytes(self) -> int:
        """For sums that blocks share: some times y in f32."""
        wanted = 16 * 4 * self.batch * self.m * self.n
        return min(_MOST_WORKSPACE_BYTES, -(-wanted // 65536) * 65536)


def product_of(op: Union[MatMul, AddMatmul], types: Sequence[TensorType]) -> Product | None:
    """The product of an op; `None` where the library has none."""
    *more, a, b = types
    if a.dtype not in TYPES:
        return None
    m, k = a.dims[-2:][:: -1 if op.transpose_a else 1]
    n = b.dims[-2] if op.transpose_b else b.dims[-1]
    lead_a, lead_b = a.dims[:-2], b.dims[:-2]
    if prod(lead_b) == 1 and not op.transpose_a:  # all rows of a at once
        m, lead_a = prod(lead_a) * m, ()
    (y,) = op.infer(*types)
    flat = not lead_a and prod(lead_b) == 1
    batch, added = 1 if flat else prod(y.dims[:-2]), _added(more, y)
    even = all(prod(x) in (1, batch) for x in (lead_a, lead_b))
    large = max(m, n, k, batch) >= 1 << 31
    if added is None or not even or not batch * m * n * k or large:
        return None
    steps = tuple([size if prod(x) > 1 else 0 for x, size in ((lead_a, m * k), (lead_b, k * n))])
    scale = op.scale if isinstance(op, AddMatmul) else 1.0
    flags = (op.transpose_a, op.transpose_b)
    return Product(a.dtype, m, n, k, *flags, batch, (steps[0], steps[1]), scale, added)


def _added(more: Sequence[TensorType], y: TensorType) -> str | None:
    if not more:
        return ""
    (c,) = more
    if c == y:
        return "sum"
    return "bias" if c.dims[-1:] == y.dims[-1:] and c.size == y.dims[-1] else None


@lru_cache(maxsize=1)
def library() -> Library | None:
    """cuBLASLt of this machine; `None` without one, and for the double of the driver."""
    if driver().mode:
        return None
    loaded = opened("cublasLt", ("13", "12"))
    return None if loaded is None else Library(loaded, FUNCTIONS, "cublasLtGetStatusString")


class Matmul:
    """A product on a GPU, described to the library, with the algorithm that it advises.

    Args:
        gpu: where.  Its context is current.
        library: cuBLASLt.
        p: the product.

    Raises:
        LibraryError: the library has none, or no memory.
    """

    def __init__(self, gpu: Gpu, library: Library, p: Product) -> None:
        self.library, self.p, self.gpu = library, p, gpu
        self.handle = _handle(gpu, library)
        self._created: list[tuple[str, c_void_p]] = []
        scale = TYPES["f64" if p.dtype == "f64" else "f32"]
        compute = COMPUTE.get(p.dtype, COMPUTE["f32"])
        self.operation = self._new("cublasLtMatmulDesc", compute, scale)
        # Their first operand is our b.
        for attribute, transposed in ((TRANSA, p.transpose_b), (TRANSB, p.transpose_a)):
            if transposed:
                self._set("cublasLtMatmulDesc", self.operation, attribute, c_int(TRANSPOSE))
        if p.added == "bias":
            self._set("cublasLtMatmulDesc", self.operation, EPILOGUE, c_uint32(EPILOGUE_BIAS))
        a = (p.m, p.k) if p.transpose_a else (p.k, p.m)
        b = (p.k, p.n) if p.transpose_b else (p.n, p.k)
        self.a, self.b = self._layout(a, p.steps[0]), self._layout(b, p.steps[1])
        self.y = self._layout((p.n, p.m), p.m * p.n)
        self.best = self._advised()

    def call(self, c: int, a: int, b: int, y: int, workspace: int) -> StreamCall:
        """The call for arrays at these addresses; c is 0 if nothing is added."""
        p, number = self.p, c_double if self.p.dtype == "f64" else c_float
        if p.added == "bias":
            self._set("cublasLtMatmulDesc", self.operation, BIAS_POINTER, c_uint64(c))
        alpha, beta = number(p.scale), number(1 if p.added == "sum" else 0)
        addend = c if p.added == "sum" else y
        return StreamCall.of(
            self.library.cublasLtMatmul,
            *(self.handle, self.operation, ctypes.addressof(alpha)),
            *(b, self.b, a, self.a, ctypes.addressof(beta)),
            *(addend, self.y, y, self.y, ctypes.addressof(self.best)),
            *(workspace, self.best.workspace_bytes, self.gpu.stream),
            at=15,
            kept=(alpha, beta, self),
        )

    def _advised(self) -> Heuristic:
        preference = self._new("cublasLtMatmulPreference")
        limit = c_uint64(self.p.workspace_bytes)
        self._set("cublasLtMatmulPreference", preference, MOST_WORKSPACE, limit)
        for attribute in ALIGNMENTS:
            self._set("cublasLtMatmulPreference", preference, attribute, c_uint32(ALIGNMENT))
        if self.p.added == "bias":  # its alignment counts
            self._set("cublasLtMatmulDesc", self.operation, BIAS_POINTER, c_uint64(ALIGNMENT))
        best, count = Heuristic(), c_int()
        layouts = (self.b, self.a, self.y, self.y)
        self.library.cublasLtMatmulAlgoGetHeuristic(
            *(self.handle, self.operation, *layouts, preference, 1),
            *(ctypes.addressof(best), ctypes.addressof(count)),
        )
        if not count.value or best.state:
            raise LibraryError(f"cuBLASLt has no algorithm for {self.p}")
        return best

    def _layout(self, extents: tuple[int, int], step: int) -> c_void_p:
        """Columns one after the other, each contiguous; `step` to the next of the batch."""
        rows, columns = extents
        layout = self._new("cublasLtMatrixLayout", TYPES[self.p.dtype], rows, columns, rows)
        if self.p.batch > 1:
            self._set("cublasLtMatrixLayout", layout, BATCH_COUNT, c_int(self.p.batch))
            self._set("cublasLtMatrixLayout", layout, BATCH_OFFSET, c_int64(step))
        return layout

    def _new(self, kind: str, *arguments: int) -> c_void_p:
        handle = c_void_p()
        getattr(self.library, f"{kind}Create")(byref(handle), *arguments)
        self._created.append((f"{kind}Destroy", handle))
        return handle

    def _set(self, kind: str, of: c_void_p, attribute: int, value: Any) -> None:
        set_attribute = getattr(self.library, f"{kind}SetAttribute")
        set_attribute(of, attribute, ctypes.addressof(value), sizeof(value))

    def __del__(self) -> None:
        for destroy, handle in self.__dict__.get("_created", ()):
            getattr(self.library, destroy)(handle)


_handles: dict[tuple[int, int], tuple[c_void_p, Gpu, Library]] = {}


def _handle(gpu: Gpu, library: Library) -> c_void_p:
    """The library's own state on a GPU; one for a process."""
    key = id(gpu), id(library)
    if key not in _handles:
        handle = c_void_p()
        library.cublasLtCreate(byref(handle))
        _handles[key] = handle, gpu, library
    return _handles[key][0]
