"""Variables, stores and their files."""

from __future__ import annotations

import numpy as np
import pytest

from byparts_graph_ir import ArgumentError, ShapeError, TensorType
from byparts_runtime import Variable


def test_a_variable_has_memory_of_its_own() -> None:
    """What it was made from, what was read and what was written may change later."""
    source = np.ones(2, np.float32)
    v = Variable("v", source)
    source[:] = 5
    read = v.read()
    read[:] = 6

    assert v.read().tolist() == [1, 1]
    assert (v.name, str(v.type)) == ("v", "f32[2]")


def test_a_variable_of_a_type_is_zeros() -> None:
    """Also 0-d and empty ones."""
    assert Variable("v", TensorType("i64", ())).read() == 0
    assert Variable("v", TensorType("bool", (0, 2))).read().shape == (0, 2)


def test_variable_memory_is_aligned() -> None:
    """To 64 bytes at least, whatever the size."""
    v = Variable("v", TensorType("u8", (3,)))

    assert np.frombuffer(v.memory, np.uint8).ctypes.data % 64 == 0


def test_a_variable_needs_a_definite_type() -> None:
    """A Python number has no dtype, and a symbol is no size."""
    with pytest.raises(ShapeError, match=r"variable 'v': 1.5 has no dtype; give an array"):
        Variable("v", 1.5)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"variable 'v': f32\[n\] is not static"):
        Variable("v", TensorType("f32", ("n",)))
    with pytest.raises(ShapeError, match="unknown dtype"):
        Variable("v", np.zeros(2, np.complex64))


def test_writing_checks_the_type() -> None:
    """Numbers take the variable's dtype if they are of its kind and fit."""
    v = Variable("v", TensorType("u8", ()))
    v.write(255)

    assert v.read() == 255
    with pytest.raises(
        ShapeError, match=r"variable 'v': expected u8\[\], got 256 to 256, which is out"
    ):
        v.write(256)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got float 1.5"):
        v.write(1.5)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got i64\[\]; convert it"):
        v.write(np.int64(1))
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got bool True"):
        v.write(True)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got u8\[1\]"):
        v.write([1])
    assert v.read() == 255


def test_a_variable_is_an_array_for_numpy() -> None:
    """A copy, of the dtype asked for; once it was an array of one object."""
    v = Variable("v", np.arange(6, dtype=np.float32).reshape(2, 3))
    seen = np.asarray(v)
    seen[:] = 7

    assert (v.shape, v.dtype, seen.dtype) == ((2, 3), np.dtype("f4"), np.dtype("f4"))
    assert np.asarray(v, dtype=np.int64).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.stack([v, v]).sum() == 30
    assert (np.ones((2, 3)) + v).sum() == 21
    assert np.allclose(v, v.read())
    assert v.__array__(np.dtype("f8"), True).dtype == np.float64
    with pytest.raises(ValueError, match="variable 'v' cannot be read without a copy"):
        v.__array__(copy=False)


def test_a_variable_is_taken_where_an_array_is() -> None:
    """Its type counts, as that of an array does."""
    v = Variable("v", np.ones((2, 3), np.float32))
    twin = Variable("twin", v)  # type: ignore[arg-type]  # an array by its methods
    v.write(np.zeros((2, 3), np.float32))

    assert twin.read().sum() == 6
    twin.write(v)
    assert twin.read().sum() == 0
    with pytest.raises(ShapeError, match=r"variable 'd': expected f64\[2,3\], got f32\[2,3\]"):
        Variable("d", TensorType("f64", (2, 3))).write(v)


def test_a_variable_of_one_element_is_a_number() -> None:
    v = Variable("v", np.full((1, 1), 2.5, np.float32))

    assert (float(v), int(v)) == (2.5, 2)
    for ask in (float, int):
        with pytest.raises(ShapeError, match=r"variable 'w' is f32\[2\], no single number; read"):
            ask(Variable("w", TensorType("f32", (2,))))


def test_a_variable_equals_itself_alone() -> None:
    x, y = Variable("x", np.float32(1)), Variable("x", np.float32(1))
    assert x == x and x != y and len({x, y, x}) == 2 and x != "x" and x is not None
    for other in (1.0, 1, np.ones(1), np.float32(1), [1.0]):
        with pytest.raises(
            ArgumentError, match=r"variable 'x': == asks .*; compare variable\.read"
        ):
            assert x == other
