"""`tf.train.batch`, `shuffle_batch` and their kin: a queue of elements, taken many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, Optional

from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_input.queues.batch_queues import Batches


def _of_all(name: str, maybe: Callable[..., Any], words: str) -> Callable[..., Any]:
    """The function `maybe` of all elements: without its argument `keep_input`."""
    takes = signature(maybe)
    own = [p for p in takes.parameters.values() if p.name != "keep_input"]
    takes = takes.replace(parameters=own)

    def of_all(*arguments: Any, **named: Any) -> Any:
        try:
            given = takes.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return maybe(**given.arguments, keep_input=True)

    of_all.__name__ = of_all.__qualname__ = name
    of_all.__doc__ = words
    vars(of_all)["__signature__"] = takes
    return of_all


def _batch(
    original: Any,
    lists: Sequence[Any],
    threads: int,
    keep: Any,
    name: Optional[str],
    default: str,
    how: Batches,
    shuffle: Any = None,
) -> Any:
    with name_scope(name, default) as scope:
        return how.made(original, lists, threads, keep, scope, shuffle)


@symbol("train.maybe_batch")
def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Make batches as `batch`, of elements for which `keep_input` is true.

    Args:
        tensors: a list or dict: the components of an element.
        keep_input: whether the element is taken.
        batch_size: elements in a batch.
        num_threads: that run `tensors`.
        capacity: elements that may wait.
        enqueue_many: whether `tensors` are several elements, along the first dimension.
        shapes: of the components, if they are not known.
        dynamic_pad: whether components of several sizes are padded.
        allow_smaller_final_batch: whether what is left at the end is a batch.
        shared_name: of the queue.
        name: of the batch.

    Returns:
        A tensor, or a list or dict of them.

    Raises:
        ValueError: the shape of a component is not known.
    """
    how = Batches(
        *(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch),
        shared_name,
    )
    return _batch(tensors, [tensors], num_threads, keep_input, name, "batch", how)


@symbol("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list: Sequence[Any],
    keep_input: Any,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Make batches as `batch_join`, of elements for which `keep_input` is true."""
    how = Batches(
        *(batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch),
        shared_name,
    )
    return _batch(tensors_list[0], tensors_list, 1, keep_input, name, "batch_join", how)


@symbol("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors: Any,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Make batches as `shuffle_batch`, of elements for which `keep_input` is true.

    `min_after_dequeue` elements stay behind, to be mixed with others; `seed` is of the order.
    """
    how = Batches(
        batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    order = (min_after_dequeue, seed)
    return _batch(tensors, [tensors], num_threads, keep_input, name, "shuffle_batch", how, order)


@symbol("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: Optional[int] = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Make batches as `shuffle_batch_join`, of elements for which `keep_input` is true."""
    how = Batches(
        batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch, shared_name
    )
    order = (min_after_dequeue, seed)
    return _batch(
        tensors_list[0], tensors_list, 1, keep_input, name, "shuffle_batch_join", how, order
    )


batch = _of_all(
    "batch",
    maybe_batch,
    "Batches of what `tensors` give run by run, made by a queue runner; see `maybe_batch`.",
)
batch_join = _of_all(
    "batch_join",
    maybe_batch_join,
    "Make batches as `batch`, with a thread for each of several lists or dicts of tensors.",
)
shuffle_batch = _of_all(
    "shuffle_batch",
    maybe_shuffle_batch,
    "Make batches as `batch`, of elements in random order; see `maybe_shuffle_batch`.",
)
shuffle_batch_join = _of_all(
    "shuffle_batch_join",
    maybe_shuffle_batch_join,
    "Make batches as `shuffle_batch`, with a thread for each of several lists of tensors.",
)
SYMBOLS = {
    f"train.{name}": name for name in ("batch", "batch_join", "shuffle_batch", "shuffle_batch_join")
}
