"""`value_and_grad`, `grad`, `vjp`, `jvp`: functions of arrays to functions that differentiate.

The function is called once with recording on (or traced, inside `compile`), and autodiff walks the
nodes that the result remembers.  Nesting gives higher orders, for gradients are recorded, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_eager.apply import as_array
from byparts_eager.array import Array, asarray
from byparts_eager.cell import Cell
from byparts_eager.kind import device_backend
from byparts_eager.state import record, state
from byparts_eager.trace import depends_on
from byparts_eager.tree import flatten, unflatten
from byparts_graph_ir import FLOATS, ArgumentError, GraphError, Value, producers


def value_and_grad(f: Callable[..., Any], wrt: int = 0, aux: bool = False) -> Callable[..., Any]:
    """The function that gives what `f` gives, and the gradient by argument number `wrt`.

    The gradient has the structure of the argument, with `None` for what is no float.  Of a module
    (anything with a method `cells()`) it is `{cell: gradient}` for its trainable cells, and the
    training mode is on meanwhile.

    Args:
        f: gives a number (an array of shape ()), or with `aux` a pair of that and anything.
        wrt: which argument.
        aux: whether `f` gives a pair.

    Raises:
        GraphError: the result is no single number, or does not depend on the argument.
    """

    def run(*args: Any, **keywords: Any) -> tuple[Any, Any]:
        if not 0 <= wrt < len(args):
            raise ArgumentError(f"value_and_grad: wrt={wrt}, and there are {len(args)} arguments")
        with record():
            argument = args[wrt]
            differentiate = _by_cells if hasattr(argument, "cells") else _by_tree
            result, leaves, rebuild = differentiate(f, args, wrt, keywords)
            loss = result[0] if aux else result
            _check_number(loss)
            _check_reached(loss, leaves, wrt)
        dxs = gradients(loss, leaves, unreachable="zeros")
        return result, rebuild(_finished(dxs, leaves))

    return run


def grad(f: Callable[..., Any], wrt: int = 0) -> Callable[..., Any]:
    """The function that gives the gradient alone; see `value_and_grad`."""

    def run(*args: Any, **keywords: Any) -> Any:
        return value_and_grad(f, wrt)(*args, **keywords)[1]

    return run


def vjp(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """The result of `f` on these arrays, and a function `pull(dy)` that gives a gradient for each.

    `pull` computes the vector-Jacobian product: dy times the Jacobian.
    """
    with record():
        xs = [ops.identity(asarray(x)) for x in args]
        y = f(*xs)

    def pull(dy: Any) -> tuple[Any, ...]:
        return tuple(_finished(gradients(y, xs, asarray(dy), unreachable="zeros"), xs))

    return y, pull


def jvp(f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The result of `f` on these arrays, and the Jacobian times the tangents, one an array."""
    with record():
        xs = [ops.identity(asarray(x)) for x in args]
        y = f(*xs)
        # By reverse mode twice, as `byparts_autodiff.jvp` does; its heads are constants, which are
        # other arrays each time they meet one.  Reverse mode is linear in the head: any will do.
        head = ops.stop_gradient(ops.identity(y))
        pulled = gradients(y, xs, head, unreachable="zeros")
        (dy,) = gradients(pulled, [head], [asarray(t) for t in tangents], unreachable="zeros")
    return y, _finished([dy], xs)[0]


Differentiated = tuple[Any, list[Value], Callable[[Sequence[Any]], Any]]


def _by_tree(f: Callable[..., Any], args: Any, wrt: int, keywords: Any) -> Differentiated:
    """Call `f` on copies of the leaves of an argument, which nothing else reads."""
    leaves, structure = flatten(args[wrt])
    if isinstance(args[wrt], (int, float)) and not isinstance(args[wrt], bool):
        leaves, structure = flatten(asarray(float(args[wrt])))
    values = [asarray(v) for v in leaves]
    floats = [i for i, v in enumerate(values) if v.type.dtype in FLOATS]
    if not floats:
        what = ", ".join(str(v.type) for v in values) or repr(args[wrt])[:60]
        raise ArgumentError(
            f"value_and_grad: argument {wrt} has no floats to differentiate: {what}"
        )
    for i in floats:
        values[i] = ops.identity(values[i])
    result = f(*args[:wrt], unflatten(structure, values), *args[wrt + 1 :], **keywords)

    def rebuild(dxs: Sequence[Any]) -> Any:
        placed = dict(zip(floats, dxs, strict=True))
        return unflatten(structure, [placed.get(i) for i in range(len(values))])

    return result, [values[i] for i in floats], rebuild


def _by_cells(f: Callable[..., Any], args: Any, wrt: int, keywords: Any) -> Differentiated:
    """Call `f` while the trainable cells of a module have values that nothing else reads."""
    if hasattr(args[wrt], "fingerprint"):
        depends_on(args[wrt])  # which cells are trained may change
    cells = [c for c in args[wrt].cells().values() if c.trainable]
    if any(c.is_open for c in cells):
        from byparts_eager.compile import shapes_from_call  # it differentiates, too

        shapes_from_call(f, args, keywords)
        cells = [c for c in args[wrt].cells().values() if c.trainable]
    xs = [ops.identity(c.value) for c in cells]
    values = _values_of_cells()
    before = {c: values[c] for c in cells if c in values}
    values.update(zip(cells, xs, strict=True))
    state.differentiated += 1
    try:
        result = f(*args, **keywords)
    finally:
        state.differentiated -= 1
        for cell, x in zip(cells, xs, strict=True):
            if values.get(cell) is x:  # else the function has assigned it
                values.pop(cell)
                values.update({cell: before[cell]} if cell in before else {})
            elif cell not in before and state.frame is None:
                values.pop(cell, None)  # the cell itself has what was assigned
    return result, xs, lambda dxs: dict(zip(cells, dxs, strict=True))


def _values_of_cells() -> dict[Cell, Any]:
    """Values that cells have here in the place of their own."""
    if state.frame is not None:
        return state.frame.values
    if state.overlay is None:
        state.overlay = {}
    return state.overlay


def _check_number(loss: Any) -> None:
    if not isinstance(loss, Value):
        raise GraphError(f"value_and_grad: the function gave {loss!r:.60}, which is no array")
    if loss.type.shape != () or loss.type.dtype not in FLOATS:
        raise GraphError(
            f"value_and_grad: the loss is {loss.type}, and only a single float has a gradient; "
            "take its mean or sum, or use vjp"
        )


def _check_reached(loss: Value, leaves: Sequence[Value], wrt: int) -> None:
    """Refuse a loss that depends on none of the values it is differentiated by.  O(nodes)."""
    read = {x for node in producers([loss]) for x in node.inputs}
    if leaves and read.isdisjoint(leaves) and all(loss is not x for x in leaves):
        types = ", ".join(str(x.type) for x in leaves[:4])
        raise GraphError(
            f"value_and_grad: the loss of type {loss.type} does not depend on argument {wrt} "
            f"({types}); check which argument wrt= names, and that nothing takes the numbers out, "
            "as numpy() does"
        )


def _finished(values: Sequence[Value], beside: Sequence[Any]) -> list[Any]:
    """The values as arrays on the device of others: zeros are constants of the graph."""
    if state.frame is not None:
        return [state.frame.capture(v) for v in values]
    backend = next(
        (x.kind.backend for x in beside if isinstance(x, Array)), device_backend("numpy")
    )
    return [as_array(v, backend) for v in values]
