"""Long sums by blocks: the same sums, and no accumulator that is added to too often."""

from __future__ import annotations

import numpy as np
import pytest
from emitters import each_emitter

from byparts_tensor_ir.build import build
from byparts_tensor_ir.cascade import BLOCK, cascaded
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import For, Func, Store, stores, walk
from byparts_tensor_ir.substitute import variables
from byparts_tensor_ir.tensor import (
    compute,
    max as max_over,
    placeholder,
    reduce_axis,
    sum as sum_over,
)


def _sum(dims: tuple[int, ...], kept: int = 0, dtype: str = "f32") -> Schedule:
    """The sums of an array over all axes but the first `kept`."""
    x = placeholder(dims, "x", dtype)
    axes = [reduce_axis(n, f"k{i}") for i, n in enumerate(dims[kept:])]
    y = compute(dims[:kept] or (1,), lambda *i: sum_over(x[tuple([*i[:kept], *axes])], axes), "y")
    return Schedule(lower([x, y], "total"))


def _columns(n: int, c: int) -> Schedule:
    """The sums of columns, with the loop over rows outside."""
    x, k = placeholder((n, c), "x"), reduce_axis(n, "k")
    y = compute((c,), lambda j: sum_over(x[k, j], k), "y")
    return Schedule(lower([x, y], "columns")).reorder("y_k", "y_j").vectorize("y_j")


CASES = {
    "a row": _sum((37,)),
    "rows": _sum((3, 30), 1),
    "a vectorized row": _sum((71,)).vectorize("y_k0"),
    "both loops": _sum((13, 11)),
    "three loops": _sum((5, 7, 3)),
    "columns": _columns(29, 5),
    "a whole number of blocks": _sum((27,)),
    "no more than a block": _sum((3,)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sum_by_blocks_is_the_sum(name: str) -> None:
    """Of integers that f32 adds exactly; by the meaning of the loops, with blocks of three."""
    func = CASES[name].func
    x = np.arange(1, 1 + int(np.prod(_dims(func, 0))), dtype=np.float32).reshape(_dims(func, 0))
    plain, blocks = (np.zeros(_dims(func, 1), np.float32) for _ in range(2))

    interpret(func, x, plain)
    interpret(cascaded(func, longest=4, block=3, lanes=2), x, blocks)

    np.testing.assert_array_equal(blocks, plain)


@pytest.mark.parametrize("name", [n for n in CASES if n != "no more than a block"])
def test_no_accumulator_is_added_to_often(name: str) -> None:
    """Loops of a reduction around one store have at most `longest` rounds together."""
    func = cascaded(CASES[name].func, longest=4, block=3, lanes=1)

    assert max(_additions(func)) <= 4


@each_emitter
@pytest.mark.parametrize("name", CASES)
def test_emitters_write_sums_by_blocks(name: str, emitter: str) -> None:
    """Whole blocks and what is left of them, as vectors too."""
    func = cascaded(CASES[name].func, longest=4, block=3, lanes=2)
    x = np.arange(int(np.prod(_dims(func, 0))), dtype=np.float32).reshape(_dims(func, 0))
    y = np.zeros(_dims(func, 1), np.float32)

    build(func, emitter=emitter)(x, y)

    axes = tuple(range(x.ndim)) if y.shape == (1,) else 0 if name == "columns" else 1
    np.testing.assert_array_equal(y, x.sum(axes).reshape(y.shape))


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_short_sums_keep_their_loops(dtype: str) -> None:
    """The function itself comes back."""
    func = _sum((4096,), dtype=dtype).func

    assert cascaded(func) is func


def test_sums_of_integers_and_extremes_keep_their_loops() -> None:
    """Their order does not matter."""
    x, k = placeholder((9000,), "x"), reduce_axis(9000, "k")
    extreme = lower([x, compute((1,), lambda i: max_over(x[k], k), "y")], "extreme")
    integers = _sum((9000,), dtype="i32").func

    assert cascaded(extreme) is extreme
    assert cascaded(integers) is integers


def test_a_very_long_sum_has_blocks_of_blocks() -> None:
    """Of 2^24 numbers three loops, of BLOCK rounds each."""
    loops = [s for s in walk(cascaded(_sum((1 << 24,)).func).body) if isinstance(s, For)]

    assert [s.extent.attr for s in loops if s.extent.attr > 1] == [BLOCK] * 3


def _dims(func: Func, param: int) -> tuple[int, ...]:
    return tuple([int(d.attr) for d in func.params[param].shape])


def _additions(func: Func) -> list[int]:
    """For each sum, how often one of its accumulators is added to."""
    return [_rounds(func, s) for s in stores(func.body) if s.reducer is not None]


def _rounds(func: Func, s: Store) -> int:
    over = {v for e in s.over for v in variables(e)}
    around = [x for x in walk(func.body) if isinstance(x, For) and s in stores(x.body)]
    return int(np.prod([x.extent.attr for x in around if x.var in over]))
