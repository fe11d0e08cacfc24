"""Steps, the stores of a region, and the loops around them before they become statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Union

from byparts_graph_ir import Value
from byparts_op_loops.movement import Place
from byparts_op_loops.reduction import Reduced
from byparts_op_loops.regions.layout import Axes
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import Buffer, For, Store


@dataclass(eq=False)
class Step:
    """A store: an element of `value`, or a number, for all of `axes`, combined over `over`.

    Attributes:
        write: where in the buffers of outputs.
        read: which element of the value.
        copies: whether the value is stored as another step, or the caller, has it.
        buffers: where it is stored: those of outputs, or one of its own.
        path: the loops around it, outermost first.
        kept: the axes by which its own buffer is indexed.
    """

    value: Value | Union[int, float]
    axes: Axes
    write: Place
    over: Axes = ()
    rule: Reduced | None = None
    read: Place = ()
    copies: bool = False
    buffers: list[Buffer] = field(default_factory=list)
    path: list[Loop] = field(default_factory=list)
    kept: Axes = ()


@dataclass(eq=False)
class Loop:
    """A loop over one axis, and what it holds in order."""

    axis: int
    body: list[Loop | Step] = field(default_factory=list)


def at(place: Place, env: dict[int, Expr]) -> tuple[Expr, ...]:
    """The indices of a place, where axes are these."""
    out = []
    for offset, steps in place:
        index = const(offset)
        for axis, step in steps:
            index = index + env[axis] * step
        out.append(index)
    return tuple(out)


def as_one(stores: Sequence[Store]) -> list[Store]:
    """Stores at one index as one store, which computes all its values before it writes any.

    The largest comes last: outputs of it may lie over inputs that the others read.
    """
    groups: dict[tuple[Expr, ...], list[Store]] = {}
    for s in stores:
        groups.setdefault(s.index, []).append(s)
    return [
        Store(
            group[0].block,
            tuple([t for s in group for t in s.targets]),
            index,
            tuple([v for s in group for v in s.values]),
        )
        for index, group in sorted(groups.items(), key=lambda item: len(item[1]))
    ]


def within_columns(rows: For, most: int) -> For:
    """A loop over rows that only adds up columns, inside of the loop over these columns.

    Their sums then stay in registers; of more than `most` columns, a few vectors, rows would be
    read in parts: the loop stays as it is.
    """
    columns = rows.body[0]
    if len(rows.body) > 1 or not isinstance(columns, For) or columns.kind != "vectorize":
        return rows
    few = columns.extent.op == "const" and columns.extent.attr <= most
    for s in columns.body if few else ():
        if not isinstance(s, Store) or s.reducer is None or s.over != (rows.var,):
            return rows
    return For(columns.var, (For(rows.var, columns.body),), "vectorize") if few else rows
