"""Batch normalization by statistics of channels (Ioffe and Szegedy 2015): what layers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.nn.normalization import batch_normalization, normalized_by
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import size as size_of
from byparts_frontend_tf.api.variables.variables import assign_sub
from byparts_frontend_tf.graph.operation import Tensor


def normalized(
    x: Tensor,
    axis: int,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    epsilon: float,
    fused: bool = False,
) -> Tensor:
    """x, normalized by statistics [channels] of an axis; beta or gamma may be `None`.

    With `fused` the operation has the name of TensorFlow's fused one.
    """
    rank = len(x.dims or ())
    beside = [-1 if a == axis else 1 for a in range(rank)]

    def placed(t: Any) -> Optional[Any]:
        return t if t is None or axis == rank - 1 else reshape(t, beside)

    parts = placed(mean), placed(variance), placed(beta), placed(gamma)
    if fused:
        made = normalized_by(x, *parts, epsilon, "FusedBatchNormV3")
    else:
        made = batch_normalization(x, *parts, epsilon)
    if x.dims is not None:
        made.set_shape(x.dims)
    return made


def of_a_sample(variance: Tensor, x: Tensor) -> Tensor:
    """The variance [channels] of x as that of a sample: what TensorFlow's fused kernel gives."""
    count = cast(size_of(x) / size_of(variance), variance.dtype.base_dtype)
    made: Tensor = variance * (count / maximum(count - 1.0, 1.0))
    return made


def moving_updates(moving: Sequence[Any], new: Sequence[Any], share: Tensor) -> list[Any]:
    """Operations that move each variable by a share of its distance to a new value."""
    return [
        assign_sub(m, (m - n) * share, name="AssignMovingAvg")
        for m, n in zip(moving, new, strict=True)
    ]
