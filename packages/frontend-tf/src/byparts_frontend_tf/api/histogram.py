"""`tf.histogram_fixed_width`: how many values are in each of equal ranges."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import ones_like, zeros_like
from byparts_frontend_tf.api.math.binary import maximum, minimum
from byparts_frontend_tf.api.math.bincount import COUNT
from byparts_frontend_tf.api.math.unary import floor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int32


@symbol("histogram_fixed_width_bins")
def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Number of the bin of each value, of `nbins` equal parts of a range; outside: the nearest."""
    with name_scope(name, "histogram_fixed_width_bins"):
        x = convert_to_tensor(values)
        ends = convert_to_tensor(value_range, x.dtype.base_dtype)
        count = cast(convert_to_tensor(nbins), x.dtype.base_dtype)
        at = floor(count * ((x - ends[0]) / (ends[1] - ends[0])))
        inside = minimum(maximum(at, zeros_like(at)), ones_like(at) * (count - 1))
        bins: Tensor = cast(inside, dtype)
        return bins


@symbol("histogram_fixed_width")
def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: Any = 100,
    dtype: Any = int32,
    name: Optional[str] = None,
) -> Tensor:
    """Count the values in each of `nbins` equal parts of a range."""
    with name_scope(name, "histogram_fixed_width"):
        at = histogram_fixed_width_bins(values, value_range, nbins)
        return COUNT(convert_to_tensor(nbins), at, cast(ones_like(at), dtype))
