"""Sentences as numbers, in batches of sentences of like length; checkpoints of cells."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from logging import warning
from typing import Any, Optional

import numpy as np

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.callback import every
from byparts_frontend_mxnet.checkpoint import load_checkpoint, save_checkpoint
from byparts_frontend_mxnet.context import listed
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.io import DataBatch, DataDesc, DataIter

Vocabulary = dict[Any, int]


def encode_sentences(
    sentences: Sequence[Any], vocab: Optional[Vocabulary] = None, invalid_label: int = -1,
    invalid_key: Any = "\n", start_label: int = 0,
) -> tuple[list[list[int]], Vocabulary]:  # fmt: skip
    """The sentences with numbers for words, and the numbers by words.

    Args:
        sentences: sequences of words.
        vocab: numbers that are known; then there must be no other word. Made by default.
        invalid_label: the number of padding, which no word gets.
        invalid_key: the word of that number.
        start_label: the first number.

    Raises:
        MXNetError: a word is not in `vocab`.
    """
    known = {invalid_key: invalid_label} if vocab is None else vocab
    number, result = start_label, []
    for sentence in sentences:
        row = []
        for word in sentence:
            if word not in known:
                if vocab is not None:
                    raise MXNetError(f"encode_sentences: {word!r} is not in the vocabulary")
                number += number == invalid_label
                known[word] = number
                number += 1
            row.append(known[word])
        result.append(row)
    return result, known


class BucketSentenceIter(DataIter):
    """Batches of sentences, each padded to the smallest bucket that holds it; the labels are the
    next words.

    Args:
        sentences: lists of numbers.
        batch_size: sentences in a batch.
        buckets: lengths; by default those with enough sentences.
        invalid_label: what pads.
        data_name: of the batch.
        label_name: likewise.
        dtype: likewise.
        layout: "NT" or "TN".
    """  # noqa: D205  # one sentence

    def __init__(
        self, sentences: Sequence[Sequence[int]], batch_size: int,
        buckets: Optional[Sequence[int]] = None, invalid_label: int = -1, data_name: str = "data",
        label_name: str = "softmax_label", dtype: Any = "float32", layout: str = "NT",
    ) -> None:  # fmt: skip
        super().__init__(batch_size)
        lengths = np.bincount([len(s) for s in sentences])
        chosen = buckets or [i for i, n in enumerate(lengths) if n >= batch_size]
        self.buckets, self.layout, self.dtype = sorted(chosen), layout, dtype
        self.data_name, self.label_name = data_name, label_name
        self.invalid_label, self._time_first = invalid_label, layout.find("T") == 0
        rows: list[list[Any]] = [[] for _ in self.buckets]
        for s in sentences:
            bucket = bisect_left(self.buckets, len(s))
            if bucket < len(rows):
                padding = [invalid_label] * (self.buckets[bucket] - len(s))
                rows[bucket].append([*s, *padding])
        left_out = len(sentences) - sum(map(len, rows))
        if left_out:
            warning("BucketSentenceIter left out %d sentences longer than %s", left_out, chosen)
        self.data = [
            np.asarray(r, dtype).reshape(-1, n) for r, n in zip(rows, self.buckets, strict=True)
        ]
        self.default_bucket_key = max(self.buckets)
        self.provide_data, self.provide_label = self._described(self.default_bucket_key)
        self.reset()

    def _described(self, length: int) -> tuple[list[DataDesc], list[DataDesc]]:
        shape = (length, self.batch_size) if self._time_first else (self.batch_size, length)
        a, b = (
            DataDesc(n, shape, self.dtype, self.layout) for n in (self.data_name, self.label_name)
        )
        return [a], [b]

    def reset(self) -> None:
        self._places = [
            (i, at)
            for i, rows in enumerate(self.data)
            for at in range(0, len(rows) - self.batch_size + 1, self.batch_size)
        ]
        random.shuffle(self._places)
        for rows in self.data:
            np.random.shuffle(rows)
        self._next = iter(self._places)

    def next(self) -> DataBatch:
        bucket, at = next(self._next)
        data = self.data[bucket][at : at + self.batch_size]
        label = np.full_like(data, self.invalid_label)
        label[:, :-1] = data[:, 1:]
        arrays = [nd.array(x.T if self._time_first else x, dtype=self.dtype) for x in (data, label)]
        length = self.buckets[bucket]
        described = self._described(length)
        return DataBatch(arrays[:1], arrays[1:], 0, None, length, *described)


def save_rnn_checkpoint(
    cells: Any, prefix: str, epoch: int, symbol: Any, arg_params: Any, aux_params: Any
) -> None:
    """Save a checkpoint, with the weights of the gates of these cells apart."""
    for cell in listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Any, prefix: str, epoch: int) -> tuple[Any, Any, Any]:
    """Symbol, arguments and auxiliary states of such a checkpoint, as these cells have them."""
    symbol, arg, aux = load_checkpoint(prefix, epoch)
    for cell in listed(cells):
        arg = cell.pack_weights(arg)
    return symbol, arg, aux


def do_rnn_checkpoint(cells: Any, prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback at the end of an epoch that saves such a checkpoint every `period` epochs."""
    return every(period, partial(save_rnn_checkpoint, cells, prefix))
