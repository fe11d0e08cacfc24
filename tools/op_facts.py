"""What the ops say of themselves, as a table: made of what, in place, views, gradients, kernels.

Computed from the ops on their own samples, never written by hand; `kernel_column` makes the column
of a backend.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any

import byparts_opset
from byparts_graph_ir import Backend, Node, Op, Sample, Value, producers

Column = Callable[[type[Op]], str]


def markdown(ops: Mapping[str, type[Op]], backends: Mapping[str, Column]) -> str:
    """One table for each module of `ops`, in their order, with a column for each backend."""
    columns: dict[str, Column] = {
        "op": lambda op: f"`{op.name}`",
        "meaning": meaning,
        "function gives": function_gives,
        "made of": made_of,
        "pattern": lambda op: op.pattern,
        "over": written_over,
        "view of": view_of,
        "gradient to": gradient_to,
        **backends,
    }
    lines: list[str] = []
    module = ""
    for op in ops.values():
        if op.__module__ != module:
            module = op.__module__
            lines += ["", f"## {module.rpartition('.')[2]}", "", _row(columns)]
            lines += [_row("---" for _ in columns)]
        lines.append(_row(column(op) for column in columns.values()))
    return "\n".join(lines).strip() + "\n"


def meaning(op: type[Op]) -> str:
    """The first sentence of the docstring of `op`; ours end in two spaces or with the line."""
    return (op.__doc__ or "").strip().split("\n")[0].split(".  ")[0].rstrip(".")


def function_gives(op: type[Op]) -> str:
    """The results of the public function of this name, called on the first sample; else empty."""
    function = getattr(byparts_opset, op.name, None)
    if not callable(function):
        return ""
    sample = next(iter(op.samples()))
    result = called(function, sample)
    if isinstance(result, Value):
        count = len(_node(sample).outputs)
        return "value" if count == 1 else _one_of(named_outputs(op), _position(result), count)
    return f"tuple of {len(result)}" + (" tuples" if isinstance(result[0], tuple) else "")


def named_outputs(op: type[Op]) -> list[str]:
    """The outputs that the meaning of `op` begins with, as in "y, mean, variance: ..."; or none."""
    names = re.match(r"([a-z]+(?:, [a-z]+)+)(?::| = | of )", meaning(op))
    return names[1].split(", ") if names else []


def _one_of(names: Sequence[str], position: int, count: int) -> str:
    """What a function gives that keeps one output of several: its name, if the op says names."""
    if not names:
        return f"value, output {position} of {count}"
    assert len(names) == count, f"{count} outputs, of which the docstring names {names}"
    return f"{names[position]} alone: value, output {position} of {count}"


def called(function: Callable[..., Any], sample: Sample) -> Any:
    """What the function gives for the inputs of a sample, with the attributes of its op."""
    op, inputs = sample.op, [Value(t) for t in sample.types]
    if (arrange := _ARRANGED.get(op.name)) is not None:
        return function(*arrange(op, inputs))
    taken = () if isinstance(function, Op) else signature(function).parameters
    given = {name: getattr(op, name) for name in taken if hasattr(op, name)}
    if "axis" in taken and "axis" not in given:  # where the op says how many last axes, or which
        axes: Any = getattr(op, "axes")  # noqa: B009  # ops of other families have none
        given["axis"] = tuple(range(-axes, 0)) if isinstance(axes, int) else axes
    return function(*inputs, **given)


def _position(result: Value) -> int:
    assert result.node is not None, "the function has made a node"
    return result.node.outputs.index(result)


def _grouped(op: Any, inputs: list[Value]) -> list[Any]:
    """The weights, their states, their gradients; then numbers."""
    groups = [inputs[i : i + op.count] for i in range(0, len(inputs), op.count)]
    return [*groups[: len(op.groups)], *inputs[len(op.groups) * op.count :]]


# Op -> what its function takes, where that is not the inputs and the attributes by their names.
_ARRANGED: dict[str, Callable[[Any, list[Value]], Sequence[Any]]] = {
    "constant": lambda op, inputs: (op.evaluate()[0],),
    "concat": lambda op, inputs: (inputs, op.axis),
    "einsum": lambda op, inputs: (op.equation, *inputs),
    "dropout": lambda op, inputs: (inputs[0], 1, 2, op.rate),
    "call": lambda op, inputs: (lambda *xs: list(xs), *inputs),
    "scan": lambda op, inputs: (lambda state, x, w: [state], *([v] for v in inputs)),
    **dict.fromkeys(["adam", "gradient_descent", "momentum"], _grouped),
}


def made_of(op: type[Op]) -> str:
    """Names of the ops that `op` decomposes into, on the first sample where it does; else empty."""
    return ", ".join(_parts(op))


def written_over(op: type[Op]) -> str:
    """The inputs whose memory the output may take."""
    pairs = [pair for s in op.samples() for pair in s.op.inplace]
    return " or ".join(dict.fromkeys(_input_names(op)[i] for i, _ in pairs))


def view_of(op: type[Op]) -> str:
    """The inputs whose bytes an output shares, in one sample at least."""
    inputs = {i for s in op.samples() for i, _, _ in s.op.views(*s.types)}
    return _listed(op, inputs)


def gradient_to(op: type[Op]) -> str:
    """The inputs that get a gradient."""
    inputs: set[int] = set()
    for sample in op.samples():
        node = _node(sample)
        try:
            gradients = node.op.gradient(node, *(Value(v.type) for v in node.outputs))
        except NotImplementedError:
            return "error"
        inputs |= {i for i, dx in enumerate(gradients) if dx is not None}
    return _listed(op, inputs)


def kernel_column(backend: Backend, allocates: Mapping[type[Op], str]) -> Column:
    """Make the column of a backend: "kernel", why a kernel allocates, or "by parts".

    Ops with bodies are run by the runtime, with the kernels of what is inside.
    """

    def column(op: type[Op]) -> str:
        if op in backend.kernels or op in backend.functions:
            return f"allocates: {allocates[op]}" if op in allocates else "kernel"
        if op.control is not Op.control:
            return "via bodies"  # which the runtime runs
        return "by parts" if _covered(op, backend) else "missing"

    return column


def _covered(op: type[Op], backend: Backend) -> bool:
    """Whether every sample comes down to ops that the backend has."""
    todo = [_node(s) for s in op.samples()]
    while todo:
        node = todo.pop()
        if backend.supports(node.op):
            continue
        outputs = node.op.decompose(*node.inputs)
        if outputs is None:
            return False
        todo += [made for made in producers(outputs) if made not in producers(node.inputs)]
    return True


def _parts(op: type[Op]) -> tuple[str, ...]:
    for sample in op.samples():
        outputs = sample.op.decompose(*_node(sample).inputs)
        if outputs is not None:
            return tuple(dict.fromkeys(n.op.name for n in producers(outputs))) or ("its input",)
    return ()


def _node(sample: Sample) -> Node:
    return Node(sample.op, tuple(Value(t) for t in sample.types))


def _listed(op: type[Op], inputs: set[int]) -> str:
    return ", ".join(dict.fromkeys(_input_names(op)[i] for i in sorted(inputs)))


def _input_names(op: type[Op]) -> list[str]:
    """The parameters of the shape rule; `*x` stands for a hundred x."""
    names: list[str] = []
    for parameter in list(signature(op.infer).parameters.values())[1:]:
        star = parameter.kind is parameter.VAR_POSITIONAL
        names += [parameter.name] * (100 if star else 1)
    return names


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
