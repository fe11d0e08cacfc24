"""Reductions over axes, and running ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, ints, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, size_value
from byparts_frontend_onnx.standard.elementwise import is_float, zero
from byparts_frontend_onnx.standard.shape import axes_of
from byparts_graph_ir import Value

_Axes = tuple[int, ...]


def _in_f64(f: Callable[[Value, _Axes, bool], Value]) -> Callable[[Value, _Axes, bool], Value]:
    """A reduction that integers take in f64."""

    def reduce(x: Value, axes: _Axes, keep: bool) -> Value:
        if is_float(x):
            return f(x, axes, keep)
        return ops.cast(f(ops.cast(x, "f64"), axes, keep), x.type.dtype)

    return reduce


def _extreme(greatest: bool) -> Callable[[Value, _Axes, bool], Value]:
    """The greatest or the least; of nothing the end of what its dtype can say."""
    reduce, of_bools = (ops.max, ops.any) if greatest else (ops.min, ops.all)

    def extreme(x: Value, axes: _Axes, keep: bool) -> Value:
        if x.type.dtype == "bool":
            return of_bools(x, axes, keep)
        if 0 in [shape_of(x)[a] for a in axes]:
            whole = ops.sum(x, axes, keep)
            return ops.fill(_end(x.type.dtype, greatest), x.type.dtype, whole.type.dims)
        return reduce(x, axes, keep)

    return extreme


def _end(dtype: str, greatest: bool) -> Any:
    from byparts_frontend_onnx.standard.elementwise import limits
    from byparts_graph_ir import FLOATS

    if dtype in FLOATS:
        return -np.inf if greatest else np.inf
    return limits(dtype)[0 if greatest else 1]


_REDUCTIONS: Mapping[str, Callable[[Value, _Axes, bool], Value]] = {
    "ReduceSum": ops.sum,
    "ReduceMean": _in_f64(ops.mean),
    "ReduceMax": _extreme(True),
    "ReduceMin": _extreme(False),
    "ReduceProd": ops.prod,
    "ReduceL1": lambda x, a, k: ops.sum(ops.abs(x), a, k),
    "ReduceL2": _in_f64(lambda x, a, k: ops.sqrt(ops.sum(ops.square(x), a, k))),
    "ReduceSumSquare": lambda x, a, k: ops.sum(ops.square(x), a, k),
    "ReduceLogSum": _in_f64(lambda x, a, k: ops.log(ops.sum(x, a, k))),
    "ReduceLogSumExp": _in_f64(lambda x, a, k: ops.logsumexp(x, a, k)
                               if 0 not in [shape_of(x)[i] for i in a]
                               else ops.log(ops.sum(ops.exp(x), a, k))),
}  # fmt: skip
_CHANGES_ELEMENTS = {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}


def _reduced(node: OnnxNode, x: Value, parameter: Known | None, f: Any) -> Value:
    axes = axes_of(node, parameter, rank_of(x))
    if not axes:
        if not node.get("noop_with_empty_axes", 0):
            axes = tuple(range(rank_of(x)))
        elif node.op not in _CHANGES_ELEMENTS:
            return x
        else:
            axes = ()
    result: Value = f(x, axes, bool(node.get("keepdims")))
    return result


def _register() -> None:
    for name, function in _REDUCTIONS.items():
        rules.on(name, known=(1,))(
            lambda node, x, parameter=None, f=function: _reduced(node, x, parameter, f)
        )
    for name, pick in (("ArgMax", ops.argmax), ("ArgMin", ops.argmin)):
        rules.on(name)(lambda node, x, f=pick: _picked(node, x, f))


def _picked(node: OnnxNode, x: Value, f: Any) -> Value:
    """The first index of an extreme, or the last."""
    axis, keep = axis_in(node.get("axis"), rank_of(x)), bool(node.get("keepdims"))
    last, size = node.get("select_last_index", 0), shape_of(x)[axis]
    place: Value = f(ops.reverse(x, axis) if last else x, axis, keep)
    return size_value(size) - 1 - place if last and size is not None else place


_register()


@rules.on("CumSum", "CumProd", known=(1,))
def cumulative(node: OnnxNode, x: Value, axis: Known) -> Value:
    """The sum, or the product, of the elements up to here."""
    (along,) = ints(axis)
    f = ops.cumsum if node.op == "CumSum" else ops.cumprod
    place = axis_in(int(along), rank_of(x))
    return f(x, place, bool(node.get("exclusive")), bool(node.get("reverse")))


@rules.on("TopK", known=(1,))
def top_k(node: OnnxNode, x: Value, parameter: Known | None = None) -> tuple[Value, Value]:
    """The k greatest or smallest along an axis, with their places."""
    k = node.get("k") if parameter is None else ints(parameter)[0]
    if not isinstance(k, int):
        raise node.undetermined(f"k = {k}", k)
    rank = rank_of(x)
    axis = axis_in(node.get("axis", -1), rank)
    order = [*(i for i in range(rank) if i != axis), axis]
    back = [order.index(i) for i in range(rank)]
    y = ops.transpose(x, order)
    if node.get("largest", 1):
        values, places = ops.top_k(y, k)
    else:
        places = ops.getitem(ops.argsort(y), (Ellipsis, slice(0, k)))
        values = ops.take_along_axis(y, places, -1)
    return ops.transpose(values, back), ops.transpose(places, back)


@rules.on("Hardmax")
def hardmax(node: OnnxNode, x: Value) -> Value:
    """1 at the first greatest element along an axis, else 0."""
    return by_rows(node, x, _hardmax)


def _hardmax(x: Value, axis: int) -> Value:
    first = ops.argmax(x, axis, True)
    places = ops.cumsum(ops.ones_like(ops.cast(ops.zeros_like(x), "i64")), axis, exclusive=True)
    return ops.cast(ops.equal(places, first), x.type.dtype)


def by_rows(node: OnnxNode, x: Value, f: Callable[[Value, int], Value]) -> Value:
    """A function of one axis; before opset 13, of all from `axis` on as one."""
    axis = axis_in(node.get("axis"), rank_of(x))
    if node.version >= 13 or axis == rank_of(x) - 1:
        return f(x, axis)
    rows = ops.reshape(x, (*_front(x, axis), -1))
    return ops.reshape_like(f(rows, axis), x)


def _front(x: Value, axis: int) -> Any:
    return shape_of(x)[:axis]


@rules.on("Softmax")
def softmax(node: OnnxNode, x: Value) -> Value:
    """e^x over its sum."""
    return by_rows(node, x, ops.softmax)


@rules.on("LogSoftmax")
def log_softmax(node: OnnxNode, x: Value) -> Value:
    """The logarithm of softmax."""
    return by_rows(node, x, ops.log_softmax)


@rules.on("LpNormalization")
def lp_normalization(node: OnnxNode, x: Value) -> Value:
    """x over its norm along an axis; 0 where that is 0."""
    axis = axis_in(node.get("axis"), rank_of(x))
    size = ops.norm(x, float(node.get("p")), axis, True)
    return ops.where(ops.equal(size, zero(size)), zero(x), x / size)
