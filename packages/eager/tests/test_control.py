"""Control flow: eager is Python's, compiled is one node; both compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_graph_ir import ArgumentError, GraphError

NUMPY: Any = {"backends": ("numpy",)}
X = bp.Array(np.array([0.5, -1.0, 2.0]))


def both(function: Any, *args: Any) -> tuple[Any, Any]:
    return function(*args), bp.compile(function, **NUMPY)(*args)


def test_a_branch() -> None:
    scale = bp.Cell(np.float64(3))

    def f(x: Any) -> Any:
        return bp.cond(ops.sum(x) > 1.0, lambda x: x * scale.value, lambda x: -x, x)

    for x in (X, -X):
        now, compiled = both(f, x)
        assert now.numpy().tolist() == compiled.numpy().tolist()
        now, compiled = both(bp.grad(lambda x: ops.sum(f(x))), x)
        assert now.numpy().tolist() == compiled.numpy().tolist()


def test_a_loop_that_ends_by_its_state() -> None:
    def f(x: Any) -> Any:
        return bp.while_loop(
            lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * x), (bp.asarray(0), x)
        )[1]

    now, compiled = both(f, X)
    np.testing.assert_allclose(now.numpy(), X.numpy() ** 6)
    np.testing.assert_allclose(compiled.numpy(), now.numpy())
    now, compiled = both(bp.grad(lambda x: ops.sum(f(x))), X)
    np.testing.assert_allclose(compiled.numpy(), 6 * X.numpy() ** 5)
    np.testing.assert_allclose(now.numpy(), compiled.numpy())


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan(reverse: bool) -> None:
    w = bp.Cell(np.float64(0.9), trainable=True)

    def f(xs: Any) -> Any:
        def step(h: Any, x: Any) -> tuple[Any, Any]:
            h = ops.tanh(h * w.value + x)
            return h, {"h": h, "square": h * h}

        return bp.scan(step, bp.Array(np.float64(0)), xs, reverse=reverse)

    (last, rows), (compiled_last, compiled_rows) = both(f, X)
    assert float(last) == pytest.approx(float(compiled_last), rel=1e-12)
    np.testing.assert_allclose(rows["square"].numpy(), compiled_rows["square"].numpy())
    assert float(rows["h"][0 if reverse else -1]) == float(last)
    now, compiled = both(bp.grad(lambda xs: ops.sum(f(xs)[1]["h"])), X)
    np.testing.assert_allclose(now.numpy(), compiled.numpy())


def test_a_scan_of_no_rows() -> None:
    empty = bp.Array(np.zeros((0, 2)))
    for last, rows in both(
        lambda xs: bp.scan(lambda h, x: (h + ops.sum(x), x * h), bp.Array(1.0), xs),
        bp.Array(empty, "f32"),
    ):
        assert (float(last), rows.shape) == (1, (0, 2))


def test_a_scan_without_rows_takes_its_length() -> None:
    for last, none in both(
        lambda: bp.scan(lambda h, _: (h * 2.0, None), bp.asarray(1.0), None, length=5)
    ):
        assert (float(last), none) == (32, None)
    with pytest.raises(ArgumentError, match=r"length=... must say how many rounds"):
        bp.scan(lambda h, _: (h, None), bp.asarray(1.0), None)


def test_a_body_cannot_assign_a_cell() -> None:
    """It would be assigned in some rounds, which a program of values cannot say."""
    cell = bp.Cell(np.float64(0), name="total")

    def step(h: Any, x: Any) -> tuple[Any, Any]:
        cell.value = cell.value + x
        return h, None

    with pytest.raises(
        GraphError, match=r"scan: body assigns cell .total.: .* pass the value as a state"
    ):
        bp.compile(lambda xs: bp.scan(step, bp.asarray(0.0), xs), **NUMPY)(X)


def test_branches_of_two_structures_are_refused() -> None:
    with pytest.raises(GraphError, match="cond: otherwise gives a tree of structure"):
        bp.compile(lambda x: bp.cond(ops.sum(x) > 0.0, lambda: (x, x), lambda: x), **NUMPY)(X)
    with pytest.raises(
        ArgumentError, match=r"scan: f gave .*; it gives a pair \(carry, row or None\)"
    ):
        bp.scan(lambda h, x: h, X, X)
