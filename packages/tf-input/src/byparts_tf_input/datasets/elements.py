"""Elements of a dataset: nested tuples, named tuples and dicts of leaves.

A leaf is a tensor, a sparse tensor or a dataset; `Spec` says what is known of it.  While a dataset
runs an element is a `Row`: a tuple of its leaves, which are arrays, `SparseTensorValue`s and
functions that start a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.composites import SparseTensor, SparseTensorValue
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, flatten_up_to, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_tf_files.dtypes import DType, as_dtype, variant
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.shape import Dims, TensorShape, agreed, as_dims, fits

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Spec:
    """Dtype, shape and class of one leaf, as far as known.

    Attributes:
        dtype: of its elements; `variant` of a dataset.
        dims: of its shape.
        kind: `Tensor`, `SparseTensor`, or a class of datasets.
        inner: of a dataset, the structure of its elements.
    """

    dtype: DType
    dims: Dims
    kind: Any = Tensor
    inner: Any = None


def converted(value: Any) -> Any:
    """A structure whose leaves are tensors, sparse tensors and datasets; lists are tensors."""
    counter = iter(range(1 << 30))

    def leaf(given: Any) -> Any:
        number = next(counter)
        if isinstance(given, SparseTensorValue):
            return SparseTensor.from_value(given)
        if isinstance(given, SparseTensor) or hasattr(given, "_pipeline"):
            return given
        return convert_to_tensor(given, name=f"component_{number}")

    return _rebuilt(value, leaf)


def named(value: Any) -> Any:
    """Convert as `converted`, in a scope of the name that TensorFlow has for the tensors."""
    with name_scope("tensors"):
        return converted(value)


def _rebuilt(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, SparseTensorValue) or not isinstance(value, (tuple, Mapping)):
        return leaf(value)
    if isinstance(value, Mapping):
        made = {k: _rebuilt(value[k], leaf) for k in sorted(value)}
        ordered: Any = {k: made[k] for k in value}
        return ordered if type(value) is dict else type(value)(ordered)  # type: ignore[call-arg]  # a dict's class
    items = [_rebuilt(v, leaf) for v in value]
    return value._make(items) if hasattr(value, "_make") else tuple(items)


def spec_of(leaf: Any) -> Spec:
    """The `Spec` of a leaf."""
    if isinstance(leaf, SparseTensor):
        return Spec(leaf.dtype.base_dtype, leaf.shape._dims, SparseTensor)
    if hasattr(leaf, "_pipeline"):
        return Spec(variant, (), type(leaf), leaf._pipeline.element)
    return Spec(leaf.dtype.base_dtype, leaf.dims)


def tensors_of(leaf: Any) -> tuple[Tensor, ...]:
    """The tensors that a leaf consists of; none of a dataset."""
    if isinstance(leaf, SparseTensor):
        return leaf.indices, leaf.values, leaf.dense_shape
    return (leaf,) if isinstance(leaf, Tensor) else ()


def arrays_of(leaf: Any) -> tuple[Any, ...]:
    """The arrays that a leaf of a row consists of; none of a dataset."""
    if isinstance(leaf, SparseTensorValue):
        return tuple(leaf)
    return (leaf,) if isinstance(leaf, np.ndarray) else ()


def components(specs: Iterable[Spec]) -> list[tuple[DType, Dims]]:
    """The dtypes and shapes of the tensors that leaves consist of."""
    found: list[tuple[DType, Dims]] = []
    for s in specs:
        if s.kind is SparseTensor:
            rank = None if s.dims is None else len(s.dims)
            int64 = as_dtype("int64")
            found += [(int64, (None, rank)), (s.dtype, (None,)), (int64, (rank,))]
        elif s.kind is Tensor:
            found.append((s.dtype, s.dims))
    return found


def joined(specs: Iterable[Spec], parts: Iterable[Any], sparse: Any = SparseTensorValue) -> Row:
    """Leaves of the tensors or arrays that they consist of."""
    rest = iter(parts)
    return tuple(
        [
            sparse(next(rest), next(rest), next(rest)) if s.kind is SparseTensor else next(rest)
            for s in specs
        ]
    )


def element_of(types: Any, shapes: Any = None, classes: Any = None) -> Any:
    """The specs of elements of these dtypes, shapes and classes.

    Raises:
        TypeError: one is no dtype.
    """
    types = _rebuilt(tuple(types) if isinstance(types, list) else types, as_dtype)
    count = len(flatten(types))
    dims = [None] * count if shapes is None else [as_dims(s) for s in flatten_up_to(types, shapes)]
    kinds = [Tensor] * count if classes is None else flatten_up_to(types, classes)
    rows = zip(flatten(types), dims, kinds, strict=True)
    return pack_sequence_as(types, [Spec(d, s, k) for d, s, k in rows])


def types_of(element: Any) -> Any:
    """`output_types`."""
    return map_structure(lambda s: s.dtype, element)


def shapes_of(element: Any) -> Any:
    """`output_shapes`."""
    return map_structure(lambda s: TensorShape(s.dims), element)


def classes_of(element: Any) -> Any:
    """`output_classes`."""
    return map_structure(lambda s: s.kind, element)


def with_dims(element: Any, change: Callable[[Dims], Dims]) -> Any:
    """The specs with other shapes; datasets stay as they are."""
    return map_structure(
        lambda s: Spec(s.dtype, change(s.dims), s.kind, s.inner) if s.inner is None else s, element
    )


def either(first: Any, second: Any) -> Any:
    """The specs that fit elements of both datasets, of which each element is in one.

    Raises:
        TypeError: their dtypes or classes differ.
    """
    if types_of(first) != types_of(second):
        raise TypeError(
            "Two datasets to concatenate have different types "
            f"{types_of(first)} and {types_of(second)}"
        )
    if classes_of(first) != classes_of(second):
        raise TypeError(
            "Two datasets to concatenate have different classes "
            f"{classes_of(first)} and {classes_of(second)}"
        )
    pairs = zip(flatten(first), flatten(second), strict=True)
    leaves = [Spec(a.dtype, agreed(a.dims, b.dims), a.kind, a.inner) for a, b in pairs]
    return pack_sequence_as(first, leaves)


def compatible(wanted: Any, given: Any) -> Optional[str]:
    """Name what differs in given elements: "types", "shapes" or "classes"; `None`: nothing."""
    for what, of in (("types", types_of), ("classes", classes_of)):
        if of(wanted) != of(given):
            return what
    pairs = zip(flatten(wanted), flatten(given), strict=True)
    return None if all(fits(a.dims, b.dims) for a, b in pairs) else "shapes"


def stacked(rows: Sequence[Row]) -> Row:
    """Stack the leaves of several rows along a new first axis, into one row.

    Raises:
        InvalidArgumentError: their shapes differ.
    """
    columns = zip(*rows, strict=True)
    return tuple([_stacked(column, i) for i, column in enumerate(columns)])


def _stacked(column: Sequence[Any], number: int) -> Any:
    first = column[0]
    if isinstance(first, SparseTensorValue):
        return _stacked_sparse(column)
    if not isinstance(first, np.ndarray):
        raise TypeError("a dataset in an element cannot be batched")
    made = np.empty((len(column), *first.shape), first.dtype)
    for i, array in enumerate(column):
        if array.shape != first.shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot batch tensors with different shapes in component {number}. First element "
                f"had shape {_listed(first)} and element {i} had shape {_listed(array)}.",
            )
        made[i, ...] = array
    return made


def _stacked_sparse(column: Sequence[Any]) -> SparseTensorValue:
    rank = len(column[0].dense_shape)
    indices = [
        np.concatenate([np.full((len(v.indices), 1), i, np.int64), v.indices], 1)
        for i, v in enumerate(column)
    ]
    sizes = np.array([v.dense_shape for v in column], np.int64).reshape(len(column), rank)
    shape = np.array([len(column), *sizes.max(0)], np.int64)
    return SparseTensorValue(
        np.concatenate(indices), np.concatenate([v.values for v in column]), shape
    )


def _listed(array: Any) -> str:
    return f"[{','.join(map(str, array.shape))}]"
