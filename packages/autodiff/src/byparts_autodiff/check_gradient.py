"""Checks gradients against central differences in f64 and reports the element that differs most.

The program is reduced to one number, `sum(dy * y)` with fixed random dy over all outputs, and each
element of each floating point input is changed by `step` in both directions.  The error of a
difference quotient is about `step**2` times the third derivative plus the rounding error over
`step`.  The two are equal near the cube root of the rounding error, 6e-6 in f64; a tolerance of
1e-6 is above both and below the error of a wrong rule.  The program is evaluated twice for each
element: use small arrays.

The program must be smooth around the point: keep the inputs of relu away from 0 and those of
maximum away from ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from byparts_autodiff.errors import GradientError
from byparts_autodiff.gradients import gradients
from byparts_graph_ir import FLOATS, Graph, Input, Node, Op, TensorType, Value
from byparts_graph_ir.contract import checked
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_opset.constant import Constant
from byparts_opset.dtypes import dtype_name, numpy_dtype
from byparts_opset.evaluate import evaluate

Array = NDArray[Any]
Program = Union[Graph, Callable[..., Union[Value, Sequence[Value]]]]


@checked
def check_gradient(
    program: Program,
    *arrays: object,
    step: float = 6e-6,
    rtol: float = 1e-6,
    atol: float = 1e-7,
    seed: int = 0,
) -> None:
    """Raise unless the gradient of each floating point output by each such input is right.

    Args:
        program: a graph, with shapes known or not, or a function of values giving values.  A graph
            of f32, f16 or bf16 is computed in f64 throughout, its constants and casts included.
        arrays: the point to check at, one for each input.  Floats are taken as f64.
        step: the change of an element, relative to its absolute value where that is above 1.
        rtol: the largest allowed |difference| is `atol + rtol * max(|gradient| of that input)`.
        atol: see `rtol`.
        seed: seed of the random dy.

    Raises:
        GradientError: the element that is most wrong, with both numbers.
    """
    point = [_as_double(np.asarray(a)) for a in arrays]
    graph = _in_double(program) if isinstance(program, Graph) else _traced(program, point)
    taken = [i for i, v in enumerate(graph.inputs) if v.type.dtype in FLOATS]
    ys = tuple(v for v in graph.outputs if v.type.dtype in FLOATS)
    if not taken or not ys:
        raise GradientError("check_gradient: there is no floating point input, or no such output")
    forward = Graph(graph.inputs, graph.nodes, ys)
    random = np.random.default_rng(seed)
    dys = [random.uniform(0.5, 1.5, y.shape) for y in evaluate(forward, *point)]
    for i, got in zip(taken, _gradient_arrays(forward, taken, point, dys), strict=True):
        _compare(forward, i, got, _quotients(forward, i, point, dys, step), rtol, atol)


def _traced(function: Callable[..., Any], point: Sequence[Array]) -> Graph:
    inputs = [Input(TensorType(dtype_name(a.dtype), a.shape)) for a in point]
    outputs = function(*inputs)
    return Graph.of(inputs, (outputs,) if isinstance(outputs, Value) else outputs)


def _in_double(graph: Graph) -> Graph:
    """Rebuild `graph` with f64 in place of every floating point type."""
    env: dict[Value, Value] = {}
    for v in graph.inputs:
        name, line = (v.name, v.where) if isinstance(v, Input) else ("", "")
        env[v] = Input(_double_type(v.type), None, name, line)
    for old in graph.nodes:
        node = Node(_double_op(old.op), tuple(env[v] for v in old.inputs), old.where)
        env.update(zip(old.outputs, node.outputs, strict=True))
    inputs, outputs = [env[v] for v in graph.inputs], [env[v] for v in graph.outputs]
    return Graph.of(inputs, outputs, order=env.values())


def _double_type(t: TensorType) -> TensorType:
    return TensorType("f64", t.shape) if t.dtype in FLOATS else t


def _double_op(op: Op) -> Op:
    if isinstance(op, Constant) and op.dtype in FLOATS:
        data = np.frombuffer(op.data, numpy_dtype(op.dtype)).astype(np.float64).tobytes()
        return Constant(data, "f64", op.shape)
    wide = {f.name: _double_field(getattr(op, f.name)) for f in fields(op)}
    return replace(op, **wide) if any(getattr(op, k) != v for k, v in wide.items()) else op


def _double_field(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_double_field, value))
    if isinstance(value, Graph):
        return _in_double(value)
    if isinstance(value, TensorType):
        return _double_type(value)
    return "f64" if isinstance(value, str) and value in FLOATS else value


def _as_double(a: Array) -> Array:
    return a.astype(np.float64) if dtype_name(a.dtype) in FLOATS else a


def _gradient_arrays(
    forward: Graph, taken: Sequence[int], point: Sequence[Array], dys: Sequence[Array]
) -> tuple[Array, ...]:
    """Evaluate the gradients by autodiff: one array for each input index in `taken`."""
    heads = [Input(v.type) for v in forward.outputs]
    xs = [forward.inputs[i] for i in taken]
    dxs = gradients(forward.outputs, xs, heads, unreachable="zeros")
    return evaluate(Graph.of((*forward.inputs, *heads), dxs), *point, *dys)


def _quotients(
    forward: Graph, i: int, point: Sequence[Array], dys: Sequence[Array], step: float
) -> Array:
    """Evaluate the gradient by input `i` with central differences."""
    slopes = np.zeros(point[i].shape)
    for at in np.ndindex(slopes.shape):
        losses = []
        h = step * max(1.0, abs(float(point[i][at])))
        for sign in (1, -1):
            moved = point[i].copy()
            moved[at] += sign * h
            ys = evaluate(forward, *point[:i], moved, *point[i + 1 :])
            losses.append(sum(float((y * dy).sum()) for y, dy in zip(ys, dys, strict=True)))
        slopes[at] = (losses[0] - losses[1]) / (2 * h)
    return slopes


def _compare(forward: Graph, i: int, got: Array, want: Array, rtol: float, atol: float) -> None:
    v = forward.inputs[i]
    name = f" ({v.name!r})" if isinstance(v, Input) and v.name else ""
    if got.shape != want.shape:
        shapes = f"has shape {got.shape}, and the input {want.shape}"
        raise GradientError(f"check_gradient: the gradient by input {i}{name} {shapes}")
    if not want.size:
        return
    worst = _worst(got, want, rtol, atol)
    if worst is not None:
        raise GradientError(
            f"check_gradient: the gradient by input {i}{name} at {list(worst.at)} is "
            f"{got[worst.at]:.7g}, and central differences give {want[worst.at]:.7g}: "
            f"{worst.off:.3g} apart, {worst.allowed:.3g} allowed; "
            f"{worst.count} of its {want.size} elements are off"
        )


class _Worst(Frozen):
    at: tuple[int, ...]
    off: float
    allowed: float
    count: int


def _worst(got: Array, want: Array, rtol: float, atol: float) -> Optional[_Worst]:
    """The element with the largest error, if that is not allowed; nan counts as inf."""
    off = np.abs(got - want)
    off = np.where(np.isfinite(off), off, np.inf)
    scale = np.abs(want[np.isfinite(want)])
    allowed = atol + rtol * float(scale.max(initial=0.0))
    at = tuple(int(k) for k in np.unravel_index(int(off.argmax()), off.shape))
    count = int((off > allowed).sum())
    return _Worst(at, float(off[at]), allowed, count) if count else None
