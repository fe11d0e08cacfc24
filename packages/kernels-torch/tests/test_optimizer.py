"""Steps of optimizers on more elements than a sample has.  Needs torch."""

from __future__ import annotations

import pytest

from byparts_graph_ir import Op, Sample, TensorType
from byparts_opset import Adam, GradientDescent, Momentum

pytest.importorskip("torch", reason="needs torch")
torch_kernel = pytest.importorskip("torch_kernel", reason="needs torch")
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
