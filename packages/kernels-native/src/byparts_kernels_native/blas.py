"""Products of two matrices by a library with the CBLAS interface, called from C.

NumPy's wheel brings OpenBLAS, with 64-bit integers and names of its own; MKL is found where it is
installed as `libmkl_rt`, in this environment or where the loader looks.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from byparts_kernels_native.tilings import Matrices
from byparts_tensor_ir.emit.vectors import C_TYPES
from byparts_tensor_ir.expression import BYTES

_OPENBLAS = "scipy_cblas_{}gemm64_", "scipy_openblas_set_num_threads64_"
_MKL = "cblas_{}gemm", "MKL_Set_Num_Threads"
_BLOCK, _FEW = 1024, 16  # products that are added up in turn; rows or columns of a result


@dataclass(frozen=True)
class Library:
    """A CBLAS.

    Attributes:
        name: as choices are remembered.
        path: of the shared library.
        integer: the C type of sizes.
        functions: dtype -> address of its product.
        threads: address of what sets their number.
    """

    name: str
    path: str
    integer: str
    functions: tuple[tuple[str, int], ...]
    threads: int

    def gemm(self, dtype: str) -> int:
        """The address of the product of this dtype; 0 where there is none."""
        return dict(self.functions).get(dtype, 0)


@lru_cache(maxsize=1)
def libraries() -> tuple[Library, ...]:
    """The libraries that this process can load, OpenBLAS first."""
    return tuple(_loaded())


def set_threads(count: int) -> None:
    """From now on these libraries compute on so many threads, for NumPy too."""
    for library in libraries():
        ctypes.CFUNCTYPE(None, ctypes.c_int)(library.threads)(count)


def _loaded() -> Iterator[Library]:
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    for path in sorted(folder.glob("libscipy_openblas64_*")):
        yield from _library("openblas", str(path), "int64_t", *_OPENBLAS)
    here = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    yield from _library("mkl", str(here[0]) if here else "libmkl_rt.so.2", "int", *_MKL)


def _library(name: str, path: str, integer: str, function: str, threads: str) -> Iterator[Library]:
    try:
        library = ctypes.CDLL(path)
    except OSError:  # not there, or of another machine
        return
    letters = {"f32": "s", "f64": "d"}
    products = {t: _address(library, function.format(letters[t])) for t in letters}
    functions = tuple([(t, address) for t, address in products.items() if address])
    if functions and (setting := _address(library, threads)):
        yield Library(name, path, integer, functions, setting)


def _address(library: ctypes.CDLL, name: str) -> int:
    """The address of a function; 0 where the library has none of this name."""
    function = getattr(library, name, None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


def workspace_bytes(p: Matrices) -> int:
    """Bytes for the sums of blocks; 0 where the library adds up the whole product."""
    return p.m * p.n * (8 + BYTES[p.dtype]) if _in_blocks(p) else 0


def _in_blocks(p: Matrices) -> bool:
    """Whether sums are long and so few that a library may add them up in turn.

    Larger products it cuts along k itself, into blocks of some hundred.
    """
    return p.k > 4 * _BLOCK and min(p.m, p.n) < _FEW


def text(p: Matrices, integer: str) -> str:
    """C of a call, in a function of (a, b, c, y, workspace, product).

    y is first made equal to c where c is added to.  101 and 111, 112 are CBLAS's row-major, plain
    and transposed.
    """
    c, i = C_TYPES[p.dtype], integer
    lda, ldb = (p.m if p.transpose_a else p.k), (p.k if p.transpose_b else p.n)
    flags = ", ".join("112" if t else "111" for t in (p.transpose_a, p.transpose_b))
    scale, more = ("1", "0") if p.added is None else (repr(float(p.added)), "1")
    copy = "" if p.added is None else f"if (a[2] != a[3]) memcpy(a[3], a[2], {p.y_bytes});"
    product = f"""  typedef void (*product)(int, int, int, {i}, {i}, {i}, {c}, const {c} *, {i},
                          const {c} *, {i}, {c}, {c} *, {i});
"""
    if _in_blocks(p):
        old = "" if p.added is None else f"(({c} *)a[2])[i] + {scale} * "
        steps = (lda if p.transpose_a else 1), (1 if p.transpose_b else ldb)
        return f"""{{
{product}  const int64_t size = {p.m * p.n};
  double *sums = (double *)a[4];
  {c} *part = ({c} *)(sums + size);
  for (int64_t i = 0; i < size; i++) sums[i] = 0;
  for (int64_t k = 0; k < {p.k}; k += {_BLOCK}) {{
    ((product)a[5])(101, {flags}, {p.m}, {p.n}, least({_BLOCK}, {p.k} - k), 1,
                    (const {c} *)a[0] + k * {steps[0]}, {lda},
                    (const {c} *)a[1] + k * {steps[1]}, {ldb}, 0, part, {p.n});
    for (int64_t i = 0; i < size; i++) sums[i] += part[i];
  }}
  for (int64_t i = 0; i < size; i++) (({c} *)a[3])[i] = ({c})({old}sums[i]);
}}
"""
    return f"""{{
{product}  {copy}
  ((product)a[5])(101, {flags}, {p.m}, {p.n}, {p.k}, ({c}){scale}, (const {c} *)a[0], {lda},
                  (const {c} *)a[1], {ldb}, {more}, ({c} *)a[3], {p.n});
}}
"""
