"""Random draws: words of the Philox stream of opset, and what becomes of them.

Word i of a stream is word i mod 4 of block i div 4, so a loop over blocks is a loop of vectors.
Words are u64 of which only the lower half counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi, prod

import byparts_opset as ops
from byparts_graph_ir import Op, TensorType
from byparts_op_loops.extents import extents, names_of, size_variable
from byparts_op_loops.function import Body, Function, Loops, function
from byparts_op_loops.narrow import narrowed
from byparts_opset.philox import KEY_STEPS, MASK, MULTIPLIERS, ROUNDS
from byparts_opset.random import BITS
from byparts_opset.random_normal import POLYNOMIAL_F32, POLYNOMIAL_F64, WITHIN_TWO
from byparts_tensor_ir.expression import Expr, as_expr, const, variable
from byparts_tensor_ir.functions import call, cast, maximum, minimum, unary
from byparts_tensor_ir.statement import Buffer, For, Func, If, Store

Element = Callable[[Sequence[Expr]], Expr]  # of the words that an element takes


def philox(n: Expr, key: Expr) -> tuple[Expr, ...]:
    """The four words of block n: u64 -> u64, of which the upper halves are anything."""
    c0, c1, c2, c3 = n & MASK, n >> 32, const(0, "u64"), const(0, "u64")
    k0, k1 = key & MASK, key >> 32
    for r in range(ROUNDS):
        low, high = (c0 & MASK) * MULTIPLIERS[0], (c2 & MASK) * MULTIPLIERS[1]
        c0 = (high >> 32) ^ c1 ^ ((k0 + KEY_STEPS[0] * r) & MASK)
        c2 = (low >> 32) ^ c3 ^ ((k1 + KEY_STEPS[1] * r) & MASK)
        c1, c3 = high, low
    return c0, c1, c2, c3


def uniform(words: Sequence[Expr], dtype: str) -> Expr:
    """k * 2^-bits of the top bits of one word, of two for f64."""
    bits = BITS[dtype]
    if dtype == "f64":
        k = ((words[0] & MASK) | (words[1] << 32)) >> (64 - bits)
        return cast(cast(k, "i64"), "f64") * const(2.0**-bits, "f64")
    k = (words[0] & MASK) >> (32 - bits)
    return narrowed(cast(cast(k, "i32"), "f32") * const(2.0**-bits, "f32"), dtype)


@function.on(ops.RandomUniform)
def _random_uniform(op: ops.RandomUniform, types: Sequence[TensorType]) -> Function:
    each = 2 if op.dtype == "f64" else 1
    return _drawn(op, types, each, lambda words: uniform(words, op.dtype))


@function.on(ops.Bernoulli)
def _bernoulli(op: ops.Bernoulli, types: Sequence[TensorType]) -> Function:
    return _drawn(op, types, 1, lambda words: uniform(words, "f32") < const(op.p, "f32"))


@function.on(ops.RandomNormal)
def _random_normal(op: ops.RandomNormal, types: Sequence[TensorType]) -> Function:
    """Normal numbers, each from two uniforms by the method of Box and Muller."""
    half = 2 if op.wide_dtype == "f64" else 1

    def element(words: Sequence[Expr]) -> Expr:
        u, v = (uniform(words[k : k + half], op.wide_dtype) for k in (0, half))
        return unary("sqrt", call("log", 1.0 - u) * -2.0) * call("cos", v * (2 * pi))

    return _drawn(op, types, 2 * half, element)


@function.on(ops.TruncatedNormal)
def _truncated_normal(op: ops.TruncatedNormal, types: Sequence[TensorType]) -> Function:
    """Truncated normal numbers, each from one uniform by the inverse of the distribution."""
    dtype = op.wide_dtype

    def element(words: Sequence[Expr]) -> Expr:
        x = (uniform(words, dtype) - 0.5) * (2 * WITHIN_TWO)
        w = -call("log", 1.0 - x * x)
        highest, *rest = reversed(POLYNOMIAL_F64 if dtype == "f64" else POLYNOMIAL_F32)
        y = const(highest, dtype)
        for c in rest:
            y = y * w + c
        return minimum(maximum(y * x, -2.0), 2.0)

    return _drawn(op, types, 2 if dtype == "f64" else 1, element)


def _drawn(op: Op, types: Sequence[TensorType], each: int, element: Element) -> Function:
    """y[i] = element(words i * each, i * each + 1, ...)."""
    dims = [tuple(map(as_expr, extents(t))) for t in types]
    inputs = [Buffer(f"in{i}", dims[i], t.dtype) for i, t in enumerate(types)]
    (t,) = op.infer(*types)
    size = as_expr(prod(extents(t)))
    y, in_block, loops = Buffer("y", (size,), t.dtype), 4 // each, Loops()
    key, counter = (cast(b[()], "u64") for b in inputs[:2])

    def block(b: Expr, elements: int = in_block) -> Body:
        words = philox(counter + cast(b, "u64"), key)
        at = [(k, words[k * each : (k + 1) * each]) for k in range(elements)]
        values = [(k, narrowed(element(w), t.dtype)) for k, w in at]
        return tuple([Store(f"y{k}", (y,), (b * in_block + k,), (v,)) for k, v in values])

    if t.static:
        whole, rest = divmod(t.size, in_block)
        body = (*loops.vector(whole, block), *block(const(whole), rest))
        return Function(Func("draw", (*inputs, y), (y,), (), body))
    blocks = variable("block", size // in_block)
    last = block(size // in_block, in_block - 1)
    left = size % in_block
    rest_of = [If(as_expr(k) < left, (store,)) for k, store in enumerate(last)]
    sizes = tuple([size_variable(name) for name in sorted(names_of(t))])
    body = (For(blocks, block(blocks), "vectorize"), *rest_of)
    return Function(Func("draw", (*inputs, y), (y,), sizes, body))
