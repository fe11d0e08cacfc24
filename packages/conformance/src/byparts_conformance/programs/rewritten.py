"""Makers of what passes rewrite: an op that undoes another, one that changes nothing.

Neighbours of a random program seldom are what a rule of algebra looks for.  Here they are, beside
others that are nearly so: a power of 2 and of 3, a cast by way of a wider dtype and of a narrower
one, two transposes that cancel and two that do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import byparts_opset as ops
from byparts_conformance.programs.elementwise import second
from byparts_conformance.programs.growing import (
    Growing,
    Maker,
    fits,
    is_float,
    is_integer,
    is_number,
)
from byparts_graph_ir import UNSIGNED, Value, integer_limits

Form = Callable[[Value], Value]
# Of one operand, of numbers.
_TWICE: tuple[tuple[Form, ...], ...] = (
    (ops.neg, ops.abs, ops.square, ops.neg),
    (ops.relu, ops.abs, ops.sign, ops.relu),
)
_NUMBERS = (0, 1, 2, -1, 4, 0.5, 3, -2, 8, 0.25)


def twice(g: Growing) -> None:
    """Apply two ops of one operand in turn: -(-x), |-x|, the square of |x|, relu of relu."""
    x = g.value(is_number)
    if x is not None:
        forms = g.any_of(_TWICE)
        first, then = g.any_of(forms), g.any_of(forms)
        g.add(lambda: then(first(x)))


def with_numbers(g: Growing) -> None:
    """Sums, products, quotients and powers with one number or two, at either side."""
    x = g.value(is_number)
    if x is None:
        return
    shapes = ((), (), x.type.dims, (1,))
    numbers = _NUMBERS if is_float(x) else [n for n in _NUMBERS if n == int(n)]
    if x.type.dtype in UNSIGNED or x.type.dtype == "i4":
        numbers = [n for n in numbers if 0 <= n < 8 or (n < 0 and x.type.dtype == "i4")]

    def number() -> Value:
        return ops.fill(g.any_of(numbers), x.type.dtype, g.any_of(shapes))

    c, d = number(), number()
    forms: list[Callable[[], Value]] = [
        *(lambda: ops.mul(ops.mul(x, c), d), lambda: ops.add(ops.add(x, c), d)),
        *(lambda: ops.mul(ops.neg(x), c), lambda: ops.neg(ops.mul(x, c))),
        *(lambda: ops.sub(c, x), lambda: ops.add(ops.mul(x, c), x), lambda: ops.pow(x, c)),
        *(lambda: ops.sub(ops.add(x, c), d), lambda: ops.mul(x, c), lambda: ops.add(c, x)),
    ]
    if is_float(x):
        forms += [lambda: ops.div(x, c), lambda: ops.mul(ops.div(x, c), d)]
    g.add(g.any_of(forms))


def with_signs(g: Growing) -> None:
    """Sums, differences, products and quotients of values whose signs are changed."""
    x = g.value(is_number)
    if x is None:
        return
    y = g.value_or(x, lambda v: fits(x, v))
    forms: list[Callable[[], Value]] = [
        *(lambda: ops.add(x, ops.neg(y)), lambda: ops.add(ops.neg(x), y)),
        *(lambda: ops.sub(x, ops.neg(y)), lambda: ops.neg(ops.sub(x, y))),
        *(lambda: ops.mul(ops.neg(x), ops.neg(y)), lambda: ops.sub(ops.neg(x), y)),
        *(lambda: ops.sum(ops.neg(x), 0 if x.type.dims else None), lambda: ops.sub(x, x)),
    ]
    if is_float(x):
        forms.append(lambda: ops.div(ops.neg(x), ops.neg(y)))
    g.add(g.any_of(forms))


def integer_powers(g: Growing) -> None:
    """Powers of integers to computed exponents, some of them negative, and of constants."""
    x = g.value(lambda v: is_integer(v) and v.type.size < 3000)
    if x is not None:
        y = g.value_or(x, lambda v: fits(x, v))
        small = ops.mod(y, ops.fill(g.any_of((3, 7)), y.type.dtype))
        shifted = ops.sub(small, ops.fill(g.any_of((0, 0, 1, 2)), y.type.dtype))
        g.add(
            lambda: ops.pow(x, g.any_of((y, small, small if y.type.dtype in UNSIGNED else shifted)))
        )


def divided(g: Growing) -> None:
    """Quotients and rests of integers by one number: 0, -1, a power of two, the least of all."""
    x = g.value(is_integer)
    if x is not None:
        least = integer_limits(x.type.dtype)[0]
        numbers = (0, -1, 1, 2, 4, -3, 7, least) if least else (0, 1, 2, 4, 3, 7)
        c = ops.fill(g.any_of(numbers), x.type.dtype, g.any_of(((), x.type.dims)))
        pair = (x, c) if g.chance(0.85) else (c, x)
        g.add(lambda: g.any_of((ops.floordiv, ops.mod))(*pair))


def choices(g: Growing) -> None:
    """Choices by one condition twice, by its reverse, of equal arms; conditions with constants."""
    x, c = g.value(is_number), g.value(lambda v: v.type.dtype == "bool")
    if x is None:
        return
    if c is None or not fits(c, ops.equal(x, x)):
        c = ops.less(x, second(g, x))
    y, z, condition = second(g, x), second(g, x), c
    true, false = ops.fill(1, "bool"), ops.fill(0, "bool")
    g.add(
        g.any_of(
            (
                lambda: ops.select(ops.logical_not(condition), x, y),
                lambda: ops.select(condition, ops.select(condition, x, y), z),
                lambda: ops.select(condition, z, ops.select(condition, x, y)),
                lambda: ops.select(condition, x, x),
                lambda: ops.select(g.any_of((true, false)), x, y),
                lambda: ops.logical_and(g.any_of((true, false)), condition),
                lambda: ops.logical_or(condition, g.any_of((true, false))),
                lambda: ops.logical_not(ops.not_equal(x, y)),
                lambda: ops.logical_not(ops.logical_not(condition)),
                lambda: ops.maximum(x, x),
            )
        )
    )


def casts(g: Growing) -> None:
    """Two casts in a row, of which the first loses nothing, or something."""
    x = g.value(lambda v: not is_float(v) or v.type.dtype in ("f16", "bf16"))
    if x is not None:
        between = g.any_of(("f16", "bf16", "f32", "f64") if is_float(x) else _WIDER)
        after = g.any_of(("f32", "f64", "bf16", "f16") if is_float(x) else (*_WIDER, x.type.dtype))
        g.add(lambda: ops.cast(ops.cast(x, between), after))


def rounded_integers(g: Growing) -> None:
    """Whole numbers as halves, by way of f32 or not: many lie in the middle between two."""
    x = g.value(lambda v: v.type.dtype in ("i16", "i32", "i64") and v.type.size < 3000)
    if x is not None:
        half, most = g.any_of((("bf16", 1024), ("f16", 8192)))
        small = ops.mod(x, ops.fill(most, x.type.dtype))
        odd = ops.add(ops.mul(small, ops.fill(2, x.type.dtype)), ops.fill(1, x.type.dtype))
        whole = g.any_of((small, odd))
        g.add(lambda: ops.cast(ops.cast(whole, "f32") if g.chance(0.7) else whole, half))


_WIDER = ("i8", "i16", "i32", "i64", "u8", "f32", "f64")


def movements(g: Growing) -> None:
    """Two movements in a row: transposes, also of all axes, reshapes, repetitions, slices."""
    x = g.value(lambda v: 0 < len(v.type.dims) < 4 and v.type.size < 3000)
    if x is None:
        return
    dims, rank = x.type.dims, len(x.type.dims)
    orders = [g.random.sample(range(rank), rank) for _ in range(2)]
    negative = tuple([a - rank for a in orders[0]])
    turned = ops.transpose(x) if g.chance(0.5) else ops.transpose(x, negative)
    n, one = g.any_of(g.sizes), (1,) * g.any_of((1, 1, 2))
    forms: list[Callable[[], Value]] = [
        *(lambda: turned, lambda: ops.transpose(turned, tuple(orders[1]))),
        lambda: ops.reshape(ops.reshape(x, (-1,)), (1, *dims)),
        lambda: ops.reshape(turned, dims),
        lambda: ops.broadcast_to(
            ops.broadcast_to(ops.expand_dims(x, 0), (n, *dims)), (2, n, *dims)
        ),
        lambda: ops.broadcast_to(ops.reshape(x, (*one, *dims)), (n, *one[1:], *dims)),
        lambda: ops.add(ops.reshape(x, (*one, *dims)), second(g, x)),
        lambda: ops.squeeze(ops.expand_dims(x, rank), rank),
        lambda: ops.reshape(ops.broadcast_to(ops.getitem(x, (0,) * rank), dims), (-1,)),
        lambda: ops.broadcast_to(x, dims),
    ]
    g.add(g.any_of(forms))


def joined_parts(g: Growing) -> None:
    """Parts of a value, joined again; parts of what was joined; parts of a part."""
    x = g.value(lambda v: bool(v.type.dims) and v.type.dims[0] > 1 and v.type.size < 2000)
    if x is None:
        return
    n = x.type.dims[0]
    k, a = g.random.randrange(1, n), g.random.randrange(n)
    first, last = ops.getitem(x, slice(0, k)), ops.getitem(x, slice(k, n))
    forms: list[Callable[[], Value]] = [
        *(lambda: ops.concat((first, last), 0), lambda: ops.concat((last, first), 0)),
        lambda: ops.getitem(ops.concat((x, x), 0), slice(a, a + n)),
        lambda: ops.getitem(ops.getitem(x, slice(a, None)), slice(None, None, 2)),
        lambda: ops.pad(first, [(0, n - k), *[(0, 0)] * (len(x.type.dims) - 1)]),
    ]
    if is_number(x):
        forms.append(lambda: ops.add(ops.concat((first, last), 0), x))
    g.add(g.any_of(forms))


def repeated_sums(g: Growing) -> None:
    """Sums, means and extremes of one number, of what is repeated, and along axes of one."""
    x = g.value(lambda v: is_number(v) and v.type.size < 500 and len(v.type.dims) < 4)
    if x is None:
        return
    n = g.any_of((1, 2, 3, 8))
    wide = ops.broadcast_to(ops.expand_dims(x, 0), (n, *x.type.dims))
    filled = ops.fill(g.number(x.type.dtype), x.type.dtype, (n, *x.type.dims))
    names = ("sum", "max", "min", "mean") if is_float(x) else ("sum", "max", "min")
    reduce = getattr(ops, g.any_of(names))
    forms = (partial(reduce, wide, 0), partial(reduce, filled, 0), partial(reduce, wide, None))
    g.add(lambda: ops.add(g.any_of(forms)(), x) if g.chance(0.5) else g.any_of(forms)())


def turned_products(g: Growing) -> None:
    """Products of matrices of which one or both are transposed before."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) in (2, 3) and 0 < v.type.size < 2000)
    if x is None:
        return
    order = (*range(len(x.type.dims) - 2), len(x.type.dims) - 1, len(x.type.dims) - 2)
    turned = ops.transpose(x, order)
    y = g.value_or(x, lambda v: v.type == x.type)
    forms: tuple[Callable[[], Value], ...] = (
        *(lambda: ops.matmul(turned, y), lambda: ops.matmul(y, turned)),
        lambda: ops.matmul(turned, ops.transpose(y, order), transpose_b=True),
        lambda: ops.matmul(y, turned, transpose_a=True, transpose_b=True),
    )
    g.add(g.any_of(forms))


MAKERS: tuple[Maker, ...] = (
    *(twice, with_numbers, with_numbers, with_signs, integer_powers, divided, choices),
    *(casts, rounded_integers, movements, movements, joined_parts, repeated_sums, turned_products),
)
