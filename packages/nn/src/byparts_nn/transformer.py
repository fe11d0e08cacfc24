"""A block of a transformer: attention, and a network for each token, each around a residual."""

from __future__ import annotations

from collections.abc import Callable

import byparts_opset as ops
from byparts_graph_ir import GraphError, Value
from byparts_nn.attention import Cache, MultiHeadAttention
from byparts_nn.dropout import Dropout
from byparts_nn.linear import Linear
from byparts_nn.module import Module
from byparts_nn.normalize import LayerNorm


class TransformerBlock(Module):
    """An encoder block; with `causal` one of a language model; with `cross` one of a decoder.

    Args:
        width: of tokens.
        heads: of the attention; they divide the width.
        hidden: width inside the network for each token; 4 * width by default.
        dropout: rate, in training, of what each part adds.
        activation: of that network.
        causal: token i sees tokens 0 to i alone.
        cross: whether the block looks at the tokens of an encoder, too.
        norm_first: normalise what each part reads (stable in deep networks), else each sum, as the
            first transformer did (Vaswani et al. 2017).
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        hidden: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Value], Value] = ops.gelu,
        causal: bool = False,
        cross: bool = False,
        norm_first: bool = True,
        dtype: str = "f32",
    ) -> None:
        hidden = 4 * width if hidden is None else hidden
        self.attend = MultiHeadAttention(width, heads, dtype=dtype)
        self.attend_norm = LayerNorm(width, dtype=dtype)
        self.cross = MultiHeadAttention(width, heads, dtype=dtype) if cross else None
        self.cross_norm = LayerNorm(width, dtype=dtype) if cross else None
        self.up, self.down = Linear(width, hidden, dtype=dtype), Linear(hidden, width, dtype=dtype)
        self.norm = LayerNorm(width, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.activation, self.causal, self.norm_first = activation, causal, norm_first

    def __call__(
        self,
        x: Value,
        memory: Value | None = None,
        *,
        mask: Value | None = None,
        cache: Cache | None = None,
    ) -> Value:
        """[n, time, width] -> [n, time, width].

        Args:
            x: tokens.
            memory: those of the encoder, where the block has `cross`.
            mask: bool, which tokens of x each may look at: see `MultiHeadAttention`.
            cache: tokens before x.
        """
        if (memory is None) != (self.cross is None):
            raise GraphError(
                f"TransformerBlock: made with cross={self.cross is not None}, and called "
                f"{'without' if memory is None else 'with'} memory"
            )
        causal = self.causal and cache is None  # the cache says what x sees
        attend, cross, cross_norm = self.attend, self.cross, self.cross_norm
        look = lambda y: attend(y, causal=causal, mask=mask, cache=cache)  # noqa: E731
        x = self._around(self.attend_norm, look, x)
        if cross is not None and cross_norm is not None:
            x = self._around(cross_norm, lambda y: cross(y, memory), x)
        return self._around(self.norm, lambda y: self.down(self.activation(self.up(y))), x)

    def _around(
        self, norm: Callable[[Value], Value], part: Callable[[Value], Value], x: Value
    ) -> Value:
        if self.norm_first:
            return x + self.dropout(part(norm(x)))
        return norm(x + self.dropout(part(x)))

    def cache(self, batch: int, length: int) -> Cache:
        """An empty cache for this block: so many sequences, room for `length` tokens."""
        return self.attend.cache(batch, length)
