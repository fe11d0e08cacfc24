"""Padding."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of
from byparts_frontend_torch.aten.reshape import slice_
from byparts_frontend_torch.promotion import as_number
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Size, number
from byparts_graph_ir import Value

Pairs = tuple[tuple[int, int], ...]


@rules.on("aten.constant_pad_nd.default")
def constant_pad(x: Value, pad: Sequence[Size], value: float = 0) -> Value:
    """A negative number of elements to pad is one to cut off."""
    pairs = _pairs(x, pad)
    for axis, (lower, upper) in enumerate(pairs):
        if min(lower, upper) < 0:
            x = slice_(x, axis, max(0, -lower), min(0, upper) or None)
    more = tuple((max(0, lower), max(0, upper)) for lower, upper in pairs)
    return ops.pad(x, more, as_number(value, x.type.dtype)) if any(map(any, more)) else x


@rules.on(*(f"aten.reflection_pad{n}d.default" for n in (1, 2, 3)))
def reflection_pad(x: Value, pad: Sequence[Size]) -> Value:
    return ops.pad(x, _pairs(x, pad), mode="reflect")


@rules.on(*(f"aten.replication_pad{n}d.default" for n in (1, 2, 3)))
def replication_pad(x: Value, pad: Sequence[Size]) -> Value:
    return ops.pad(x, _pairs(x, pad), mode="edge")


def _pairs(x: Value, pad: Sequence[Size]) -> Pairs:
    """Torch counts axes from the last one."""
    numbers = [number(p, "padding") for p in pad]
    last = [(numbers[i], numbers[i + 1]) for i in range(0, len(numbers), 2)]
    return (*((0, 0),) * (rank_of(x) - len(last)), *reversed(last))
