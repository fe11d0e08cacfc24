"""A table of a model: each module with its result, parameters and floating point operations.

The model is traced on types; nothing is computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from byparts_eager import shapes_from_call
from byparts_graph_ir import Node, TensorType, Value, producers
from byparts_nn.calls import fit_shapes, watching
from byparts_nn.module import Module


@dataclass(frozen=True)
class Row:
    """A module in the table.

    Attributes:
        path: where it stands; "" is the model.
        kind: its class.
        result: the types that its last call gave.
        parameters: elements of its parameters, those of modules in it included.
        trained: how many of these are trained now.
        flops: floating point operations of all its calls, one forward pass.
    """

    path: str
    kind: str
    result: str
    parameters: int
    trained: int
    flops: int


@dataclass(frozen=True)
class Summary:
    """The rows, the model first; prints as a table."""

    rows: tuple[Row, ...]

    def __str__(self) -> str:
        head = ("module", "class", "result", "parameters", "flops")
        cells = [
            (r.path or "(model)", r.kind, r.result, f"{r.parameters:,}", f"{r.flops:,}")
            for r in self.rows
        ]
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        lines = [_line(row, widths) for row in (head, *cells)]
        whole = self.rows[0]
        rest = f"{whole.parameters:,} parameters, {whole.trained:,} of them trained"
        return "\n".join([*lines, f"{rest}; {whole.flops:,} flops forward"])

    __repr__ = __str__


def summary(model: Module, *types: TensorType | Value | Any) -> Summary:
    """The table of a model for a call on arguments of these types.

        print(summary(model, TensorType("f32", (32, 784))))

    Args:
        model: what is called.
        types: of its arguments; or arrays, of which only the types count.
    """
    fit_shapes(model, model, types)
    calls: dict[Module, tuple[str, set[Node]]] = {}

    def note(module: Module, arguments: tuple[Any, ...], result: Any) -> None:
        values, before = _values(result), _nodes(_values(arguments))
        seen = calls[module][1] if module in calls else set()
        calls[module] = ", ".join(str(v.type) for v in values), seen | (_nodes(values) - before)

    with watching(note):
        shapes_from_call(lambda *args: model(*args), types)
    rows = []
    for path, module in model.modules():
        result, nodes = calls.get(module, ("not called", set[Node]()))
        sizes = [(c.type.size, c.trainable) for c in module.parameters().values() if not c.is_open]
        counts = sum(n for n, _ in sizes), sum(n for n, on in sizes if on)
        flops = sum(_flops(node) for node in nodes)
        rows.append(Row(path, type(module).__name__, result, *counts, flops))
    return Summary(tuple(rows))


def _values(tree: Any) -> list[Value]:
    """The values in tuples, lists and dicts."""
    if isinstance(tree, Value):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree
    return (
        [v for part in parts for v in _values(part)]
        if isinstance(tree, (tuple, list, dict))
        else []
    )


def _flops(node: Node) -> int:
    """Floating point operations of a node; moving elements is none."""
    return 0 if node.op.pattern == "injective" else node.op.flops(*[v.type for v in node.inputs])


def _nodes(values: list[Value]) -> set[Node]:
    return set(producers([v for v in values if v.node is not None]))


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    words = [
        w.ljust(n) if i < 3 else w.rjust(n)
        for i, (w, n) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(words).rstrip()
