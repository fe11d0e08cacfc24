"""`tf.clip_by_value`, `tf.clip_by_norm` and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant, ones_like
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.binary import divide, maximum, minimum, multiply
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import is_finite, sqrt
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


def _of_values(t: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The change of a tensor, or of the rows of `IndexedSlices`."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(change(t.values), t.indices, t.dense_shape)
    return change(convert_to_tensor(t, name="t"))


@symbol("clip_by_value")
def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: Optional[str] = None
) -> Any:
    """Each element between the two; the result has the shape of t.

    Raises:
        ValueError: the limits are of a larger shape.
    """
    with name_scope(name, "clip_by_value") as scope:

        def clipped(values: Tensor) -> Tensor:
            dtype = values.dtype.base_dtype
            least, most = (
                convert_to_tensor(x, None if isinstance(x, Tensor) else dtype)
                for x in (clip_value_min, clip_value_max)
            )
            made: Tensor = maximum(minimum(values, most), least, name=scope)
            if not values.shape.is_compatible_with(made.shape):
                raise ValueError(f"Shapes {values.shape} and {made.shape} are incompatible")
            return made

        return _of_values(t, clipped)


@symbol("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: Optional[str] = None) -> Any:
    """t, made shorter where its Euclidean norm over `axes` is more than clip_norm."""
    with name_scope(name, "clip_by_norm"):

        def clipped(values: Tensor) -> Tensor:
            squares = reduce_sum(multiply(values, values), axes, keepdims=True)
            some = squares > 0
            norm = where(some, sqrt(where(some, squares, ones_like(squares))), squares)
            limit = cast(clip_norm, values.dtype.base_dtype)
            made: Tensor = identity(divide(multiply(values, limit), maximum(norm, limit)))
            return made

        return _of_values(t, clipped)


@symbol("clip_by_average_norm")
def clip_by_average_norm(t: Any, clip_norm: Any, name: Optional[str] = None) -> Tensor:
    """t, made shorter where its norm divided by its number of elements is more than clip_norm."""
    with name_scope(name, "clip_by_average_norm"):
        values = convert_to_tensor(t, name="t")
        dtype = values.dtype.base_dtype
        ones = ones_like(values)
        count = reduce_sum(ones)
        inverse = divide(count, sqrt(reduce_sum(multiply(values, values))))
        limit = cast(clip_norm, dtype)
        return multiply(values, multiply(limit, minimum(inverse, divide(1.0, limit))))


def _lists(t_list: Any) -> Sequence[Any]:
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("t_list should be a sequence")
    return t_list


@symbol("global_norm", "linalg.global_norm")
def global_norm(t_list: Any, name: Optional[str] = None) -> Tensor:
    """The Euclidean norm of all elements of all tensors; `None` among them is left out.

    Raises:
        TypeError: not a list.
    """
    given = [t.values if isinstance(t, IndexedSlices) else t for t in _lists(t_list)]
    with name_scope(name, "global_norm"):
        values = [convert_to_tensor(t, name="t") for t in given if t is not None]
        if not values:
            return constant(0.0)
        squares = stack([reduce_sum(multiply(v, v)) for v in values])
        return sqrt(reduce_sum(squares), name="global_norm")


@symbol("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: Optional[str] = None
) -> tuple[list[Any], Any]:
    """The tensors, all made shorter alike where their global norm is more than clip_norm; and it.

    If the norm is infinite or NaN, all of them are NaN.

    Raises:
        TypeError: not a list.
    """
    given = _lists(t_list)
    norm = global_norm(given, name) if use_norm is None else convert_to_tensor(use_norm)
    with name_scope(name, "clip_by_global_norm"):
        limit = cast(clip_norm, norm.dtype.base_dtype)
        scale = multiply(limit, minimum(divide(1.0, norm), divide(1.0, limit)))
        scale = where(is_finite(norm), scale, constant(float("nan"), norm.dtype.base_dtype))

        def clipped(values: Tensor) -> Tensor:
            made: Tensor = identity(multiply(values, cast(scale, values.dtype.base_dtype)))
            return made

        return [None if t is None else _of_values(t, clipped) for t in given], norm
