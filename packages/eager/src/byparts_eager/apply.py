"""Applying an op: on arrays it runs now, beside a traced value it makes a node.

While `record()` is active an array remembers its node as well; then `gradients` of autodiff,
unchanged, computes gradients at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.array import Array, array_of
from byparts_eager.kind import device_backend, kind_of
from byparts_eager.plan import Binder, plan_of, plans
from byparts_eager.state import state
from byparts_eager.trace import Traced, add_node, foreign
from byparts_graph_ir import (
    Backend,
    Graph,
    Input,
    MissingRule,
    Node,
    Op,
    TensorType,
    Value,
    lift,
    producers,
    subgraphs,
)
from byparts_graph_ir.model.where import where
from byparts_runtime import Program, build

_MOST_BYTES = 1 << 14  # of a constant that is kept
_new = object.__new__
_set_op, _set_inputs = vars(Node)["op"].__set__, vars(Node)["inputs"].__set__
_set_where, _set_outputs = vars(Node)["where"].__set__, vars(Node)["outputs"].__set__
_set_past = vars(Array)["past"].__set__


def apply(op: Op, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of `op` on arrays, traced values, constants and numbers, mixed.

    Raises:
        GraphError, ShapeError: they do not fit; or a traced value is used where its function is not
            being traced.
    """
    for x in operands:
        if x.__class__ is not Array:
            break
    else:
        return run_now(op, tuple(operands))
    device = next((x.kind.backend.name for x in operands if x.__class__ is Array), "numpy")
    wrapped = [Array(x, None, device) if isinstance(x, np.ndarray) else x for x in operands]
    values = lift(wrapped, op.name)
    backend = device_backend(device)
    arrays = [as_array(v, backend) for v in values]
    if all([x is not None for x in arrays]):
        return run_now(op, tuple(arrays))  # type: ignore[arg-type]  # no None
    frame = state.frame
    if frame is None:
        raise foreign(op, next(v for v, x in zip(values, arrays, strict=True) if x is None))
    return add_node(op, tuple([frame.capture(v) for v in values]))


def run_now(op: Op, inputs: tuple[Array, ...]) -> tuple[Any, ...]:
    """The outputs of an op on arrays, computed."""
    key = (op, *[x.kind for x in inputs])
    try:
        plan = plans[key]
    except KeyError:
        plan = plan_of(op, inputs) or _plan_without_kernel(op, inputs)
        plans[key] = plan
    outputs = plan(*inputs)
    return record_node(op, inputs, outputs) if state.recorders else outputs


def record_node(op: Op, inputs: tuple[Array, ...], outputs: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs, with the node that made them; types are known, so no shape rule runs."""
    node = _new(Node)
    _set_op(node, op)
    _set_inputs(node, inputs)
    _set_where(node, where())
    # What ran may have been recorded in smaller parts: the op itself is what has the gradient.
    ours = tuple([array_of(y.kind, y.data) for y in outputs])
    _set_outputs(node, ours)
    for y in ours:
        _set_past(y, node)
    return ours


def _plan_without_kernel(op: Op, inputs: Sequence[Array]) -> Any:
    """Compute an op by the ops that it is made of; of loops and branches make a program.

    Raises:
        MissingRule: it is made of no others.
    """
    backend, types = inputs[0].kind.backend, [x.type for x in inputs]
    if subgraphs(op):
        feeds = [Input(t, None, f"input{i}", "") for i, t in enumerate(types)]
        program = build(Graph.of(feeds, Node(op, tuple(feeds), "").outputs), backends=(backend,))
        return partial(_run, program, backend)
    if op.decompose(*[Input(t, None, "", "") for t in types]) is None:
        shown = ", ".join(map(str, types))
        raise MissingRule(
            f"{op.name}: device {backend.name!r} has no kernel for it on ({shown}), and it is not "
            'made of others; move the arrays, as in x.to_device("numpy")'
        )
    return partial(_in_parts, op, backend)


def _in_parts(op: Op, backend: Backend, *inputs: Array) -> tuple[Any, ...]:
    return tuple([as_array(v, backend) for v in op.decompose(*inputs) or ()])


def _run(program: Program, backend: Backend, *inputs: Array) -> tuple[Array, ...]:
    return tuple([Array(y, None, backend.name) for y in program(*[x.numpy() for x in inputs])])


def as_array(value: Value, backend: Backend) -> Optional[Array]:
    """A constant as an array, an array as it is; `None` for what depends on a traced input.

    By `producers`, not recursive: gradients are graphs that share, so their paths are exponentially
    many.  O(nodes that have not been computed).
    """
    if value.__class__ is Array:
        return value
    if value.node is None or value.__class__ is Traced:  # whose producers are not to be walked
        return None
    if not value.node.inputs and len(value.node.outputs) == 1:
        return constant(value.node.op, backend) if value.type.static else None
    known: dict[Value, Array] = {}
    for node in producers([value]):
        if node.outputs[0].__class__ is Array:
            continue
        inputs = [x if x.__class__ is Array else known.get(x) for x in node.inputs]
        if any([x is None for x in inputs]):
            return None
        if not inputs and not node.outputs[0].type.static:
            return None  # a constant whose size differs from call to call
        given: Any = tuple(inputs)
        outputs = run_now(node.op, given) if given else (constant(node.op, backend),)
        known.update(zip(node.outputs, outputs, strict=True))
    return known[value]


def constant(op: Op, backend: Backend) -> Array:
    """The array of an op without inputs; a small one is made once."""
    (type,) = op.infer()
    return (_shared if type.size_bytes <= _MOST_BYTES else new_constant)(op, backend)


def new_constant(op: Op, backend: Backend) -> Array:
    """An array of an op without inputs that nobody else has."""
    (type,) = op.infer()
    kind = kind_of(type, backend)
    data = kind.empty()
    binder = Binder(op, (), backend)
    binder.run(binder((), [data], binder.new_blocks()))
    return array_of(kind, data)


_shared = lru_cache(4096)(new_constant)


@lru_cache(4096)
def number(x: float, text: str, dtype: str, backend: Backend) -> Array:
    """A number as a 0-d array of this dtype, as `lift` makes it; `text` tells 0.0 from -0.0."""
    if dtype == "bool":
        return constant(ops.Fill(x, dtype), backend)
    lifted = lift((Value(TensorType(dtype, ())), x))[1]
    assert lifted.node is not None, "lift makes a constant"
    return constant(lifted.node.op, backend)


Array.apply = staticmethod(apply)
