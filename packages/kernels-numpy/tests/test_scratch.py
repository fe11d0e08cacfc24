"""Steps of one program share scratch memory, and none reads what another left there."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

import numpy as np
import pytest
from bound import BACKEND, Array, node_on

from byparts_graph_ir import FLOATS, Op, Sample, TensorType
from byparts_graph_ir.backend import Run
from byparts_kernels_numpy.scratch import Lent, empty, framed
from byparts_opset import OPS
from byparts_opset.conv2d import Conv2d, Conv2dFilterGradient
from byparts_opset.dtypes import numpy_dtype

SAMPLES = [s for op in OPS.values() if op in BACKEND.kernels for s in op.samples()]


def convolutions() -> list[Sample]:
    """With rows and columns, frames of one size and several borders, and some chunks each."""
    found = []
    for channels, padding in ((16, "SAME"), (16, ((2, 0), (0, 2))), (2, "SAME"), (2, "VALID")):
        op = Conv2d((1, 1), padding)
        x, w = TensorType("f32", (9, channels, 40, 40)), TensorType("f32", (24, channels, 3, 3))
        (y,) = op.infer(x, w)
        filter_gradient = Conv2dFilterGradient(*vars(op).values())
        found += [Sample(op, (x, w)), Sample(filter_gradient, (x, y, w))]
    return found


def arrays(sample: Sample) -> list[Array]:
    """Random inputs in the ranges of the sample."""
    random, drawn = np.random.default_rng(3), []
    for i, t in enumerate(sample.types):
        low, high = sample.ranges[i] if i < len(sample.ranges) else (0.0, 2.0)
        x = np.asarray(random.uniform(low, high, t.dims))
        drawn.append((x if t.dtype in FLOATS else np.floor(x)).astype(numpy_dtype(t.dtype)))
    return drawn


def step(op: Op, inputs: Sequence[Array]) -> tuple[Run, list[Array]]:
    node = node_on(op, *inputs)
    outputs = [np.zeros(v.type.dims, numpy_dtype(v.type.dtype)) for v in node.outputs]
    return BACKEND.bind(node, inputs, outputs), outputs


def spoil(lent: Lent) -> None:
    """All scratch becomes what is no number."""
    lent.again()
    for block in lent._free:
        block.fill(0xFF)


def bits(values: Sequence[Array]) -> list[bytes]:
    return [y.tobytes() for y in values]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_what_others_left_in_scratch_is_never_read(sample: Sample) -> None:
    """Bit for bit what memory of its own gives, at the first run and at the second."""
    inputs = arrays(sample)
    run, expected = step(sample.op, inputs)
    with np.errstate(all="ignore"):
        run()
        with Lent() as lent:
            shared, found = step(sample.op, inputs)
        for _ in range(2):
            spoil(lent)
            shared()
            assert bits(found) == bits(expected)


def test_a_row_of_convolutions_takes_the_memory_of_the_largest() -> None:
    """Interleaved, with frames of several kinds; each gives what it gives alone."""
    given = [(s.op, arrays(s)) for s in convolutions()]
    alone = [step(*each) for each in given]
    with Lent() as lent:
        together = [step(*each) for each in (*given, *given)]
    for run, _ in (*alone, *together, *together):
        run()

    expected = [bits(outputs) for _, outputs in alone]
    assert [bits(outputs) for _, outputs in together] == expected * 2
    lent.again()
    with Lent() as largest:
        step(*max(given, key=lambda each: sum(x.nbytes for x in each[1])))
    largest.again()
    assert sum(map(len, lent._free)) < 8 * sum(map(len, largest._free))


def test_a_step_takes_apart_what_the_next_may_take_again() -> None:
    with Lent() as lent:
        x, y = empty((4,), "f4"), empty((4,), "f4")
        lent.again()
        z = empty((2, 2), "f4", "F")

    assert not np.shares_memory(x, y)
    assert np.shares_memory(x, z) or np.shares_memory(y, z)
    assert z.flags.f_contiguous and empty((0,), "f4").size == 0


def test_frames_of_one_kind_are_one() -> None:
    with Lent():
        x, y, z = framed(4, "f4", (1, 1)), framed(4, "f4", (1, 1)), framed(4, "f4", (2, 0))

    assert x is y and not np.shares_memory(x, z) and not x.any()
    assert not np.shares_memory(framed(4, "f4", (1, 1)), x)


def test_threads_lend_apart() -> None:
    """What one thread binds is not lent to by another."""
    made: list[Array] = []
    with Lent():
        first = empty((8,), "f4")
        other = Thread(target=lambda: made.append(empty((8,), "f4")))
        other.start()
        other.join()

    assert made[0].base is None and first.base is not None
