"""`tf.data.experimental` and `tf.contrib.data`: transformations that `Dataset.apply` takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.graph.nest import flatten, flatten_up_to, map_structure
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64
from byparts_tf_input.datasets import mapping, ordering
from byparts_tf_input.datasets.dataset import Dataset
from byparts_tf_input.datasets.elements import Row, converted, spec_of, tensors_of
from byparts_tf_input.datasets.parsing import parse_example
from byparts_tf_input.datasets.pipeline import Context, Next, Pipeline, random_of
from byparts_tf_input.datasets.results import first_of
from byparts_tf_input.datasets.sources import counted

Transformation = Callable[[Dataset], Dataset]
SYMBOLS = {
    "data.experimental.AUTOTUNE": "datasets.mapping:AUTOTUNE",
    "contrib.data.AUTOTUNE": "datasets.mapping:AUTOTUNE",
}


def _both(name: str) -> Callable[[Any], Any]:
    return symbol(f"data.experimental.{name}", f"contrib.data.{name}")


@_both("map_and_batch")
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map`, then `batch`."""
    return lambda dataset: dataset.map(map_func).batch(batch_size, drop_remainder)


@_both("shuffle_and_repeat")
def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle`, then `repeat`."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


@_both("unbatch")
def unbatch() -> Transformation:
    """`Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


@symbol("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """`batch`, without a last batch that is smaller."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@symbol("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """`padded_batch`, without a last batch that is smaller."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, True)


@symbol("contrib.data.sliding_window_batch")
def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Batches of `window_size` elements, `window_stride` apart, each `window_shift` further.

    Raises:
        ValueError: there are both `stride`, its older name, and `window_shift`.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = stride if window_shift is None else window_shift

    def joined(*windows: Any) -> Dataset:
        given = windows[0] if len(windows) == 1 else windows
        return Dataset.zip(given).batch(window_size, drop_remainder=True)

    def apply(dataset: Dataset) -> Dataset:
        windows = dataset.window(window_size, shift or 1, window_stride, drop_remainder=True)
        return windows.flat_map(joined)

    return apply


@_both("parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`Dataset.interleave`."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


@_both("enumerate_dataset")
def enumerate_dataset(start: Any = 0) -> Transformation:
    """`Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


@_both("ignore_errors")
def ignore_errors() -> Transformation:
    """The elements that could be made."""
    return lambda dataset: Dataset(ordering.without_errors(dataset._pipeline))


@_both("scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """The results of a function of the last state and an element, without the new states."""

    def apply(dataset: Dataset) -> Dataset:
        structure = converted(initial_state)
        parts = [t for leaf in flatten(structure) for t in tensors_of(leaf)]
        initial = map_structure(spec_of, structure)
        return Dataset(mapping.scanned(dataset._pipeline, initial, parts, scan_func))

    return apply


@symbol("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first for which a function does not hold."""
    return lambda dataset: Dataset(mapping.filtered(dataset._pipeline, predicate, stop=True))


@_both("unique")
def unique() -> Transformation:
    """Each element once."""

    def apply(dataset: Dataset) -> Dataset:
        source = dataset._pipeline

        def start(context: Context) -> Next:
            get = source.start(context)
            seen: set[Any] = set()

            def following() -> Row:
                while True:
                    row = get()
                    key = row[0].item() if row[0].size == 1 else tuple(row[0].reshape(-1).tolist())
                    if key not in seen:
                        seen.add(key)
                        return row

            return following

        return Dataset(ordering.like(source, start))

    return apply


@_both("prefetch_to_device")
def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """The same elements: the session takes them where it computes."""
    return lambda dataset: dataset.prefetch(buffer_size)


@symbol("data.experimental.copy_to_device")
def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The same elements: the session takes them where it computes."""
    return lambda dataset: dataset.prefetch(1)


@_both("Counter")
def Counter(start: int = 0, step: int = 1, dtype: Any = int64) -> Dataset:  # noqa: N802  # TensorFlow's name
    """Integers without end."""
    numbers = Dataset(counted(start, step))
    return numbers if dtype is int64 else numbers.map(lambda i: cast(i, dtype))


@_both("choose_from_datasets")
def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """The next element of the dataset whose number `choice_dataset` gives."""
    sources = tuple([d._pipeline for d in datasets])
    return Dataset(ordering.chosen(choice_dataset._pipeline, sources))


@_both("sample_from_datasets")
def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: Any = None
) -> Dataset:
    """The next element of a dataset drawn at random, by weights.

    Raises:
        ValueError: there are not as many weights.
    """
    share = [1.0] * len(datasets) if weights is None else [float(w) for w in weights]
    if len(share) != len(datasets):
        raise ValueError("`weights` must be a vector of length `len(datasets)`.")
    (random, seeds), numbers = random_of(seed), list(range(len(datasets)))

    def start(context: Context) -> Next:
        draw = random(context)
        return lambda: (np.array(draw.choices(numbers, share)[0], np.int64),)

    sources = tuple([d._pipeline for d in datasets])
    return Dataset(
        ordering.chosen(Pipeline(Dataset.range(1)._pipeline.element, start, (), seeds), sources)
    )


@_both("get_single_element")
def get_single_element(dataset: Dataset) -> Any:
    """The tensors of the one element of a dataset.

    Raises at run time:
        InvalidArgumentError: it has none, or several.
    """
    return first_of(dataset._pipeline)


@symbol("data.experimental.parse_example_dataset")
def parse_example_dataset(features: Any, num_parallel_calls: Any = 1) -> Transformation:
    """`parse_example` of batches of serialized Examples."""
    return lambda dataset: dataset.map(lambda serialized: parse_example(serialized, features))


@symbol("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: Any) -> Transformation:
    """The same elements, of which these shapes are known.

    Raises:
        ValueError: they are known to be others.
    """

    def check(*element: Any) -> Any:
        structure = element[0] if len(element) == 1 else element
        shapes = flatten_up_to(structure, expected_shapes)
        for leaf, shape in zip(flatten(structure), shapes, strict=True):
            leaf.set_shape(shape)
        return structure

    return lambda dataset: dataset.map(check)
