"""What the assembler says of the kernels that are written by hand: registers, and no spills.

`golden/registers.txt` is the table, of the compiler that it names.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nvcc import needs_nvcc, ptxas_report

import byparts_opset as ops
from byparts_gpu_ir.emit.cuda import CudaSource, emit_cuda
from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import TensorType
from byparts_kernels_cuda.attention.backward import attention_gradient_launches
from byparts_kernels_cuda.attention.forward import attention_launches
from byparts_kernels_cuda.convolutions import convolution_launches
from byparts_kernels_cuda.products.matmul import matmul_launches
from byparts_kernels_cuda.products.tiles import TILES, TILES_OF_8_BYTES, TILES_OF_HALVES
from byparts_kernels_cuda.updates import update_launches
from byparts_opset.conv2d import _transposed_padding
from byparts_opset.window import remade

GOLDEN = Path(__file__).parent / "golden" / "registers.txt"
ARCHITECTURES = ("sm_80", "sm_90")


def _f32(*dims: int) -> TensorType:
    return TensorType("f32", dims)


def _products() -> Iterator[tuple[str, Launches]]:
    for dtype, tiles in (("f32", TILES), ("f64", TILES_OF_8_BYTES), ("f16", TILES_OF_HALVES)):
        for tile in tiles:
            for flags in ((False, False), (True, True)) if dtype == "f32" else ((False, False),):
                types = [TensorType(dtype, (4096, 4096))] * 2
                name = f"{dtype} {tile.rows} x {tile.columns}{' transposed' * flags[0]}"
                yield name, matmul_launches(ops.MatMul(*flags), types, (tile, 1))
    edges = [_f32(1001, 1003), _f32(1003, 999)]
    yield "f32 with edges", matmul_launches(ops.MatMul(), edges, (TILES[0], 1))
    for transposed in (False, True):
        types = [_f32(1, 4096), _f32(4096, 4096)]
        name = f"f32 of a row{' transposed' * transposed}"
        yield name, matmul_launches(ops.MatMul(False, transposed), types)


def _convolutions() -> Iterator[tuple[str, Launches]]:
    for layout, kernel, stride in (("NCHW", 3, 1), ("NCHW", 3, 2), ("NHWC", 3, 1), ("NCHW", 1, 1)):
        op = ops.Conv2d((stride, stride), "SAME", (1, 1), 1, layout)
        x, w = _f32(32, 64, 56, 56), _f32(64, 64, kernel, kernel)
        if layout == "NHWC":
            x, w = _f32(32, 56, 56, 64), _f32(kernel, kernel, 64, 64)
        (y,) = op.infer(x, w)
        around = _transposed_padding(op, x, w)
        assert around is not None
        name = f"{kernel} x {kernel} {layout}, stride {stride}"
        yield f"y, {name}", convolution_launches(op, [x, w])
        back = remade(ops.Conv2dTranspose, op, padding=around)
        yield f"dx, {name}", convolution_launches(back, [y, w])
        yield f"dw, {name}", convolution_launches(remade(ops.Conv2dFilterGradient, op), [x, y, w])


def _others() -> Iterator[tuple[str, Launches]]:
    for dtype in ("f32", "f16", "bf16"):
        for width in (32, 64, 128):
            q, sums = TensorType(dtype, (32, 1024, width)), _f32(32, 1024)
            yield f"attention of {width} {dtype}", attention_launches(ops.Attention(True), [q] * 3)
            gradient = attention_gradient_launches(ops.AttentionGradient(True), [q] * 5 + [sums])
            yield f"its gradient of {width} {dtype}", gradient
    weights = [_f32(784, 256), _f32(256), _f32(256, 10), _f32(10)]
    for op in (ops.GradientDescent(4), ops.Momentum(4), ops.Adam(4)):
        types = [*weights * len(op.groups), *[_f32()] * len(op.scalars)]
        yield f"{op.name} of 4 weights", update_launches(op, types)


def _sources(launches: Launches, count: int) -> list[CudaSource]:
    made: list[CudaSource] = []
    for kernel in launches.kernels:
        name = f"{kernel.name}_{count + len(made)}"
        made.append(emit_cuda(replace(kernel, name=name)))
    return made


@needs_nvcc
@pytest.mark.long
def test_no_kernel_spills(golden: Any) -> None:
    """The table is compared where the compiler is the one that made it."""
    names: list[str] = []
    sources: list[CudaSource] = []
    for name, launches in (*_products(), *_convolutions(), *_others()):
        made = _sources(launches, len(sources))
        sources += made
        names += [f"{name}: {s.name.removeprefix('byparts_').rsplit('_', 1)[0]}" for s in made]
    reports = [_reports(sources, arch) for arch in ARCHITECTURES]

    assert not [x for some in reports for x in some if x.spill_bytes or x.stack_bytes]
    table = "\n".join([_compiler(), "", *_rows(names, sources, reports), ""])
    if not GOLDEN.exists() or GOLDEN.read_text(encoding="utf-8").startswith(_compiler()):
        golden(GOLDEN, table)


def _reports(sources: Sequence[CudaSource], architecture: str) -> list[Any]:
    """Of each kernel; in one file dynamic shared memory has one alignment."""
    found: dict[str, Any] = {}
    for alignment in sorted({s.alignment for s in sources}):
        some = [s for s in sources if s.alignment == alignment]
        found |= dict(zip([s.name for s in some], ptxas_report(some, architecture), strict=True))
    return [found[s.name] for s in sources]


def _rows(
    names: Sequence[str], sources: Sequence[CudaSource], reports: Sequence[Any]
) -> Iterator[str]:
    yield f"{'kernel':60} {'threads':>7} {'shared':>7} {'registers on':>12} {ARCHITECTURES}"
    for name, source, *of in zip(names, sources, *reports, strict=True):
        x, y, z = source.block
        shared = source.shared_bytes + source.dynamic_bytes
        counts = " ".join([f"{r.registers:6}" for r in of])
        yield f"{name:60} {x * y * z:7} {shared:7} {counts:>12}"


def _compiler() -> str:
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    (version,) = re.findall(r"release (\S+),", said)
    return f"nvcc {version}; no kernel spills"
