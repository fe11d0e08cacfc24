"""Networks of sequences: transformers with and without a mask, and an unrolled LSTM."""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import Value
from memory.networks_layers import Inputs, dense


def bert_base(
    net: Inputs, batch: int, time: int = 128, width: int = 768, layers: int = 12,
    words: int = 30522,
) -> Value:  # fmt: skip
    """BERT's encoder (Devlin et al. 2018, https://arxiv.org/abs/1810.04805) with a head of words.

    Normalised before each block and at the end, not after; no segments; the head is not tied.
    """
    return _transformer(net, batch, time, width, layers, words, causal=False)


def gpt2_small(
    net: Inputs, batch: int, time: int = 512, width: int = 768, layers: int = 12,
    words: int = 50257,
) -> Value:  # fmt: skip
    """GPT-2 (Radford et al. 2019): the same, where nobody sees what comes later."""
    return _transformer(net, batch, time, width, layers, words, causal=True)


def lstm50(
    net: Inputs, batch: int, time: int = 50, width: int = 256, layers: int = 2, words: int = 1000
) -> Value:
    """LSTM (Hochreiter and Schmidhuber 1997), unrolled, with a head at each step."""
    x = net.feed("x", time, batch, width)
    cells = [[net.weight(k, *s) for k, s in _cell(width)] for _ in range(layers)]
    states = [(ops.zeros((batch, width)), ops.zeros((batch, width)))] * layers
    found = []
    for y in ops.unstack(x):
        for layer, (wx, b, wh) in enumerate(cells):
            h, c = states[layer]
            i, f, g, o = ops.split(y @ wx + b + h @ wh, 4, 1)
            c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
            y = ops.sigmoid(o) * ops.tanh(c)
            states[layer] = (y, c)
        found.append(y)
    return dense(net, ops.stack(found), words)


def _cell(width: int) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Kinds and shapes of the weights of a layer; the gates lie side by side."""
    return (("wx", (width, 4 * width)), ("b", (4 * width,)), ("wh", (width, 4 * width)))


def _transformer(
    net: Inputs, batch: int, time: int, width: int, layers: int, words: int, *, causal: bool
) -> Value:
    tokens = net.feed("tokens", batch, time, dtype="i64")
    table, places = net.weight("table", words, width), net.weight("places", time, width)
    x = ops.gather(table, tokens) + places  # [batch, time, width]
    for _ in range(layers):
        x = x + _attention(net, _norm(net, x), causal)
        x = x + dense(net, ops.gelu(dense(net, _norm(net, x), 4 * width)), width)
    return _norm(net, x) @ net.weight("head", width, words)


def _attention(net: Inputs, x: Value, causal: bool, size: int = 64) -> Value:
    """Heads of `size`, with all their weights in memory."""
    batch, time, width = x.type.dims
    heads, size = max(1, width // size), min(size, width)
    parts = ops.reshape(dense(net, x, 3 * width), (batch, time, 3, heads, size))
    q, k, v = ops.unstack(ops.transpose(parts, (2, 0, 3, 1, 4)))  # [batch, heads, time, size]
    scores = ops.matmul(q, k, transpose_b=True) * size**-0.5
    if causal:
        now = ops.arange(0, time)
        scores = ops.where(ops.less(ops.expand_dims(now, 1), now), float("-inf"), scores)
    y = ops.transpose(ops.softmax(scores, -1) @ v, (0, 2, 1, 3))
    return dense(net, ops.reshape(y, (batch, time, width)), width)


def _norm(net: Inputs, x: Value) -> Value:
    width = x.type.dims[-1]
    return ops.layer_norm(x, net.weight("gamma", width), net.weight("beta", width))
