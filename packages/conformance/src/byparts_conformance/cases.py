"""What every op is tried on: its samples, in each dtype it accepts, plain and odd.

Nothing here lists ops.  An op brings its samples, and its shape rule says which dtypes it takes: a
sample is re-typed from f32 to each float, and from i32 to each integer, and kept if `infer` agrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FLOATS, INTEGERS, GraphError, Op, Sample, TensorType, Types
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

DTYPES = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "bool")

# Columns of the table, and which cases fall under each.
COLUMNS = ("basic", "0-d", "empty", "broadcast", "f64", "half", "integer", "strided", "in place")


@dataclass(frozen=True)
class Case:
    """One op on inputs of these types."""

    sample: Sample
    column: str

    @property
    def op(self) -> Op:
        """The op."""
        return self.sample.op

    @property
    def types(self) -> Types:
        """Of the inputs."""
        return self.sample.types

    @property
    def outputs(self) -> Types:
        """The types its shape rule gives."""
        return self.op.infer(*self.types)

    def __str__(self) -> str:
        given = ", ".join(map(str, self.types))
        return f"{self.op}({given})"

    def arrays(self) -> list[Array]:
        """Inputs, drawn from the sample's ranges; the same every time."""
        rng = np.random.default_rng(crc32(str(self).encode()))
        ranges = (*self.sample.ranges, *(None for _ in self.types))
        return [_draw(rng, t, r) for t, r in zip(self.types, ranges, strict=False)]


def cases_of(op: type[Op]) -> list[Case]:
    """Every case of an op, one column each, without those that would be the same."""
    found: dict[str, Case] = {}
    for sample in op.samples():
        for typed in _retyped(sample):
            case = Case(typed, _column(typed))
            found.setdefault(f"{case} {typed.ranges}", case)
    return list(found.values())


def f64_cases(op: type[Op]) -> list[Case]:
    """The cases in double precision, for derivatives."""
    return [c for c in cases_of(op) if any(t.dtype == "f64" for t in c.types)]


def _retyped(sample: Sample) -> Iterator[Sample]:
    """The sample in every dtype that its op takes."""
    yield sample
    for old, new in (("f32", FLOATS | INTEGERS | {"bool"}), ("i32", INTEGERS)):
        if not any(t.dtype == old for t in sample.types):
            continue
        for dtype in DTYPES:
            if dtype in new and dtype != old:
                typed = replace(sample, types=tuple(_with(t, old, dtype) for t in sample.types))
                if _accepted(typed):
                    yield typed


def _with(t: TensorType, old: str, new: str) -> TensorType:
    return TensorType(new, t.shape) if t.dtype == old else t


def _accepted(sample: Sample) -> bool:
    try:
        sample.op.infer(*sample.types)
    except GraphError:
        return False
    return True


def _column(sample: Sample) -> str:
    dtypes = {t.dtype for t in (*sample.types, *sample.op.infer(*sample.types))}
    shapes = [t.dims for t in sample.types]
    if "f64" in dtypes:
        return "f64"
    if dtypes & {"f16", "bf16"}:
        return "half"
    if sample.types and not dtypes & {"f32"}:
        return "integer"
    if any(0 in s for s in shapes):
        return "empty"
    if shapes and all(s == () for s in shapes):
        return "0-d"
    return "broadcast" if len(set(shapes)) > 1 else "basic"


def _draw(rng: np.random.Generator, t: TensorType, limits: tuple[float, float] | None) -> Array:
    low, high = limits or ((-1.0, 1.0) if t.dtype in FLOATS else (0, 2))
    if t.dtype in FLOATS:
        return np.asarray(low + (high - low) * rng.random(t.dims)).astype(numpy_dtype(t.dtype))
    low = max(low, 0) if t.dtype in ("u8", "bool") else low
    return rng.integers(int(low), max(int(high), int(low) + 1), t.dims).astype(numpy_dtype(t.dtype))
