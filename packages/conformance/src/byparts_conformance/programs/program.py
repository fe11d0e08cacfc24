"""Programs: a graph, which of its inputs are variables, and arrays to run it on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from byparts_conformance.programs.effects import messages, part_of
from byparts_graph_ir import Graph
from byparts_graph_ir.model.graph import graph_of

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Program:
    """A graph to build and arrays to run it on.

    Attributes:
        graph: its inputs are the feeds, then the variables; its outputs are the fetches, then the
            new values of the first variables.
        arrays: one for each input.
        variables: how many of the last inputs are variables.
        updates: how many of the last outputs are written to the first variables, in order.
        seed: what it was generated from; -1 of one that was made otherwise.
    """

    graph: Graph
    arrays: tuple[Array, ...]
    variables: int = 0
    updates: int = 0
    seed: int = -1

    @property
    def feeds(self) -> int:
        """The number of feeds, which are the first inputs."""
        return len(self.arrays) - self.variables

    def __str__(self) -> str:
        states = f", {self.variables} variables, {self.updates} updates" if self.variables else ""
        return f"program of seed {self.seed}{states}\n{self.graph}"


def side_by_side(programs: Sequence[Program]) -> Program:
    """A program that computes what all of them do; none reads what another one makes.

    One build then compiles the kernels of all, which a compiler does sooner than one by one.
    """
    copies = [_renewed(p) for p in programs]
    feeds = [v for p in copies for v in p.graph.inputs[: p.feeds]]
    fetches = [v for p in copies for v in p.graph.outputs[: len(p.graph.outputs) - p.updates]]
    # Variables with an update come first, those that are only read behind them.
    updated = [v for p in copies for v in p.graph.inputs[p.feeds : p.feeds + p.updates]]
    only_read = [v for p in copies for v in p.graph.inputs[p.feeds + p.updates :]]
    news = [v for p in copies for v in p.graph.outputs[len(p.graph.outputs) - p.updates :]]
    arrays = {v: a for p in copies for v, a in zip(p.graph.inputs, p.arrays, strict=True)}
    inputs = (*feeds, *updated, *only_read)
    nodes = tuple([node for p in copies for node in p.graph.nodes])
    graph = Graph(inputs, nodes, (*fetches, *news))
    return Program(
        graph, tuple([arrays[v] for v in inputs]), len(updated) + len(only_read), len(updated)
    )


def parts_of(results: Sequence[Array], programs: Sequence[Program]) -> list[tuple[Array, ...]]:
    """The results of `side_by_side(programs)`, parted again: for each program its outputs.

    The last output of each that prints is its part of the text.
    """
    rest = list(results)
    fetched = [_taken(rest, len(p.graph.outputs) - p.updates) for p in programs]
    written = [_taken(rest, p.updates) for p in programs]
    texts = [(part_of(rest[0], messages(p.graph)),) if p.graph.has_effect else () for p in programs]
    return [(*f, *w, *t) for f, w, t in zip(fetched, written, texts, strict=True)]


def _taken(rest: list[Array], count: int) -> list[Array]:
    taken, rest[:] = rest[:count], rest[count:]
    return taken


def _renewed(program: Program) -> Program:
    """The same program of other values, so that one graph may hold it twice."""
    return replace(program, graph=graph_of(*program.graph.rows()))
