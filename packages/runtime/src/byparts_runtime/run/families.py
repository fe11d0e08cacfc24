"""Families of an executor: graphs of named dimensions, each lowered and compiled once.

A call with feeds of a new size takes the family of its graph, which places and binds a program of
that size.  A graph that cannot be built for all sizes, and a size that its family does not hold
for, are built as they are; `Program.why` says so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from functools import partial
from typing import Optional, Union

from byparts_graph_ir import Graph, Types, compatible, sizes_of
from byparts_runtime.building.build import build_family
from byparts_runtime.building.family import Family, NoFamily, unshared
from byparts_runtime.building.generalize import common_form
from byparts_runtime.building.named import check_names, known_types, named_types
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.signature import Bound
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import arena_bytes
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.examples import Examples
from byparts_runtime.run.program import Program

_EXACT_GROWTHS = 8  # of an arena for one family to what is needed, before more is reserved


class Families:
    """The families that were made last, by graph, names, variables and options.

    Args:
        capacity: how many are kept; the least recently used goes first.

    Attributes:
        why: of the last question that was answered with `None`: the reason.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.why = ""
        self._known: OrderedDict[Hashable, Union[Family, str]] = OrderedDict()
        self._examples: OrderedDict[Hashable, Examples] = OrderedDict()

    def program(
        self,
        graph: Graph,
        types: Types,
        variables: Bound,
        updates: tuple[Variable, ...],
        options: BuildOptions,
        arena: Optional[Arena],
    ) -> Optional[Program]:
        """The program for feeds of these types; `None` where the size is to be built alone.

        Args:
            graph: its feeds first.
            types: of the feeds, static.
            variables: position of an input -> the variable; those of the last inputs.
            updates: what the last outputs are written to.
            options: how to build.
            arena: the memory of the program.

        Raises:
            ShapeError: one name is two numbers.
            GraphError: a name is one that only the runtime gives.
        """
        feeds = tuple([v.type for v in graph.inputs[: len(types)]])
        self.why = ""
        if len(types) + len(variables) != len(graph.inputs) or all([t.static for t in feeds]):
            return None
        check_names(feeds)
        if not all([compatible(old, new) for old, new in zip(feeds, types, strict=True)]):
            return None  # an error of the caller, which specializing reports
        family = self._of(graph, named_types(feeds, types), variables, updates, options)
        if isinstance(family, str):
            self.why = family
            return None
        try:
            return _program(family, types, arena)
        except NoFamily as error:
            self.why = f"the family of {_listed(feeds)} is not for this size: {error}"
            return None

    def by_example(
        self,
        graph: Graph,
        variables: Bound,
        updates: tuple[Variable, ...],
        options: BuildOptions,
        arena: Optional[Arena],
    ) -> Optional[Program]:
        """The program of a graph of numbers, where an earlier one differs from it in sizes alone.

        The first graph is built as it is (`None`), the second one makes a family of both, and
        whatever the family is used for is compared with the graph that was asked for.
        """
        self.why = ""
        key = (common_form(graph), tuple(variables.items()), updates, options)
        examples = self._examples.get(key)
        if examples is None:
            self._examples[key] = Examples(graph, len(graph.inputs) - len(variables))
            while len(self._examples) > self.capacity:
                self._examples.popitem(last=False)
            return None
        self._examples.move_to_end(key)
        make = partial(self._built, variables=variables, updates=updates, options=options)
        answer = examples.family(graph, make)
        try:
            return None if answer is None else _program(*answer, arena)
        except NoFamily as error:
            self.why = f"its family is not for this size: {error}"
            return None

    def prepare(
        self,
        graph: Graph,
        variables: Bound,
        updates: tuple[Variable, ...],
        options: BuildOptions,
    ) -> str:
        """Make the family of a graph of named dimensions; its sentence, or why there is none."""
        feeds = tuple([v.type for v in graph.inputs[: len(graph.inputs) - len(variables)]])
        check_names(feeds)
        family = self._of(graph, feeds, variables, updates, options)
        return family if isinstance(family, str) else _sentence(family, len(feeds))

    def _of(
        self,
        graph: Graph,
        named: Types,
        variables: Bound,
        updates: tuple[Variable, ...],
        options: BuildOptions,
    ) -> Union[Family, str]:
        key = (graph.digest, named, tuple(variables.items()), updates, options)
        family = self._known.get(key)
        if family is None:
            family = self._built(graph, named, variables, updates, options)
            self._keep(key, family)
        self._known.move_to_end(key)
        return family

    def _built(
        self,
        graph: Graph,
        named: Types,
        variables: Bound,
        updates: tuple[Variable, ...],
        options: BuildOptions,
    ) -> Union[Family, str]:
        """The family, or the reason why there is none."""
        values = tuple(variables.values())
        try:
            types = known_types(graph, named)
            return build_family(graph, types, values, updates, options)
        except NoFamily as error:
            return f"built for one size: {error}"

    def _keep(self, key: Hashable, family: Union[Family, str]) -> None:
        self._known[key] = family
        while len(self._known) > self.capacity:
            self._known.popitem(last=False)


def _program(family: Family, types: Types, arena: Optional[Arena]) -> Program:
    graph = family.compiled.graph
    sizes = sizes_of(graph, types)
    loaded = family.at(sizes)
    needed = arena_bytes(loaded.plan, loaded.space.name if loaded.parts.several else None)
    if arena is not None and 0 < arena.size_bytes < needed:
        family.growths += 1  # the arena moves, and all its programs are bound again
        if family.growths > _EXACT_GROWTHS:  # sizes go on growing: rarely, if it grows by a half
            arena.reserve_bytes = max(arena.reserve_bytes, needed * 3 // 2)
    program = Program(loaded, arena, why=_sentence(family, len(types)))
    if family.change is not None:
        program.change_at(family.change(sizes, loaded))
    return program


def _sentence(family: Family, feeds: int) -> str:
    types = [v.type for v in family.compiled.graph.inputs[:feeds]]
    rest = unshared(family)
    but = "" if rest is None else f", but {rest}"
    return f"compiled once for every size of {_listed(tuple(types))}{but}"


def _listed(types: Types) -> str:
    return ", ".join(map(str, types))
