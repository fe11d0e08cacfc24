"""Casts, limits and questions about dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import ArgumentError

KINDS = {
    "bool": ["bool"], "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"], "real floating": ["float32", "float64"],
    "integral": ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    "complex floating": [],
}  # fmt: skip


def test_a_cast_to_its_own_dtype_is_the_array() -> None:
    x = bp.asarray([1.5, -2.5])

    assert bp.astype(x, "float32") is x
    assert bp.astype(x, bp.int32).numpy().tolist() == [1, -2]
    assert bp.astype(x, bp.bool, copy=False).dtype == "bool"


@pytest.mark.parametrize("dtype", [bp.float16, bp.float32, bp.float64])
def test_limits_of_floats_are_numpys(dtype: bp.DType) -> None:
    ours, theirs = bp.finfo(dtype), np.finfo(dtype.name)

    assert ours.dtype == dtype
    assert [ours.bits, ours.eps, ours.max] == [theirs.bits, float(theirs.eps), float(theirs.max)]
    assert [ours.min, ours.smallest_normal] == [float(theirs.min), float(theirs.smallest_normal)]


def test_limits_of_bf16() -> None:
    assert bp.finfo(bp.bfloat16).eps == 2**-7


@pytest.mark.parametrize("dtype", [bp.int8, bp.int16, bp.int32, bp.int64, bp.uint8, bp.uint64])
def test_limits_of_integers_are_numpys(dtype: bp.DType) -> None:
    ours, theirs = bp.iinfo(bp.zeros((), dtype=dtype)), np.iinfo(dtype.name)

    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)


def test_limits_of_another_kind_are_refused() -> None:
    with pytest.raises(ArgumentError, match="int32 is no float dtype; use iinfo"):
        bp.finfo(bp.int32)
    with pytest.raises(ArgumentError, match="float32 is no integer dtype; use finfo"):
        bp.iinfo("f32")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_hold_their_dtypes(kind: str) -> None:
    info = bp.__array_namespace_info__()

    assert sorted(info.dtypes(kind=kind)) == sorted(KINDS[kind])
    assert all(bp.isdtype(dtype, kind) for dtype in info.dtypes(kind=kind).values())


def test_a_dtype_is_of_several_kinds() -> None:
    assert bp.isdtype(bp.int8, ("bool", "integral"))
    assert bp.isdtype("f32", bp.float32)
    assert not bp.isdtype(bp.float32, bp.float64)
    with pytest.raises(ArgumentError, match="there is no kind 'float'"):
        bp.isdtype(bp.int8, "float")


def test_casts_that_promotion_makes() -> None:
    x = bp.zeros(2, dtype="i16")

    assert bp.can_cast(x, "int32")
    assert not bp.can_cast(bp.int32, bp.int8)
    assert not bp.can_cast(bp.int32, bp.float64)
    assert bp.result_type(x, bp.uint8, 3) == "i16"
    assert bp.result_type(x, bp.uint16) == "i32"
    assert bp.result_type(bp.int8, bp.uint32) == "i64"
    assert bp.result_type(bp.uint8, bp.uint64) == "u64"
    with pytest.raises(TypeError, match=r"no dtype has all their numbers; cast one"):
        bp.result_type(bp.int64, bp.uint64)
