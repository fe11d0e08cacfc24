"""`tf.estimator.inputs`: arrays and frames of pandas as what a model is fed, batch after batch.

TensorFlow fills a queue by threads; here an operation on the host takes the next rows of the arrays
at each run, which gives the batches that the queue gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.random.random import get_seed
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.arrays import as_array
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.errors import OutOfRangeError


class Rows:
    """The numbers of the rows of each batch, of epochs one behind the other.

    Args:
        count: rows of one epoch.
        batch_size: rows of a batch; only the last of all may have fewer.
        epochs: how many; `None`: without end.
        order: gives numbers at random, or `None`: in order.
    """

    def __init__(
        self,
        count: int,
        batch_size: int,
        epochs: Optional[int],
        order: Optional[np.random.Generator],
    ) -> None:
        self._count, self._batch_size, self._order = count, batch_size, order
        self._left = epochs
        self._waiting = np.zeros([0], np.int64)

    def next(self) -> Any:
        """The numbers of the rows of the next batch; none at the end."""
        while len(self._waiting) < self._batch_size and self._left != 0 and self._count:
            epoch = np.arange(self._count)
            if self._order is not None:
                self._order.shuffle(epoch)
            self._waiting = np.concatenate([self._waiting, epoch])
            self._left = None if self._left is None else self._left - 1
        batch, self._waiting = np.split(self._waiting, [self._batch_size])
        return batch


def _next_batch(lowering: Any, op: Operation) -> None:
    session = lowering.run.session
    arrays, make_rows = op.attributes["arrays"], op.attributes["make_rows"]

    def take() -> Any:
        rows = session.kept.get(op)
        if rows is None:
            rows = session.kept[op] = make_rows()
        batch = rows.next()
        if not len(batch):
            raise OutOfRangeError(None, op, "the input has no more rows")
        taken = [a[batch] for a in arrays]
        return taken if len(taken) != 1 else taken[0]

    dtypes = [None if t.dtype is string else t.dtype.as_numpy_dtype for t in op.outputs]
    lowering.call(op, take, [], dtypes)


NEXT_ROWS = Kind(
    "QueueDequeueUpToV2",
    special=_next_batch,
    shape=lambda inputs, arrays, batch, **_: [(batch, *a.shape[1:]) for a in arrays],
    dtype=lambda inputs, arrays, **_: [dtype_of(a) for a in arrays],
    gradient=False,
)


def dtype_of(array: Any) -> DType:
    """TensorFlow's dtype of an array."""
    return string if array.dtype == object else as_dtype(array.dtype)


def next_rows(
    arrays: list[Any], batch_size: int, num_epochs: Optional[int], shuffle: bool
) -> list[Any]:
    """The next rows of arrays of one length, at each run.  See `Rows`.

    Raises at run time:
        OutOfRangeError: there are no more.
    """
    seed = get_seed(None) if shuffle else (None, None)
    entropy = [0 if s is None else abs(int(s)) for s in seed]

    def make_rows() -> Rows:
        random = np.random.default_rng(entropy if any(entropy) else None)
        return Rows(len(arrays[0]), batch_size, num_epochs, random if shuffle else None)

    columns = [as_array(a) for a in arrays]
    batch = batch_size if num_epochs is None else None
    return list(
        NEXT_ROWS.outputs(
            name="fifo_queue_DequeueUpTo", arrays=columns, batch=batch, make_rows=make_rows
        )
    )


@symbol("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Optional[int] = 1,
    shuffle: Optional[bool] = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """A function that gives features, or (features, labels), batch after batch.

    Args:
        x: an array, or name -> array; the first dimension is that of the examples.
        y: an array, or name -> array, or `None`.
        batch_size: examples of a batch; the last may have fewer.
        num_epochs: `None`: without end.
        shuffle: whether examples come at random.
        queue_capacity: accepted.
        num_threads: accepted.

    Raises:
        ValueError: `shuffle` is not a bool, lengths differ, a dict is empty.
        TypeError: `x` is neither array nor dict.
    """
    _check_shuffle(shuffle)
    named_x = _columns(x, "x", "features must be a dictionary or array")
    targets = None if y is None else _columns(y, "y", "y must be an array or a dictionary")

    def input_fn() -> Any:
        given = [*named_x.values(), *(targets or {}).values()]
        lengths = {len(a) for a in given}
        if len(lengths) > 1:
            shapes = {name: a.shape[0] for name, a in {**named_x, **(targets or {})}.items()}
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the "
                f"same length. Shapes in x and y: {shapes}"
            )
        rows = iter(next_rows(given, batch_size, num_epochs, bool(shuffle)))
        features: Any = {name: next(rows) for name in named_x}
        features = features if isinstance(x, Mapping) else next(iter(features.values()))
        if targets is None:
            return features
        labels: Any = {name: next(rows) for name in targets}
        return features, labels if isinstance(y, Mapping) else next(iter(labels.values()))

    return input_fn


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )


def _columns(given: Any, name: str, message: str) -> dict[Any, Any]:
    if isinstance(given, Mapping):
        if not given:
            raise ValueError(f"{name} cannot be an empty dict")
        return {key: np.asarray(a) for key, a in given.items()}
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{message}; got {type(given).__name__}")
    return {name: given}


@symbol("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Optional[int] = 1,
    shuffle: Optional[bool] = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Make an input function as `numpy_input_fn`, of a pandas frame; `y`: series or frame.

    Raises:
        ValueError: indices differ, a column has the name of the target, `shuffle` is no bool.
    """
    _check_shuffle(shuffle)
    if y is not None:
        if not np.array_equal(x.index, y.index):
            raise ValueError(
                f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}"
            )
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a "
                "column with that name"
            )

    def input_fn() -> Any:
        series = hasattr(y, "to_frame")
        labels = [] if y is None else [y.values] if series else [y[c].values for c in y]
        rows = next_rows(
            [_plain(x[c].values) for c in x] + [_plain(a) for a in labels],
            batch_size,
            num_epochs,
            bool(shuffle),
        )
        features = dict(zip(list(x), rows, strict=False))
        targets = rows[len(features) :]
        if y is None:
            return features
        return features, targets[0] if series else dict(zip(list(y), targets, strict=True))

    return input_fn


def _plain(column: Any) -> Any:
    """A column as an array of one of TensorFlow's dtypes."""
    return np.asarray(column)
