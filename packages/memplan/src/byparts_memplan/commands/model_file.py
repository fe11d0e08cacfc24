"""A graph from a file, with the numbers that make it static: what `byparts plan` reads.

JSON as `byparts_graph_ir.to_json` writes it, or text as `str(graph)` prints it; which of them it is
shows in its first letter.  Nothing of it is run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from byparts_graph_ir import (
    Dimension,
    FormatError,
    Graph,
    TensorType,
    dimension,
    dimension_names,
    from_json,
    parse,
    specialize,
)
from byparts_memplan.buffer import PlanError

Shapes = Mapping[str, tuple[int, ...]]


def static_graph(options: argparse.Namespace) -> tuple[Graph, frozenset[int]]:
    """The graph that the options name, made static, and its inputs outside the arena.

    Raises:
        OSError, FormatError, PlanError, ShapeError: as the functions below.
    """
    dims, shapes = dict(options.dim), dict(options.shape)
    graph = make_static(read_graph(options.model), dims, shapes)
    patterns = [p for text in options.external for p in text.split(",") if p]
    return graph, external_inputs(graph, patterns)


def read_graph(path: str) -> Graph:
    """Read the graph in a file, or on standard input for "-".

    Raises:
        OSError: there is no such file, or it cannot be read.
        FormatError: it is no graph; with line and column, or the node.
    """
    if path == "-" and sys.stdin is None:
        raise FormatError("standard input is closed; expected a graph, or the name of a file")
    data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(f"line {line} column {column}: not a text in UTF-8") from error
    start = text.lstrip()[:1]
    if not start:
        raise FormatError("the file is empty")
    if start not in "({[":
        known = "a graph is JSON, as to_json writes it, or text, as str(graph) prints it"
        raise FormatError(f"begins with {text.lstrip()[:20]!r}; {known}")
    return parse(text) if start == "(" else from_json(text)


def make_static(graph: Graph, dims: Mapping[str, int], shapes: Shapes) -> Graph:
    """Give the named dimensions of a graph their numbers, and inputs of unknown shape theirs.

    Raises:
        PlanError: a name is not there, or something still has no number; says which option to give.
        ShapeError: the numbers contradict the graph.
    """
    names = input_names(graph)
    for name in shapes:
        if name not in names:
            raise PlanError(f"--shape {name}: there is no such input; {_known(names, 'inputs')}")
    symbols = [s for v in graph.inputs for d in v.type.shape or () for s in dimension_names(d)]
    for symbol in dims:
        if symbol not in symbols:
            known = _known(dict.fromkeys(symbols), "dimensions")
            raise PlanError(f"--dim {symbol}: no input has such a dimension; {known}")
    types = []
    for name, v in zip(names, graph.inputs, strict=True):
        shape: tuple[Dimension, ...] | None = shapes.get(name, v.type.shape)
        if shape is not None:
            shape = tuple([dimension(d, dims) for d in shape])
        types.append(TensorType(v.type.dtype, shape))
    static = specialize(graph, types)
    _check_static(static, names)
    return static


def external_inputs(graph: Graph, patterns: Sequence[str]) -> frozenset[int]:
    """Positions of the inputs whose names match a pattern, as in "w*", but no later "!w7".

    "none" matches none.

    Raises:
        PlanError: a pattern matches nothing.
    """
    names = input_names(graph)
    external: set[int] = set()
    for pattern in patterns:
        but = pattern.startswith("!")
        matching = [k for k, name in enumerate(names) if fnmatchcase(name, pattern[but:])]
        if not matching and pattern != "none":
            known = _known(names, "inputs")
            raise PlanError(f"--external {pattern}: no input has such a name; {known}")
        external = external.difference(matching) if but else external.union(matching)
    return frozenset(external)


def input_names(graph: Graph) -> list[str]:
    """The name of each input; its number where it has none or where an earlier one has the same."""
    names = [getattr(v, "name", "") for v in graph.inputs]
    seen: set[str] = set()
    unique = []
    for k, name in enumerate(names):
        unique.append(name if name and name not in seen else str(k))
        seen.add(name)
    return unique


def _check_static(graph: Graph, names: Sequence[str]) -> None:
    for name, v in zip(names, graph.inputs, strict=True):
        if v.type.shape is None or None in v.type.shape:
            raise PlanError(f"input {name} is {v.type}; give its shape: --shape {name}=...")
        for d in v.type.shape:
            for symbol in sorted(dimension_names(d)):
                raise PlanError(
                    f"input {name} is {v.type}; give {symbol} a number: --dim {symbol}=..."
                )


def _known(names: Iterable[str], what: str) -> str:
    listed = list(names)
    if not listed:
        return f"it has no {what}"
    return f"{what}: {', '.join(listed[:12])}{', ...' if len(listed) > 12 else ''}"
