"""Parts of arrays: every index that NumPy takes, recorded and traced too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
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


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_integers_of_few_bits_index_long_axes(dtype: str) -> None:
    """The size of the axis is more than they hold."""
    x, i = np.arange(1000.0), np.array([1, 100, -2]).astype(dtype)
    wanted = x[i]

    assert bp.take(bp.asarray(x), bp.asarray(i)).numpy().tolist() == wanted.tolist()
    assert bp.compile(lambda x, i: x[i])(x, i).numpy().tolist() == wanted.tolist()


def test_true_is_a_mask_of_no_axes() -> None:
    """As in NumPy, traced too."""
    assert bp.asarray(X)[True].shape == (1, 2, 3, 4)
    assert bp.compile(lambda x: x[True])(X).shape == (1, 2, 3, 4)


def test_traced_integers_out_of_range_are_refused() -> None:
    """Also where the flat place would exist."""
    pick = bp.compile(lambda x, i: x[i, i])

    with pytest.raises(GraphError, match="2"):
        pick(X, np.array([2]))


@pytest.mark.parametrize(
    "f", [lambda x, i: x[0, :, i], lambda x, i: x[x > 0], lambda x, i: x[i, :, i]]
)
def test_traced_indices_that_no_op_takes_are_refused(f: Any) -> None:
    """The error says what to write."""
    with pytest.raises(GraphError, match=r"where\(mask, x, other\).* as in take\(x, i, axis=1\)"):
        bp.compile(f)(X, np.array([0]))


def test_rows_of_a_table_are_gathered_as_rows() -> None:
    """Not element by element: the table may be large."""
    with bp.record():
        y = bp.asarray(X)[bp.asarray([1, 0])]

    assert y.past.op == ops.Gather(0)
    assert y.past.inputs[1].shape == (2,)


def test_take_needs_an_axis_where_there_are_several() -> None:
    with pytest.raises(ShapeError, match=r"take: f32\[2,3,4\] has 3 axes; say which"):
        bp.take(bp.asarray(X), bp.asarray([0]))


def test_one_compiled_choice_of_labels_serves_all_sizes() -> None:
    choose = bp.compile(lambda x, labels: x[bp.arange(x.shape[0]), labels])
    labels = np.array([2, -1, 0])
    results = [choose(X[0, :n], labels[:n]).numpy().tolist() for n in (1, 2, 3)]

    assert results == [[2], [2, 7], [2, 7, 8]]
    assert len(choose.programs) == 2
    with pytest.raises(GraphError, match=r"x\[\.\.\.\]: .*4"):
        choose(X[0], np.array([4, 0, 0]))


def test_one_compiled_gather_serves_all_sizes() -> None:
    """Negative indices of an axis whose size differs from call to call."""
    pick = bp.compile(lambda x, i: x[i])
    results = [pick(X[0, :n], np.array([-1, 0])).numpy() for n in (1, 2, 3)]

    np.testing.assert_array_equal(np.stack(results)[:, 0], X[0])
    assert len(pick.programs) <= 2
