"""Batches of the Examples in files, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol
from byparts_tf_input.datasets.csv_tables import files_of, mixed
from byparts_tf_input.datasets.dataset import Dataset
from byparts_tf_input.datasets.parsing import parse_example
from byparts_tf_input.datasets.readers import TFRecordDataset
from byparts_tf_input.queues.batching import batch, shuffle_batch
from byparts_tf_input.queues.producers import string_input_producer


@symbol("data.experimental.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDataset,
    label_key: Optional[str] = None,
    reader_args: Optional[Sequence[Any]] = None,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the features of Examples in files: dicts, with the label beside them.

    Raises:
        ValueError: no file matches, or the label is no feature.
    """
    if label_key is not None and label_key not in features:
        raise ValueError(f"The `label_key` provided (`{label_key!r}`) must be one of the features.")
    paths = Dataset.from_tensor_slices(files_of(file_pattern))
    examples = paths.flat_map(lambda path: reader(path, *(reader_args or ())))
    if isinstance(examples.output_types, tuple):
        examples = examples.map(lambda *parts: parts[-1])
    rows = mixed(examples, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    whole = rows.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    found = whole.map(lambda serialized: parse_example(serialized, features))
    return found if label_key is None else found.map(lambda d: (d, d.pop(label_key)))


@symbol("contrib.learn.io.read_batch_examples", "contrib.learn.read_batch_examples")
def read_batch_examples(
    file_pattern: Any,
    batch_size: int,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Any = None,
    name: Optional[str] = None,
    seed: Optional[int] = None,
) -> Any:
    """A batch of the records of files, read by queue runners: strings [batch_size].

    Raises:
        ValueError: no file matches, or the capacity is none.
    """
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    paths = string_input_producer(files_of(file_pattern), num_epochs, randomize_input, seed=seed)
    record = (reader() if callable(reader) else reader).read(paths)[1]
    item = record if parse_fn is None else parse_fn(record)
    smaller = num_epochs is not None
    if not randomize_input:
        given = (batch_size, num_threads, queue_capacity)
        return batch([item], *given, allow_smaller_final_batch=smaller, name=name)
    fewest = max(queue_capacity - 3 * batch_size, batch_size)
    return shuffle_batch(
        *([item], batch_size, queue_capacity, fewest, num_threads, seed),
        allow_smaller_final_batch=smaller,
        name=name,
    )


@symbol("contrib.learn.io.read_batch_features", "contrib.learn.read_batch_features")
def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any,
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Any = None,
    name: Optional[str] = None,
) -> Any:
    """The features of a batch of Examples in files, read by queue runners."""
    given = (randomize_input, num_epochs, queue_capacity, reader_num_threads, 1, parse_fn, name)
    return parse_example(read_batch_examples(file_pattern, batch_size, reader, *given), features)


@symbol("python.ops.data_flow_ops.RecordInput")
class RecordInput:
    """Batches of the records of TFRecord files, mixed, without end.

    Args:
        file_pattern: of the files.
        batch_size: how many records.
        buffer_size: of those that are mixed.
        parallelism, shift_ratio: accepted.
        seed: of the order.
        name: accepted.
        batches: how many batches at a time; `None`: one, as one tensor.
        compression_type: of the files.
    """

    def __init__(
        self,
        file_pattern: Any,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: Optional[str] = None,
        batches: Optional[int] = None,
        compression_type: Any = None,
    ) -> None:
        count = batch_size * (batches or 1)
        records = Dataset.list_files(file_pattern, seed=seed).flat_map(
            lambda path: TFRecordDataset(path, compression_type)
        )
        whole = records.shuffle(max(buffer_size, 1), seed).repeat().batch(count, True)
        self._batches, self._iterator = batches, whole.make_one_shot_iterator()

    def get_yield_op(self) -> Any:
        """Strings [batch_size]; of several batches, a list of lists of strings."""
        records = self._iterator.get_next()
        if self._batches is None:
            return records
        count = int(records.shape[0])
        return [[records[j] for j in range(i, count, self._batches)] for i in range(self._batches)]
