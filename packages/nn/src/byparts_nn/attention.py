"""Attention of several heads, and a cache of keys and values for one token after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import GraphError, ShapeError, TensorType, Value
from byparts_nn.initialize import Draw, glorot
from byparts_nn.linear import Linear
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter


class Cache(Module):
    """Keys and values of the tokens so far, in memory of a fixed size.

    Args:
        batch: number of sequences.
        length: number of tokens that there is room for.
        heads, width: of the attention that uses it; `width` is of all heads together.
    """

    def __init__(
        self, batch: int, length: int, heads: int, width: int, *, dtype: str = "f32"
    ) -> None:
        kind = TensorType(dtype, (batch, heads, length, width // heads))
        self.keys: Any = Cell(kind)
        self.values: Any = Cell(kind)
        self.position: Any = Cell(np.zeros((), np.int64))
        self.length = length

    def add(self, keys: Value, values: Value) -> tuple[Value, Value, Value]:
        """Append tokens; all keys, all values, and which of them each new token may see.

        More tokens than there is room for are an error of `scatter`: their place is out of range.
        """
        count = keys.type.dims[2]
        if count > self.length:
            raise ShapeError(f"Cache: {count} tokens, and there is room for {self.length}")
        places = self.position + ops.arange(0, count, dtype="i64")
        self.keys = ops.scatter(self.keys, places, keys, 2)
        self.values = ops.scatter(self.values, places, values, 2)
        self.position = self.position + count
        seen = ops.arange(0, self.length, dtype="i64") <= ops.expand_dims(places, 1)
        return self.keys, self.values, seen


class MultiHeadAttention(Module):
    """softmax(q kᵀ / sqrt(width / heads)) v in each head, between products with four matrices.

    The matrices for q, k and v stand side by side in `weight`, [width, 3 * width].

    Args:
        width: of tokens.
        heads: how many; they divide the width.
        bias: whether the products have one.
    """

    def __init__(self, width: int, heads: int, *, bias: bool = True, dtype: str = "f32") -> None:
        if heads < 1 or width % heads:
            raise GraphError(f"MultiHeadAttention: {heads} heads do not divide a width of {width}")
        self.weight: Any = Parameter((width, 3 * width), in_three, dtype)
        self.bias: Any = Parameter((3 * width,), dtype=dtype) if bias else None
        self.out = Linear(width, width, bias=bias, dtype=dtype)
        self.width, self.heads = width, heads

    def __call__(
        self,
        x: Value,
        memory: Value | None = None,
        *,
        causal: bool = False,
        mask: Value | None = None,
        cache: Cache | None = None,
    ) -> Value:
        """[n, time, width] -> [n, time, width].

        Args:
            x: what looks.
            memory: what is looked at, [n, other time, width]; x itself by default.
            causal: token i sees tokens 0 to i alone.
            mask: bool, broadcasts to [n, heads, time, other time]: true where a token may look.
            cache: the tokens before x, to which x is appended; x then sees these and itself.
        """
        for tokens in (x, x if memory is None else memory):
            if len(tokens.type.shape or ()) != 3:
                raise ShapeError(f"MultiHeadAttention: {tokens.type}; it takes [n, time, width]")
        q, k, v = self._projections(x, memory)
        if cache is not None:
            if memory is not None or causal:
                raise GraphError(
                    "MultiHeadAttention: a cache says itself what x sees: without "
                    "memory= and causal="
                )
            k, v, seen = cache.add(k, v)
            mask = seen if mask is None else ops.logical_and(mask, seen)
        y = ops.attention(q, k, v, causal) if mask is None else _masked(q, k, v, causal, mask)
        y = ops.transpose(y, (0, 2, 1, 3))
        return self.out(ops.reshape(y, (*known(x)[:2], self.width)))

    def cache(self, batch: int, length: int) -> Cache:
        """An empty cache for so many sequences, with room for `length` tokens."""
        dtype = self.cell("weight").type.dtype
        return Cache(batch, length, self.heads, self.width, dtype=dtype)

    def _projections(self, x: Value, memory: Value | None) -> list[Value]:
        """Queries, keys and values, [n, heads, time, width / heads] each."""
        weight, bias, w = self.weight, self.bias, self.width
        if memory is None:
            parts = ops.split(_product(x, weight, bias), (w, w, w), 2)
        else:
            of_x = _product(x, weight[:, :w], None if bias is None else bias[:w])
            rest = _product(memory, weight[:, w:], None if bias is None else bias[w:])
            parts = (of_x, *ops.split(rest, (w, w), 2))
        return [self._heads(y) for y in parts]

    def _heads(self, y: Value) -> Value:
        parts = ops.reshape(y, (*known(y)[:2], self.heads, self.width // self.heads))
        return ops.transpose(parts, (0, 2, 1, 3))


def in_three(shape: tuple[int, ...], random: np.random.Generator) -> Draw:
    """Glorot's initial values for the three matrices that stand side by side."""
    draw, part = glorot(), (shape[0], shape[1] // 3)
    return np.concatenate([draw(part, random) for _ in range(3)], 1)


def known(x: Value) -> tuple[int | str, ...]:
    """The shape of x, numbers and names."""
    return tuple([d for d in x.type.shape or () if d is not None])


def _product(x: Value, weight: Value, bias: Value | None) -> Value:
    y = ops.matmul(x, weight)
    return y if bias is None else y + bias


def _masked(q: Value, k: Value, v: Value, causal: bool, mask: Value) -> Value:
    """Attention with a mask; a row that sees nothing takes the mean of all values."""
    if causal:
        s, t = (x.type.dims[-2] for x in (q, k))
        mask = ops.logical_and(mask, ops.constant(np.tri(s, t, dtype=bool)))
    scores = ops.matmul(q, k, transpose_b=True) * float(known(q)[-1]) ** -0.5
    never = -3e4 if scores.type.dtype == "f16" else -1e30
    return ops.matmul(ops.softmax(ops.where(mask, scores, never)), v)
