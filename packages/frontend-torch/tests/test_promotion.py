"""Dtypes of mixed operands, against `torch.result_type`."""

from __future__ import annotations

from itertools import product
from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import pytest
import torch

from byparts_frontend_torch.dtypes import dtype_name
from byparts_frontend_torch.promotion import promote, result_dtype
from byparts_graph_ir import Input, TensorType

FLOATS = torch.float16, torch.bfloat16, torch.float32, torch.float64
INTEGERS = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8
DTYPES = {dtype_name(d): d for d in (*FLOATS, *INTEGERS, torch.bool)}
OPERANDS: dict[str, tuple[Any, Any]] = {
    **{f"{n}[2]": (Input(TensorType(n, (2,))), torch.zeros(2, dtype=d)) for n, d in DTYPES.items()},
    **{f"{n}[]": (Input(TensorType(n, ())), torch.zeros((), dtype=d)) for n, d in DTYPES.items()},
    **{repr(x): (x, x) for x in (True, 2, 2.5)},
}


@pytest.mark.parametrize("left", OPERANDS)
def test_result_is_that_of_torch(left: str) -> None:
    ours, theirs = OPERANDS[left]
    pairs = [pair for pair in OPERANDS.values() if {type(pair[0]), type(ours)} & {Input}]

    found = [result_dtype(ours, x) for x, _ in pairs]
    assert found == [dtype_name(torch.result_type(theirs, y)) for _, y in pairs]


def test_promotion_of_types_is_that_of_torch() -> None:
    pairs = list(product(DTYPES, repeat=2))

    found = [promote(a, b) for a, b in pairs]
    assert found == [dtype_name(torch.promote_types(DTYPES[a], DTYPES[b])) for a, b in pairs]
