"""Prints in programs: lines in order, as often as the program runs them, of the right values.

`with_prints` makes some values of a program be printed, in bodies too; some of the prints are read
instead of the value, some twice in a row, some by nobody.  A run of such a program is recorded
(`recorded`), and its text is one more result: `ExpectedText` says whether the lines are those that
`evaluate` prints, their floats within the error that is allowed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from math import inf, isfinite
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import Graph, Node, Value
from byparts_graph_ir.model.bodies import map_bodies

Array = NDArray[Any]

_MOST_ELEMENTS, _MOST_IN_A_BODY = 60, 20  # of a printed value


def with_prints(graph: Graph, seed: int) -> Graph:
    """The graph, where some values are printed, each as `print SEED.NUMBER` and the value."""
    return _Printing(Random(f"prints of {seed}"), seed).graph(graph)


@dataclass
class _Printing:
    """Copies of graphs in which some values are printed, each under a number of its own."""

    random: Random
    seed: int
    count: int = 0

    def graph(self, graph: Graph, most: int = _MOST_ELEMENTS, share: float = 0.3) -> Graph:
        """A copy, in whose bodies values are printed too; it has the same inputs."""
        new: dict[Value, Value] = {v: v for v in graph.inputs}
        nodes: list[Node] = []
        for v in graph.inputs:
            nodes += self._printed(v, new, most, share / 3)
        for node in graph.nodes:
            op = map_bodies(node.op, lambda g: self.graph(g, _MOST_IN_A_BODY, 0.4))
            copy = Node(op, tuple([new[v] for v in node.inputs]), node.where)
            new.update(zip(node.outputs, copy.outputs, strict=True))
            nodes.append(copy)
            for v in node.outputs:
                nodes += self._printed(v, new, most, share)
        return Graph(graph.inputs, tuple(nodes), tuple([new[v] for v in graph.outputs]))

    def _printed(self, v: Value, new: dict[Value, Value], most: int, share: float) -> list[Node]:
        """Prints of a value, if it is small and the dice say so; what follows may read them."""
        if v.type.size > most or self.random.random() > share:
            return []
        self.count += 1
        op, x = ops.Print(f"print {self.seed}.{self.count}"), new[v]
        times = 2 if self.random.random() < 0.15 else 1  # equal ones stay two
        nodes = [Node(op, (x,)) for _ in range(times)]
        if self.random.random() < 0.6:
            new[v] = nodes[-1].outputs[0]
        return nodes


def messages(graph: Graph) -> set[str]:
    """Messages of the prints of a graph, before their values; those in bodies too."""
    said: set[str] = set()

    def seen(inner: Graph) -> Graph:
        for node in inner.nodes:
            if isinstance(node.op, ops.Print):
                said.add(node.op.message)
            map_bodies(node.op, seen)
        return inner

    seen(graph)
    return said


def with_these_prints(graph: Graph, said: set[str]) -> Graph:
    """The graph without its prints, those in bodies too, but for those that say one of these."""
    new: dict[Value, Value] = {v: v for v in graph.inputs}
    nodes = []
    for node in graph.nodes:
        inputs = tuple([new[v] for v in node.inputs])
        if isinstance(node.op, ops.Print) and node.op.message not in said:
            new[node.outputs[0]] = inputs[0]
            continue
        op = map_bodies(node.op, lambda body: with_these_prints(body, said))
        nodes.append(Node(op, inputs, node.where))
        new.update(zip(node.outputs, nodes[-1].outputs, strict=True))
    return Graph(graph.inputs, tuple(nodes), tuple([new[v] for v in graph.outputs]))


@contextmanager
def recorded() -> Iterator[StringIO]:
    """Record what is printed while it is entered; arrays are shown in full."""
    text = StringIO()
    in_full: Any = {"threshold": sys.maxsize, "linewidth": 1 << 20, "floatmode": "unique"}
    with redirect_stdout(text), np.printoptions(**in_full):
        yield text


def as_array(text: str) -> Array:
    """The bytes of a text, which is a result beside arrays."""
    return np.frombuffer(text.encode(), np.uint8)


def part_of(text: Array, said: set[str]) -> Array:
    """The prints of a text that say one of these, in their order, and what no print says."""
    pieces = _pieces(text)
    own = [piece for piece in pieces if _message(piece) in said or not _message(piece)]
    return as_array("".join(own))


_START = re.compile(r"^print -?\d+\.\d+(?= )", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?\b(?:nan|inf|True|False|\d+(?:\.\d*)?(?:e[-+]?\d+)?)(?![\w.])")
_INTEGER = re.compile(r"[-+]?\d+|True|False")


def _pieces(text: Array) -> list[str]:
    """Text of each print; the first piece is what stands before them."""
    whole = text.tobytes().decode()
    starts = [0, *[m.start() for m in _START.finditer(whole)], len(whole)]
    return [whole[a:b] for a, b in pairwise(starts) if a < b]


def _message(piece: str) -> str:
    match = _START.match(piece)
    return "" if match is None else match[0]


@dataclass(frozen=True)
class _Piece:
    """A print: its message, its text with `#` for each number, and the numbers as written."""

    message: str
    frame: str
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, piece: str) -> _Piece:
        message = _message(piece)
        values = piece[len(message) :]
        frame = re.sub(r" *([\[\]]) *", r"\1", re.sub(r" +", " ", _NUMBER.sub("#", values)))
        return cls(message, frame, tuple(_NUMBER.findall(values)))

    def __str__(self) -> str:
        return f"{self.message}{self.frame}".replace("\n", " ")[:200].strip()


@dataclass(frozen=True)
class ExpectedText:
    """The text that is expected, and the error that is allowed in its numbers.

    Attributes:
        value: the text of `evaluate`, as bytes.
        near: how far each number of it may be off; infinite where it is not compared.
        determined: whether evaluations with noise print as often and as many numbers; everywhere
            the same.
    """

    value: Array
    near: Array
    determined: Array

    def difference(self, got: Array) -> str:
        """A sentence that says how the text `got` differs, or ""."""
        if not np.all(self.determined):
            return ""
        wants, pieces = _read(self.value), _read(got)
        for k, (piece, want) in enumerate(zip(pieces, wants, strict=False)):
            if (piece.message, piece.frame) != (want.message, want.frame):
                return f"printed {str(piece)!r} instead of {str(want)!r}, as line {k + 1}"
        if len(pieces) != len(wants):
            return f"printed {len(pieces)} times instead of {len(wants)}"
        return self._wrong_number(wants, pieces)

    def _wrong_number(self, wants: Sequence[_Piece], pieces: Sequence[_Piece]) -> str:
        near = iter(self.near)
        for piece, want in zip(pieces, wants, strict=True):
            for x, y in zip(piece.numbers, want.numbers, strict=True):
                if _off(x, y) > (allowed := float(next(near))):
                    within = f", within {allowed:.3g}" if allowed else ""
                    return f"printed {x} instead of {y}{within}, after {want.message!r}"
        return ""


def expected_text(runs: Sequence[Array], allowed: float) -> ExpectedText:
    """The text of the first run, its numbers within so many times what the others are off."""
    want, *others = map(_read, runs)
    frames = [(piece.message, piece.frame) for piece in want]
    alike = all(frames == [(piece.message, piece.frame) for piece in some] for some in others)
    numbers = [x for piece in want for x in piece.numbers]
    near = np.zeros(len(numbers))
    for some in others if alike else ():
        sample = [x for piece in some for x in piece.numbers]
        off = [
            np.inf if _INTEGER.fullmatch(x) and x != y else _off(x, y)
            for x, y in zip(numbers, sample, strict=True)
        ]
        near = np.maximum(near, off)
    return ExpectedText(runs[0], allowed * near, np.full(runs[0].shape, alike))


def _read(text: Array) -> list[_Piece]:
    return [_Piece.of(piece) for piece in _pieces(text)]


def _off(x: str, y: str) -> float:
    """Distance of two numbers; infinite for a nan or an infinity and something else."""
    if x == y:
        return 0.0
    if _INTEGER.fullmatch(x) and _INTEGER.fullmatch(y):
        return float(abs(_whole(x) - _whole(y)))
    a, b = float(x), float(y)
    off = 0.0 if a == b else abs(a - b)
    return off if isfinite(off) else inf


def _whole(x: str) -> int:
    return int(x == "True") if x in ("True", "False") else int(x)
