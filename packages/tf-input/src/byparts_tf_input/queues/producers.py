"""`tf.train.string_input_producer` and its kin: queues that are filled with rows of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.debugging.check_numerics import Assert
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.random.random import random_shuffle
from byparts_frontend_tf.api.range import range as range_
from byparts_frontend_tf.api.shape import shape as shape_of, size
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.api.variables.counting import count_up_to
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32, string
from byparts_tf_files.file_system import matching_files as matching
from byparts_tf_input.queues.queue import QueueBase
from byparts_tf_input.queues.queue_runner import QueueRunner, add_queue_runner
from byparts_tf_input.queues.queues import FIFOQueue


@symbol("train.limit_epochs")
def limit_epochs(
    tensor: TensorLike, num_epochs: Optional[int] = None, name: Optional[str] = None
) -> Any:
    """The tensor, for so many runs; `None`: for ever.  A local variable counts.

    Raises at run time:
        OutOfRangeError: afterwards.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            convert_to_tensor(0, "int64"),
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        with control_dependencies([count_up_to(epochs, num_epochs)]):
            return identity(convert_to_tensor(tensor), name=scope)


@symbol("train.input_producer")
def input_producer(
    input_tensor: TensorLike,
    element_shape: Any = None,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    summary_name: Optional[str] = None,
    name: Optional[str] = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue of the rows of a tensor, which a queue runner fills again and again.

    Args:
        input_tensor: [rows, ...].
        element_shape: of a row, if it is not known.
        num_epochs: how often; then the queue is closed.
        shuffle: whether each time in another order.
        seed: of the order.
        capacity: of the queue.
        shared_name: of the queue.
        summary_name: of the summary that says how full the queue is.
        name: of the queue.
        cancel_op: cancels what waits to enqueue.

    Raises:
        ValueError: the shape of a row is not known.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.get_shape()[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[shape],
            shared_name=shared_name,
            name=name or "input_producer",
        )
        put = queue.enqueue_many([rows])
        add_queue_runner(QueueRunner(queue, [put], cancel_op=cancel_op))
        if summary_name is not None:
            full = cast(queue.size(), float32)
            scalar(summary_name, full * (1.0 / capacity))
        return queue


@symbol("train.string_input_producer")
def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
    cancel_op: Any = None,
) -> QueueBase:
    """A queue of strings, such as names of files; arguments as those of `input_producer`.

    Raises:
        ValueError: there is none.

    Raises at run time:
        InvalidArgumentError: likewise.
    """
    message = "string_input_producer requires a non-null input tensor"
    if isinstance(string_tensor, (list, tuple, np.ndarray)) and len(string_tensor) == 0:
        raise ValueError(message)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=string)
        with control_dependencies([Assert(size(strings) > 0, [message])]):
            strings = identity(strings)
        return input_producer(
            strings,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            summary_name=f"fraction_of_{capacity}_full",
            name=scope,
            cancel_op=cancel_op,
        )


@symbol("train.range_input_producer")
def range_input_producer(
    limit: TensorLike,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> QueueBase:
    """A queue of the integers from 0 to limit - 1; arguments as those of `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


@symbol("train.slice_input_producer")
def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    seed: Optional[int] = None,
    capacity: int = 32,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> list[Tensor]:
    """Tensors that are one row of each tensor, the next one at each run.

    Raises:
        ValueError: there is no tensor.
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        rows = shape_of(tensors[0])[0]
        queue = range_input_producer(rows, num_epochs, shuffle, seed, capacity, shared_name)
        at = queue.dequeue()
        return [gather(t, at) for t in tensors]


def _matching(pattern: Any) -> Any:
    found: list[bytes] = []
    for one in np.ravel(pattern):
        found += [p.encode() for p in matching(one.decode() if isinstance(one, bytes) else one)]
    made = np.empty(len(found), object)
    made[:] = sorted(found)
    return made


MATCHING_FILES = Kind(
    "MatchingFiles",
    host=_matching,
    shape=lambda inputs: (None,),
    dtype=string,
    gradient=False,
    effect=True,
)


@symbol("matching_files", "io.matching_files", "train.matching_files")
def matching_files(pattern: TensorLike, name: Optional[str] = None) -> Tensor:
    """The names of files that match a pattern, or one of several, sorted."""
    return MATCHING_FILES(convert_to_tensor(pattern, dtype=string, name="pattern"), name=name)


@symbol("train.match_filenames_once", "io.match_filenames_once")
def match_filenames_once(pattern: TensorLike, name: Optional[str] = None) -> Any:
    """A local variable with the names of files that match a pattern when it is initialised."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            matching_files(pattern),
            trainable=False,
            name=scope,
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
