"""`tf.data.Dataset`.

A dataset is a `Pipeline` with TensorFlow's methods; it has no values before an iterator starts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Optional

from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64
from byparts_tf_files.file_system import matching_files
from byparts_tf_input.datasets import batching, mapping, ordering, sources
from byparts_tf_input.datasets.elements import (
    classes_of,
    converted,
    shapes_of,
    spec_of,
    tensors_of,
    types_of,
)
from byparts_tf_input.datasets.iterators import (
    Iterator,
    initializable_iterator,
    one_shot_iterator,
)
from byparts_tf_input.datasets.options import Options
from byparts_tf_input.datasets.pipeline import Pipeline
from byparts_tf_input.datasets.results import reduced

Function = Callable[..., Any]


@symbol("data.Dataset", "contrib.data.Dataset")
class Dataset:
    """Elements, one after the other: nested tuples, named tuples and dicts of tensors.

    Attributes:
        output_types: their dtypes, in their structure.
        output_shapes: likewise.
        output_classes: likewise: `tf.Tensor`, `tf.SparseTensor`.
    """

    _pipeline: Pipeline

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    output_types = property(lambda self: types_of(self._pipeline.element))
    output_shapes = property(lambda self: shapes_of(self._pipeline.element))
    output_classes = property(lambda self: classes_of(self._pipeline.element))

    # Where elements come from

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """A dataset with a single element: these tensors."""
        return Dataset(sources.of_tensors(tensors))

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The rows of these tensors along their first axes."""
        return Dataset(sources.of_slices(tensors))

    @staticmethod
    def from_generator(
        generator: Function, output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """A dataset of what a Python generator yields, in the structure of `output_types`."""
        return Dataset(sources.of_generator(generator, output_types, output_shapes, args))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The rows of a sparse tensor."""
        return Dataset(sources.of_slices(sparse_tensor))

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Integers, as Python's `range` has them."""
        return Dataset(sources.of_range(*args))

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """An element of each dataset, in the structure in which they are.

        Raises:
            TypeError: something in it is no dataset, or it is a list.
        """
        leaves = flatten(datasets)
        if isinstance(datasets, list) or not all(isinstance(d, Dataset) for d in leaves):
            raise TypeError(
                "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. "
                "Nested structures do not support Python lists; please use a tuple instead."
            )
        return Dataset(ordering.zipped(datasets, tuple([d._pipeline for d in leaves])))

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Optional[bool] = None, seed: Any = None) -> Dataset:
        """The paths that fit a pattern or one of several, in another order each time.

        Args:
            file_pattern: a text, a list of them, or a tensor.
            shuffle: `False`: sorted.
            seed: of the order.
        """
        paths = sources.of_matching(file_pattern, matching_files)
        many = 1 << 62
        shuffled = shuffle is None or shuffle
        return Dataset(ordering.shuffled(paths, many, seed, None) if shuffled else paths)

    # Which elements come, and in what order

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this one, then those of the other."""
        return Dataset(ordering.concatenated(self._pipeline, dataset._pipeline))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Optional[bool] = None
    ) -> Dataset:
        """Elements drawn at random from the next `buffer_size` ones."""
        return Dataset(
            ordering.shuffled(self._pipeline, buffer_size, seed, reshuffle_each_iteration)
        )

    def repeat(self, count: Any = None) -> Dataset:
        """All elements `count` times, by default without end."""
        return Dataset(ordering.repeated(self._pipeline, count))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements."""
        return Dataset(ordering.taken(self._pipeline, count))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements."""
        return Dataset(ordering.skipped(self._pipeline, count))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, from number `index` on."""
        return Dataset(ordering.sharded(self._pipeline, num_shards, index))

    def cache(self, filename: Any = "") -> Dataset:
        """The same elements, kept when they were read once; in memory, whatever the file."""
        return Dataset(ordering.cached(self._pipeline))

    def prefetch(self, buffer_size: Any = None) -> Dataset:
        """The same elements; they are made when they are asked for."""
        return Dataset(self._pipeline)

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number, from `start` on, and an element."""
        return Dataset.zip((Dataset.range(start, int64.max), self))

    # Several elements as one

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements along a new first axis."""
        return Dataset(batching.batched(self._pipeline, batch_size, drop_remainder))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Batches as of `batch`, whose elements are filled up to one shape."""
        given = padded_shapes, padding_values, drop_remainder
        return Dataset(batching.padded(self._pipeline, batch_size, *given))

    def unbatch(self) -> Dataset:
        """The slices of each element along its first axis."""
        return Dataset(batching.unbatched(self._pipeline))

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Datasets of `size` elements, `stride` apart, each `shift` behind the one before."""
        given = size, shift, stride, drop_remainder
        return Dataset(batching.windows(self._pipeline, *given, Dataset))

    # Functions of elements

    def map(self, map_func: Function, num_parallel_calls: Any = None) -> Dataset:
        """The results of a function of each element."""
        return Dataset(mapping.mapped(self._pipeline, map_func))

    map_with_legacy_function = map

    def filter(self, predicate: Function) -> Dataset:
        """The elements for which a function holds."""
        return Dataset(mapping.filtered(self._pipeline, predicate))

    filter_with_legacy_function = filter

    def flat_map(self, map_func: Function) -> Dataset:
        """The elements of the datasets that a function gives, one dataset after the other."""
        return Dataset(mapping.interleaved(self._pipeline, map_func, 1, 1, "flat_map"))

    def interleave(
        self,
        map_func: Function,
        cycle_length: Any = mapping.AUTOTUNE,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """The elements of the datasets that a function gives, of `cycle_length` by turns."""
        return Dataset(mapping.interleaved(self._pipeline, map_func, cycle_length, block_length))

    def reduce(self, initial_state: Any, reduce_func: Function) -> Any:
        """The last state that a function of a state and an element gives; a tensor.

        Raises:
            TypeError: the function gives a state of other dtypes.
        """
        structure = converted(initial_state)
        parts = [t for leaf in flatten(structure) for t in tensors_of(leaf)]
        initial = map_structure(spec_of, structure)
        function = mapping.state_function(initial, self._pipeline, reduce_func, lambda made: made)
        return reduced(self._pipeline, parts, function)

    def apply(self, transformation_func: Function) -> Dataset:
        """The dataset that a function of this dataset gives.

        Raises:
            TypeError: it gives none.
        """
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(
                f"`transformation_func` must return a Dataset. Got {type(made).__name__}."
            )
        return made

    def with_options(self, options: Any) -> Dataset:
        """The same elements: options change nothing here."""
        return Dataset(self._pipeline)

    def options(self) -> Any:
        """The options of the dataset."""
        return Options()

    # Iterators

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that starts by itself, once for each session.

        Raises:
            ValueError: the dataset depends on a placeholder or a variable.
        """
        return one_shot_iterator(self._pipeline)

    def make_initializable_iterator(self, shared_name: Optional[str] = None) -> Iterator:
        """An iterator that starts when its `initializer` is run."""
        return initializable_iterator(self._pipeline)

    def __iter__(self) -> NoReturn:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def __repr__(self) -> str:
        shapes = map_structure(str, self.output_shapes)
        types = map_structure(repr, self.output_types)
        name = "DatasetV1Adapter" if type(self) is Dataset else type(self).__name__
        return f"<{name} shapes: {shapes}, types: {types}>".replace("'", "")


Pipeline.dataset_class = Dataset


@symbol("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that starts by itself, once for each session."""
    return dataset.make_one_shot_iterator()


@symbol("data.make_initializable_iterator")
def make_initializable_iterator(dataset: Dataset, shared_name: Optional[str] = None) -> Iterator:
    """An iterator that starts when its `initializer` is run."""
    return dataset.make_initializable_iterator(shared_name)


@symbol("data.get_output_types")
def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of its elements."""
    return dataset_or_iterator.output_types


@symbol("data.get_output_shapes")
def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of its elements."""
    return dataset_or_iterator.output_shapes


@symbol("data.get_output_classes")
def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of its elements."""
    return dataset_or_iterator.output_classes
