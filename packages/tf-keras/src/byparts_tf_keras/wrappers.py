"""Layers around a layer: for each step, or in both directions."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.input_spec import InputSpec
from byparts_tf_keras.layer import Layer, call_arguments
from byparts_tf_keras.network_config import layer_of, serialize
from byparts_tf_keras.recurrent import _listed


@symbol("keras.layers.Wrapper")
class Wrapper(Layer):
    """A layer around another."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `{type(self).__name__}` layer with a `Layer` instance. You "
                f"passed: {layer}"
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the layer inside."""
        if not self.layer.built:
            if self.layer._dtype is None:
                self.layer._dtype = self._dtype
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer; the layer inside as data."""
        return {**super().get_config(), "layer": serialize(self.layer)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An equal one, with new weights."""
        return cls(**{**config, "layer": layer_of(config["layer"], custom_objects)})


@symbol("keras.layers.TimeDistributed")
class TimeDistributed(Wrapper):
    """A layer, applied to each step."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the layer inside, for one step."""
        dims = tf.TensorShape(input_shape).as_list()
        if len(dims) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {dims}"
            )
        self.input_spec = InputSpec(shape=[None, *dims[1:]])
        super().build(tf.TensorShape([dims[0], *dims[2:]]))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """[batch, time, ...] -> [batch, time, ...]."""
        told = training is not None and "training" in call_arguments(type(self.layer))
        dims, sized = inputs.get_shape().as_list(), tf.shape(inputs)
        flat = tf.reshape(inputs, tf.concat([[-1], sized[2:]], 0))
        flat.set_shape([None, *dims[2:]])
        results = self.layer.call(flat, **({"training": training} if told else {}))
        rest = results.get_shape().as_list()[1:]
        outputs = tf.reshape(results, tf.concat([sized[:2], tf.shape(results)[1:]], 0))
        outputs.set_shape([*dims[:2], *rest])
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of one step, for all of them."""
        dims = tf.TensorShape(input_shape).as_list()
        inner = self.layer.compute_output_shape(tf.TensorShape([dims[0], *dims[2:]]))
        return tf.TensorShape([*dims[:2], *tf.TensorShape(inner).as_list()[1:]])


@symbol("keras.layers.Bidirectional")
class Bidirectional(Wrapper):
    """A recurrent layer over sequences, and one over the reversed ones.

    Args:
        layer: recurrent; two of its configuration are made.
        merge_mode: sum, mul, concat, ave, or `None`: both outputs are given.
        weights: of both.
        backward_layer: in the place of the second.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: Any = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                "Invalid merge mode. Merge mode should be one of {'sum', 'mul', 'ave', 'concat', "
                "None}"
            )
        if "input_shape" not in kwargs and hasattr(layer, "_batch_input_shape"):
            kwargs.setdefault("batch_input_shape", layer._batch_input_shape)
        super().__init__(layer, **kwargs)
        self.forward_layer = _again(layer, f"forward_{layer.name}", layer.go_backwards)
        self.backward_layer = backward_layer or _again(
            layer, f"backward_{layer.name}", not layer.go_backwards
        )
        self.layer = self.forward_layer
        self.merge_mode, self.supports_masking = merge_mode, True
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self.stateful = layer.stateful
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]

    def build(self, input_shape: Any = None) -> None:
        """The layers make their weights when they are called."""
        self.built = True

    def __call__(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """The outputs; states are inputs, too: those of the first layer, then of the second."""
        states = _listed(initial_state)
        return super().__call__([*_listed(inputs), *states] if states else inputs, **kwargs)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Both outputs, merged; and the states if they are wanted."""
        forward_inputs = backward_inputs = inputs
        if isinstance(inputs, list):
            half = (len(inputs) - 1) // 2
            forward_inputs = inputs[: half + 1]
            backward_inputs = [inputs[0], *inputs[half + 1 :]]
            mask = mask[0] if isinstance(mask, list) else mask
        more = {"training": training, "mask": mask}
        forward = self.forward_layer(forward_inputs, **more)
        backward = self.backward_layer(backward_inputs, **more)
        states: list[Any] = []
        if self.return_state:
            states = [*forward[1:], *backward[1:]]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            backward = tf.reverse(backward, [1])
        merged = self._merged(forward, backward)
        if not states:
            return merged
        return [*merged, *states] if self.merge_mode is None else [merged, *states]

    def _merged(self, a: Any, b: Any) -> Any:
        if self.merge_mode is None:
            return [a, b]
        if self.merge_mode == "concat":
            return tf.concat([a, b], -1)
        if self.merge_mode == "mul":
            return a * b
        return a + b if self.merge_mode == "sum" else (a + b) / 2

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the inputs, where there are steps."""
        mask = mask[0] if isinstance(mask, list) else mask
        own = mask if self.return_sequences else None
        listed = [own, own] if self.merge_mode is None else [own]
        if self.return_state:
            return [*listed, *[None] * (2 * len(self.forward_layer._sizes()))]
        return listed if self.merge_mode is None else own

    def reset_states(self) -> None:
        """Begin the states of both anew."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the merged outputs."""
        made = self.forward_layer.compute_output_shape(input_shape)
        first = made[0] if isinstance(made, list) else made
        if self.merge_mode == "concat":
            first = tf.TensorShape([*first.as_list()[:-1], first.as_list()[-1] * 2])
        return first if self.merge_mode is not None else [first, first]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer."""
        config = super().get_config()
        config.pop("weights", None)
        config.pop("backward_layer", None)
        inner = config["layer"]["config"]
        inner["name"] = inner["name"].removeprefix("forward_")
        return config


def _again(layer: Any, name: str, go_backwards: bool) -> Any:
    config = layer.get_config()
    config.update(name=name, go_backwards=go_backwards)
    return type(layer).from_config(config)
