"""Finds the module that made the first NaN or infinity of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell, value_and_grad
from byparts_graph_ir import GraphError, Value
from byparts_nn.calls import watching
from byparts_nn.module import Module

T = TypeVar("T")


class NotFinite(GraphError):
    """A step of a training made a NaN or an infinity; the message says which module did."""


def all_finite(values: Sequence[Value]) -> Value:
    """bool[]: no value has a NaN or an infinity."""
    finite = ops.all(ops.is_finite(values[0]))
    for value in values[1:]:
        finite = ops.logical_and(finite, ops.all(ops.is_finite(value)))
    return finite


def kept_unless(finite: Value, cells: Sequence[Cell], old: Mapping[Cell, Value]) -> None:
    """Let cells keep their old values, within a compiled step, unless all was finite."""
    for cell in cells:
        if cell in old and cell.value is not old[cell]:
            cell.assign(ops.where(finite, cell.value, old[cell]))


def blame(model: Module, loss: Callable[..., Any], batch: Sequence[Any]) -> str:
    """Run a step again, module by module; say what made the first NaN or infinity.

    Args:
        model: in the state that it had before the step.
        loss: `loss(model, *batch)`.
        batch: that of the step.
    """
    for i, array in enumerate(batch):
        if not _is_finite(array):
            return f"element {i} of the batch has {_bad(array)}"
    for path, cell in model.cells().items():
        if not _is_finite(cell.value):
            return f"{path!r} has {_bad(cell.value)} before the step"
    paths = {id(module): path for path, module in model.modules()}
    found: list[str] = []

    def look(module: Module, arguments: Sequence[Any], result: Any) -> None:
        bad = [y for y in _arrays(result) if not _is_finite(y)]
        if bad and not found:
            path, kind = paths.get(id(module), "?"), type(module).__name__
            where = f"module {path!r} ({kind})" if path else f"the model ({kind})"
            found.append(f"{where} gave {_bad(bad[0])} for {_described(arguments)}")

    with watching(look):
        value, gradients = value_and_grad(loss)(model, *batch)
    if found:
        return found[0]
    if not _is_finite(value):
        return f"the loss is {float(value)}; each module's result is finite"
    names = {cell: path for path, cell in model.cells().items()}
    bad = [(names[cell], g) for cell, g in gradients.items() if not _is_finite(g)]
    if bad:  # gradients go from the last module to the first
        return f"the gradient of {bad[-1][0]!r} has {_bad(bad[-1][1])}; the loss is finite"
    return (
        "the new weights; the loss and all gradients are finite, the optimizer's rate may be large"
    )


def without_change(cells: Sequence[Cell], run: Callable[[], T]) -> T:
    """Call `run`, and give cells their values of before again."""
    before = [cell.value for cell in cells]
    try:
        return run()
    finally:
        for cell, value in zip(cells, before, strict=True):
            cell.assign(value)


def _arrays(result: Any) -> Iterator[Any]:
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from _arrays(part)
    elif isinstance(result, Value):
        yield result


def _numpy(array: Any) -> Any:
    return np.asarray(array.numpy() if isinstance(array, Value) else array)  # type: ignore[attr-defined]


def _is_finite(array: Any) -> bool:
    data = _numpy(array)
    return data.dtype.kind != "f" or bool(np.isfinite(data).all())


def _bad(array: Any) -> str:
    data = _numpy(array)
    nans, infinite = int(np.isnan(data).sum()), int(np.isinf(data).sum())
    counts = [f"{nans} NaN"] * bool(nans) + [f"{infinite} infinite"] * bool(infinite)
    return f"{' and '.join(counts)} of {data.size} numbers"


def _described(arguments: Sequence[Any]) -> str:
    return ", ".join(str(x.type) for x in arguments if isinstance(x, Value)) or "no array"
