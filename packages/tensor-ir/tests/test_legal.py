"""Which loops may run in any order, and what forbids it."""

from __future__ import annotations

import pytest

from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.functions import cast
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.legal import check_order_free
from byparts_tensor_ir.statement import Buffer, For, If, Statement, Store
from byparts_tensor_ir.tensor import MAX, SUM

i, k = variable("i", 8), variable("k", 4)
x, y, z = (Buffer(name, (const(40),)) for name in "xyz")
t = Buffer("t", (), "f32", "local")


def store(target: Buffer, value: Expr, *index: Expr) -> Store:
    return Store("s", (target,), index, (value,))


def refusal(
    *body: Statement, reductions: bool = False, live: tuple[Buffer, ...] = (), one: str = ""
) -> str:
    """Why the loop over i is refused; nothing if it is not.  Buffers named in `one` are one."""
    try:
        memory = {b: y for b in (x, y, z) if b.name in one}
        check_order_free(For(i, body), "bind", reductions, live, lambda b: memory.get(b, b))
    except ScheduleError as error:
        return str(error).partition("\n")[0]
    return ""


def test_two_stores_may_not_meet_in_one_element() -> None:
    """y[i + 1] of one round is y[i] of the next."""
    assert "another round writes" in refusal(store(y, x[i], i), store(y, x[i], i + 1))
    assert not refusal(store(y, x[i], 2 * i), store(y, x[i], 2 * i + 1))
    assert not refusal(store(y, x[i], i), store(y, x[i], i + 8))


def test_a_condition_reads_too() -> None:
    """What a condition reads was written by the round before."""
    carried = If(y[i + 1] < 0.0, (store(y, x[i], i),))

    assert "a round reads elements of y" in refusal(carried)


def test_a_running_sum_is_not_a_sum() -> None:
    """A read amid the additions sees how far they are."""
    add = Store("t", (t,), (), (x[i],), SUM, (i,), True)

    assert "a round reads elements of t" in refusal(add, store(y, t[()], i), reductions=True)
    assert not refusal(add, store(y, x[i], i), reductions=True)
    assert "add to the same" in refusal(add)


def test_two_reductions_into_one_element_are_alike() -> None:
    add = Store("t", (t,), (), (x[i],), SUM, (i,), True)
    most = Store("m", (t,), (), (x[i],), MAX, (i,))

    assert "another round writes" in refusal(add, most, reductions=True)
    assert not refusal(add, Store("u", (t,), (), (y[i],), SUM, (i,)), reductions=True)


def test_memory_that_is_kept_from_round_to_round_is_no_rounds_own() -> None:
    """What is written under a condition may be what an earlier round left."""
    keep = If(x[i] < 0.0, (store(t, x[i]),))

    assert "may write one element of t" in refusal(keep, store(y, t[()], i))
    assert not refusal(store(t, x[i]), keep, store(y, t[()], i))


def test_memory_that_is_read_after_the_loop_is_no_rounds_own() -> None:
    body = store(t, x[i]), store(y, t[()], i)

    assert not refusal(*body)
    assert "may write one element of t" in refusal(*body, live=(t,))


def test_memory_of_which_each_round_writes_a_part_is_no_rounds_own() -> None:
    """Each round reads what all have written."""
    parts = Buffer("parts", (const(8),), "f32", "local")
    read = For(k, (store(y, parts[k], i * 4 + k),))

    assert "a round reads elements of parts" in refusal(store(parts, x[i], i), read)
    assert not refusal(For(k, (store(parts, x[i], k),)), read)


def test_two_buffers_may_be_the_same_bytes() -> None:
    """y over x: a round may write what it alone reads."""
    assert not refusal(store(y, x[i + 1], i))
    assert "a round reads elements of y" in refusal(store(y, x[i + 1], i), one="x")
    assert not refusal(store(y, x[i], i), one="x")


def test_an_index_that_is_read_may_change() -> None:
    """i * 4 + t is another element in each round, and may be the same in two."""
    t = Buffer("t", (), "i64", "local")
    n = Buffer("n", (const(8),), "i64")
    at = Store("t", (t,), (), (n[i],))

    assert "may write one element of y" in refusal(at, store(y, x[i], i * 4 + cast(t[()], "index")))


@pytest.mark.parametrize("step", [3, 4])
def test_rounds_that_step_over_an_inner_loop_are_apart(step: int) -> None:
    inner = For(k, (store(y, x[i], i * step + k),))

    assert bool(refusal(inner)) == (step < 4)
