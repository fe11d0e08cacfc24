"""Makers of products: matrices, einsum, convolutions, pooling, attention."""

from __future__ import annotations

import byparts_opset as ops
from byparts_conformance.programs.growing import Growing, is_float, is_number
from byparts_graph_ir import Value

_MOST = 300_000  # multiplications of one node


def matmul(g: Growing) -> None:
    """A product with a new matrix or with a value that fits, either operand transposed."""
    a = g.value(lambda v: is_number(v) and len(v.type.dims) >= 2)
    if a is None:
        return
    turn_a, turn_b = g.chance(0.3), g.chance(0.3)
    k, n = a.type.dims[-2 if turn_a else -1], g.any_of(g.sizes)
    if a.type.size * n > _MOST:
        return
    dims = (n, k) if turn_b else (k, n)

    def fitting(v: Value) -> bool:
        kind = v.type
        return kind.dtype == a.type.dtype and len(kind.dims) == 2 and kind.dims[turn_b] == k

    b = g.value(fitting) if g.chance(0.5) else None
    if b is None:
        b = g.input(a.type.dtype, dims)
    y = g.add(lambda: ops.MatMul(turn_a, turn_b)(a, b))
    if y is not None and g.chance(0.6):
        bias = g.input(y.type.dtype, y.type.dims[-1:])
        z = g.add(lambda: ops.add(y, bias))
        if z is not None and is_float(z) and g.chance(0.6):
            name = g.any_of(("tanh", "relu", "gelu", "sigmoid"))
            g.add(lambda: getattr(ops, name)(z))


def scaled_product(g: Growing) -> None:
    """c + scale * a @ b, as one op."""
    a = g.value(lambda v: is_float(v) and len(v.type.dims) == 2)
    if a is not None and a.type.size * 8 <= _MOST:
        b = g.input(a.type.dtype, (a.type.dims[1], 5))
        c = g.input(a.type.dtype, g.any_of(((5,), (a.type.dims[0], 5), (1, 5))))
        g.add(lambda: ops.AddMatmul(scale=g.any_of((1.0, 0.5)))(c, a, b))


def einsum(g: Growing) -> None:
    """Sums over letters, of one to three operands."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) == 2 and v.type.size < 2000)
    if x is None:
        return
    a, b = x.type.dims
    y, z = g.input(x.type.dtype, (b, 3)), g.input(x.type.dtype, (3, a))
    equation, operands = g.any_of(
        (
            ("ij,jk->ik", (x, y)),
            ("ij,jk->kij", (x, y)),
            ("ij,jk,ki->i", (x, y, z)),
            ("ij->ji", (x,)),
            ("ij,ij->j", (x, x)),
            ("ij,jk,kl->il", (x, y, z)),
        )
    )
    g.add(lambda: ops.einsum(equation, *operands))


def _image(g: Growing) -> Value:
    """A value of four dimensions of floats, or a new input of them."""
    x = g.value(lambda v: is_float(v) and len(v.type.dims) == 4 and 0 < v.type.size < 4000)
    dtype = g.any_of([d for d in g.dtypes if d[0] in "fb" and d != "bool"] or ["f32"])
    dims = (g.any_of((1, 2)), g.any_of((1, 3, 4, 8)), *[g.any_of((3, 5, 6, 8)) for _ in "hw"])
    return x if x is not None and g.chance(0.7) else g.input(dtype, dims)


def convolution(g: Growing) -> None:
    """A convolution, with strides, padding and groups now and then, and a bias."""
    x = _image(g)
    channels = x.type.dims[1]
    groups = channels if g.chance(0.2) else 1
    k, outputs = g.any_of((1, 3, 3, 2, 5)), g.any_of((1, 4, 5)) * groups
    filter_ = g.input(x.type.dtype, (outputs, channels // groups, k, k))
    strides, padding = g.any_of((1, 1, 2)), g.any_of(("SAME", "VALID", "SAME"))
    y = g.add(lambda: ops.conv2d(x, filter_, strides, padding, 1, groups))
    if y is not None and g.chance(0.5):
        bias = g.input(x.type.dtype, (outputs, 1, 1))
        g.add(lambda: ops.relu(ops.add(y, bias)))


def pooling(g: Growing) -> None:
    """Maxima and means of windows."""
    x = _image(g)
    k, padding = g.any_of((2, 3)), g.any_of(("VALID", "SAME"))
    strides = g.any_of((None, 1, 2))
    g.add(lambda: g.any_of((ops.max_pool, ops.average_pool))(x, k, strides, padding))


def attention(g: Growing) -> None:
    """Attention of a value to itself, or to new keys and values."""
    q = g.value(lambda v: is_float(v) and len(v.type.dims) in (2, 3) and 0 < v.type.size < 2000)
    if q is None:
        return
    t, d = g.any_of(g.sizes), q.type.dims[-1]
    k = q if g.chance(0.4) else g.input(q.type.dtype, (*q.type.dims[:-2], t, d))
    v = g.input(q.type.dtype, (*k.type.dims[:-1], g.any_of((1, 4, 8))))
    causal = g.chance(0.3)
    g.add(lambda: ops.attention(q, k, v, causal))


MAKERS = (*(matmul,) * 5, scaled_product, einsum, *(convolution,) * 2, *(pooling,) * 2, attention)
SMOOTH = (*(matmul,) * 4, einsum, convolution, pooling, attention)
