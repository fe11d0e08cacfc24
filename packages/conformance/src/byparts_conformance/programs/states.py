"""Makers of what a training step has: variables and their updates, optimizers, random draws."""

from __future__ import annotations

import byparts_opset as ops
from byparts_conformance.programs.growing import Growing, is_float
from byparts_graph_ir import Value


def variable(g: Growing) -> None:
    """A variable beside the others, of a type that fits something."""
    x = g.value(lambda v: v.type.size < 5000)
    shape = x.type.dims if x is not None else g.shape()
    g.input(g.any_of(g.dtypes) if x is None else x.type.dtype, shape, variable=True)


def optimizer(g: Growing) -> None:
    """The step of an optimizer on a variable, whose gradient is some value of its type."""
    w = g.value(lambda v: v in g.variables and is_float(v))
    if w is None:
        w = g.input(g.any_of(("f32", "f32", "f64")), g.shape(), variable=True)
    dw = g.value_or(w, lambda v: v.type == w.type)
    m, v = (g.input(w.type.dtype, w.type.dims, variable=True) for _ in "mv")
    rate = ops.fill(0.125, w.type.dtype)
    squares = ops.square(v)  # a mean of squares is not negative
    step = ops.fill(3, w.type.dtype)
    ways = (
        lambda: ops.gradient_descent([w], [dw], rate),
        lambda: [x for xs in ops.momentum([w], [m], [dw], rate, 0.5, g.chance(0.5)) for x in xs],
        lambda: [x for xs in ops.adam([w], [m], [squares], [dw], rate, step) for x in xs],
    )
    g.add(g.any_of(ways))


def draw(g: Growing) -> None:
    """Random numbers, of a key and a counter that may be variables, and dropout by them."""
    # Of a constant key and counter, passes fold the draw away.
    constant = ops.fill(g.random.randrange(1 << 30), "i64")
    key = g.input("i64", ()) if g.chance(0.6) and not g.depth else constant
    counter = g.value(lambda v: v.type.dtype == "i64" and not v.type.dims)
    start: Value = counter if counter is not None else ops.fill(g.random.randrange(99), "i64")
    shape, dtype = g.shape(), g.any_of([d for d in g.dtypes if d != "bool"])
    floating = dtype if dtype in ("f16", "bf16", "f32", "f64") else "f32"
    x = g.value(is_float)
    ways = [
        lambda: ops.random_uniform(key, start, shape, -1.0, 2.0, floating),
        lambda: ops.random_normal(key, start, shape, 0.5, 2.0, floating),
        lambda: ops.truncated_normal(key, start, shape, dtype=floating),
        lambda: ops.bernoulli(key, start, shape, 0.3),
        lambda: ops.random_int(key, start, shape, 0, 7),
    ]
    if x is not None:
        ways.append(lambda: ops.dropout(x, key, start, 0.25))
    g.add(g.any_of(ways))


def backward(g: Growing) -> None:
    """Add the gradients of a node, for gradients of its outputs that are any fitting values."""
    y = g.value(lambda v: v.node is not None and is_float(v))
    if y is None or y.node is None or y.type.size > 5000:
        return
    node = y.node
    g.evaluated(node.outputs)
    dys = [g.value_or(v, lambda x, v=v: x.type == v.type) for v in node.outputs]  # type: ignore[misc]
    g.add(lambda: [dx for dx in node.op.gradient(node, *dys) if dx is not None][:3])


MAKERS = (*(variable,) * 2, *(optimizer,) * 2, draw, *(backward,) * 3)
