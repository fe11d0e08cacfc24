"""Types: dimensions that are known, named and unknown."""

from __future__ import annotations

from typing import Any

import pytest
from toy_ops import f32

from byparts_graph_ir import (
    BITS,
    INTEGERS,
    SUB_BYTE,
    ShapeError,
    TensorType,
    compatible,
    integer_limits,
    unify,
)


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (f32(), "f32[]"),
        (f32(0, 3), "f32[0,3]"),
        (f32(None, "n"), "f32[?,n]"),
        (TensorType("bool", None), "bool[...]"),
    ],
)
def test_types_print(type: TensorType, text: str) -> None:
    """0-d, 0-size, named, unknown and unranked are five different things (NNVM defect N13)."""
    assert str(type) == text


def test_sizes() -> None:
    """Bytes count the dtype (NNVM counted 4 for every one: N6)."""
    assert [TensorType(d, (3, 5)).size_bytes for d in ("f64", "bf16", "u8")] == [120, 30, 15]
    assert f32().size == 1 and f32(0, 3).size_bytes == 0


def test_four_bits_take_a_byte_in_an_array() -> None:
    """Bits say what an element can be, bytes how arrays store it."""
    assert (BITS["i4"], BITS["bool"], BITS["f16"]) == (4, 1, 16)
    assert (TensorType("i4", (3, 5)).size_bytes, str(TensorType("i4", (3,)))) == (15, "i4[3]")
    assert {"i4"} == SUB_BYTE and "i4" in INTEGERS


@pytest.mark.parametrize(
    ("dtype", "limits"),
    [("i4", (-8, 7)), ("i8", (-128, 127)), ("u8", (0, 255)), ("u64", (0, 18446744073709551615))],
)
def test_limits_of_integers(dtype: str, limits: tuple[int, int]) -> None:
    """The least and the greatest number."""
    assert integer_limits(dtype) == limits


def test_other_dtypes_have_no_integer_limits() -> None:
    """A float has infinities, a bool no order."""
    with pytest.raises(
        ShapeError, match="'f32' is no integer dtype: i16, i32, i4, i64, i8, u16, u32"
    ):
        integer_limits("f32")


@pytest.mark.parametrize(
    ("dtype", "shape", "message"),
    [
        ("float32", (1,), r"unknown dtype 'float32'"),
        ("f23", (1,), r"did you mean 'f32'\?"),
        ("f32", (-1,), r"negative dimension -1 in shape \(-1,\)"),
        ("f32", (1.5,), r"1.5 in shape \(1.5,\) is no dimension"),
        ("f32", ("a b",), r"'a b' in shape"),
        ("f32", ("batch"), r"shape 'batch' is no tuple; one dimension is \('batch',\)"),
        ("f32", (True,), r"True in shape \(True,\) is no dimension"),
        ("f32", {2, 3}, r"shape \{2, 3\} is no tuple of ints, names and None"),
        ("f32", object(), "is no tuple of ints, names and None"),
        (float, (), 'dtype float says no size: write "f32" or "f64"'),
        (int, (), 'dtype int says no size: write "i32" or "i64"'),
        (None, (), "unknown dtype None; known: f16"),
        (["f32"], (), "unknown dtype"),
    ],
)
def test_wrong_types_say_why(dtype: Any, shape: Any, message: str) -> None:
    """The values that are wrong are in the message."""
    with pytest.raises(ShapeError, match=message):
        TensorType(dtype, shape)


class Index:
    """A number as NumPy's integers are: with `__index__`, and a shape of its own."""

    shape = ()

    def __index__(self) -> int:
        return 3


def test_shapes_are_tuples_of_plain_numbers() -> None:
    """However they were given, so that equal types are equal and print alike."""
    three: Any = Index()
    given: Any
    for given in ([3, "n"], (three, "n")):
        made = TensorType("f32", given)
        assert made == f32(3, "n") and repr(made.shape) == "(3, 'n')"
    assert TensorType("f32", three) == f32(3) == TensorType("f32", 3)  # type: ignore[arg-type]


class Dtype:
    """What of NumPy's dtypes is looked at."""

    def __init__(self, name: str, isnative: bool = True) -> None:
        self.name, self.isnative = name, isnative


def test_dtypes_of_numpy_are_taken() -> None:
    """By name; what is not in the byte order of the machine is not."""
    float16 = type("float16", (), {})

    assert TensorType(Dtype("int64"), ()) == TensorType("i64", ())  # type: ignore[arg-type]
    assert TensorType(float16, ()) == TensorType("f16", ())  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="is not in this machine's byte order; write 'f32'"):
        TensorType(Dtype("float32", isnative=False), ())  # type: ignore[arg-type]


def test_unknown_shapes_have_no_size() -> None:
    """Asking for bytes too early is an error that says what to do."""
    with pytest.raises(ShapeError, match=r"f32\[n\] is not known yet; specialize the graph first"):
        f32("n").size_bytes  # noqa: B018


def test_unify_keeps_the_more_definite() -> None:
    """A number beats a name, a name beats nothing."""
    assert unify(f32(None, "n", 3), f32("m", 4, None)) == f32("m", 4, 3)
    assert (
        unify(TensorType("f32", None), f32(2)) == f32(2) == unify(f32(2), TensorType("f32", None))
    )
    assert not compatible(f32(2), f32(3)) and compatible(f32("n"), f32(3))
    with pytest.raises(ShapeError, match=r"f32\[2\] and f32\[3\] cannot be one type"):
        unify(f32(2), f32(3))
