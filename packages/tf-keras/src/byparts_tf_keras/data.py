"""Arrays for models: in the order of placeholders, in batches, from generators and datasets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence as Listed
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import get_session


@symbol("keras.utils.Sequence")
class Sequence:
    """Batches by number: a subclass says `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """After each epoch."""

    def __iter__(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self[i]


def is_stream(x: Any) -> bool:
    """Whether x gives batches itself: a generator, a `Sequence`, a dataset, an iterator."""
    return isinstance(x, Sequence) or is_dataset(x) or hasattr(x, "__next__")


def is_dataset(x: Any) -> bool:
    """Whether x is a `tf.data.Dataset`, or an iterator over one."""
    return hasattr(x, "make_one_shot_iterator") or (
        hasattr(x, "get_next") and not hasattr(x, "__next__")
    )


def standardized(values: Any, names: Listed[str], tensors: Listed[Any], what: str) -> list[Any]:
    """Arrays in the order of the placeholders.

    Raises:
        ValueError: there are not so many, or a shape does not fit.
    """
    if values is None:
        return []
    if isinstance(values, dict):
        missing = [n for n in names if n not in values]
        if missing:
            raise ValueError(
                f'No data provided for "{missing[0]}". Need data for each key in: {names}'
            )
        arrays = [values[n] for n in names]
    elif isinstance(values, (list, tuple)):
        arrays = list(values)
        if len(names) == 1 and (len(arrays) != 1 or not hasattr(arrays[0], "shape")):
            arrays = [np.asarray(values)]
    else:
        arrays = [values]
    if len(arrays) != len(names):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to "
            f"your model is not the size the model expected. Expected to see {len(names)} "
            f"array(s), but instead got the following list of {len(arrays)} arrays: "
            f"{str(arrays)[:200]}..."
        )
    rows = zip(arrays, names, tensors, strict=True)
    return [_fitting(a, n, t.get_shape(), what) for a, n, t in rows]


def _fitting(array: Any, name: str, shape: Any, what: str) -> Any:
    if isinstance(array, Tensor):
        raise ValueError(f"{what} {name} is a tensor: give it to Input(tensor=...) instead")
    if hasattr(array, "values") and hasattr(array, "iloc"):  # of pandas
        array = array.values
    if not hasattr(array, "shape"):
        array = np.asarray(array)
    if array.ndim == 1 and shape.ndims != 1:
        array = np.expand_dims(array, 1)
    if shape.ndims is None:
        return array
    begin = f"Error when checking {what}: expected {name} to have "
    if array.ndim != shape.ndims:
        raise ValueError(f"{begin}{shape.ndims} dimensions, but got array with shape {array.shape}")
    for own, wanted in zip(array.shape[1:], shape.as_list()[1:], strict=True):
        if wanted is not None and own != wanted:
            raise ValueError(
                f"{begin}shape {tuple(shape.as_list())} but got array with shape {array.shape}"
            )
    return array


def check_lengths(inputs: list[Any], targets: list[Any], weights: list[Any]) -> None:
    """Raise `ValueError` unless all have as many examples."""
    counts = [sorted({a.shape[0] for a in arrays}) for arrays in (inputs, targets, weights)]
    for what, count in zip(("input arrays (x)", "target arrays (y)"), counts, strict=False):
        if len(count) > 1:
            raise ValueError(
                f"All {what} should have the same number of samples. Got array shapes: {count}"
            )
    if counts[0] and counts[1] and counts[0] != counts[1]:
        raise ValueError(
            "Input arrays should have the same number of samples as target arrays. Found "
            f"{counts[0][0]} input samples and {counts[1][0]} target samples."
        )
    if counts[1] and counts[2] and counts[1] != counts[2]:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Found "
            f"{counts[2][0]} weights and {counts[1][0]} targets."
        )


def class_weights(target: Any, weights: Any) -> Any:
    """The weight of each example by its class.

    Raises:
        ValueError: a class has none; targets of more than two axes.
    """
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    classes = (
        target.argmax(axis=1)
        if target.ndim == 2 and target.shape[1] > 1
        else (target.reshape(target.shape[0]))
    )
    missing = sorted({c for c in classes.tolist()} - set(weights))
    if missing:
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{set(missing)} exist in the data but not in `class_weight`."
        )
    return np.asarray([weights[c] for c in classes.tolist()], np.float32)


def batches_of(count: int, size: int) -> list[tuple[int, int]]:
    """Half-open ranges of at most `size` examples."""
    return [(i, min(count, i + size)) for i in range(0, count, size)]


class Batches:
    """Batches of a stream, one after the other, for epochs.

    Args:
        stream: a generator, a `Sequence`, a dataset or an iterator of it.
        steps: batches in an epoch; by default all of a `Sequence` or a dataset.
        shuffle: whether the batches of a `Sequence` are in a new order in each epoch.

    Raises:
        ValueError: a generator without `steps`.
    """

    def __init__(self, stream: Any, steps: Optional[int], shuffle: bool) -> None:
        self._stream, self._shuffle = stream, shuffle
        self._whole = steps is None and (is_dataset(stream) or isinstance(stream, Sequence))
        if steps is None and isinstance(stream, Sequence):
            steps = len(stream)
        elif steps is None and not is_dataset(stream):
            raise ValueError(
                "When passing a generator, the number of steps has to be said: `steps_per_epoch` "
                "(`steps`, `validation_steps`)."
            )
        self.steps = steps
        self._current: Optional[Iterator[Any]] = None

    def epoch(self) -> Iterator[Any]:
        """The batches of an epoch."""
        if self._current is None or self._whole:
            self._current = self._begin()
        done = 0
        while self.steps is None or done < self.steps:
            batch = next(self._current, None)
            if batch is None and isinstance(self._stream, Sequence) and not self._whole:
                self._current = self._begin()
                batch = next(self._current, None)
            if batch is None:
                return
            done += 1
            yield batch

    def end(self) -> None:
        """After an epoch."""
        if isinstance(self._stream, Sequence):
            self._stream.on_epoch_end()

    def _begin(self) -> Iterator[Any]:
        if is_dataset(self._stream):
            return _of_dataset(self._stream)
        if isinstance(self._stream, Sequence):
            order = np.arange(len(self._stream))
            if self._shuffle and self._whole:
                np.random.shuffle(order)
            return (self._stream[int(i)] for i in order)
        return iter(self._stream)


def _of_dataset(dataset: Any) -> Iterator[Any]:
    iterator = (
        dataset.make_one_shot_iterator() if hasattr(dataset, "make_one_shot_iterator") else dataset
    )
    following = iterator.get_next()
    session = get_session()
    while True:
        try:
            yield session.run(following)
        except tf.errors.OutOfRangeError:
            return


def parts_of(batch: Any, what: str = "generator") -> tuple[Any, Any, Any]:
    """(x, y, weights) of a batch.

    Raises:
        ValueError: it is no such tuple.
    """
    if isinstance(batch, list) and len(batch) in (2, 3) and not hasattr(batch, "shape"):
        batch = tuple(batch)
    if not isinstance(batch, tuple):
        return batch, None, None
    if len(batch) not in (1, 2, 3):
        raise ValueError(
            f"Output of {what} should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: "
            f"{batch!r}"[:300]
        )
    x, y, weights = (*batch, None, None)[:3]
    return x, y, weights


def sliced(arrays: Listed[Any], ids: Any) -> list[Any]:
    """Some of the examples."""
    return [a[ids] for a in arrays]


def split(arrays: Listed[Any], at: int) -> tuple[list[Any], list[Any]]:
    """The examples before `at`, and those from there on."""
    return [a[:at] for a in arrays], [a[at:] for a in arrays]
