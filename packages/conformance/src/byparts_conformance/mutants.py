"""Makes wrong kernels (mutants) of any op by changing its right kernel in fixed ways.

The right kernel is `Op.evaluate`.  A mutant changes its inputs, its results, or an attribute of the
op; mutants in `memory_mutants.py` use memory wrongly.  `mutation.py` runs the kit on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.cases import Case
from byparts_graph_ir import Graph, Op
from byparts_graph_ir.model.frozen import field_names
from byparts_opset.dtypes import is_half, wide

Array = NDArray[Any]
Arrays = Sequence[Array]
Change = Callable[[Array], Array]


@dataclass(frozen=True)
class Mutant:
    """A wrong kernel.

    Attributes:
        name: the name in the table.
        results: `(case, inputs, right results) -> wrong results`.
        by_rounding: whether it changes inputs by one unit in the last place.
    """

    name: str
    results: Callable[[Case, Arrays, Arrays], Arrays]
    by_rounding: bool = False


def mutants_of(op: type[Op]) -> list[Mutant]:
    """All mutants for the inputs, attributes and outputs of an op."""
    samples = list(op.samples())
    inputs = max((len(s.types) for s in samples), default=0)
    return [
        *(_of_all_inputs(name, change) for name, change in INPUT_CHANGES.items() if inputs),
        *_of_one_input(min(inputs, MAX_INPUTS)),
        *(_of_results(name, change) for name, change in RESULT_CHANGES.items()),
        Mutant("identity", _identity),
        Mutant("saturated", _saturated),
        *_of_attributes(op),
    ]


MAX_INPUTS = 6  # an op with more inputs (an optimizer) has mutants of the first ones only


def _is_float(a: Array) -> bool:
    return a.dtype.kind == "f" or is_half(a.dtype)


def _floats(change: Change) -> Change:
    """Apply `change` to floats only, in f32 or f64, and round to the dtype of the array."""

    def changed(a: Array) -> Array:
        return change(wide(a)).astype(a.dtype) if _is_float(a) else a

    return changed


def _through(narrow: str, floats: bool) -> Change:
    """Round the numbers to a smaller type and back, like a kernel that computes in that type."""

    def changed(a: Array) -> Array:
        if (
            _is_float(a) != floats
            or a.dtype.itemsize <= np.dtype(narrow).itemsize
            or a.dtype == bool
        ):
            return a
        return a.astype(narrow).astype(a.dtype)

    return changed


def _towards(limit: float) -> Change:
    """Change each number by one unit in the last place, so that ties are no ties any more."""

    def changed(a: Array) -> Array:
        moved = np.nextafter(a, a.dtype.type(limit))
        return np.where(np.isfinite(moved) & np.isfinite(a) & (a != 0), moved, a)

    return changed


def _alternately(change: Change) -> Change:
    """Apply `change` to about every second element, in a pseudo-random pattern."""

    def changed(a: Array) -> Array:
        some = (np.arange(a.size, dtype=np.uint64) * 2654435761 >> 13) % 2 == 1
        return np.where(some.reshape(a.shape), change(a), a).astype(a.dtype)

    return changed


INPUT_CHANGES: dict[str, Change] = {
    "nan as 0": _floats(lambda a: np.where(np.isnan(a), 0, a)),
    "inf as largest": _floats(lambda a: np.clip(a, np.finfo(a.dtype).min, np.finfo(a.dtype).max)),
    "-0.0 as 0.0": _floats(lambda a: a + 0),
    "tie rounded up": _floats(_alternately(_towards(np.inf))),
    "tie rounded down": _floats(_alternately(_towards(-np.inf))),
    "large clipped": _floats(lambda a: np.clip(a, -80, 80)),
    "negative as positive": lambda a: a if a.dtype == bool else np.abs(a),
    "small as 0": _floats(lambda a: np.where(np.abs(a) < 1e-6, a * 0, a)),
    "f64 as f32": _through("float32", True),
    "f32 as f16": _through("float16", True),
    "i64 as i32": _through("int32", False),
    "integers as f32": lambda a: _through("float32", False)(a) if a.dtype.itemsize == 8 else a,
    "first element everywhere": lambda a: (
        np.broadcast_to(a.reshape(-1)[:1], a.shape) if a.size and a.ndim else a
    ),
}


def _of_all_inputs(name: str, change: Change) -> Mutant:
    ties = name.startswith("tie")

    def results(case: Case, inputs: Arrays, right: Arrays) -> Arrays:
        kept = set(case.op.ignores)
        if ties and case.op.pattern == "elementwise":
            kept.update(range(1, len(inputs)))  # or both sides of a comparison would move
        changed = [a if i in kept else change(a) for i, a in enumerate(inputs)]
        if all(_same(a, b) for a, b in zip(changed, inputs, strict=True)):
            return right
        return case.op.evaluate(*changed)

    return Mutant(name, results, ties)


def _of_one_input(inputs: int) -> Iterator[Mutant]:
    """For each input a mutant that uses ones in its place."""
    for i in range(inputs):

        def results(case: Case, inputs: Arrays, right: Arrays, i: int = i) -> Arrays:
            if i in case.op.ignores or i >= len(inputs):
                return right
            given = [np.ones_like(a) if i == j else a for j, a in enumerate(inputs)]
            return case.op.evaluate(*given)

        yield Mutant(f"input {i} ignored", results)


def _wrong(a: Array) -> Array:
    """A different value for each element."""
    if a.dtype == bool:
        return ~a
    return np.where(wide(a) == 1, 2, 1).astype(a.dtype)


def _at(places: Any) -> Change:
    def changed(y: Array) -> Array:
        flat: Array = y.copy().reshape(-1)
        flat[places] = _wrong(flat[places])
        return flat.reshape(y.shape)

    return changed


def _rolled(axis: int) -> Change:
    def changed(y: Array) -> Array:
        return np.roll(y, 1, axis) if y.ndim > 0 else y

    return changed


def _scaled(y: Array) -> Array:
    factor = 1 + 2**-5 if is_half(y.dtype) else 1 + 1e-3
    scaled: Array = (wide(y) * factor).astype(y.dtype)
    return scaled


RESULT_CHANGES: dict[str, Change] = {
    "constant 0": np.zeros_like,
    "constant 1": np.ones_like,
    "negated": lambda y: ~y if y.dtype == bool else (0 - wide(y)).astype(y.dtype),
    "off by one, first axis": _rolled(0),
    "off by one, last axis": _rolled(-1),
    "axes reversed": lambda y: y.T.reshape(y.shape) if y.ndim > 1 else y[::-1] if y.ndim else y,
    "first element": _at(slice(0, 1)),
    "last element": _at(slice(-1, None)),
    "beyond element 64": _at(slice(64, None)),
    "wrong at nan": _floats(lambda y: np.where(np.isnan(y), 1, y)),
    "wrong at inf": _floats(lambda y: np.where(np.isinf(y), np.nan, y)),
    "wrong at 0": lambda y: np.where(wide(y) == 0, _wrong(y), y).astype(y.dtype),
    "off by 1 in 1000": _floats(_scaled),
}


def _of_results(name: str, change: Change) -> Mutant:
    def results(case: Case, inputs: Arrays, right: Arrays) -> Arrays:
        return [change(y) if y.size else y for y in right]

    return Mutant(name, results)


def _identity(case: Case, inputs: Arrays, right: Arrays) -> Arrays:
    for i, a in enumerate(inputs):
        if i not in case.op.ignores and a.dtype == right[0].dtype and a.size == right[0].size:
            return [a.reshape(right[0].shape), *right[1:]]
    return right


def _saturated(case: Case, inputs: Arrays, right: Arrays) -> Arrays:
    """Integers computed in f64 and clipped instead of wrapped."""
    if not inputs or any(a.dtype.kind not in "iu" for a in (*inputs, *right)):
        return right
    limits = [np.iinfo(y.dtype) for y in right]
    try:
        exact = case.op.evaluate(*(a.astype("float64") for a in inputs))
    except Exception:  # the op is not for floats: there is no such kernel
        return right
    clipped = [np.clip(np.nan_to_num(x), m.min, m.max) for x, m in zip(exact, limits, strict=True)]
    return [
        np.where(np.isfinite(x), c.astype(y.dtype), y) if x.shape == y.shape else y
        for x, c, y in zip(exact, clipped, right, strict=True)
    ]


def _of_attributes(op: type[Op]) -> Iterator[Mutant]:
    """For each attribute a mutant that uses the value of another sample.

    If the inputs do not fit that value, the mutant raises, which counts as killed.
    """
    for name in field_names(op):
        values = list(dict.fromkeys(getattr(s.op, name) for s in op.samples()))
        if len(values) < 2 or any(isinstance(v, Graph) for v in values):
            continue

        def results(
            case: Case, inputs: Arrays, right: Arrays, name: str = name, values: Any = values
        ) -> Arrays:
            value = next(v for v in values if v != getattr(case.op, name))
            results = replace(case.op, **{name: value}).evaluate(*inputs)
            return [
                np.resize(x, y.shape).astype(y.dtype) for x, y in zip(results, right, strict=True)
            ]

        yield Mutant(f"{name} ignored", results)


def _same(a: Array, b: Array) -> bool:
    return a is b or a.tobytes() == b.tobytes()
