"""Pipelines: what a dataset is, and what it needs when it starts.

`pipeline.start(context)` gives a function that gives the next row each time it is called, and
raises `EndOfSequence` at the end.  An error of one element leaves it usable: the next call goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Optional

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.seeds import get_seed
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.function import FunctionPlan
from byparts_tf_files.dtypes import int64
from byparts_tf_input.datasets.elements import Row

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession
    from byparts_tf_input.datasets.function import Function

Next = Callable[[], Row]


class EndOfSequence(Exception):  # no error: a dataset has no more elements
    """There is no next row."""


class Context:
    """Session, tensors and outer datasets with which a dataset starts.

    Args:
        session: its variables and resources.
        values: tensors, and datasets that are arguments of a function -> what they are.
        outer: what is around the function that the dataset is made in, or `None`.
    """

    def __init__(
        self, session: BaseSession, values: dict[Any, Any], outer: Optional[Context] = None
    ) -> None:
        self.session, self._values, self._outer = session, values, outer
        self._kept: dict[Any, Any] = {}

    def value(self, key: Any) -> Any:
        """The value of a tensor, or the dataset that a function got as an argument."""
        context: Optional[Context] = self
        while context is not None:
            if key in context._values:
                return context._values[key]
            context = context._outer
        raise KeyError(f"{key} is not known where the dataset starts")

    def number(self, tensor: Tensor) -> int:
        """The integer that a tensor is."""
        return int(self.value(tensor))

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """Make an object once for a start of the whole pipeline, such as a cache."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A dataset.

    Attributes:
        element: the structure of its elements, of `Spec`s.
        start: begins it.
        sources: the pipelines it reads.
        tensors: whose values it needs when it starts.
        functions: that it calls.
    """

    dataset_class: ClassVar[Callable[[Pipeline], Any]]  # what programs see of it: `dataset.py`

    element: Any
    start: Callable[[Context], Next]
    sources: tuple[Pipeline, ...] = ()
    tensors: tuple[Tensor, ...] = ()
    functions: tuple[Function, ...] = ()

    def needs(self) -> list[Tensor]:
        """The tensors whose values all of it needs, each once."""
        found: dict[Tensor, None] = {}
        seen: set[Pipeline] = set()
        todo = [self]
        while todo:
            pipeline = todo.pop()
            if pipeline in seen:
                continue
            seen.add(pipeline)
            found.update(dict.fromkeys(pipeline.tensors))
            for function in pipeline.functions:
                found.update(dict.fromkeys(function.captures))
            todo += pipeline.sources
        return list(found)


def number(value: Any, name: str) -> Tensor:
    """An integer argument as a tensor."""
    return convert_to_tensor(value, int64, name)


def evaluated(session: BaseSession, tensors: Sequence[Tensor]) -> dict[Tensor, Any]:
    """The values of tensors that depend on no feed."""
    known = {t: t.op.attributes["value"] for t in tensors if t.op.type == "Const"}
    rest = [t for t in tensors if t not in known]
    known.update(zip(rest, FunctionPlan(session, rest, [])([]), strict=True) if rest else ())
    return known


def random_of(seed: Any) -> tuple[Callable[[Context], Random], tuple[Tensor, ...]]:
    """A function that makes a random source of a seed and the graph's; the tensors it needs.

    Without seeds it is of chance.
    """
    if isinstance(seed, Tensor):
        seed = convert_to_tensor(seed, int64)
        return lambda context: Random(context.number(seed)), (seed,)
    first, second = get_seed(get_default_graph(), None if seed is None else int(seed))
    return lambda context: Random() if first is None else Random(f"{first} {second}"), ()


def following(rows: Iterator[Row]) -> Next:
    """A function that gives the rows of an iterator one by one."""

    def get() -> Row:
        for row in rows:
            return row
        raise EndOfSequence

    return get


def listed(rows: list[Row]) -> Next:
    """A function that gives these rows one by one."""
    return following(iter(rows))
