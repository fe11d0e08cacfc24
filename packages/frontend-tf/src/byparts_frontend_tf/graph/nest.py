"""Nested structures: lists, tuples, named tuples and dicts of anything (`tf.nest`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether `value` is a list, tuple or dict."""
    return isinstance(value, (list, tuple, Mapping))


def _items(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value[k] for k in sorted(value)]
    return list(value)


def flatten(structure: Any) -> list[Any]:
    """The leaves, in order; dicts by their sorted keys."""
    if not is_nested(structure):
        return [structure]
    return [leaf for item in _items(structure) for leaf in flatten(item)]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """`structure` with other leaves.

    Raises:
        ValueError: there are not as many.
    """
    leaves = list(flat_sequence)
    if not is_nested(structure):
        if len(leaves) != 1:
            raise ValueError(f"Structure is a scalar but {len(leaves)} values are given")
        return leaves[0]
    rest = iter(leaves)
    try:
        packed = _packed(structure, rest)
    except StopIteration:
        raise ValueError(
            f"Structure {structure!r} has more leaves than the {len(leaves)} values given"
        ) from None
    left = list(rest)
    if left:
        raise ValueError(f"{len(left)} of {len(leaves)} values have no place in {structure!r}")
    return packed


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    if isinstance(structure, Mapping):
        made = {k: _packed(structure[k], leaves) for k in sorted(structure)}
        ordered = {k: made[k] for k in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]  # a dict's class
    made_items = [_packed(item, leaves) for item in structure]
    return _like(structure, made_items)


def _like(structure: Any, items: list[Any]) -> Any:
    make = getattr(structure, "_make", None)
    if make is not None:
        return make(items)
    return tuple(items) if isinstance(structure, tuple) else items


def map_structure(function: Callable[..., Any], *structure: Any, **_: Any) -> Any:
    """`function` of the leaves that stand in the same place of all structures, in their place.

    Raises:
        ValueError: the structures differ.
    """
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    leaves = zip(*[flatten(s) for s in structure], strict=True)
    return pack_sequence_as(structure[0], [function(*row) for row in leaves])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, **_: Any) -> None:
    """Raise unless the structures are equal but for their leaves.

    Raises:
        ValueError: they differ in how they are nested.
        TypeError: they differ in the types of lists and tuples.
    """
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1!r}\n\nSecond structure: {nest2!r}"
        )
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(nest1)}, while second structure has type {type(nest2)}."
        )
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ValueError(
            f"The two dictionaries don't have the same set of keys: {list(nest1)}, {list(nest2)}"
        )
    first, second = _items(nest1), _items(nest2)
    if len(first) != len(second):
        raise ValueError(
            "The two structures don't have the same number of elements.\n\n"
            f"First structure: {nest1!r}\n\nSecond structure: {nest2!r}"
        )
    for a, b in zip(first, second, strict=True):
        assert_same_structure(a, b, check_types)


def flatten_up_to(shallow: Any, structure: Any, **_: Any) -> list[Any]:
    """Parts of `structure` where `shallow` has its leaves."""
    if not is_nested(shallow):
        return [structure]
    pairs = zip(_items(shallow), _items(structure), strict=True)
    return [leaf for a, b in pairs for leaf in flatten_up_to(a, b)]


def map_structure_up_to(
    shallow: Any, function: Callable[..., Any], *structure: Any, **_: Any
) -> Any:
    """Map a function as `map_structure` does, down to where `shallow` has its leaves."""
    leaves = zip(*[flatten_up_to(shallow, s) for s in structure], strict=True)
    return pack_sequence_as(shallow, [function(*row) for row in leaves])
