"""i4 in NumPy's kernels: moved as it is, computed in i8."""

from __future__ import annotations

import numpy as np
import pytest
from bound import BACKEND
from hypothesis import given, strategies as st

from byparts_graph_ir import HOST, MissingRule, Op, TensorType
from byparts_kernels_numpy import make
from byparts_kernels_numpy.table import view
from byparts_opset import Add, Floordiv, Mod, Mul, Neg, Sub
from byparts_opset.dtypes import numpy_dtype

pytest.importorskip("ml_dtypes")

OPS: list[Op] = [Add(), Sub(), Mul(), Floordiv(), Mod()]
numbers = st.lists(st.integers(-8, 7), min_size=5, max_size=5)


class Stranger(Op):
    """An op of somebody else."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@given(x=numbers, y=numbers)
def test_arithmetic_is_that_of_evaluate(op: Op, x: list[int], y: list[int]) -> None:
    """Results wrap, and a division by 0 does not end the process."""
    kind, dtype = TensorType("i4", (5,)), numpy_dtype("i4")
    arrays = [view(HOST.allocate(64), 0, kind) for _ in range(3)]
    for array, values in zip(arrays, (x, y), strict=False):
        array[...] = values
    kernel = BACKEND.compile(op, [kind, kind])

    with np.errstate(all="ignore"):
        kernel.bind(arrays[:2], arrays[2:], None, None)()

    assert arrays[2].tolist() == op.evaluate(*(np.array(v, dtype) for v in (x, y)))[0].tolist()


@pytest.mark.parametrize("op", [Add(), Neg()], ids=lambda op: op.name)
def test_a_step_is_one_call_of_c(op: Op) -> None:
    """So it may update variables, as that of other dtypes may."""
    kind = TensorType("i4", (5,))

    assert BACKEND.compile(op, [kind] * (2 if isinstance(op, Add) else 1)).atomic


def test_kernels_of_others_need_not_take_it() -> None:
    """They were written for whole bytes."""
    backend = make()
    backend.kernels.on(Stranger)(lambda op, inputs, outputs: lambda: None)

    assert backend.compile(Stranger(), [TensorType("i8", (2,))])
    with pytest.raises(MissingRule, match=r"'numpy' has no kernel for Stranger on \(i4\[2\]\)"):
        backend.compile(Stranger(), [TensorType("i4", (2,))])
