"""Normalizations of each example by itself: `instance_norm`, `group_norm`, `unit_norm`; maxout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.math.reduce import reduce_max, reduce_sum
from byparts_frontend_tf.api.math.unary import sqrt, square
from byparts_frontend_tf.api.nn.moments import moments
from byparts_frontend_tf.api.nn.normalization import batch_normalization
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_contrib.layers.contrib_layers import channels_of
from byparts_tf_contrib.layers.contrib_norms import activated, beta_and_gamma


def _beta_and_gamma(
    size: int, shape: Sequence[int], wanted: tuple[bool, bool], initializers: Any, trainable: bool
) -> list[Any]:
    """The variables [size], or `None`, in a shape that fits the images."""
    made = beta_and_gamma([size], *wanted, trainable, initializers)
    return [v if v is None else reshape(v, list(shape)) for v in made]


def _rank(x: Tensor) -> int:
    if x.dims is None:
        raise ValueError(f"Inputs {x.name} has undefined rank.")
    return len(x.dims)


@symbol("contrib.layers.instance_norm", "contrib.slim.instance_norm")
@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Each channel of each example normalized by its own mean and variance."""
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        rank = _rank(x)
        at = 1 if data_format == "NCHW" else rank - 1
        size = channels_of(x, at)
        beside = [size if i == at else 1 for i in range(rank)]
        both = (center, scale)
        beta, gamma = _beta_and_gamma(size, beside, both, param_initializers, trainable)
        mean, variance = moments(x, [i for i in range(1, rank) if i != at], keep_dims=True)
        y = batch_normalization(x, mean, variance, beta, gamma, epsilon)
        y.set_shape(x.dims)
        return activated(y, activation_fn, outputs_collections, entered)


@symbol("contrib.layers.group_norm", "contrib.slim.group_norm")
@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Wu and He 2018: groups of channels of each example normalized together.

    Raises:
        ValueError: channels that cannot be grouped so, or are reduced.
    """
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as entered:
        x = convert_to_tensor(inputs)
        rank = _rank(x)
        at, axes = channels_axis % rank, [a % rank for a in reduction_axes]
        size = channels_of(x, at)
        if at in axes:
            raise ValueError("reduction_axes and channels_axis must be mutually exclusive")
        if groups > size or size % groups:
            raise ValueError(f"{size} channels is not commensurate with {groups} groups.")
        dims = shape_of(x)
        parted = reshape(x, concat([dims[:at], [groups, size // groups], dims[at + 1 :]], 0))
        among = [a if a < at else a + 1 for a in axes] + [at + 1]
        mean, variance = moments(parted, among, keep_dims=True)
        beside = [1] * (rank + 1)
        beside[at], beside[at + 1] = groups, size // groups
        both = (center, scale)
        beta, gamma = _beta_and_gamma(size, beside, both, param_initializers, trainable)
        y = reshape(batch_normalization(parted, mean, variance, beta, gamma, epsilon), dims)
        y.set_shape(x.dims)
        return activated(y, activation_fn, outputs_collections, entered)


@symbol("contrib.layers.unit_norm", "contrib.slim.unit_norm")
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Vectors along an axis, scaled to length 1."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        x = convert_to_tensor(inputs)
        if not 0 <= dim < _rank(x):
            raise ValueError(f"dim must be an axis of the inputs, and is {dim}")
        return x / sqrt(epsilon + reduce_sum(square(x), dim, True))


@symbol("contrib.layers.maxout", "contrib.slim.maxout")
@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Goodfellow et al. 2013: of channels `num_units` apart the greatest.

    Raises:
        ValueError: there are not so many times as many channels.
    """
    with name_scope(scope, "MaxOut", [inputs]):
        x = convert_to_tensor(inputs)
        rank = _rank(x)
        at = axis % rank
        size = channels_of(x, at)
        if size % num_units:
            raise ValueError(
                f"number of features({size}) is not a multiple of num_units({num_units})"
            )
        dims = shape_of(x)
        parted = reshape(x, concat([dims[:at], [num_units, size // num_units], dims[at + 1 :]], 0))
        made = reduce_max(parted, at + 1)
        assert x.dims is not None, "asked for above"
        made.set_shape([*x.dims[:at], num_units, *x.dims[at + 1 :]])
        return made
