"""Attention as ONNX Runtime's operators say it: packed projections, caches, rotated places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import counted, size_value
from byparts_graph_ir import Value


@dataclass(frozen=True)
class Scores:
    """Treatment of the products of queries and keys.

    Attributes:
        scale: their factor; `None` for one over the root of the width of a head.
        causal: whether a query sees no key behind its own place.
        filtered: what takes the place of a score that a mask leaves out.
        softcap: scores are held below this by tanh; 0 for not at all.
        window: how many keys a query sees at most; -1 for all.
    """

    scale: float | None = None
    causal: bool = False
    filtered: float = -10000.0
    softcap: float = 0.0
    window: int = -1


def _size(x: Value, axis: int) -> Value:
    size = shape_of(x)[axis]
    return size_value(size) if size is not None else ops.cast(ops.count_like(x, axis), "i64")


def _counted(x: Value, axis: int) -> Value:
    size = shape_of(x)[axis]
    assert size is not None, "the size of an axis of attention"
    return counted(size)


def split_heads(x: Value, heads: int) -> Value:
    """[batch, time, heads * width] -> [batch, heads, time, width]."""
    batch, time, _ = shape_of(x)
    shape: Any = (batch, time, heads, -1)
    return ops.transpose(ops.reshape(x, shape), (0, 2, 1, 3))


def merged_heads(x: Value) -> Value:
    """[batch, heads, time, width] -> [batch, time, heads * width]."""
    batch, heads, time, width = shape_of(x)
    assert isinstance(heads, int) and isinstance(width, int), "the sizes of heads are numbers"
    shape: Any = (batch, time, heads * width)
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), shape)


def attended(
    q: Value,
    k: Value,
    v: Value,
    scores: Scores,
    keep: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """softmax(q @ k^T) @ v in heads.

    Args:
        q: [batch, heads, queries, width].
        k: [batch, heads, keys, width].
        v: [batch, heads, keys, width].
        scores: what is done to the products.
        keep: bool, broadcast to [batch, heads, queries, keys]: which keys a query sees.
        bias: added to the products.
    """
    width = shape_of(q)[-1]
    assert isinstance(width, int), "the width of a head is a number"
    factor = scores.scale or width**-0.5
    products = ops.matmul(q, k, transpose_b=True) * factor
    if scores.softcap:
        products = ops.tanh(products / scores.softcap) * scores.softcap
    if bias is not None:
        products = products + bias
    if keep is not None:
        products = ops.where(keep, products, ops.fill(scores.filtered, products.type.dtype))
    return ops.matmul(ops.softmax(products, -1), v)


def _ahead(q: Value, k: Value) -> Value:
    """Distance of each key behind each query; queries are the last places of the keys."""
    ends = ops.reshape(_counted(q, 2), (-1, 1)) + (_size(k, 2) - _size(q, 2))
    return _counted(k, 2) - ends


def _causal(q: Value, k: Value, keep: Value | None) -> Value:
    """Each query sees the keys up to its own place."""
    seen = ops.less_equal(_ahead(q, k), ops.fill(0, "i64"))
    return seen if keep is None else ops.logical_and(keep, seen)


def _masked(mask: Value | None, k: Value) -> Value | None:
    """A mask of 0 and 1, or of lengths, as bools that meet [batch, heads, queries, keys]."""
    if mask is None:
        return None
    if rank_of(mask) == 1:  # how many keys of each sample count
        return ops.less(_counted(k, 2), ops.reshape(ops.cast(mask, "i64"), (-1, 1, 1, 1)))
    shape = shape_of(mask)
    more: Any = {2: (shape[0], 1, 1, shape[-1]), 3: (shape[0], 1, *shape[1:]), 4: shape}[len(shape)]
    return ops.cast(ops.reshape(mask, more), "bool")


@rules.on("com.microsoft:Attention")
def attention(
    node: OnnxNode,
    x: Value,
    weights: Value,
    bias: Value | None = None,
    mask: Value | None = None,
    past: Value | None = None,
    added: Value | None = None,
    length: Value | None = None,
) -> Any:
    """Queries, keys and values by one product; keys and values behind those of before."""
    heads = node.get("num_heads")
    if node.get("do_rotary", 0) or node.get("past_present_share_buffer", 0):
        raise node.refuse("rotated places, or a cache that is shared,")
    y = ops.matmul(x, weights)
    y = y if bias is None else y + bias
    total = shape_of(y)[-1]
    assert isinstance(total, int), "weights have sizes"
    sizes = node.get("qkv_hidden_sizes") or [total // 3] * 3
    q, k, v = (split_heads(part, heads) for part in ops.split(y, [int(s) for s in sizes], 2))
    if past is not None:
        before = [ops.squeeze(ops.getitem(past, slice(i, i + 1)), 0) for i in (0, 1)]
        k, v = ops.concat([before[0], k], 2), ops.concat([before[1], v], 2)
    causal = bool(node.get("unidirectional", 0))
    scores = Scores(node.get("scale"), causal, node.get("mask_filter_value", -10000.0))
    keep = _masked(mask, k)
    y = attended(q, k, v, scores, _causal(q, k, keep) if causal else keep, added)
    return merged_heads(y), ops.stack([k, v], 0)


@rules.on("com.microsoft:MultiHeadAttention")
def multi_head_attention(
    node: OnnxNode,
    q: Value,
    k: Value | None = None,
    v: Value | None = None,
    bias: Value | None = None,
    mask: Value | None = None,
    added: Value | None = None,
    past_k: Value | None = None,
    past_v: Value | None = None,
) -> Any:
    """Queries, keys and values that are projected before."""
    heads = node.get("num_heads")
    if k is None or v is None:
        raise node.refuse("packed queries, keys and values")
    parts = [q, k, v]
    if bias is not None:
        sizes = [shape_of(p)[-1] if rank_of(p) == 3 else None for p in parts]
        if not all(isinstance(s, int) for s in sizes):
            raise node.refuse("a bias of keys in heads")
        biases = ops.split(bias, [int(s or 0) for s in sizes], 0)
        parts = [p + b for p, b in zip(parts, biases, strict=True)]
    q, k, v = (split_heads(p, heads) if rank_of(p) == 3 else p for p in parts)
    if past_k is not None and past_v is not None:
        k, v = ops.concat([past_k, k], 2), ops.concat([past_v, v], 2)
    causal = bool(node.get("unidirectional", 0))
    scores = Scores(node.get("scale"), causal, node.get("mask_filter_value", -10000.0))
    keep = _masked(mask, k)
    y = attended(q, k, v, scores, _causal(q, k, keep) if causal else keep, added)
    return merged_heads(y), k, v


@rules.on("com.microsoft:GroupQueryAttention")
def group_query_attention(
    node: OnnxNode,
    q: Value,
    k: Value | None,
    v: Value | None,
    past_k: Value | None,
    past_v: Value | None,
    last: Value,
    total: Value,
    cosines: Value | None = None,
    sines: Value | None = None,
    *more: Value | None,
) -> Any:
    """Heads of queries that share heads of keys; causal, behind a cache.

    Keys are put behind the cache, so all of its places must be filled in each sample; the program
    fails where the lengths that it is fed say otherwise.
    """
    heads, groups = node.get("num_heads"), node.get("kv_num_heads")
    if any(m is not None for m in more):
        raise node.refuse("position_ids, a bias or a sink")
    if k is None or v is None:
        width = shape_of(q)[-1]
        assert isinstance(width, int), "a packed projection has a size"
        each = width // (heads + 2 * groups)
        q, k, v = ops.split(q, [heads * each, groups * each, groups * each], 2)
    q, k, v = (split_heads(p, n) for p, n in ((q, heads), (k, groups), (v, groups)))
    if node.get("do_rotary", 0):
        if cosines is None or sines is None:
            raise node.refuse("rotating without cosines and sines")
        first = ops.reshape(ops.cast(last, "i64") + 1, (-1, 1)) - _size(q, 2)
        places = first + _counted(q, 2)
        turn = bool(node.get("rotary_interleaved", 0))
        q, k = (rotated(p, places, cosines, sines, turn) for p in (q, k))
    if past_k is not None and past_v is not None:
        k, v = ops.concat([past_k, k], 2), ops.concat([past_v, v], 2)
    scores = Scores(node.get("scale"), True, float(np.finfo(np.float32).min),
                    node.get("softcap", 0.0), node.get("local_window_size", -1))  # fmt: skip
    short = ops.cast(last, "i64") + 1 - _size(k, 2)
    full = ops.in_range(short, 1, "places of the cache that a sample leaves out, in")
    keep = ops.greater_equal(ops.reshape(full, (-1, 1, 1, 1)), _ahead(q, k))
    if scores.window > 0:
        near = ops.greater(_ahead(q, k), ops.fill(-scores.window, "i64"))
        keep = ops.logical_and(keep, near)
    if scores.filtered < -65504 and q.type.dtype == "f16":
        scores = Scores(scores.scale, True, -65504.0, scores.softcap, scores.window)
    y = attended(q, _repeated(k, heads // groups), _repeated(v, heads // groups), scores, keep)
    return merged_heads(y), k, v


def _repeated(x: Value, times: int) -> Value:
    return x if times == 1 else ops.repeat(x, times, 1)


@rules.on("com.microsoft:RotaryEmbedding")
def rotary_embedding(
    node: OnnxNode, x: Value, places: Value, cosines: Value, sines: Value
) -> Value:
    """Pairs of elements turned by angles of their place."""
    if node.get("scale", 1.0) != 1 or node.get("is_packed_batching", 0):
        raise node.refuse("a scale or a packed batch")
    flat = rank_of(x) == 3
    width = shape_of(cosines)[-1]
    heads = node.get("num_heads", 0)
    if flat and not heads:
        whole = shape_of(x)[-1]
        assert isinstance(whole, int) and isinstance(width, int), "weights have sizes"
        heads = whole // (2 * width)
    y = split_heads(x, heads) if flat else x
    places = ops.cast(places, "i64")
    if shape_of(places) == (1,):  # of the first element
        places = ops.expand_dims(places, 1) + _counted(y, 2)
    y = rotated(y, places, cosines, sines, bool(node.get("interleaved", 0)))
    return merged_heads(y) if flat else y


def rotated(x: Value, places: Value, cosines: Value, sines: Value, interleaved: bool) -> Value:
    """x: [batch, heads, time, width], its pairs turned; what is wider than the angles stays."""
    c, s = (ops.expand_dims(ops.gather(t, places), 1) for t in (cosines, sines))
    half, width = shape_of(cosines)[-1], shape_of(x)[-1]
    assert isinstance(half, int) and isinstance(width, int), "widths of heads are numbers"
    front = ops.getitem(x, (Ellipsis, slice(0, 2 * half)))
    if interleaved:
        a, b = (ops.getitem(front, (Ellipsis, slice(i, None, 2))) for i in (0, 1))
        pair = ops.stack([a * c - b * s, a * s + b * c], -1)
        turned = ops.reshape_like(pair, front)
    else:
        a, b = ops.split(front, [half, half], -1)
        turned = ops.concat([a * c - b * s, a * s + b * c], -1)
    if width == 2 * half:
        return turned
    return ops.concat([turned, ops.getitem(x, (Ellipsis, slice(2 * half, None)))], -1)
