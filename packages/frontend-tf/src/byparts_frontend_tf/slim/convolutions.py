"""`contrib.layers.conv1d` and `conv3d`: rows and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.arguments import sizes
from byparts_frontend_tf.api.layers.arg_scope import add_arg_scope
from byparts_frontend_tf.api.layers.contrib_initializers import xavier_initializer
from byparts_frontend_tf.api.layers.contrib_layers import channels_of, finished, made_weights
from byparts_frontend_tf.api.layers.initializers import Zeros
from byparts_frontend_tf.api.unary import relu
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.api.volumes import convolution
from byparts_frontend_tf.graph.convert import convert_to_tensor


def _of_rank(name: str, rank: int, usual: str) -> Callable[..., Any]:
    def layer(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: Any = None,
        rate: Any = 1,
        activation_fn: Any = relu,
        normalizer_fn: Any = None,
        normalizer_params: Any = None,
        weights_initializer: Any = None,
        weights_regularizer: Any = None,
        biases_initializer: Any = Zeros(),  # noqa: B008  # it is never changed
        biases_regularizer: Any = None,
        reuse: Any = None,
        variables_collections: Any = None,
        outputs_collections: Any = None,
        trainable: bool = True,
        scope: Any = None,
    ) -> Any:
        given = dict(locals())
        if data_format not in (None, usual):
            raise ValueError(f"{name}: data_format is {usual}, and not {data_format}")
        with variable_scope(scope, "Conv", [inputs], reuse=reuse) as entered:
            x = convert_to_tensor(inputs)
            size = [*sizes(kernel_size, rank, "kernel_size"), channels_of(x, -1), num_outputs]
            w = made_weights("weights", size, weights_initializer or xavier_initializer(), given)
            steps, gaps = sizes(stride, rank, "stride"), sizes(rate, rank, "rate")
            if rank == 1:
                y = convolution(x, w, padding, steps[0], gaps[0])
            else:
                y = convolution(x, w, padding, [1, *steps, 1], [1, *gaps, 1])
            return finished(y, given, num_outputs, None, entered)

    layer.__name__, layer.__module__ = name, __name__
    layer.__doc__ = f"A convolution {usual}, normalized or with biases, and the activation."
    return add_arg_scope(layer)


conv1d, conv3d = _of_rank("conv1d", 1, "NWC"), _of_rank("conv3d", 3, "NDHWC")
_PLACES = ("contrib.layers", "contrib.slim")
SYMBOLS = {
    **{f"{p}.{n}": "conv1d" for p in _PLACES for n in ("conv1d", "convolution1d")},
    **{f"{p}.{n}": "conv3d" for p in _PLACES for n in ("conv3d", "convolution3d")},
    **{
        f"{p}.convolution2d_transpose": "api.layers.contrib_layers:conv2d_transpose"
        for p in _PLACES
    },
    "contrib.slim.learning.tf_saver.Saver": "api.saving.saver:Saver",
    "contrib.slim.learning.supervisor.Supervisor": "training.supervisor:Supervisor",
}
