"""The pieces of ops that move elements, against `evaluate`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Op, TensorType
from byparts_op_loops.movement import At, Place, movement
from byparts_tensor_ir.expression import Expr

CASES: list[tuple[Op, tuple[int, ...]]] = [
    (ops.Slice((1, -1), (None, None), (2, -2)), (4, 7)),
    (ops.SliceGradient((6, 1), (0, 6), (-3, 2)), (7, 6)),
    (ops.Pad(((1, 2), (0, 3)), 5), (2, 3)),
    (ops.Pad(((2, 1), (0, 3)), 0, "edge"), (2, 3)),
    (ops.Pad(((1, 2), (2, 0)), 0, "reflect"), (3, 4)),
    (ops.Pad(((2, 3), (1, 0)), 0, "symmetric"), (3, 2)),
    (ops.Pad(((1, 1),), 0, "edge"), (1,)),
    (ops.Concat(-1), (2, 3)),
    (ops.Transpose((2, 0, 1)), (2, 3, 4)),
    (ops.Reverse((-1,)), (2, 3)),
    (ops.Tile((2, 3)), (3, 2)),
]


@pytest.mark.parametrize(("op", "dims"), CASES, ids=lambda x: getattr(x, "name", ""))
def test_the_pieces_cover_the_output_once(op: Op, dims: tuple[int, ...]) -> None:
    """Each element of the output is in one piece, and is what the op says."""
    shapes = [dims, (2, 4)] if isinstance(op, ops.Concat) else [dims]
    if isinstance(op, ops.SliceGradient):
        shapes.insert(0, ops.Slice(op.starts, op.stops, op.steps).infer(_type(dims))[0].dims)
    xs = [np.random.default_rng(0).normal(size=s).astype("f4") for s in shapes]
    (expected,) = op.evaluate(*xs)
    written: dict[tuple[int, ...], Any] = {}
    for piece in movement[op](op, *map(_type, shapes)):
        for axes in product(*[range(_number(n)) for n in piece.dims]):
            to = _index(piece.write, axes)
            assert to not in written
            source = piece.source
            written[to] = piece.value if source is None else xs[source][_index(piece.read, axes)]
    assert written == dict(np.ndenumerate(expected))


def _type(dims: tuple[int, ...]) -> TensorType:
    return TensorType("f32", dims)


def _index(place: Place, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        _number(at.offset) + sum(axes[a] * _number(s) for a, s in at.steps) for at in place
    )


def _number(n: int | Expr) -> int:
    assert isinstance(n, int), "all dimensions are numbers"
    return n


def test_an_index_is_a_sum_over_axes() -> None:
    assert _index((At(1, ((0, 2), (1, 3))),), (5, 7)) == (1 + 2 * 5 + 3 * 7,)


def test_padding_with_its_own_elements_has_a_piece_for_each_run() -> None:
    """Before, amid and behind; where an end is repeated, with a step of 0."""
    pieces = movement[ops.Pad](ops.Pad(((2, 2),), 0, "edge"), _type((4,)))
    assert [p.read for p in pieces] == [(At(0),), (At(1, ((0, 1),)),), (At(3),)]
