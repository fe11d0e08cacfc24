"""Index arithmetic in normal form, and bounds, against Python's integers."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from byparts_tensor_ir.expression import INDEX, Expr, ExpressionError, const, variable
from byparts_tensor_ir.functions import bitcast, call, cast, maximum, minimum, select
from byparts_tensor_ir.guards import room
from byparts_tensor_ir.index import lower_bound, not_negative, upper_bound
from byparts_tensor_ir.interpret import _Run  # values of expressions
from byparts_tensor_ir.statement import Buffer, For, Store
from byparts_tensor_ir.substitute import in_statements

EXTENTS = {"a": 3, "b": 4, "c": 7}
VARIABLES = {name: variable(name, n) for name, n in EXTENTS.items()}
M = variable("m")


def _trees(depth: int = 3) -> st.SearchStrategy[str]:
    leaf = st.sampled_from([*EXTENTS, "m", "1", "2", "3", "4", "-2", "12"])
    if not depth:
        return leaf
    inner = _trees(depth - 1)
    plain = st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})"
    )
    divided = st.tuples(
        inner, st.sampled_from(["//", "%"]), st.sampled_from(["2", "3", "4", "8"])
    ).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
    return st.one_of(leaf, plain, divided)


@given(_trees(), st.integers(0, 9), st.data())
@settings(deadline=None)
def test_normal_forms_and_bounds_are_those_of_integers(
    tree: str, m: int, data: st.DataObject
) -> None:
    e = eval(tree, {**VARIABLES, "m": M})  # a tree of ours
    e = e if isinstance(e, Expr) else const(e)
    point = {n: data.draw(st.integers(0, x - 1)) for n, x in EXTENTS.items()}
    expected = eval(tree, {**point, "m": m})
    env = {VARIABLES[n]: v for n, v in point.items()} | {M: m}
    assert int(_Run({}, env, Random(0)).value(e)) == expected, e
    low, high = lower_bound(e), upper_bound(e)
    assert low is None or low <= expected
    assert high is None or high >= expected


def test_equal_indices_are_one_object() -> None:
    a, b = VARIABLES["a"], VARIABLES["b"]
    assert (a + b) * 2 - a is a + b * 2
    assert (a * 4 + b) // 4 is a
    assert (a * 4 + b) % 4 is b
    f = variable("f", M * 5)
    assert (f // M) * M + f % M is f
    assert (f // 5) * 5 + f % 5 is f
    assert (f * 4) % 12 is (f % 3) * 4
    assert (f * 8) // 12 * 12 + (f * 8) % 12 is f * 8


def test_bounds_of_symbolic_extents() -> None:
    i = variable("i", M)
    assert not_negative(M - 1 - i)
    assert not not_negative(M - 2 - i)
    assert not_negative(minimum(i, 3))
    assert upper_bound(minimum(i, 3)) == 3
    assert upper_bound(maximum(i, 3)) is None


def test_a_loop_whose_extent_becomes_zero_or_unknown_keeps_no_other() -> None:
    i = VARIABLES["a"]
    inner = variable("k", M - i)
    loop = For(inner, (Store("S", (Buffer("S", (M,)),), (inner,), (const(0, "f32"),)),))
    (unknown,) = in_statements([loop], {i: const(1)})
    (none,) = in_statements([loop], {i: M})
    assert isinstance(unknown, For) and isinstance(none, For)
    assert unknown.extent is M - 1 and none.extent is const(0)


def test_bad_operands_are_named() -> None:
    x, n = call("exp", const(1, "f32")), VARIABLES["a"]
    with pytest.raises(ExpressionError, match="is f32 and a is index; cast one"):
        x + n
    with pytest.raises(ExpressionError, match="has no truth value"):
        bool(n < 2)
    with pytest.raises(ExpressionError, match=r"1\.5 is not an expression of index"):
        n + 1.5
    with pytest.raises(ExpressionError, match="no dtype 'f31'"):
        cast(x, "f31")
    with pytest.raises(ExpressionError, match="the condition is index"):
        select(n, x, x)
    with pytest.raises(ExpressionError, match="of f32 has not as many bytes as i64"):
        bitcast(x, "i64")


def test_a_long_chain_is_printed_in_part() -> None:
    """Neither Python's stack nor memory ends: each value is used twice, 5000 times over."""
    x = variable("x", 4)
    deep = cast(x, "f32")
    for _ in range(5000):
        deep = deep * deep + 1.0

    assert len(str(deep)) < 5000 and "..." in str(deep)


VALUES = ("i8", "i16", "i32", "i64", "u8", "u32", "u64")


@pytest.mark.parametrize("dtype", VALUES)
def test_rules_of_indices_never_touch_values(dtype: str) -> None:
    """Elements wrap: `x * 2 // 2` is no x, `x * y % y` is no 0, `(x // y) * y + x % y` no x."""
    x, y = (Buffer(name, (const(1),), dtype)[0] for name in "XY")
    two = const(2, dtype)

    assert (x * two // two).op == "floordiv" and (x * y % y).op == "mod"
    assert ((x // y) * y + x % y).op == "add" and (x - x).op == "sub"
    assert (x * y * x).args == (x * y, x), "values have products of two factors"


@pytest.mark.parametrize("dtype", VALUES)
def test_comparisons_of_values_say_nothing_of_differences(dtype: str) -> None:
    """`x + 1 <= x` holds where x wraps: no loop is cut by it, no condition goes away."""
    x = Buffer("X", (const(1),), dtype)[0]

    assert room(x + const(1, dtype) <= x) is None
    assert room(VARIABLES["a"] <= VARIABLES["b"]) is not None


def test_an_index_and_a_value_do_not_mix() -> None:
    """A value becomes a position where a buffer is indexed, or by `cast`."""
    at, y, i = Buffer("at", (const(4),), "i64"), Buffer("Y", (const(4),)), VARIABLES["a"]

    assert y[at[i]] is y[cast(at[i], INDEX)]
    with pytest.raises(ExpressionError, match="is i64 and a is index; cast one"):
        at[i] + i
    with pytest.raises(ExpressionError, match=r"s: a is index and at holds i64; cast it"):
        Store("s", (at,), (i,), (i,))
    with pytest.raises(ExpressionError, match="is f32 and no position"):
        y[y[i]]
