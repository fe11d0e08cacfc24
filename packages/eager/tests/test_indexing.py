"""Parts of arrays: every index that NumPy takes, recorded and traced too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import GraphError, ShapeError

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_a_contiguous_part_is_a_view() -> None:
    x = bp.asarray(X)

    assert np.shares_memory(x[1].data, x.data)
    assert not np.shares_memory(x[:, 1].data, x.data)
    assert x[1].numpy().flags.c_contiguous
    assert x[:, 1].numpy().flags.c_contiguous


def test_an_index_out_of_range_is_an_index_error() -> None:
    x = bp.asarray(X)

    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 2"):
        x[2]
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 3"):
        x[0, [0, 3]]


def test_a_mask_takes_its_elements_with_gradients() -> None:
    x = bp.asarray(X)
    mask = bp.asarray(X % 5 == 0)

    assert x[mask].numpy().tolist() == [0, 5, 10, 15, 20]
    dx = bp.grad(lambda x: bp.sum(x[mask] ** 2))(x)
    np.testing.assert_array_equal(dx.numpy(), np.where(X % 5 == 0, 2 * X, 0))


def test_compiled_functions_take_constant_masks() -> None:
    """Masks that do not depend on what is traced."""
    mask = bp.asarray(X % 5 == 0)

    assert bp.compile(lambda x: x[mask])(X).numpy().tolist() == [0, 5, 10, 15, 20]


INDEX: dict[str, Any] = {
    "x[i]": lambda x, i, j: x[i],
    "x[:, j]": lambda x, i, j: x[:, j],
    "x[..., j]": lambda x, i, j: x[..., j],
    "x[:1, None, j, 1:]": lambda x, i, j: x[:1, None, j, 1:],
    "x[i, j]": lambda x, i, j: x[i, j],
    "x[i, 0, j]": lambda x, i, j: x[i, 0, j],
    "x[1, j]": lambda x, i, j: x[1, j],
    "x[i[0]]": lambda x, i, j: x[i[0]],
    "x[i[0], j[1]]": lambda x, i, j: x[i[0], j[1]],
}


@pytest.mark.parametrize("name", INDEX)
def test_traced_integers_take_what_arrays_take(name: str) -> None:
    """Negative ones count from the end; gradients are those of the eager function."""
    f, i, j = INDEX[name], np.array([1, 0, -1]), np.array([2, -3, 0])
    compiled = bp.compile(
        lambda x, i, j: (f(x, i, j), bp.grad(lambda x: bp.sum(f(x, i, j) ** 2))(x))
    )
    y, dx = compiled(X, i, j)
    wanted = bp.grad(lambda x: bp.sum(f(x, i, j) ** 2))(bp.asarray(X))

    np.testing.assert_array_equal(y.numpy(), f(X, i, j))
    np.testing.assert_array_equal(dx.numpy(), wanted.numpy())


def test_traced_integers_out_of_range_are_refused() -> None:
    """Also where the flat place would exist."""
    pick = bp.compile(lambda x, i: x[i, i])

    with pytest.raises(GraphError, match="2"):
        pick(X, np.array([2]))


def test_traced_integers_beside_slices_and_integers_are_refused() -> None:
    with pytest.raises(GraphError, match=r"as in take\(x, i, axis=1\)"):
        bp.compile(lambda x, i: x[0, :, i])(X, np.array([0]))


def test_traced_masks_are_refused() -> None:
    with pytest.raises(GraphError, match=r"use where\(mask, x, other\)"):
        bp.compile(lambda x: x[x > 0])(X)


def test_take_needs_an_axis_where_there_are_several() -> None:
    with pytest.raises(ShapeError, match=r"take: f32\[2,3,4\] has 3 axes; say which"):
        bp.take(bp.asarray(X), bp.asarray([0]))


def test_one_compiled_gather_serves_all_sizes() -> None:
    """Negative indices of an axis whose size differs from call to call."""
    pick = bp.compile(lambda x, i: x[i])
    results = [pick(X[0, :n], np.array([-1, 0])).numpy() for n in (1, 2, 3)]

    np.testing.assert_array_equal(np.stack(results)[:, 0], X[0])
    assert len(pick.programs) <= 2
