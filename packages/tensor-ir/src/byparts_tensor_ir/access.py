"""Accesses of buffers: where an element stands, and whether it is proved to be inside.

Positions are flat: `x[i, j]` of a buffer of 8 columns is element `8 i + j` of its memory.  Passes
and printers ask here; nothing is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import HALVES, Expr, const
from byparts_tensor_ir.index import not_negative, terms
from byparts_tensor_ir.statement import Buffer, Store
from byparts_tensor_ir.substitute import loads, variables
from byparts_tensor_ir.vector import Lanes


class EmitError(GraphError):
    """A statement has no form in a language; the message shows the statement."""


Element = tuple[tuple[Buffer, ...], tuple[Expr, ...]]  # targets and index of a store


def element_of(store: Store) -> Element:
    """The buffers and the index that a store writes: equal for copies of the store."""
    return store.targets, store.index


def unrounded(s: Store) -> tuple[Expr, ...]:
    """The values to store; halves are given as f32, because the store itself rounds them."""
    return tuple(
        [
            v.args[0] if v.op == "cast" and v.dtype in HALVES and v.args[0].dtype == "f32" else v
            for v in s.stored()
        ]
    )


def elements_of(buffer: Buffer) -> int:
    """The number of elements of a local buffer.

    Raises:
        EmitError: it depends on a size.
    """
    if any(d.op != "const" for d in buffer.shape):
        raise EmitError(f"local buffer {buffer}: its size is not a number")
    return prod([int(d.attr) for d in buffer.shape])


def is_safe(e: Expr) -> bool:
    """Whether all loads in e are inside of their buffers, whatever is chosen."""
    return all(is_inside(load) for load in loads(e))


def is_inside(load: Expr) -> bool:
    """Whether all indices of a load are proved to be inside of its buffer."""
    return all(
        not_negative(i) and not_negative(extent - 1 - i)
        for i, extent in zip(load.args, load.attr.shape, strict=True)
    )


def flat_index(buffer: Buffer, index: Sequence[Expr]) -> Expr:
    """The position of an element."""
    at = const(0)
    for i, extent in zip(index, buffer.shape, strict=True):
        at = at * extent + i
    return at


def step_of(flat: Expr, lanes: Lanes) -> int:
    """The distance in memory, in elements, between two neighbouring lanes.

    Raises:
        EmitError: it is not the same for all.
    """
    coefficients, _ = terms(flat)
    if any(lanes.var in variables(a) for a in coefficients if a is not lanes.var):
        raise EmitError(f"{flat} is not affine in {lanes.var}")
    return coefficients.get(lanes.var, 0)
