"""Flows: bijectors of vectors whose shift and scale a network says.

Dinh et al. 2017 ("Density estimation using Real NVP"): a part of a vector says how the rest moves.
Papamakarios et al. 2017 ("Masked autoregressive flow"): the elements before say how one moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from byparts_frontend_tf.api.clip import clip_by_value
from byparts_frontend_tf.api.concat import concat, split
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.identity import identity, stop_gradient
from byparts_frontend_tf.api.initializers import GlorotNormal
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import exp
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.stack import unstack
from byparts_frontend_tf.api.variables.template import make_template
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_tf_contrib.bijectors.bijector import Bijector, bijector_symbol
from byparts_tf_keras.layers.layers import dense

Network = Callable[..., Any]  # tensors -> a shift and the logarithm of a scale, or `None`


def _moved(x: Any, shift: Any, log_scale: Any) -> Any:
    y = identity(x) if log_scale is None else x * exp(log_scale)
    return y if shift is None else y + shift


def _moved_back(y: Any, shift: Any, log_scale: Any) -> Any:
    x = identity(y) if shift is None else y - shift
    return x if log_scale is None else x * exp(-log_scale)


@bijector_symbol("RealNVP")
class RealNVP(Bijector):
    """The first `num_masked` elements stay, and say how the others move."""

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Network,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._masked, self._network = num_masked, shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, name=name or "real_nvp")

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        width = x.shape[-1].value
        if width is None or self._masked >= width:
            raise ValueError("Number of masked units must be smaller than the event size.")
        first, rest = x[..., : self._masked], x[..., self._masked :]
        return (first, rest, *self._network(first, width - self._masked))

    def _forward(self, x: Any) -> Any:
        first, *rest = self._parts(x)
        return concat([first, _moved(*rest)], -1)

    def _inverse(self, y: Any) -> Any:
        first, *rest = self._parts(y)
        return concat([first, _moved_back(*rest)], -1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        log_scale = self._parts(x)[3]
        return reduce_sum(0.0 * x, -1) if log_scale is None else reduce_sum(log_scale, -1)


@bijector_symbol("real_nvp_default_template")
def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Network:
    """A network of dense layers for `RealNVP`, whose variables its calls share."""

    def network(x: Any, output_units: int) -> Any:
        for units in hidden_layers:
            x = dense(x, units, activation, *args, **kwargs)
        x = dense(x, output_units if shift_only else 2 * output_units, None, *args, **kwargs)
        return (x, None) if shift_only else split(x, 2, -1)

    return make_template(name or "real_nvp_default_template", network)


@bijector_symbol("MaskedAutoregressiveFlow")
class MaskedAutoregressiveFlow(Bijector):
    """Each element moves as those before it say: the inverse is one step, forward as many as n."""

    def __init__(
        self,
        shift_and_log_scale_fn: Network,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ) -> None:
        self._network = shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, name=name or "masked_autoregressive_flow")

    def _forward(self, x: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            return i + 1, _moved(x, *self._network(y))

        count = shape_of(x)[-1]
        return while_loop(lambda i, y: i < count, step, (0, zeros_like(x)))[1]

    def _inverse(self, y: Any) -> Any:
        return _moved_back(y, *self._network(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._network(y)[1]
        return reduce_sum(0.0 * y, -1) if log_scale is None else -reduce_sum(log_scale, -1)


@bijector_symbol("masked_dense")
def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: Any = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dense layer in which a block of units reads the blocks before it, and its own.

    Args:
        inputs: [batch, width].
        units: how many.
        num_blocks: into how many parts inputs and units are divided.
        exclusive: whether it does not read its own.
        kernel_initializer: of the weights before some are zero.
        reuse: whether variables are there.
        name: of the layer.
        args: further arguments of a dense layer.
        kwargs: likewise.

    Raises:
        ValueError: the width is not known.
    """
    width = inputs.shape[-1].value
    if width is None:
        raise ValueError("Rightmost dimension must be known prior to graph execution.")
    blocks = num_blocks or 1
    mask = np.zeros([width, units], np.float32)
    for k in range(blocks):
        first = (k + exclusive) * (units // blocks)
        mask[k * (width // blocks) : (k + 1) * (width // blocks), first:] = 1
    start = GlorotNormal() if kernel_initializer is None else kernel_initializer

    def masked_start(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask.astype(dtype.as_numpy_dtype) * start(shape, dtype)

    with name_scope(name, "masked_dense", [inputs]):
        return dense(
            inputs,
            units,
            *args,
            kernel_initializer=masked_start,
            kernel_constraint=lambda w: mask * w,
            name=name,
            reuse=reuse,
            **kwargs,
        )


@bijector_symbol("masked_autoregressive_default_template")
def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Any = relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Network:
    """A network of masked layers, whose variables its calls share (Germain et al. 2015, "MADE")."""

    def network(x: Any) -> Any:
        width, dims = x.shape[-1].value, shape_of(x)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, width, i == 0, *args, activation=activation, **kwargs)
        x = masked_dense(x, width if shift_only else 2 * width, width, *args, **kwargs)
        if shift_only:
            return reshape(x, dims), None
        shift, log_scale = unstack(reshape(x, concat([dims, [2]], 0)), 2, -1)
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        if not log_scale_clip_gradient:
            clipped = log_scale + stop_gradient(clipped - log_scale)
        return shift, clipped

    return make_template(name or "masked_autoregressive_default_template", network)
