"""Steps of optimizers on more elements than a sample has, and which updates are one C call."""

from __future__ import annotations

import pytest

from byparts_graph_ir import Op, Sample, TensorType
from byparts_opset import (
    Adam,
    Add,
    AddMatmul,
    Div,
    Fill,
    GradientDescent,
    Identity,
    Maximum,
    Momentum,
    Mul,
    Neg,
    Select,
    Sub,
)

pytest.importorskip("torch", reason="needs torch")
torch_kernel = pytest.importorskip("torch_kernel", reason="needs torch")
own_ops = pytest.importorskip("byparts_kernels_torch.ops", reason="needs torch")
cases = pytest.importorskip("byparts_conformance.cases", reason="needs byparts-conformance")
kernel = pytest.importorskip("byparts_conformance.kernel", reason="needs byparts-conformance")

STEPS: list[tuple[Op, int, int]] = [  # op, arrays, numbers
    (GradientDescent(1), 2, 1),
    (Momentum(1), 3, 1),
    (Momentum(1, 0.9, True), 3, 1),
    (Adam(1), 4, 2),
]


@pytest.mark.parametrize("how", ["plain", "in place"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize(("op", "arrays", "numbers"), STEPS, ids=[s[0].name for s in STEPS])
def test_all_of_a_long_weight_is_stepped(
    op: Op, arrays: int, numbers: int, dtype: str, how: str
) -> None:
    """torch's fused descent steps four elements of half types, and leaves the others."""
    types = (TensorType(dtype, (100,)),) * arrays + (TensorType("f32", ()),) * numbers
    ranges = ((-1, 1),) * 2 + ((0, 1),) * (arrays - 2) + ((0.1, 0.5), (1, 2))[:numbers]
    case = cases.Case(Sample(op, types, ranges), "long")

    assert kernel.check(torch_kernel.BACKEND, case, how) == "ok"


W, RATE = TensorType("f32", (50, 40)), TensorType("f32", ())
OTHER, DOUBLES = TensorType("f32", (40,)), TensorType("f64", (40,))
FACTORS = (TensorType("f32", (50, 3)), TensorType("f32", (3, 40)))

UPDATES: list[
    tuple[Op, tuple[TensorType, ...], int]
] = [  # op, types, outputs that may be written over inputs
    (Add(), (W, W), 1),
    (Sub(), (W, W), 1),
    (Mul(), (W, RATE), 1),
    (Div(), (W, OTHER), 1),
    (Maximum(), (W, W), 1),
    (Neg(), (W,), 1),
    (Identity(), (W,), 0),
    (Fill(0.0, "f32", (50, 40)), (), 0),
    (own_ops.AddMul(-1.0), (W, W, W), 1),
    (AddMatmul(scale=-0.1), (W, *FACTORS), 1),
    (GradientDescent(1), (W, W, RATE), 1),
    (GradientDescent(3), (W, OTHER, W) * 2 + (RATE,), 3),
    (Momentum(2), (W, OTHER) * 3 + (RATE,), 4),
    (Momentum(1, 0.9, True), (W,) * 3 + (RATE,), 2),
    (Adam(1), (W,) * 4 + (RATE,) * 2, 3),
    (Adam(3), (W, OTHER, W) * 4 + (RATE,) * 2, 9),
]


@pytest.mark.parametrize(("op", "types", "written"), UPDATES, ids=lambda x: str(x)[:30])
def test_an_update_that_is_one_c_call_says_so(
    op: Op, types: tuple[TensorType, ...], written: int
) -> None:
    """Only such a kernel may write a variable."""
    kernel = torch_kernel.compiled(op, types)

    assert kernel.atomic
    assert len({output for _, output in kernel.inplace}) == written


@pytest.mark.parametrize(
    ("op", "types"),
    [
        (GradientDescent(2), (W, DOUBLES) * 2 + (RATE,)),  # a call for each dtype
        (Momentum(1), (TensorType("bf16", (9,)),) * 3 + (RATE,)),  # by way of f32
        (Select(), (TensorType("bool", (9000,)), *[TensorType("f32", (9000,))] * 2)),
    ],
    ids=lambda x: str(x)[:30],
)
def test_an_update_of_several_calls_does_not(op: Op, types: tuple[TensorType, ...]) -> None:
    assert not torch_kernel.compiled(op, types).atomic
