"""The inputs that every op is tried on: its samples, in each dtype that the op accepts.

There is no list of ops here.  An op brings its samples (`Op.samples`), and its shape rule decides
which dtypes it accepts: a sample is re-typed from f32 to each float, and from i32 to each integer,
and kept if `infer` accepts the types.  Only one sample of an op is re-typed to i4, and one to each
of u16, u32 and u64, which few backends have: they stand in a column of their own.

The ranges of a sample say where the op is smooth, for gradients.  Values that a kernel may get
wrong are drawn in the same way for all ops: the edges of each dtype (`values.py`), and longer
shapes (`enlarge.py`).  `Op.domain` replaces values for which the op is not defined.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.compare import Measure
from byparts_conformance.enlarge import enlarged
from byparts_conformance.values import ORDER_KINDS, combinations, edges, kinds_of, usual, with_edges
from byparts_graph_ir import (
    FLOATS,
    INTEGERS,
    UNSIGNED,
    ArgumentError,
    GraphError,
    Op,
    Sample,
    TensorType,
    Types,
    has_effect,
)
from byparts_graph_ir.model.cached_property import cached_property
from byparts_opset.dtypes import numpy_dtype, wide

Array = NDArray[Any]

DTYPES = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "bool")  # of all samples

# An infinity in one input may hide that another is not read.
ONE_INPUT_AT_A_TIME = ("nan", "inf", "-inf")

# The least number of elements of the largest input, to have edges between usual numbers.
ENOUGH = 6

# Columns of the table; each case belongs to one.
COLUMNS = (
    *("basic", "0-d", "empty", "broadcast", "f64", "half", "integer", "rare", "strided"),
    *("in place", "edges", "long"),
)
RARE = ("i4", "u16", "u32", "u64")  # dtypes that few backends have
APART = ("edges", "long", "rare")  # columns whose cases stand in no other column


@dataclass(frozen=True)
class Case:
    """An op on inputs of these types.

    Attributes:
        sample: the op and the types.
        column: the column of the table.
        values: how inputs are drawn: "smooth", from the ranges of the sample; "mixed", every second
            element from a wide range around 0; "combinations" of edges; "edges everywhere"; or a
            kind of edge, e.g. "nan" (`values.KINDS`).
        edged: positions of the inputs that have that kind of edge.
        first_edge: index of the edge with which "edges everywhere" begins.
    """

    sample: Sample
    column: str
    values: str = "smooth"
    edged: tuple[int, ...] = ()
    first_edge: int = 0

    @property
    def op(self) -> Op:
        """The op."""
        return self.sample.op

    @property
    def types(self) -> Types:
        """The types of the inputs."""
        return self.sample.types

    @cached_property
    def outputs(self) -> Types:
        """The types of the outputs."""
        return self.op.infer(*self.types)

    def measure(self, arrays: Sequence[Array]) -> Measure:
        """The measure of how close a result must be to `evaluate` of these inputs."""
        op = self.op
        if self.values != "combinations":
            exact = op.pattern in ("elementwise", "injective", "reduction") and not op.cancels
            return Measure("largest, exact" if exact else "largest")
        if not op.cancels:
            return Measure("each", zero_sign=op.zero_sign)
        floats = [a for a, t in zip(arrays, self.types, strict=True) if t.dtype in FLOATS]
        with np.errstate(all="ignore"):
            sizes = [np.abs(wide(a).astype("float64")) for a in floats]
            terms = [np.where(np.isfinite(size), np.maximum(size, 1), 1) for size in sizes]
            return Measure("terms", terms=np.nan_to_num(np.prod(terms, axis=0)))

    def __str__(self) -> str:
        given = ", ".join(map(str, self.types))
        drawn = "" if self.values in ("smooth", "mixed") else f" with {self.values}"
        if self.edged and len(self.edged) < len(self.types):
            drawn += f" in {', '.join(f'input {i}' for i in self.edged)}"
        return f"{self.op}({given}){drawn}" + (
            f" from number {self.first_edge} on" if self.first_edge else ""
        )

    def arrays(self, number: int = 0) -> list[Array]:
        """Inputs; the same every time, others for another `number`."""
        rng = np.random.default_rng(crc32(str(self).encode()) + number)
        if self.values == "combinations":
            drawn = combinations(rng, [t.dtype for t in self.types])
            length = max(t.size for t in self.types)
            drawn = [a[:length] for a in drawn]
        else:
            ranges = (*self.sample.ranges, *(None for _ in self.types))
            drawn = [_draw(rng, t, r) for t, r in zip(self.types, ranges, strict=False)]
            if self.values == "mixed":
                drawn = [_mixed(rng, a, t) for a, t in zip(drawn, self.types, strict=True)]
            for i in self.edged:
                drawn[i] = self._with_edges(rng, drawn[i], self.types[i])
        with np.errstate(all="ignore"):
            inside = [np.asarray(a) for a in self.op.domain(*drawn)]  # 0-d ones may be scalars
        return [_unread(a) if i in self.op.ignores else a for i, a in enumerate(inside)]

    def _with_edges(self, rng: np.random.Generator, usual: Array, t: TensorType) -> Array:
        if self.values == "edges everywhere":
            every = np.random.default_rng(0).permutation(edges(t.dtype))
            return np.resize(np.roll(every, -self.first_edge), t.dims)
        return with_edges(rng, usual, t, self.values)


_CASES: dict[type[Op], tuple[Case, ...]] = {}  # an op's samples never change


def cases_of(op: type[Op]) -> tuple[Case, ...]:
    """All different cases of an op."""
    if not (isinstance(op, type) and issubclass(op, Op)):
        raise ArgumentError(f"cases_of: op is {op!r:.60}; give a class of ops, such as type(op)")
    if op not in _CASES:
        _CASES[op] = _made(op)
    return _CASES[op]


def _made(op: type[Op]) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    samples, every = list(op.samples()), typed_samples(op)
    for typed in (*every, *_rare(samples)):
        for case in (Case(typed, _column(typed), _values(typed.op)), *_long_cases(typed)):
            cases.setdefault(f"{case.column} {case} {typed.ranges}", case)
    for typed in _one_of_each([*every, *_rare(samples)]):
        for case in _edge_cases(typed):
            cases.setdefault(f"{case.column} {case}", case)
    return tuple(cases.values())


def typed_samples(op: type[Op]) -> list[Sample]:
    """The samples of an op, in every dtype that it accepts.  No array is made."""
    return [typed for sample in op.samples() for typed in _retyped(sample)]


def _gives_places(sample: Sample) -> bool:
    """Whether an op of floats gives integers, so that it compares its elements: an order."""
    results = sample.op.infer(*sample.types)
    compares = sample.op.pattern == "opaque" and all(t.dtype in FLOATS for t in sample.types)
    return compares and any(t.dtype in INTEGERS for t in results)


def _one_of_each(samples: Sequence[Sample]) -> list[Sample]:
    """For each combination of attributes and dtypes the smallest sample that is not too small."""
    smallest: dict[object, Sample] = {}
    for sample in sorted(samples, key=lambda s: (_size(s) < ENOUGH, _size(s))):
        equal_shapes = len({t.shape for t in sample.types}) == 1
        kind = (sample.op, tuple(t.dtype for t in sample.types), equal_shapes)
        smallest.setdefault(kind, sample)
    return list(smallest.values())


def _size(sample: Sample) -> int:
    return max((t.size for t in sample.types), default=0)


def _values(op: Op) -> str:
    """The values of usual cases: elementwise ops and reductions also take wide ranges."""
    return "mixed" if op.pattern in ("elementwise", "reduction") else "smooth"


def _edge_cases(sample: Sample) -> Iterator[Case]:
    """Cases on edges: all combinations for an elementwise op, else one kind of edge at a time."""
    if not sample.types or not all(t.size for t in sample.types):
        return
    column = "rare" if _column(sample) == "rare" else "edges"
    read = tuple(i for i in range(len(sample.types)) if i not in sample.op.ignores)
    if sample.op.pattern == "elementwise" and not has_effect(sample.op):
        if len({t.shape for t in sample.types}) == 1 and (flat := _flattened(sample)) is not None:
            yield Case(flat, column, "combinations")
        return  # broadcasting has no edges of its own
    if sample.op.pattern == "injective":
        most = max(len(edges(sample.types[i].dtype)) for i in read)
        least = min(sample.types[i].size for i in read)
        for first_edge in range(0, most if column == "edges" else 1, least):
            yield Case(sample, column, "edges everywhere", read, first_edge)
        return
    edged = [t for t in sample.types if column == "edges" or t.dtype in RARE]
    kinds = dict.fromkeys(kind for t in edged for kind in kinds_of(t.dtype))
    if not (sample.op.pattern == "reduction" or _gives_places(sample)):
        kinds = {kind: None for kind in kinds if kind not in ORDER_KINDS}
    if len(read) > 1:  # a formula of several may cancel its largest terms
        kinds.pop("large and equal", None)
    for kind in kinds:
        having = tuple(i for i in read if kind in kinds_of(sample.types[i].dtype))
        if kind in ONE_INPUT_AT_A_TIME:
            yield from (Case(sample, column, kind, (i,)) for i in having)
        elif having:
            yield Case(sample, column, kind, having)


def _flattened(sample: Sample) -> Sample | None:
    """The op on vectors with one element for each combination of edges; `None` if it refuses."""
    length = len(combinations(np.random.default_rng(0), [t.dtype for t in sample.types])[0])
    flat = replace(
        sample, types=tuple(TensorType(t.dtype, (length,)) for t in sample.types), ranges=()
    )
    return flat if _accepted(flat) else None


def _long_cases(sample: Sample) -> Iterator[Case]:
    if all(t.size for t in sample.types) and _column(sample) != "rare":
        cases = (Case(longer, "long", _values(sample.op)) for longer in enlarged(sample))
        yield from (case for case in cases if _defined(case))


def _defined(case: Case) -> bool:
    """Whether `evaluate` accepts the values of the case too, and not only the types."""
    try:
        case.op.evaluate(*case.arrays())
    except GraphError:
        return False
    return True


def _unread(a: Array) -> Array:
    """NaNs, or -1: an op that ignores an input must give the same results for any contents."""
    return np.frombuffer(b"\xff" * a.nbytes, a.dtype).reshape(a.shape) if a.dtype != bool else a


def f64_cases(op: type[Op]) -> list[Case]:
    """The cases in double precision, for derivatives."""
    return [
        replace(c, values="smooth")
        for c in usual_cases(op)
        if any(t.dtype == "f64" for t in c.types)
    ]


def typed_cases(op: type[Op]) -> list[Case]:
    """For checks that depend on types: usual cases, one of each long shape, one of each edge."""
    by_shape = {(c.op, c.column, tuple(t.shape for t in c.types), c.edged): c for c in cases_of(op)}
    return [*usual_cases(op), *(c for c in by_shape.values() if c.column in ("edges", "long"))]


def composed_cases(op: type[Op]) -> list[Case]:
    """For decompositions, whose ops have cases of their own: one dtype for each long shape."""
    long = {(c.op, tuple(t.shape for t in c.types)): c for c in cases_of(op) if c.column == "long"}
    return [*(c for c in cases_of(op) if c.column != "long" and not c.first_edge), *long.values()]


def usual_cases(op: type[Op]) -> list[Case]:
    """The cases of the samples, for checks that depend on types and not on values."""
    return [c for c in cases_of(op) if c.column != "long" and c.values in ("smooth", "mixed")]


def _retyped(sample: Sample) -> Iterator[Sample]:
    """The sample in every dtype that the op accepts."""
    yield sample
    for old, new in (("f32", FLOATS | INTEGERS | {"bool"}), ("i32", INTEGERS)):
        if not any(t.dtype == old for t in sample.types):
            continue
        for dtype in DTYPES:
            if dtype in new and dtype != old:
                typed = replace(sample, types=tuple(_with(t, old, dtype) for t in sample.types))
                if _accepted(typed):
                    yield typed


def _rare(samples: Sequence[Sample]) -> list[Sample]:
    """A sample with its floats, or else its i32, as each rare dtype; i4 takes the place of both."""
    made: dict[tuple[str, str], Sample] = {}
    for sample in sorted(_one_of_each(samples), key=lambda s: len({t.shape for t in s.types})):
        for old, new in product(("f32", "i32"), RARE):
            typed = replace(sample, types=tuple(_with(t, old, new) for t in sample.types))
            key = new, old if new == "i4" else ""
            if key not in made and typed.types != sample.types and _accepted(typed):
                made[key] = typed
    return list(made.values())


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
    if dtypes & set(RARE):
        return "rare"
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


def _mixed(rng: np.random.Generator, drawn: Array, t: TensorType) -> Array:
    anywhere = usual(rng, t.dtype, t.size).reshape(t.dims)
    even = np.arange(t.size).reshape(t.dims) % 2 == 0
    return np.where(even, anywhere, drawn).astype(drawn.dtype)


def _draw(rng: np.random.Generator, t: TensorType, limits: tuple[float, float] | None) -> Array:
    low, high = limits or ((-1.0, 1.0) if t.dtype in FLOATS else (0, 2))
    if t.dtype in FLOATS:
        return np.asarray(low + (high - low) * rng.random(t.dims)).astype(numpy_dtype(t.dtype))
    low = max(low, 0) if t.dtype in UNSIGNED or t.dtype == "bool" else low
    return rng.integers(int(low), max(int(high), int(low) + 1), t.dims).astype(numpy_dtype(t.dtype))
