"""`tf.keras.preprocessing.sequence`: rows of one length, pairs of words, windows of series."""

from __future__ import annotations

import random
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.data import Sequence


@symbol("keras.preprocessing.sequence.pad_sequences")
def pad_sequences(
    sequences: Any,
    maxlen: Optional[int] = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Lists as the rows of an array [lists, maxlen, ...]: cut, or filled up with a value.

    Raises:
        ValueError: what is given is no list of lists; padding or truncating is neither pre nor
            post.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for row in sequences:
        if not hasattr(row, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {row}")
    if truncating not in ("pre", "post"):
        raise ValueError(f'Truncating type "{truncating}" not understood')
    if padding not in ("pre", "post"):
        raise ValueError(f'Padding type "{padding}" not understood')
    length = max((len(r) for r in sequences), default=0) if maxlen is None else maxlen
    first: Any = next((r for r in sequences if len(r)), [])
    inner = np.asarray(first).shape[1:]
    text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.str_)
    if isinstance(value, str) and dtype is not object and not text:
        raise ValueError(f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}")
    padded = np.full((len(sequences), length, *inner), value, dtype=dtype)
    for i, row in enumerate(sequences):
        if not len(row) or not length:
            continue
        kept = np.asarray(row[-length:] if truncating == "pre" else row[:length], dtype=dtype)
        if kept.shape[1:] != inner:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from "
                f"expected shape {inner}"
            )
        if padding == "post":
            padded[i, : len(kept)] = kept
        else:
            padded[i, -len(kept) :] = kept
    return padded


@symbol("keras.preprocessing.sequence.make_sampling_table")
def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """The probability that the i-th most common word is kept."""
    gamma = 0.577
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse
    return np.minimum(1.0, f / np.sqrt(f))


@symbol("keras.preprocessing.sequence.skipgrams")
def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: Optional[int] = None,
) -> tuple[list[list[int]], list[Any]]:
    """(pairs of words, whether the second is near the first or drawn)."""
    couples, labels = [], []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [c[0] for c in couples]
        random.shuffle(words)
        couples += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for listed in (couples, labels):
            random.seed(seed)
            random.shuffle(listed)
    return couples, labels


def remove_long_sequences(maxlen: int, seq: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """Keep the sequences that are shorter than `maxlen`, with their labels."""
    kept = [(x, y) for x, y in zip(seq, label, strict=True) if len(x) < maxlen]
    return [x for x, _ in kept], [y for _, y in kept]


@symbol("keras.preprocessing.sequence.TimeseriesGenerator")
class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, and what follows each."""

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: Optional[int] = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while "
                f"target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index: int) -> Any:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            begin = self.start_index + self.batch_size * self.stride * index
            end = min(begin + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(begin, end, self.stride)
        x = np.array([self.data[r - self.length : r : self.sampling_rate] for r in rows])
        y = np.array([self.targets[r] for r in rows])
        return (x[:, ::-1, ...], y) if self.reverse else (x, y)
