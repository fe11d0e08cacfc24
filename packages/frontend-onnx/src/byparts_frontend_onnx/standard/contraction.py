"""Products of matrices, einsum, determinants, convolutions."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.elementwise import zero
from byparts_frontend_onnx.standard.window import Window, window_of
from byparts_graph_ir import Value


@rules.on("MatMul")
def matmul(node: OnnxNode, a: Value, b: Value) -> Value:
    """NumPy's product: of rows and columns, in batches."""
    return product(a, b)


def product(a: Value, b: Value) -> Value:
    """a @ b, also of vectors."""
    row, column = rank_of(a) == 1, rank_of(b) == 1
    y = ops.matmul(ops.expand_dims(a, 0) if row else a, ops.expand_dims(b, 1) if column else b)
    y = ops.squeeze(y, -2) if row else y
    return ops.squeeze(y, -1) if column else y


@rules.on("Gemm")
def gemm(node: OnnxNode, a: Value, b: Value, c: Value | None = None) -> Value:
    """alpha * a @ b + beta * c."""
    y = ops.matmul(a, b, transpose_a=bool(node.get("transA")), transpose_b=bool(node.get("transB")))
    y = _times(y, node.get("alpha"))
    return y if c is None else y + _times(c, node.get("beta"))


def _times(x: Value, factor: float) -> Value:
    if factor == 1:
        return x
    return x * (factor if x.type.dtype.startswith(("f", "b")) else int(factor))


@rules.on("Einsum")
def einsum(node: OnnxNode, *xs: Value) -> Value:
    """A sum of products, by an equation."""
    equation = node.get("equation").replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    if "->" in equation and "..." in equation:  # the axes that the dots stand for, as letters
        free = [c for c in string.ascii_letters if c not in equation]
        counts = [rank_of(x) - len(t) + 3 for t, x in zip(terms, xs, strict=True) if "..." in t]
        dots = "".join(free[: max(counts)])
        if all(n == len(dots) for n in counts):
            equation = equation.replace("...", dots)
    if "..." in equation:
        return ops.einsum(equation, *xs)
    terms, arrow, result = equation.partition("->")
    if not arrow:
        result = "".join(c for c in sorted({*terms} - {","}) if terms.count(c) == 1)
    pairs = [_diagonals(node, t, x) for t, x in zip(terms.split(","), xs, strict=True)]
    equation = ",".join(t for t, _ in pairs) + "->" + result
    return ops.einsum(equation, *(x for _, x in pairs))


