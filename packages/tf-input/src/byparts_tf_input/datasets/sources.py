"""Sources of elements: tensors, their slices, numbers, Python generators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.composites import SparseTensorValue
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, flatten_up_to, map_structure
from byparts_tf_files.dtypes import int64, string
from byparts_tf_files.errors import InvalidArgumentError, error_of_python
from byparts_tf_files.shape import fits, shown
from byparts_tf_input.datasets.elements import (
    Row,
    Spec,
    element_of,
    joined,
    named,
    spec_of,
    tensors_of,
    types_of,
)
from byparts_tf_input.datasets.pipeline import (
    Context,
    EndOfSequence,
    Next,
    Pipeline,
    following,
    listed,
)


def of_tensors(tensors: Any) -> Pipeline:
    """A pipeline with a single element: these tensors."""
    structure = named(tensors)
    parts = [t for leaf in flatten(structure) for t in tensors_of(leaf)]
    element = map_structure(spec_of, structure)
    specs = flatten(element)

    def start(context: Context) -> Next:
        return following(iter([joined(specs, [np.array(context.value(t)) for t in parts])]))

    return Pipeline(element, start, tensors=tuple(parts))


def of_slices(tensors: Any) -> Pipeline:
    """Elements: the rows of these tensors along their first axes.

    Raises:
        ValueError: a tensor has no axis, or the first axes differ in size.
    """
    structure = named(tensors)
    leaves = flatten(structure)
    parts = [t for leaf in leaves for t in tensors_of(leaf)]
    element = map_structure(lambda leaf: _sliced(spec_of(leaf)), structure)
    first = None
    for leaf in leaves:
        size = leaf.shape.with_rank_at_least(1)[0]
        first = size if first is None else first.merge_with(size)
    specs = flatten(element)

    def start(context: Context) -> Next:
        return sliced(joined(specs, [context.value(t) for t in parts]))

    return Pipeline(element, start, tensors=tuple(parts))


def _sliced(spec: Spec) -> Spec:
    if spec.dims is not None and not spec.dims:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return Spec(spec.dtype, None if spec.dims is None else spec.dims[1:], spec.kind)


def sliced(row: Row) -> Next:
    """The slices of a row, one after the other.

    Raises:
        InvalidArgumentError: its leaves have other numbers of them.
    """
    sizes = [_length(leaf) for leaf in row]
    for size in sizes[1:]:
        if size != sizes[0]:
            raise InvalidArgumentError(
                None, None, f"first dimensions must be equal: {sizes[0]} and {size}"
            )
    numbers = iter(range(sizes[0]))

    def get() -> Row:
        for i in numbers:
            return tuple(
                [leaf[i, ...] if leaf.__class__ is np.ndarray else _part(leaf, i) for leaf in row]
            )
        raise EndOfSequence

    return get


def _length(leaf: Any) -> int:
    return int(leaf.dense_shape[0]) if isinstance(leaf, SparseTensorValue) else len(leaf)


def _part(leaf: SparseTensorValue, i: int) -> SparseTensorValue:
    here = leaf.indices[:, 0] == i
    return SparseTensorValue(leaf.indices[here, 1:], leaf.values[here], leaf.dense_shape[1:])


def of_range(*args: Any) -> Pipeline:
    """Elements: the integers of Python's `range`."""
    if not 1 <= len(args) <= 3:
        raise ValueError(f"Invalid arguments to RangeDataset: {args}")
    begin, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    limits = [(begin, "start"), (end, "stop"), (step, "step")]
    tensors = [convert_to_tensor(v, int64, name) for v, name in limits]

    def start(context: Context) -> Next:
        first, last, by = [context.number(t) for t in tensors]
        if not by:
            raise InvalidArgumentError(None, None, "step must be a non-zero integer.")
        return following((np.array(i, np.int64),) for i in range(first, last, by))

    return Pipeline(Spec(int64, ()), start, tensors=tuple(tensors))


def counted(start: int, step: int) -> Pipeline:
    """Elements: integers without end."""
    return Pipeline(
        Spec(int64, ()),
        lambda context: following((np.array(i, np.int64),) for i in count(start, step)),
    )


def of_generator(generator: Callable[..., Any], types: Any, shapes: Any, args: Any) -> Pipeline:
    """Elements: what a Python generator yields.

    Args:
        generator: makes an iterator, of arrays for `args`.
        types: the structure of dtypes that each value has.
        shapes: likewise of shapes; `None`: nothing is known.
        args: tensors.

    Raises:
        TypeError: it is no function.
    """
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    element = element_of(types, shapes)
    given = tuple([convert_to_tensor(a, name=f"args_{i}") for i, a in enumerate(args or ())])
    specs = flatten(element)

    def start(context: Context) -> Next:
        values = iter(generator(*[np.asarray(context.value(t))[()] for t in given]))

        def get() -> Row:
            try:
                value = next(values)
            except StopIteration:
                raise EndOfSequence from None
            except Exception as error:
                raise error_of_python(error) from error
            return _yielded(value, element, specs)

        return get

    return Pipeline(element, start, tensors=given)


def _yielded(value: Any, element: Any, specs: list[Spec]) -> Row:
    try:
        leaves = flatten_up_to(element, value)
    except (TypeError, ValueError, KeyError) as error:
        raise error_of_python(
            TypeError(
                "`generator` yielded an element that did not match the expected structure. The "
                f"expected structure was {types_of(element)}, but the yielded element was {value}."
            )
        ) from error
    return tuple([_array(v, s) for v, s in zip(leaves, specs, strict=True)])


def _array(value: Any, spec: Spec) -> Any:
    try:
        array = np.array(value, spec.dtype.as_numpy_dtype)
        if spec.dtype is string:
            array = text_array(array)
    except (TypeError, ValueError) as error:
        raise error_of_python(
            TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
            )
        ) from error
    if not fits(spec.dims, array.shape):
        raise error_of_python(
            ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{shown(spec.dims)} was expected."
            )
        )
    return array


def text_array(array: Any) -> Any:
    """Texts as bytes, in an array of objects."""
    made = np.empty(array.shape, object)
    flat = array.reshape(-1).tolist()
    made.reshape(-1)[:] = [s.encode() if isinstance(s, str) else s for s in flat]
    return made


def of_matching(pattern: Any, matching: Callable[[Any], list[str]]) -> Pipeline:
    """Elements: the paths that fit a pattern, or one of several, sorted.

    Raises, when it starts:
        InvalidArgumentError: none does.
    """
    tensor = convert_to_tensor(pattern, string, "file_pattern")

    def start(context: Context) -> Next:
        patterns = np.asarray(context.value(tensor)).reshape(-1).tolist()
        paths = matching([p.decode() for p in patterns])
        if not paths:
            told = ", ".join(p.decode() for p in patterns)
            raise InvalidArgumentError(None, None, f"No files matched pattern: {told}")
        return listed([(np.array(p.encode(), object),) for p in paths])

    return Pipeline(Spec(string, ()), start, tensors=(tensor,))
