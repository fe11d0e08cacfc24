"""Iterators: `get_next` gives the next element of a dataset that runs in a session.

What an iterator is at is kept by the session, so each session has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.signals import OnHost
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir.fork import make_lock
from byparts_tf_files.dtypes import string
from byparts_tf_files.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
)
from byparts_tf_input.datasets.elements import (
    Spec,
    arrays_of,
    classes_of,
    compatible,
    components,
    element_of,
    joined,
    shapes_of,
    types_of,
)
from byparts_tf_input.datasets.pipeline import (
    Context,
    EndOfSequence,
    Next,
    Pipeline,
    evaluated,
)

_NOT_STARTED = (
    "GetNext() failed because the iterator has not been initialized. Ensure that you have run the "
    "initializer operation for this iterator before getting the next element."
)


class Started:
    """A dataset that runs in a session; several threads may ask it."""

    def __init__(self, following: Next) -> None:
        self._following, self._lock = following, make_lock()

    def get(self, op: Operation) -> list[Any]:
        """The arrays of the next row.

        Raises:
            OutOfRangeError: there is none.
        """
        try:
            with self._lock:
                row = self._following()
        except EndOfSequence:
            raise OutOfRangeError(None, op, "End of sequence") from None
        except OpError as error:
            raise type(error)(None, op, error.message) from error
        return [_own(a) for leaf in row for a in arrays_of(leaf)]


def _own(array: Any) -> Any:
    """An array that the program may change."""
    return array if array.base is None and array.flags.writeable else array.copy()


def call_each_run(lowering: Any, op: Operation, function: Callable[..., Any], dtypes: Any) -> None:
    """Call a function of the inputs of an operation, at each run."""
    if lowering.outer is not None:
        raise OnHost(op, "an iterator is asked")
    lowering.call(op, function, op.inputs, dtypes)


def _make(lowering: Any, op: Operation) -> None:
    session, pipeline, iterator = (
        lowering.run.session,
        op.attributes["pipeline"],
        op.attributes["iterator"],
    )
    keys = pipeline.needs()

    def make(*arrays: Any) -> None:
        pairs = zip(keys, arrays, strict=True)
        context = Context(session, {t: _kept(t, a) for t, a in pairs})
        session.kept[iterator] = Started(pipeline.start(context))

    call_each_run(lowering, op, make, ())


def _kept(tensor: Tensor, array: Any) -> Any:
    """An array that a dataset may keep: a copy of a feed, which the program may change."""
    own = tensor.op.type == "Const" or not isinstance(array, np.ndarray)
    return array if own else array.copy()


MAKE_ITERATOR = Kind("MakeIterator", special=_make, shape=lambda i, **_: [], dtype=())


def _get_next(lowering: Any, op: Operation) -> None:
    session, iterator = lowering.run.session, op.attributes["iterator"]

    def get(*handle: Any) -> Any:
        asked = iterator if iterator is not None else _of_handle(session, handle[0])
        made = asked.started(session, op).get(op)
        return made if len(made) != 1 else made[0]

    call_each_run(lowering, op, get, [t.dtype.as_numpy_dtype for t in op.outputs])


GET_NEXT = Kind(
    "IteratorGetNext",
    special=_get_next,
    shape=lambda i, parts, **_: [dims for _, dims in parts],
    dtype=lambda i, parts, **_: [dtype for dtype, _ in parts],
    gradient=False,
)


def _of_handle(session: Any, handle: Any) -> Any:
    key = np.asarray(handle).item()
    found = session.kept.get(("iterator", key))
    if found is None:
        raise InvalidArgumentError(
            None, None, f"The string_handle {key!r} is that of no iterator of this session"
        )
    return found


def _handle(lowering: Any, op: Operation) -> None:
    session, iterator = lowering.run.session, op.attributes["iterator"]

    def handle() -> Any:
        key = f"iterator/{id(iterator):x}".encode()
        session.kept[("iterator", key)] = iterator
        return np.array(key, object)

    call_each_run(lowering, op, handle, [object])


STRING_HANDLE = Kind(
    "IteratorToStringHandle", special=_handle, shape=lambda i, **_: (), dtype=string, gradient=False
)


@symbol("data.Iterator", "contrib.data.Iterator")
class Iterator:
    """The position of a session in a dataset.

    Args:
        element: the specs of its elements.
        pipeline: the dataset, where it is always the same.
        handle: the tensor whose value says which iterator is asked, or `None`.
        starts: whether it starts by itself.
    """

    def __init__(
        self,
        element: Any,
        pipeline: Optional[Pipeline] = None,
        handle: Optional[Tensor] = None,
        starts: bool = False,
    ) -> None:
        self._element, self._pipeline, self._handle, self._starts = (
            element,
            pipeline,
            handle,
            starts,
        )
        self._initializer: Optional[Operation] = None
        if pipeline is not None and not starts:
            self._initializer = self._made_of(pipeline, None)

    output_types = property(lambda self: types_of(self._element))
    output_shapes = property(lambda self: shapes_of(self._element))
    output_classes = property(lambda self: classes_of(self._element))

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: Optional[str] = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator that `make_initializer` starts, on any dataset of this structure."""
        return Iterator(element_of(output_types, output_shapes, output_classes))

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator that a string says, at each run: what `string_handle` gave."""
        element = element_of(output_types, output_shapes, output_classes)
        return Iterator(element, handle=convert_to_tensor(string_handle, string))

    @property
    def initializer(self) -> Operation:
        """The operation that starts it.

        Raises:
            ValueError: it has none.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: Optional[str] = None) -> Operation:
        """The operation that starts it on a dataset.

        Raises:
            TypeError: the elements of the dataset are others.
        """
        given = dataset._pipeline.element
        wrong = compatible(self._element, given)
        if wrong is not None:
            of = {"types": types_of, "shapes": shapes_of, "classes": classes_of}[wrong]
            raise TypeError(
                f"Expected output {wrong} {'compatible with ' * (wrong == 'shapes')}"
                f"{of(self._element)!r} but got dataset with output {wrong} {of(given)!r}."
            )
        return self._made_of(dataset._pipeline, name)

    def _made_of(self, pipeline: Pipeline, name: Optional[str]) -> Operation:
        return MAKE_ITERATOR.operation(pipeline.needs(), name, pipeline=pipeline, iterator=self)

    def get_next(self, name: Optional[str] = None) -> Any:
        """The tensors of the next element; each run gives another.

        Raises at run time:
            OutOfRangeError: there is none.
            FailedPreconditionError: it was not started.
        """
        specs: list[Spec] = flatten(self._element)
        given = () if self._handle is None else (self._handle,)
        iterator = self if self._handle is None else None
        outputs = GET_NEXT.outputs(*given, name=name, iterator=iterator, parts=components(specs))
        return pack_sequence_as(self._element, joined(specs, outputs, SparseTensor))

    def string_handle(self, name: Optional[str] = None) -> Tensor:
        """A tensor whose value stands for this iterator."""
        return STRING_HANDLE(name=name, iterator=self)

    def started(self, session: Any, op: Operation) -> Started:
        """The started dataset of a session; starts the iterator if it starts by itself.

        Raises:
            FailedPreconditionError: nothing was started.
        """
        found: Optional[Started] = session.kept.get(self)
        if found is None and self._starts and self._pipeline is not None:
            context = Context(session, evaluated(session, self._pipeline.needs()))
            found = session.kept[self] = Started(self._pipeline.start(context))
        if found is None:
            raise FailedPreconditionError(None, op, _NOT_STARTED)
        return found


def initializable_iterator(pipeline: Pipeline) -> Iterator:
    """An iterator that starts when its `initializer` is run."""
    return Iterator(pipeline.element, pipeline)


def one_shot_iterator(pipeline: Pipeline) -> Iterator:
    """An iterator that starts by itself, once for each session.

    Raises:
        ValueError: the dataset depends on a placeholder or a variable.
    """
    seen: set[Operation] = set()
    todo = [t.op for t in pipeline.needs()]
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        todo += [t.op for t in op.inputs]
        if op.type == "Placeholder":
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:Placeholder) by value."
            )
        if op.outputs and op.outputs[0].variable is not None:
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets that capture "
                "stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
                "`Dataset.make_initializable_iterator()`. (Original error: Cannot capture a "
                f"stateful node (name:{op.name}, type:{op.type}) by value.)"
            )
    return Iterator(pipeline.element, pipeline, starts=True)
