"""Results of a whole dataset, as tensors: `reduce`, and its only element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_input.datasets.elements import Row, arrays_of, components, joined
from byparts_tf_input.datasets.function import Function
from byparts_tf_input.datasets.iterators import call_each_run
from byparts_tf_input.datasets.pipeline import Context, EndOfSequence, Pipeline


def _reduce(lowering: Any, op: Operation) -> None:
    session, pipeline, function = (
        lowering.run.session,
        op.attributes["pipeline"],
        op.attributes["function"],
    )
    keys, count = op.attributes["keys"], len(op.outputs)

    def run(*arrays: Any) -> Any:
        context = Context(session, dict(zip(keys, arrays[count:], strict=True)))
        get, state = pipeline.start(context), _row(function, arrays[:count])
        call = function.bound(context)
        while True:
            try:
                row = get()
            except EndOfSequence:
                break
            state = call((*state, *row))
        made = [a for leaf in state for a in arrays_of(leaf)]
        return made if count != 1 else made[0]

    call_each_run(lowering, op, run, [t.dtype.as_numpy_dtype for t in op.outputs])


def _row(function: Function, arrays: Sequence[Any]) -> Row:
    return joined(flatten(function.element), arrays)


REDUCE = Kind(
    "ReduceDataset",
    special=_reduce,
    shape=lambda i, parts, **_: [dims for _, dims in parts],
    dtype=lambda i, parts, **_: [dtype for dtype, _ in parts],
    gradient=False,
)


def reduced(pipeline: Pipeline, state: list[Tensor], function: Function) -> Any:
    """The last state that a function of a state and an element gives.

    Args:
        pipeline: the elements.
        state: the tensors of the first state.
        function: made by `state_function`.
    """
    keys = list(dict.fromkeys([*pipeline.needs(), *function.captures]))
    specs = flatten(function.element)
    outputs = REDUCE.outputs(
        *state,
        *keys,
        pipeline=pipeline,
        function=function,
        keys=keys,
        parts=components(specs),
    )
    return pack_sequence_as(function.element, joined(specs, outputs, SparseTensor))


def _single(lowering: Any, op: Operation) -> None:
    session, pipeline, keys = (
        lowering.run.session,
        op.attributes["pipeline"],
        op.attributes["keys"],
    )

    def run(*arrays: Any) -> Any:
        get = pipeline.start(Context(session, dict(zip(keys, arrays, strict=True))))
        row = None
        try:
            row = get()
            get()
        except EndOfSequence:
            if row is None:
                raise InvalidArgumentError(None, op, "Dataset was empty.") from None
            made = [a for leaf in row for a in arrays_of(leaf)]
            return made if len(made) != 1 else made[0]
        raise InvalidArgumentError(None, op, "Dataset had more than one element.")

    call_each_run(lowering, op, run, [t.dtype.as_numpy_dtype for t in op.outputs])


SINGLE = Kind(
    "DatasetToSingleElement",
    special=_single,
    shape=lambda i, parts, **_: [dims for _, dims in parts],
    dtype=lambda i, parts, **_: [dtype for dtype, _ in parts],
    gradient=False,
)


def first_of(pipeline: Pipeline) -> Any:
    """The tensors of the one element of a dataset."""
    keys, specs = pipeline.needs(), flatten(pipeline.element)
    outputs = SINGLE.outputs(*keys, pipeline=pipeline, keys=keys, parts=components(specs))
    return pack_sequence_as(pipeline.element, joined(specs, outputs, SparseTensor))
