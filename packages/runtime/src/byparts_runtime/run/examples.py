"""Graphs of numbers that differ in sizes alone, and the families that serve them.

A front-end that follows a program with the arrays of a call gives a graph of numbers for each size.
Two of them are examples of a graph of named dimensions (`building/generalize.py`); a third one is
served by its family if the family's graph at those sizes equals it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional, Union

from byparts_graph_ir import Graph, GraphError, Types, sizes_of
from byparts_graph_ir.passes.sizes import NamedGraph
from byparts_runtime.building.family import Family
from byparts_runtime.building.generalize import generalized

_MOST_TRIES = 4  # to generalize two graphs of a kind, before each size is built by itself

Make = Callable[[Graph, Types], Union[Family, str]]  # (graph, types of its feeds)


class Examples:
    """The last of the graphs of one kind that no family served, and the families.

    Args:
        graph: the first of them.
        feeds: how many of its first inputs are feeds; only they may differ in size.
    """

    def __init__(self, graph: Graph, feeds: int) -> None:
        self._last, self._feeds, self._tries = graph, feeds, 0
        self._families: list[tuple[NamedGraph, Union[Family, str]]] = []

    def family(self, graph: Graph, make: Make) -> Optional[tuple[Family, Types]]:
        """The family that gives this graph, and the types of its feeds; `None` if there is none.

        Args:
            graph: of numbers.
            make: makes the family of a graph of names, or gives a reason why there is none.
        """
        for named, family in self._families:
            if self._gives(named, graph):
                return self._answer(family, graph)
        if self._tries == _MOST_TRIES:
            return None
        example, self._last = self._last, graph
        general = generalized(example, graph, self._feeds)
        named = NamedGraph(graph if general is None else general)
        if general is None or not (self._gives(named, example) and self._gives(named, graph)):
            self._tries += 1
            return None
        types = tuple([v.type for v in named.graph.inputs[: self._feeds]])
        family = make(named.graph, types)
        self._families.append((named, family))
        self._tries += isinstance(family, str)
        return self._answer(family, graph)

    def _answer(self, family: Union[Family, str], graph: Graph) -> Optional[tuple[Family, Types]]:
        if isinstance(family, str):
            return None
        return family, tuple([v.type for v in graph.inputs[: self._feeds]])

    def _gives(self, named: NamedGraph, graph: Graph) -> bool:
        """Whether the named graph at the sizes of this one is this very graph."""
        try:
            types = tuple([v.type for v in graph.inputs[: self._feeds]])
            return named.at(sizes_of(named.graph, types)) == graph
        except GraphError:
            return False
