"""Runs that must be refused: an index out of range, in a feed that a program reads as indices.

An index out of range has one meaning, an error that says which one it is, and no backend may give
a result for it.  Each feed that gathers or scatters what is fetched gets such an index once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_conformance.programs.program import Program
from byparts_graph_ir import GraphError, Node, Op, Value

Array = NDArray[Any]

# Ops that refuse an index, and which of their inputs holds the indices.
_INDICES: dict[type[Op], int] = {ops.Gather: 1, ops.Scatter: 1, ops.ScatterAdd: 0}


def indices_of(node: Node) -> Value | None:
    """The input of a node that holds its indices; `None` of a node that refuses none."""
    at = _INDICES.get(type(node.op))
    return None if at is None else node.inputs[at]


def index_feeds(program: Program) -> dict[int, Node]:
    """Positions of feeds that hold indices -> a node that reads them as such."""
    feeds = {v: i for i, v in enumerate(program.graph.inputs[: program.feeds])}
    pairs = [(indices_of(node), node) for node in program.graph.nodes]
    return {feeds[v]: node for v, node in pairs if v in feeds and v is not None}


def refused_feeds(program: Program, most: int = 3) -> Iterator[tuple[list[Array], str]]:
    """Feeds with one index out of range, and the sentence that refuses them; so many at most.

    Only of nodes whose results are fetched, for what nobody reads need not be computed, and of
    feeds that one node alone reads, for else either may be the one that says so.
    """
    fetched, feeds = set(program.graph.outputs), program.arrays[: program.feeds]
    reads = Counter([v for node in program.graph.nodes for v in node.inputs])
    rows = [
        (i, node)
        for i, node in index_feeds(program).items()
        if node.outputs[0] in fetched and feeds[i].size and reads[program.graph.inputs[i]] == 1
    ]
    for i, node in rows[:most]:
        spoiled = np.array(feeds[i])
        spoiled.reshape(-1)[spoiled.size // 2] = (-1, 1 << 30)[i % 2]
        if said := _refusal(node, spoiled):
            yield [*feeds[:i], spoiled, *feeds[i + 1 :]], said


def _refusal(node: Node, indices: Array) -> str:
    """Message by which the op refuses these indices; "" if it takes them."""
    op: Any = node.op  # one of `_INDICES`
    try:
        op.check_indices([v.type for v in node.inputs], indices)
    except GraphError as error:
        return str(error)
    return ""


def shuffled(program: Program, number: int) -> dict[int, Array]:
    """Other indices for the feeds that hold some: the same ones in another order."""
    dice = np.random.default_rng([program.seed & 0xFFFF, number])
    return {i: _permuted(dice, program.arrays[i]) for i in index_feeds(program)}


def _permuted(dice: np.random.Generator, x: Array) -> Array:
    return np.asarray(dice.permutation(x.reshape(-1)).reshape(x.shape))


def unrefused(built: Any, feeds: Sequence[Array], sentence: str) -> str:
    """Complaint about a run that must be refused; "" if it is."""
    try:
        built(*feeds)
    except Exception as error:  # whichever it is: the sentence tells
        if isinstance(error, GraphError) and sentence in str(error):
            return ""
        return f"refused by {type(error).__name__}: {str(error)[:200]!r}, not by {sentence!r}"
    return f"not refused: {sentence}"
