"""Symbols as a table with numbers of parameters, and as a picture in DOT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Optional

from byparts_frontend_mxnet.symbol.infer import Inferred
from byparts_frontend_mxnet.symbol.symbol import Node, Symbol

Shapes = Optional[Mapping[str, Any]]


def print_summary(
    symbol: Symbol, shape: Shapes = None, line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:  # fmt: skip
    """Print a line for each op: its output, the number of its parameters, what comes before.

    Args:
        symbol: a network.
        shape: shapes of the data, by name.
        line_length: letters in a line.
        positions: where the columns end, as fractions of a line.
    """
    ends = [int(line_length * p) for p in positions]
    inferred = Inferred(symbol, {k: tuple(v) for k, v in (shape or {}).items()})

    def line(*cells: Any) -> None:
        text = ""
        for cell, end in zip(cells, ends, strict=True):
            text = (text + str(cell))[: end - 1].ljust(end)
        print(text.rstrip())

    print("_" * line_length)
    line("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    total = 0
    for n in symbol.nodes():
        if n.entry is None and _is_parameter(n.name, shape):
            continue
        weights = [p for p in n.inputs if p[0].entry is None and _is_parameter(p[0].name, shape)]
        shapes = [inferred.shape(p) for p in weights if not p[0].name.endswith("label")]
        count = sum(prod(s) for s in shapes if s)
        total += count
        before = [
            x.name for x, _ in n.inputs if not (x.entry is None and _is_parameter(x.name, shape))
        ]
        shown = "x".join(map(str, inferred.shape((n, 0))[1:]))
        line(f"{n.name}({n.op})", shown, count, ", ".join(before))
        print("_" * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _is_parameter(name: str, shape: Shapes) -> bool:
    ends = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters", "label")
    return name.endswith(ends) and name not in (shape or {})


class Digraph:
    """A picture in the language DOT of Graphviz.

    Attributes:
        source: the text.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def save(self, filename: str = "plot.gv") -> str:
        """Write the text to a file; `dot -Tpdf` draws it."""
        with open(filename, "w", encoding="utf-8") as file:
            file.write(self.source)
        return filename

    render = view = save


def plot_network(
    symbol: Symbol, title: str = "plot", shape: Shapes = None, hide_weights: bool = True, **_: Any
) -> Digraph:
    """The picture of a network, data at the bottom.

    Args:
        symbol: a network.
        title: its name.
        shape: shapes of the data; then edges say how large what flows is.
        hide_weights: whether parameters are left out.
    """
    inferred = Inferred(symbol, {k: tuple(v) for k, v in shape.items()}) if shape else None
    nodes = [
        n
        for n in symbol.nodes()
        if not (hide_weights and n.entry is None and _is_parameter(n.name, shape))
    ]
    lines = [f'digraph "{title}" {{', "  rankdir=BT;"]
    for n in nodes:
        lines.append(f'  "{n.name}" [label="{_label(n)}", shape=box];')
        for x, i in n.inputs:
            if x in nodes:
                size = "x".join(map(str, inferred.shape((x, i)))) if inferred else ""
                lines.append(f'  "{x.name}" -> "{n.name}" [label="{size}"];')
    return Digraph("\n".join([*lines, "}"]))


def _label(node: Node) -> str:
    texts = [v for k, v in node.texts().items() if not k.startswith("__")]
    return "\\n".join([node.name, *([f"{node.op} {', '.join(texts)}"] if node.entry else [])])