def _diagonals(node: OnnxNode, term: str, x: Value) -> tuple[str, Value]:
    """An operand of which no letter names two axes, by the diagonals of those that do."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            i, j = term.index(letter), term.rindex(letter)
            dims = shape_of(x)
            size = dims[i]
            if not isinstance(size, int) or dims[j] != size:
                raise node.undetermined(f"a diagonal of {x.type}", size, dims[j])
            order = [*(a for a in range(len(term)) if a not in (i, j)), i, j]
            flat: Any = (*(dims[a] for a in order[:-2]), size * size)
            places = ops.arange(0, size * size, size + 1, "i64")
            x = ops.gather(ops.reshape(ops.transpose(x, order), flat), places, len(term) - 2)
            term = "".join(term[a] for a in order[:-1])
    return term, x


@rules.on("Det")
def determinant(node: OnnxNode, x: Value) -> Value:
    """The determinant of each square matrix: [..., n, n] -> [...]."""
    try:
        from byparts_linalg import det
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("byparts_linalg"):
            raise
        raise node.refuse("a determinant without the part byparts-linalg") from None
    return det(x)


@rules.on("Conv")
def conv(node: OnnxNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """A convolution over one, two or three axes, in groups of channels."""
    return with_bias(convolved(node, x, w), bias)


def with_bias(y: Value, bias: Value | None) -> Value:
    """y plus a number for each channel."""
    return y if bias is None else y + ops.reshape(bias, (-1, *(1,) * (rank_of(y) - 2)))


def convolved(node: OnnxNode, x: Value, w: Value) -> Value:
    """A convolution as `Conv` says its attributes."""
    kernel = [int(k) for k in node.dims(w, "the shape of its filter")[2:]]
    window = window_of(node, x, kernel)
    groups = node.get("group", 1)
    if len(kernel) == 1:
        y = _conv2d(ops.expand_dims(x, 2), ops.expand_dims(w, 2), window.with_first_axis(), groups)
        return ops.squeeze(y, 2)
    if len(kernel) == 2:
        return _conv2d(x, w, window, groups)
    if len(kernel) == 3:
        return _conv3d(node, x, w, window, groups)
    raise node.refuse(f"a convolution over {len(kernel)} axes")


def _conv2d(x: Value, w: Value, window: Window, groups: int) -> Value:
    return ops.conv2d(x, w, window.strides, window.pads, window.dilations, groups)  # type: ignore[arg-type]


def _conv3d(node: OnnxNode, x: Value, w: Value, window: Window, groups: int) -> Value:
    """The sum over the first axis of the filter of convolutions over two axes."""
    n, channels, depth, height, width = node.dims(x)
    stride, dilation, pads = window.strides[0], window.dilations[0], window.pads[0]
    x = ops.pad(x, [(0, 0), (0, 0), pads, (0, 0), (0, 0)])
    kernel = node.dims(w)[2]
    count = (depth + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1
    total: Value | None = None
    for k in range(kernel):
        last = k * dilation + (count - 1) * stride + 1
        planes = ops.getitem(x, (slice(None), slice(None), slice(k * dilation, last, stride)))
        images = ops.reshape(ops.transpose(planes, (0, 2, 1, 3, 4)),
                             (n * count, channels, height, width))  # fmt: skip
        filters = ops.squeeze(ops.getitem(w, (slice(None), slice(None), slice(k, k + 1))), 2)
        y = _conv2d(images, filters, window.without_first_axis(), groups)
        total = y if total is None else total + y
    if total is None:
        raise node.refuse("a filter of no size")
    _, out, rows, columns = node.dims(total)
    return ops.transpose(ops.reshape(total, (n, count, out, rows, columns)), (0, 2, 1, 3, 4))


@rules.on("ConvTranspose")
def conv_transpose(node: OnnxNode, x: Value, w: Value, bias: Value | None = None) -> Value:
    """The gradient of a convolution with respect to its input."""
    kernel = [int(k) for k in node.dims(w, "the shape of its filter")[2:]]
    if len(kernel) > 3:
        raise node.refuse(f"a transposed convolution over {len(kernel)} axes")
    window = _transposed_window(node, x, kernel)
    more = list(window.more)
    if len(kernel) == 1:
        x, w, window = ops.expand_dims(x, 2), ops.expand_dims(w, 2), window.with_first_axis()
        more = [0, *more]
    groups = node.get("group")
    y = (_conv3d_transpose if len(kernel) == 3 else _conv2d_transpose)(node, x, w, window, groups)
    y = ops.pad(y, [(0, 0), (0, 0), *((0, m) for m in more)]) if any(more) else y
    cut = tuple(slice(low or None, -high if high else None) for low, high in window.pads)
    y = ops.getitem(y, (slice(None), slice(None), *cut))
    return with_bias(ops.squeeze(y, 2) if len(kernel) == 1 else y, bias)


def _conv2d_transpose(node: OnnxNode, x: Value, w: Value, window: Window, groups: int) -> Value:
    return ops.conv2d_transpose(x, w, window.strides, "VALID", window.dilations, groups)  # type: ignore[arg-type]


def _conv3d_transpose(node: OnnxNode, x: Value, w: Value, window: Window, groups: int) -> Value:
    """Planes of the filter as channels of a convolution over two axes, added where they belong."""
    n, channels, depth, *sizes = node.dims(x)
    _, some, planes, *kernel = node.dims(w)
    if min(planes, depth) < 1:
        raise node.refuse(f"a transposed convolution of {x.type} with {w.type}")
    images = ops.reshape(ops.transpose(x, (0, 2, 1, 3, 4)), (n * depth, channels, *sizes))
    filters = ops.reshape(w, (channels, some * planes, *kernel))
    y = _conv2d_transpose(node, images, filters, window.without_first_axis(), groups)
    out, area = groups * some, node.dims(y)[2:]
    y = ops.transpose(ops.reshape(y, (n, depth, out, planes, *area)), (0, 2, 3, 1, 4, 5))
    step, apart = window.strides[0], window.dilations[0]
    node.limited(planes, depth)
    places = np.arange(planes)[:, None] * apart + np.arange(depth) * step
    shape = (n, out, int(places.max()) + 1, *area)
    updates = ops.reshape(y, (n, out, places.size, *area))
    where = ops.constant(places.reshape(-1).astype(np.int64))
    return ops.scatter_add(where, updates, ops.broadcast_to(zero(x), shape), 2)


def _transposed_window(node: OnnxNode, x: Value, kernel: list[int]) -> Window:
    n = len(kernel)
    strides, dilations = (list(node.get(a) or [1] * n) for a in ("strides", "dilations"))
    more, auto = list(node.get("output_padding") or [0] * n), node.get("auto_pad")
    pads, shape = list(node.get("pads") or [0] * 2 * n), node.get("output_shape")
    if shape or auto.startswith("SAME"):
        extents: Any = node.dims(x)[2:] if shape else (0,) * n
        for i in range(n):
            reach = (kernel[i] - 1) * dilations[i] + 1
            wanted = shape[-n:][i] if shape else extents[i] * strides[i]
            total = strides[i] * (extents[i] - 1) + more[i] + reach - wanted
            more[i] += max(-total, 0)
            total = max(total, 0)
            upper = auto == "SAME_UPPER" or (not shape and auto != "SAME_LOWER")
            low = total // 2 if upper else total - total // 2
            pads[i], pads[i + n] = low, total - low
    pairs = tuple((int(pads[i]), int(pads[i + n])) for i in range(n))
    return Window(tuple(strides), tuple(dilations), pairs, tuple(more))
