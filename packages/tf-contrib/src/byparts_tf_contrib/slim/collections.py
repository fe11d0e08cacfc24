"""`slim.utils`: outputs of layers by name, and what is known of shapes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from byparts_frontend_tf.api.layers.aliases import alias_of, named_output
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import get_collection, get_collection_ref
from byparts_tf_files.shape import TensorShape


def collect_named_outputs(collections: Any, alias: str, outputs: Tensor) -> Tensor:
    """The tensor, added to collections under a name."""
    made: Tensor = named_output(outputs, collections, alias)
    return made


def append_tensor_alias(tensor: Tensor, alias: str) -> Tensor:
    """The tensor, with one more name."""
    made: Tensor = named_output(tensor, None, alias)
    return made


def get_tensor_aliases(tensor: Tensor) -> list[str]:
    """The names of a tensor: those given, else that of its operation."""
    return alias_of(tensor)


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names of all of them."""
    return [alias for tensor in tensors for alias in alias_of(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Name -> output, of the outputs of layers that are in a collection."""
    made = OrderedDict((a, t) for t in get_collection(collection) for a in alias_of(t))
    if clear_collection:
        del get_collection_ref(collection)[:]
    return made


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for a variable of this name, where they are told by name."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def first_dimension(shape: Any, min_rank: int = 1) -> Any:
    """The first extent.

    Raises:
        ValueError: there are fewer than `min_rank`, or it is not known.
    """
    return _dimension(shape, 0, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> Any:
    """The last extent.

    Raises:
        ValueError: there are fewer than `min_rank`, or it is not known.
    """
    return _dimension(shape, -1, min_rank)


def _dimension(shape: Any, at: int, min_rank: int) -> Any:
    given = TensorShape(shape)
    if given.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if given.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {given.ndims}")
    value = given.as_list()[at]
    if value is None:
        raise ValueError(f"dimension {at} of shape must be known but is None")
    return value


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """A number twice, or two numbers.

    Raises:
        ValueError: it is neither.
    """
    return n_positive_integers(2, int_or_tuple)  # type: ignore[return-value]  # of two


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """A number n times, or n numbers.

    Raises:
        ValueError: it is neither, or one is not positive.
    """
    if isinstance(value, TensorShape):
        value = value.as_list()
    made = (int(value),) * n if isinstance(value, int) else tuple([int(v) for v in value])
    if len(made) != n or min(made) < 1:
        raise ValueError(f"Must be {n} positive integers, or one: {value}")
    return made


_PLACES = ("contrib.slim.utils", "contrib.layers.python.layers.utils", "contrib.layers.utils")
_NAMES = (
    *("collect_named_outputs", "append_tensor_alias", "get_tensor_aliases"),
    *("gather_tensors_aliases", "convert_collection_to_dict", "get_variable_collections"),
    *("first_dimension", "last_dimension", "two_element_tuple", "n_positive_integers"),
)
SYMBOLS = {
    **{f"{place}.{name}": name for place in _PLACES for name in _NAMES},
    **{f"{place}.smart_cond": "byparts_frontend_tf.api.cond:smart_cond" for place in _PLACES},
}
