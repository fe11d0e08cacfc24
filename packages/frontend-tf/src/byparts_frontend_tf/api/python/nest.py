"""`tf.nest`, under the names that programs use it by."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.graph.nest import flatten, is_nested
from byparts_frontend_tf.symbols import symbol

_PLACES = ("nest.", "contrib.framework.nest.", "python.util.nest.")
_NAMES = {
    "flatten": "flatten",
    "map_structure": "map_structure",
    "assert_same_structure": "assert_same_structure",
    "pack_sequence_as": "pack_sequence_as",
    "is_nested": "is_nested",
    "is_sequence": "is_nested",
    "flatten_up_to": "flatten_up_to",
    "map_structure_up_to": "map_structure_up_to",
}
SYMBOLS = {f"{p}{name}": f"graph.nest:{place}" for p in _PLACES for name, place in _NAMES.items()}


@symbol(
    "contrib.framework.nest.assert_shallow_structure", "python.util.nest.assert_shallow_structure"
)
def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, **_: Any
) -> None:
    """Raise unless the first is the second down to some depth.

    Raises:
        TypeError: one is nested where the other is not, or by another type.
        ValueError: lengths or keys differ.
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree) or (check_types and type(shallow_tree) is not type(input_tree)):
        raise TypeError(f"{input_tree!r} is not nested as {shallow_tree!r} is")
    if len(shallow_tree) != len(input_tree):
        raise ValueError(f"{input_tree!r} is not as long as {shallow_tree!r}")
    keys = shallow_tree if isinstance(shallow_tree, dict) else range(len(shallow_tree))
    if isinstance(shallow_tree, dict) and set(shallow_tree) != set(input_tree):
        raise ValueError(f"keys {list(input_tree)} are not {list(shallow_tree)}")
    for key in keys:
        assert_shallow_structure(shallow_tree[key], input_tree[key], check_types)


@symbol("contrib.framework.nest.flatten_dict_items", "python.util.nest.flatten_dict_items")
def flatten_dict_items(dictionary: dict[Any, Any]) -> dict[Any, Any]:
    """The leaves of the keys, with those of the values.

    Raises:
        ValueError: a key and its value are nested differently, or a leaf comes twice.
    """
    made: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = flatten(key), flatten(value)
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary: {key!r} and {value!r} differ")
        for k, v in zip(keys, values, strict=True):
            if k in made:
                raise ValueError(f"Could not flatten dictionary: key {k} is not unique")
            made[k] = v
    return made
