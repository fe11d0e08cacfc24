"""Runs the text of CUDA kernels on a CPU: C++ in which the words of CUDA mean something.

For kernels in which threads do not meet: each runs to its end.  What C leaves undefined, such as an
integer that overflows, ends the process (`-fsanitize=undefined`).
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from byparts_gpu_ir.emit.cuda import CudaSource, emit_cuda
from byparts_gpu_ir.emit.cuda_tables import HELPERS
from byparts_tensor_ir.emit.halves import SCALARS
from byparts_tensor_ir.statement import Func

_WORDS = """#include <math.h>
#include <stdint.h>
#include <string.h>
#define INLINE static inline
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __align__(n) __attribute__((aligned(n)))
static struct { int x, y, z; } blockIdx, threadIdx;
#define VECTORS(c, v) \\
  struct alignas(2 * sizeof(c)) v##2 { c x, y; }; \\
  struct alignas(sizeof(c) < 8 ? 4 * sizeof(c) : 16) v##4 { c x, y, z, w; };
VECTORS(float, float) VECTORS(double, double) VECTORS(int, int) VECTORS(unsigned, uint)
VECTORS(long long, longlong) VECTORS(unsigned long long, ulonglong)
VECTORS(signed char, char) VECTORS(unsigned char, uchar) VECTORS(unsigned short, ushort)
static int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
"""
_FLAGS = (
    *("-x", "c++", "-std=gnu++17", "-O1", "-shared", "-fPIC", "-w", "-ffp-contract=off"),
    *(
        "-fsanitize=undefined",
        "-fno-sanitize-recover=undefined",
        "-fno-sanitize=float-cast-overflow",
    ),
)


def on_cpu(func: Func, grid: tuple[int, int, int] | None = None) -> Callable[..., None]:
    """f(*arrays, *sizes) of the CUDA C of a function; `grid` where sizes decide how many blocks."""
    source = emit_cuda(func)
    source = source if grid is None else replace(source, grid=grid)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "kernel.cc"
        file.write_text(text_of(source))
        command = ["g++", *_FLAGS, "-o", f"{file}.so", str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        launch = ctypes.CDLL(f"{file}.so").launch

    def call(*arrays: Any) -> None:
        places = [a if isinstance(a, int) else a.ctypes.data for a in arrays]
        launch((ctypes.c_void_p * len(arrays))(*places))

    return call


def text_of(source: CudaSource) -> str:
    """C++ of a kernel, and of a function `launch` that runs all threads of all blocks."""
    count = len(source.parameters)
    kind = f"void (*)({', '.join(['void *'] * count)})"
    arguments = ", ".join([f"a[{i}]" for i in range(count)])
    loops = "".join(
        f"for ({name}.{axis} = 0; {name}.{axis} < {n}; ++{name}.{axis})\n"
        for name, extents in (("blockIdx", source.grid), ("threadIdx", source.block))
        for axis, n in zip("xyz", extents, strict=True)
    )
    call = f"(({kind}){source.name})({arguments});"
    helpers = [HELPERS[h] for h in source.helpers if not h.endswith("f16")]
    body = "".join([*helpers, source.body])  # halves in the C of a CPU, for instructions of a GPU
    return f'{_WORDS}{SCALARS}{body}extern "C" void launch(void **a) {{\n{loops}{call}\n}}\n'
