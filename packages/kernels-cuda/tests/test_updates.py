"""Updates of many weights in one launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulation import assert_computes, assert_emulated, compiled

import byparts_opset as ops
from byparts_graph_ir import Refused, Sample, TensorType
from byparts_kernels_cuda import updates
from byparts_kernels_cuda.updates import update_launches
from byparts_op_loops.regions.updates import UPDATES
from byparts_opset.dtypes import numpy_dtype

SAMPLES = [sample for kind in UPDATES for sample in kind.samples()]


def _inputs(sample: Sample) -> list[Any]:
    draw = np.random.default_rng(0)
    return [
        np.asarray(draw.uniform(*r, t.dims)).astype(numpy_dtype(t.dtype))
        for t, r in zip(sample.types, sample.ranges, strict=True)
    ]


def _sample(op: Any, *weights: TensorType) -> Sample:
    """An update of these weights."""
    types = (*weights * len(op.groups), *[TensorType("f32", ())] * len(op.scalars))
    ranges = [r for _, r in op.groups for _ in weights] + [r for _, r in op.scalars]
    return Sample(op, types, tuple(ranges))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@compiled
def test_the_samples_are_emulated(sample: Sample) -> None:
    """In place; of all float dtypes, half types too."""
    launches = update_launches(sample.op, sample.types)  # type: ignore[arg-type]  # of UPDATES

    assert len(launches.inplace) == len(sample.op.infer(*sample.types))
    digits = 2 if sample.types[0].dtype in ("f16", "bf16") else 5
    assert_emulated(sample.op, launches, _inputs(sample), digits)


@compiled
def test_weights_of_all_sizes_are_one_launch() -> None:
    """Fewer elements than a thread has, whole vectors, and more than a block."""
    weights = [TensorType("f32", (n,)) for n in (1, 2, 3, 4, 5, 1023, 1024, 1025, 4099, 0, 8)]
    sample = _sample(ops.Adam(len(weights)), *weights)
    launches = update_launches(ops.Adam(len(weights)), sample.types)

    assert len(launches.kernels) == 1
    assert_emulated(sample.op, launches, _inputs(sample), 5)


def test_one_weight_by_its_meaning() -> None:
    sample = _sample(ops.Momentum(1, 0.5, True), TensorType("f32", (7,)))

    assert_computes(sample.op, update_launches(sample.op, sample.types), _inputs(sample), 5)  # type: ignore[arg-type]


def test_more_weights_than_a_kernel_has_parameters_are_several_launches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With room for 2 weights of Momentum, which have 5 arrays each, and the rate."""
    monkeypatch.setattr(updates, "MOST_POINTERS", 12)
    sample = _sample(ops.Momentum(5), *[TensorType("f32", (6,))] * 5)
    launches = update_launches(ops.Momentum(5), sample.types)

    assert [len(kernel.params) for kernel in launches.kernels] == [11, 11, 6]
    assert_computes(sample.op, launches, _inputs(sample), 5)


def test_a_dtype_without_kernels_is_refused() -> None:
    op = ops.GradientDescent(1)
    with pytest.raises(Refused, match="gradient_descent of weights of i4: no kernels of i4"):
        update_launches(op, [TensorType("i4", (2,))] * 2 + [TensorType("f32", ())])


def test_no_elements_are_no_launch() -> None:
    sample = _sample(ops.GradientDescent(2), *[TensorType("f32", (0, 3))] * 2)

    assert update_launches(ops.GradientDescent(2), sample.types).kernels == ()
