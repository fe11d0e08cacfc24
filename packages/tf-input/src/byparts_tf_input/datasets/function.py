"""The functions that `map` and its like are given.

They are called once, on placeholders, in a graph of their own, and then evaluated for each element
(`running/function.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from byparts_frontend_tf.api.placeholder import PLACEHOLDER
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.function import FunctionGraph
from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.function import FunctionPlan
from byparts_tf_files.errors import OutOfRangeError
from byparts_tf_input.datasets.elements import (
    Row,
    Spec,
    arrays_of,
    components,
    converted,
    joined,
    spec_of,
    tensors_of,
)
from byparts_tf_input.datasets.pipeline import Context, EndOfSequence, Pipeline


class Function:
    """A function of elements.

    Args:
        function: takes one element; the items of one that is a plain tuple.
        element: the specs of elements it takes.
        what: for errors: "map_func".

    Attributes:
        element: the specs of what it gives.
        result: that, of the tensors in its graph.

    Raises:
        TypeError: it gives what can be no element.
    """

    def __init__(self, function: Callable[..., Any], element: Any, what: str = "map_func") -> None:
        self._graph = FunctionGraph(get_default_graph())
        self._specs: list[Spec] = flatten(element)
        with self._graph.as_default():
            given = pack_sequence_as(element, self._arguments())
            made = function(*given) if type(given) is tuple else function(given)
            self.result = _as_result(made, what)
            self._leaves = flatten(self.result)
            self._targets = self._own([t for leaf in self._leaves for t in tensors_of(leaf)])
            self._inner = [_pipeline(leaf) for leaf in self._leaves if not tensors_of(leaf)]
            self._needs = [t for p in self._inner for t in p.needs()]
            self._values = self._own(self._needs)
        self.element = map_structure(spec_of, self.result)
        self._out: list[Spec] = flatten(self.element)

    @property
    def captures(self) -> tuple[Tensor, ...]:
        """The tensors of outside that it reads."""
        return tuple(self._graph.captures)

    def _own(self, tensors: list[Tensor]) -> list[Tensor]:
        return list(self._graph.own(tensors))

    def _arguments(self) -> list[Any]:
        parts = components(self._specs)
        self._fed = [PLACEHOLDER(name="arg", dtype=d, shape=s) for d, s in parts]
        self._keys = [None if s.inner is None else object() for s in self._specs]
        tensors = iter(joined([s for s in self._specs if s.inner is None], self._fed, SparseTensor))
        return [
            next(tensors) if k is None else _argument(s, k)
            for s, k in zip(self._specs, self._keys, strict=True)
        ]

    def bound(self, context: Context) -> Callable[[Row], Row]:
        """The function of rows, for a dataset that starts.

        Raises, when it is called:
            EndOfSequence: an operation in it raised OutOfRangeError.
        """
        captures = [context.value(t) for t in self.captures]
        call = self._plan(context)
        if not self._inner and not any(self._keys):
            return lambda row: self._called(call, row, captures)
        return lambda row: self._called_with_datasets(call, row, captures, context)

    def _plan(self, context: Context) -> FunctionPlan:
        kept = context.session.kept
        if self not in kept:
            inputs = [*self._fed, *self._graph.captures.values()]
            kept[self] = FunctionPlan(context.session, [*self._targets, *self._values], inputs)
        plan: FunctionPlan = kept[self]
        return plan

    def _called(self, call: FunctionPlan, row: Row, captures: list[Any]) -> Row:
        arrays = [a for leaf in row for a in arrays_of(leaf)]
        try:
            made = call([*arrays, *captures])
        except OutOfRangeError as error:
            raise EndOfSequence from error
        return joined(self._out, made) if len(made) != len(self._out) else tuple(made)

    def _called_with_datasets(
        self, call: FunctionPlan, row: Row, captures: list[Any], context: Context
    ) -> Row:
        arrays = [a for leaf in row for a in arrays_of(leaf)]
        made = call([*arrays, *captures])
        count = len(self._targets)
        values: dict[Any, Any] = dict(zip(self._needs, made[count:], strict=True))
        values.update({k: v for k, v in zip(self._keys, row, strict=True) if k is not None})
        inside = Context(context.session, values, context)
        pipelines = iter(self._inner)
        tensors = iter(joined([s for s in self._out if s.inner is None], made[:count]))
        return tuple(
            [
                next(tensors) if s.inner is None else partial(next(pipelines).start, inside)
                for s in self._out
            ]
        )


def _argument(spec: Spec, key: object) -> Any:
    """A dataset that is an argument: it starts with what the row has for it."""
    return Pipeline.dataset_class(Pipeline(spec.inner, lambda context: context.value(key)()))


def _pipeline(leaf: Any) -> Pipeline:
    found: Pipeline = leaf._pipeline
    return found


def _as_result(made: Any, what: str) -> Any:
    made = tuple(made) if isinstance(made, list) else made
    leaves = flatten(made)
    if made is None or any(v is None or isinstance(v, Operation) for v in leaves):
        raise TypeError(f"Unsupported return value from function passed to Dataset.{what}: {made}.")
    return converted(made)
