"""Branches and loops of TensorFlow 1 in a `GraphDef`, made by `tf.cond` and `tf.while_loop`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.node_defs.regions import (
    ENTERS,
    MERGES,
    NEXTS,
    SWITCHES,
    Path,
    closes_loop,
    is_of_loop,
    source,
)
from byparts_tf_files.shape import TensorShape

if TYPE_CHECKING:
    from byparts_frontend_tf.node_defs.read import GraphReader


def make_cond(reader: GraphReader, inside: Sequence[str], around: Path) -> None:
    """Make two branches and, as values of their `Merge`s, what they give."""
    _Cond(reader, inside, around).make()


def make_loop(reader: GraphReader, inside: Sequence[str], around: Path) -> None:
    """Make a loop and, as values of what its `Exit`s read, what it gives."""
    _Loop(reader, inside, around).make()


class _Cond:
    """The nodes of two branches."""

    def __init__(self, reader: GraphReader, inside: Sequence[str], around: Path) -> None:
        self._reader, self._inside, self._around = reader, inside, around
        self._switches = [n for n in inside if self._is_switch(n)]

    def make(self) -> None:
        """Make them, by `tf.cond`."""
        reader = self._reader
        for name in self._switches:
            reader.made[name] = [reader.tensor(reader.nodes[name].input[0])] * 2
        merges = self._merges()
        if not merges:
            return
        sides = [{self._side(i): i for i in reader.nodes[n].input} for n in merges]
        results = cond(
            reader.tensor(reader.nodes[self._switches[0]].input[1]),
            lambda: self._branch(1, [s[1] for s in sides]),
            lambda: self._branch(0, [s[0] for s in sides]),
            strict=True,
            name=f"{(reader.prefix + merges[0]).rpartition('/')[0]}/",
        )
        for name, result in zip(merges, results, strict=True):
            reader.made[name] = [reader.called(result, name)]

    def _branch(self, side: int, results: Sequence[str]) -> list[Tensor]:
        reader, depth = self._reader, len(self._around)
        waiting = set(self._switches)
        nodes = [
            n for n in self._inside if n not in waiting and reader.paths[n][depth].side == side
        ]
        if nodes:
            reader.level(nodes, reader.paths[nodes[0]][: depth + 1])
        return [reader.tensor(r) for r in results]

    def _merges(self) -> list[str]:
        """The nodes outside that choose between what the branches give."""
        reader = self._reader
        readers = {m for n in self._inside for m in reader.merges_of.get(n, ())}
        return sorted(
            [m for m in readers if reader.paths[m] == self._around], key=reader.place_of.__getitem__
        )

    def _is_switch(self, name: str) -> bool:
        """Whether a node is a `Switch` of these branches, not of branches or loops inside."""
        reader = self._reader
        return (
            reader.nodes[name].op in SWITCHES
            and len(reader.paths[name]) == len(self._around) + 1
            and not is_of_loop(reader.nodes[name], reader.nodes)
        )

    def _side(self, given: str) -> int:
        name, index = source(given)
        if self._is_switch(name):
            return index
        return self._reader.paths[name][len(self._around)].side


class _Loop:
    """The nodes of a loop.

    Raises:
        ValueError: it is none that `tf.while_loop` made.
    """

    def __init__(self, reader: GraphReader, inside: Sequence[str], around: Path) -> None:
        self._reader = reader
        self._path = reader.paths[inside[0]][: len(around) + 1]
        here = [n for n in inside if reader.paths[n] == self._path]
        self._enters = list(self._of_type(here, *ENTERS))
        self._merges = [
            n for n in self._of_type(here, *MERGES) if closes_loop(reader.nodes[n], reader.nodes)
        ]
        self._switch_of = {
            source(reader.nodes[n].input[0])[0]: n
            for n in self._of_type(here, *SWITCHES)
            if is_of_loop(reader.nodes[n], reader.nodes)
        }
        tests = list(self._of_type(here, "LoopCond"))
        if len(tests) != 1 or not self._merges:
            raise ValueError(f"the loop at {inside[0]!r} is no tf.while_loop")
        self._test = tests[0]
        ends = {*self._enters, *self._merges, *self._switch_of.values(), self._test}
        ends |= set(self._of_type(here, *NEXTS))
        self._nodes = [n for n in inside if n not in ends]
        self._early = self._needed(self._test)

    def _of_type(self, names: Sequence[str], *types: str) -> Iterator[str]:
        return (n for n in names if self._reader.nodes[n].op in types)

    def make(self) -> None:
        """Make them, by `tf.while_loop`."""
        reader = self._reader
        for name in self._enters:
            reader.made[name] = [reader.tensor(reader.nodes[name].input[0])]
        first = [reader.arrays.of(self._input(m, ENTERS)) for m in self._merges]
        results = while_loop(
            self._condition,
            self._body,
            first,
            shape_invariants=[_relaxed(v) for v in first],
            name=f"{(reader.prefix + self._merges[0]).rpartition('/')[0]}/",
            return_same_structure=True,
        )
        self._keep(results, 0)

    def _condition(self, *states: Any) -> Tensor:
        reader = self._reader
        for name, state in zip(self._merges, states, strict=True):
            reader.made[name] = [reader.arrays.keep(state)]
        reader.level([n for n in self._nodes if n in self._early], self._path)
        return reader.tensor(reader.nodes[self._test].input[0])

    def _body(self, *states: Any) -> list[Any]:
        reader = self._reader
        self._keep(states, 1)
        reader.level([n for n in self._nodes if n not in self._early], self._path)
        news = [source(self._input_name(m, NEXTS))[0] for m in self._merges]
        return [reader.arrays.of(reader.tensor(reader.nodes[n].input[0])) for n in news]

    def _keep(self, values: Sequence[Any], side: int) -> None:
        """Say what the loop's `Switch`es give inside (1) or behind it (0)."""
        for name, value in zip(self._merges, values, strict=True):
            if name in self._switch_of:
                given = [None, None]
                given[side] = self._reader.arrays.keep(value)
                self._reader.made[self._switch_of[name]] = given

    def _input(self, merge: str, types: Sequence[str]) -> Tensor:
        return self._reader.tensor(self._input_name(merge, types))

    def _input_name(self, merge: str, types: Sequence[str]) -> str:
        nodes = self._reader.nodes
        (given,) = [str(i) for i in nodes[merge].input if nodes[source(i)[0]].op in types]
        return given

    def _needed(self, name: str) -> set[str]:
        """The nodes of the loop that a node needs."""
        allowed, found, todo = set(self._nodes), set[str](), [name]
        while todo:
            for there, _ in map(source, self._reader.nodes[todo.pop()].input):
                if there in allowed and there not in found:
                    found.add(there)
                    todo.append(there)
        return found


def _relaxed(first: Any) -> TensorShape:
    """Shape that is said of a loop variable: only the number of axes."""
    if not isinstance(first, Tensor) or first.dims is None:
        return TensorShape(None)
    return TensorShape([None] * len(first.dims))
