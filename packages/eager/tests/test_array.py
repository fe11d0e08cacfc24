"""Arrays: made of numbers and of other libraries' arrays, read, never changed."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_graph_ir import ArgumentError, GraphError


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1.5, "f32", ()),
        (3, "i64", ()),
        (True, "bool", ()),
        ([[1.0, 2.0]], "f32", (1, 2)),
        ([], "f32", (0,)),
        (np.zeros((2, 0), np.float64), "f64", (2, 0)),
        (np.arange(3, dtype=np.uint8), "u8", (3,)),
    ],
)
def test_the_type_of_an_array_is_that_of_its_data(data: object, dtype: str, shape: object) -> None:
    """Numbers and lists of floats are f32; arrays keep their dtype."""
    x = bp.asarray(data)

    assert (x.dtype, x.shape) == (dtype, shape)
    assert x.dtype == x.dtype.name


def test_data_is_copied() -> None:
    data = np.ones(3, np.float32)
    x = bp.Array(data)
    data[:] = 0

    assert x.numpy().tolist() == [1, 1, 1]


def test_an_array_cannot_be_written() -> None:
    x = bp.asarray([1.0, 2.0])

    with pytest.raises(TypeError, match=r"x\.at\[index\]\.set\(value\)"):
        x[0] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 3.0


def test_an_exported_array_is_a_copy() -> None:
    """Another library may write what it gets by DLPack."""
    x = bp.asarray([1.0, 2.0])
    other = np.from_dlpack(x)
    assert other.tolist() == [1, 2]
    if other.flags.writeable:
        other[:] = 0

    assert x.numpy().tolist() == [1, 2]


def test_augmented_assignment_makes_a_new_array() -> None:
    x = y = bp.asarray([1.0])
    y += 1

    assert x.numpy().tolist() == [1]
    assert y.numpy().tolist() == [2]


def test_comparisons_are_elementwise_and_arrays_are_keys() -> None:
    x = bp.asarray([1.0, 2.0])

    assert (x == bp.asarray([1.0, 3.0])).numpy().tolist() == [True, False]
    assert (x != 1.0).numpy().tolist() == [False, True]
    assert {x: "value"}[x] == "value"


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_arrays_are_copied_and_pickled(make: object) -> None:
    x = bp.asarray([[1, 2], [3, 4]])
    y = make(x)  # type: ignore[operator]

    assert (y.dtype, y.numpy().tolist()) == ("i64", [[1, 2], [3, 4]])


def test_a_single_element_is_a_number() -> None:
    assert (float(bp.asarray(2.0)), int(bp.asarray([3])), bool(bp.asarray(0))) == (2.0, 3, False)
    assert [10, 20][bp.asarray(1)] == 20
    with pytest.raises(GraphError, match=r"an array of type f32\[2\] is no single number"):
        float(bp.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match="is no index; cast it to i64"):
        [10, 20][bp.asarray(1.0)]


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"no array can be made of \[\[1, 2\], \[3\]\]"):
        bp.asarray([[1, 2], [3]])
    with pytest.raises(ArgumentError, match=r"no array can be made of \[None\]: no numbers"):
        bp.asarray([None])


def test_a_value_of_a_graph_is_no_array() -> None:
    from byparts_graph_ir import Input, TensorType

    x = Input(TensorType("f32", (2,)), name="x")
    with pytest.raises(GraphError, match=r"add: the value of type f32\[2\], made at .*test_array"):
        bp.asarray([1.0, 2.0]) + x


def test_numbers_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError, match=r"the number 1\.5 is beside an array of dtype int64"):
        bp.asarray([1, 2]) + 1.5
    with pytest.raises(TypeError, match="float32 and int64 have no common dtype"):
        bp.asarray([1.0]) + bp.asarray([1])


def test_a_device_that_compiles_each_op_is_refused() -> None:
    pytest.importorskip("byparts_kernels_native", reason="kernels-native is not installed")
    with pytest.raises(ArgumentError, match=r"compile\(f, backends=\('native',\)\)"):
        bp.asarray(1.0, device="native")


def test_other_elements_at_an_index() -> None:
    x = bp.asarray([[1.0, 2.0], [3.0, 4.0]])

    assert x.at[0].set(9.0).numpy().tolist() == [[9, 9], [3, 4]]
    assert x.at[:, ::-1].set([[1.0, 2.0], [3.0, 4.0]]).numpy().tolist() == [[2, 1], [4, 3]]
    assert x.at[[0, 0], 1].add(1.0).numpy().tolist() == [[1, 4], [3, 4]]
    assert x.at[5:].set(0.0).numpy().tolist() == x.numpy().tolist()
    with pytest.raises(IndexError, match="out of bounds"):
        x.at[7].set(0.0)


def test_the_gradient_passes_an_index_that_is_set() -> None:
    """The elements that were replaced get none, the new ones get theirs."""
    x, y = bp.asarray([1.0, 2.0, 3.0]), bp.asarray(5.0)

    def f(x: object, y: object) -> object:
        return ops.sum(x.at[1].set(y) * bp.asarray([1.0, 10.0, 100.0]))  # type: ignore[attr-defined]

    assert bp.grad(f)(x, y).numpy().tolist() == [1, 0, 100]
    assert bp.grad(f, 1)(x, y).item() == 10
    assert bp.compile(bp.grad(f), backends=("numpy",))(x, y).numpy().tolist() == [1, 0, 100]


def test_an_array_shows_itself_in_a_notebook() -> None:
    """A small one as a table, a large one as text."""
    table = bp.asarray([[1.0, 0.5]])._repr_html_()

    assert "<caption>f32[1,2]</caption><tr><td>1</td><td>0.5</td></tr>" in table
    assert bp.Array(np.zeros((100, 100)))._repr_html_().startswith("<pre>array([[0., 0.,")
