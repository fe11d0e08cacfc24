"""`slim.dataset` and `slim.dataset_data_provider`: files read by queues, and decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import string
from byparts_tf_files.file_system import matching_files
from byparts_tf_input.queues.producers import string_input_producer
from byparts_tf_input.queues.queue_runner import QueueRunner, add_queue_runner
from byparts_tf_input.queues.queues import FIFOQueue, RandomShuffleQueue


@symbol("contrib.slim.dataset.Dataset")
class Dataset:
    """Places of data and how to read them: attributes, those given by other names too.

    Attributes:
        data_sources: names of files, or patterns of them.
        reader: a class of readers.
        decoder: makes items of what a reader gives.
        num_samples: how many records there are.
        items_to_descriptions: name of an item -> what it is.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: Any,
        items_to_descriptions: Any,
        **kwargs: Any,
    ) -> None:
        given = {"data_sources": data_sources, "reader": reader, "decoder": decoder}
        more = {"num_samples": num_samples, "items_to_descriptions": items_to_descriptions}
        self.__dict__.update({**kwargs, **given, **more})


@symbol("contrib.slim.data_decoder.DataDecoder")
class DataDecoder(ABC):
    """Makes items of a record."""

    @abstractmethod
    def decode(self, data: Any, items: Sequence[str]) -> Any:
        """The tensors of some items."""

    @abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items."""


@symbol("contrib.slim.data_provider.DataProvider")
class DataProvider:
    """Items as tensors, by their names.

    Args:
        items_to_tensors: name -> tensor.
        num_samples: how many records there are.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: Any) -> None:
        self._items_to_tensors, self._num_samples = dict(items_to_tensors), num_samples

    def get(self, items: Sequence[str]) -> list[Any]:
        """The tensors of some items.

        Raises:
            ValueError: there is no such item.
        """
        self._check(items)
        return [self._items_to_tensors[i] for i in items]

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_tensors)

    def num_samples(self) -> Any:
        """The number of records."""
        return self._num_samples

    def _check(self, items: Sequence[str]) -> None:
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {valid}")


@symbol("contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(DataProvider):
    """The items of the next record of a `slim.dataset.Dataset`, read by queue runners.

    Args:
        dataset: says where and how.
        num_readers: how many read at a time.
        reader_kwargs: arguments of the reader.
        shuffle: whether records come in random order.
        num_epochs: how often all are read; `None`: without end.
        common_queue_capacity: of the queue between the readers and the decoder.
        common_queue_min: how many stay in it when it is shuffled.
        record_key: the name of the item that is the record's key.
        seed: of the order.
        scope: of the names.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: Optional[Mapping[str, Any]] = None,
        shuffle: bool = True,
        num_epochs: Optional[int] = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: Optional[int] = None,
        scope: Optional[str] = None,
    ) -> None:
        key, data = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors = dataset.decoder.decode(data, items)
        found = dict(zip(items, tensors, strict=True))
        if record_key in found:
            raise ValueError(
                f"The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        found[record_key] = key
        super().__init__(found, dataset.num_samples)


@symbol("contrib.slim.parallel_reader.get_data_files")
def get_data_files(data_sources: Any) -> list[str]:
    """The files that patterns and lists of them name.

    Raises:
        ValueError: there is none.
    """
    if isinstance(data_sources, (list, tuple)):
        return [file for source in data_sources for file in get_data_files(source)]
    found = [data_sources]
    if any(c in data_sources for c in "*?["):
        found = matching_files(data_sources)
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found


@symbol("contrib.slim.parallel_reader.parallel_read")
def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: Optional[int] = None,
    num_readers: int = 4,
    reader_kwargs: Optional[Mapping[str, Any]] = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: Optional[int] = None,
    scope: Optional[str] = None,
) -> tuple[Tensor, Tensor]:
    """The key and the value of the next record of files, read by several readers."""
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        kinds = dtypes or [string, string]
        queue: Any
        if shuffle:
            queue = RandomShuffleQueue(
                capacity, min_after_dequeue, kinds, seed=seed, name="common_queue"
            )
        else:
            queue = FIFOQueue(capacity, kinds, name="common_queue")
        readers = [reader_class(**dict(reader_kwargs or {})) for _ in range(num_readers)]
        puts = [queue.enqueue(list(reader.read(names))) for reader in readers]
        add_queue_runner(QueueRunner(queue, puts))
        key, value = queue.dequeue()
        for t in (key, value):
            t.set_shape([])
        return key, value


@symbol("contrib.slim.parallel_reader.single_pass_read")
def single_pass_read(
    data_sources: Any,
    reader_class: Any,
    reader_kwargs: Optional[Mapping[str, Any]] = None,
    scope: Optional[str] = None,
) -> tuple[Tensor, Tensor]:
    """The key and the value of the next record of files, each read once, in order."""
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            get_data_files(data_sources), num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        key, value = reader_class(**dict(reader_kwargs or {})).read(names)
        return key, value
