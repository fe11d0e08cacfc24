"""`Sequential`: one layer after the other."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.damage import refusing
from byparts_tf_keras.inputs import InputLayer, input_of
from byparts_tf_keras.layer import Layer, call_arguments
from byparts_tf_keras.model import Model
from byparts_tf_keras.network import Network
from byparts_tf_keras.network_config import layer_of, serialize


@symbol("keras.Sequential", "keras.models.Sequential", "python.keras.engine.sequential.Sequential")
class Sequential(Model):
    """Layers, one after the other.

    Args:
        layers: the first ones; `add` adds more.
        name: sequential, sequential_1, ... by default.

    Raises:
        TypeError: a thing is added that is no layer.
    """

    def __init__(self, layers: Any = None, name: Optional[str] = None) -> None:
        super().__init__(name=name)
        self._stack: list[Any] = []
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, without that of the input."""
        first = self._stack[:1]
        return self._stack[1:] if first and isinstance(first[0], InputLayer) else self._stack[:]

    def _sublayers(self) -> list[Any]:
        return self._stack

    def add(self, layer: Any) -> None:
        """Add a layer at the end."""
        if hasattr(layer, "_keras_history"):
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        if not self._stack and not isinstance(layer, InputLayer):
            first = _begin(layer)
            if first is not None:
                self._stack.append(first._keras_history.layer)
                outputs = layer(first)
                self._grow(layer, outputs)
                return
        if not self._stack:
            self._stack.append(layer)
            if not isinstance(layer, InputLayer):
                return
            self.outputs = [layer._inbound_nodes[0].output_tensors[0]]
            self.inputs = list(self.outputs)
            return
        self._grow(layer, layer(self.outputs[0]) if self.outputs else None)

    def _grow(self, layer: Any, outputs: Any) -> None:
        self._stack.append(layer)
        if outputs is None:
            return
        if len(flatten(outputs)) != 1:
            raise TypeError(
                "All layers in a Sequential model should have a single output tensor. For "
                "multi-output layers, use the functional API."
            )
        first = self._stack[0]._inbound_nodes[0].output_tensors
        self._set_graph(first, outputs)

    def pop(self) -> None:
        """Remove the last layer.

        Raises:
            TypeError: there is none.
        """
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._stack.pop()
        if self.outputs:
            node = layer._inbound_nodes.pop()
            node.inbound_layers[0]._outbound_nodes.pop()
            last = self._stack[-1]
            at = node.node_indices[0]
            if len(self._stack) > 1 or not isinstance(last, InputLayer):
                self._set_graph(
                    self._stack[0]._inbound_nodes[0].output_tensors,
                    last._inbound_nodes[at].output_tensors,
                )
            else:
                self._graph, self.built = None, False
                self.outputs = list(self.inputs)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The outputs of the last layer."""
        if self._graph is not None:
            return Network.call(self, inputs, training, mask)
        outputs = inputs
        for layer in self.layers:
            told = training is not None and "training" in call_arguments(type(layer))
            outputs = layer(outputs, **({"training": training} if told else {}))
        return outputs

    def build(self, input_shape: Any = None) -> None:
        """Make the weights for inputs of this shape."""
        if self._graph is None and input_shape is not None:
            self._build_input_shape = tuple(tf.TensorShape(input_shape).as_list())
            super().build(input_shape)
        self.built = True

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """Predict, as `predict`."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The class of each example."""
        scores = self.predict(x, batch_size=batch_size, verbose=verbose)
        return scores.argmax(axis=-1) if scores.shape[-1] > 1 else (scores > 0.5).astype("int32")

    def get_config(self) -> dict[str, Any]:
        """Name and layers, as data."""
        config: dict[str, Any] = {
            "name": self.name,
            "layers": [serialize(layer) for layer in self.layers],
        }
        if getattr(self, "_build_input_shape", None):
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """An equal model, with new weights."""
        named = isinstance(config, dict)
        model = cls(name=config.get("name") if named else None)
        for i, entry in enumerate(config["layers"] if named else config):
            with refusing(f"layer {i}"):
                model.add(layer_of(entry, custom_objects))
        if named and config.get("build_input_shape") and not model.inputs:
            model.build(config["build_input_shape"])
        return model


def _begin(layer: Any) -> Any:
    """A placeholder for the first layer, if it says of which shape."""
    inner = layer
    while isinstance(inner, Sequential) and inner._stack:
        inner = inner._stack[0]
    if isinstance(inner, Network) and inner.inputs:
        shape = tuple(inner.inputs[0].get_shape().as_list())
    else:
        shape = getattr(inner, "_batch_input_shape", None) or ()
        if not hasattr(inner, "_batch_input_shape"):
            return None
    return input_of(batch_shape=shape, dtype=inner.dtype, name=f"{layer.name}_input")
