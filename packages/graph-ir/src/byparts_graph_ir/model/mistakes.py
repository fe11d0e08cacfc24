"""Errors for nodes and graphs that cannot be built.

`graph.py` finds that something is wrong, and imports this to say what.
"""

from __future__ import annotations

from byparts_graph_ir.errors import ArgumentError, GraphError, add_note
from byparts_graph_ir.model.arithmetic import Arithmetic
from byparts_graph_ir.model.field_types import wrong_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from byparts_graph_ir.model.graph import Rule
    from byparts_graph_ir.model.op import Op
    from byparts_graph_ir.model.types import TensorType
    from byparts_graph_ir.model.value import Node, Value


def wrong_arity(op: Op, types: Sequence[TensorType], error: Exception, line: str) -> Exception:
    """A clear error where the number of inputs is wrong, or the type of a field.

    Any other error that is none of ours is a bug in the op.
    """
    if not _is_op(op):
        return ArgumentError(f"Node: op is {op!r:.60}; give an Op")
    from inspect import signature  # slow to import

    try:
        signature(op.infer).bind(*types)
    except TypeError:
        names = ", ".join(signature(op.infer).parameters)
        got = ", ".join(map(str, types)) or "nothing"
        mistake = GraphError(f"{op.name}: takes the inputs ({names}), got {len(types)}: {got}")
        add_note(mistake, f"created at {line}")
        return mistake
    return wrong_field(op, error)


def no_values(node: Node) -> ArgumentError:
    """Some input is something else."""
    if not isinstance(node.inputs, (tuple, list)):
        return ArgumentError(f"Node: inputs is {node.inputs!r:.60}; give a tuple of values")
    if not _is_op(node.op):
        return ArgumentError(f"Node: op is {node.op!r:.60}; give an Op")
    wrong = next(v for v in node.inputs if not isinstance(v, Arithmetic))
    kind = f"{type(wrong).__name__} {wrong!r:.60}"
    return ArgumentError(f"{node.op.name}: an input is no value: {kind}; give graph values")


def not_values(what: str, argument: object) -> ArgumentError:
    """`given` to `Graph.of` as its `what`: no sequence, or one in which something is no value."""
    if not isinstance(argument, tuple):
        return ArgumentError(
            f"Graph.of: {what} is {argument!r:.60}; give a list of values, as in [x]"
        )
    i, wrong = next((i, v) for i, v in enumerate(argument) if not isinstance(v, Arithmetic))
    return ArgumentError(
        f"Graph.of: {what}[{i}] is no value: {type(wrong).__name__} {wrong!r:.60}; "
        "make one with Input(TensorType(dtype, shape), name=...) or with ops.constant(...)"
    )


def wrong_inputs(inputs: Sequence[Value]) -> GraphError:
    """The error for inputs that break rule G1: a node makes one, or one is there twice."""
    seen: set[Value] = set()
    for i, v in enumerate(inputs):
        which = repr(getattr(v, "name", "")) if getattr(v, "name", "") else str(i)
        if v.node is not None:
            maker = v.node.op.name + (f" at {v.node.where}" if v.node.where else "")
            wrong = f"is made by {maker}; an input is made by no node"
            break
        if v in seen:
            wrong = "is listed twice; list each once"
            break
        seen.add(v)
    return GraphError(f"Graph.of: input {which} of type {v.type} {wrong}")


def wrong_rewrite(rule: Rule, node: Node, new: object) -> GraphError:
    """A rule gave something else than new outputs or `None`."""
    name = getattr(rule, "__name__", type(rule).__name__)
    wanted = f"a tuple of {len(node.outputs)} values, or None to keep the node"
    return GraphError(
        f"rewrite: the rule {name} gave {new!r:.60} for {node.op.name}; it must give {wanted}"
    )


def _is_op(value: object) -> bool:
    """Whether an object is an instance of `Op`, which this module cannot import."""
    return hasattr(value, "infer") and not isinstance(value, type)
