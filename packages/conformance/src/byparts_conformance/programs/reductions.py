"""Makers of nodes along axes: reductions, running sums, positions, rows of softmax and norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import byparts_opset as ops
from byparts_conformance.programs.growing import Growing, is_float, is_number
from byparts_graph_ir import Value


def _axes(g: Growing, x: Value) -> tuple[int, ...] | None:
    """Some axes, or all of them."""
    rank = len(x.type.dims)
    if not rank or g.chance(0.25):
        return None
    return tuple(sorted(g.random.sample(range(rank), g.random.randrange(1, rank + 1))))


def reduce(g: Growing) -> None:
    """Sums, means, extremes, products, of numbers; whether all or any hold, of bools."""
    x = g.value()
    if x is None:
        return
    if x.type.dtype == "bool":
        names: tuple[str, ...] = ("all", "any")
    elif is_float(x):
        names = ("sum", "sum", "mean", "max", "min", "logsumexp", "sum")
    else:
        names = ("sum", "sum", "max", "min", "prod")
    if g.plain:
        names = ("sum", "mean", "logsumexp")
    axes, keepdims = _axes(g, x), g.chance(0.5)
    g.add(lambda: getattr(ops, g.any_of(names))(x, axes, keepdims))


def of_input(g: Growing) -> None:
    """Sums, choices and functions of an input as it is, with its nan and infinities."""
    inputs = [v for v in g.inputs if is_float(v) and v.type.dims and v.type.size]
    if inputs:
        x = g.any_of(inputs)
        axis = g.random.randrange(len(x.type.dims))
        name = g.any_of(("sum", "sum", "mean", "max", "min"))
        g.add(lambda: getattr(ops, name)(x, axis), useful=True)  # or who leaves out nan is not told
        pair = x, g.constant(x.type.dtype)
        for two in (g.any_of((ops.maximum, ops.minimum)), g.any_of((ops.add, ops.sub, ops.mul))):
            g.add(partial(two, *pair), useful=True)
        g.add(lambda: g.any_of((ops.exp, ops.tanh, ops.square))(x), useful=True)


def moments(g: Growing) -> None:
    """Variances, standard deviations, norms."""
    x = g.value(is_float)
    if x is not None:
        axes = _axes(g, x)
        ways = (lambda: ops.var(x, axes), lambda: ops.std(x, axes), lambda: ops.norm(x, 2, axes))
        g.add(g.any_of(ways))


def along(g: Growing) -> None:
    """Running sums, positions of extremes, the greatest few."""
    x = g.value(lambda v: is_number(v) and len(v.type.dims) > 0 and v.type.size > 0)
    if x is None:
        return
    axis = g.random.randrange(len(x.type.dims))
    flags = g.chance(0.3), g.chance(0.3)
    k = g.random.randrange(x.type.dims[-1] + 1)
    ways: tuple[Callable[[], Value | Sequence[Value]], ...] = (
        lambda: ops.cumsum(x, axis, *flags),
        lambda: ops.argmax(x, axis, flags[0]),
        lambda: ops.argmin(x, None if flags[1] else axis),
        lambda: ops.top_k(x, k),
    )
    g.add(ways[0] if g.plain else g.any_of(ways))


def rows(g: Growing) -> None:
    """Softmax along an axis, and its logarithm."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) > 0 and v.type.size > 0)
    if x is not None:
        axis = g.random.randrange(len(x.type.dims)) if g.chance(0.3) else -1
        name = g.any_of(("softmax", "softmax", "log_softmax"))
        g.add(lambda: getattr(ops, name)(x, axis))


def norms(g: Growing) -> None:
    """Layer norm, and batch norm with its statistics."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) > 1 and v.type.size > 0)
    if x is None:
        return
    axis = 1 if g.chance(0.5) else len(x.type.dims) - 1
    if g.chance(0.5):
        last = x.type.dims[-1:]
        gamma, beta = g.input(x.type.dtype, last), g.input(x.type.dtype, last)
        g.add(lambda: ops.layer_norm(x, gamma, beta))
    else:
        channels = (x.type.dims[axis],)
        gamma, beta = g.input(x.type.dtype, channels), g.input(x.type.dtype, channels)
        g.add(lambda: ops.batch_norm(x, gamma, beta, axis, 1e-3))


def losses(g: Growing) -> None:
    """Cross entropies, of labels as rows and as numbers."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) == 2 and v.type.size > 0)
    if x is None:
        return
    n, classes = x.type.dims
    if g.chance(0.5):
        raw = g.input("i64", (n,))
        labels = ops.mod(raw, ops.fill(classes, "i64"))
        g.add(lambda: ops.sparse_softmax_cross_entropy(x, labels))
    else:
        weights = g.input(x.type.dtype, (n, classes))
        g.add(lambda: ops.softmax_cross_entropy(x, ops.softmax(weights)))


MAKERS = (*(reduce,) * 5, moments, *(along,) * 3, *(rows,) * 2, norms, losses)
SMOOTH = (*(reduce,) * 4, moments, along, rows, norms, losses)
