"""`Network`: layers between inputs and outputs, or a class of the program that calls layers."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.connections import (
    connect,
    give_history,
    has_history,
)
from byparts_tf_keras.inputs import input_of
from byparts_tf_keras.layer import Layer, call_arguments
from byparts_tf_keras.layer_parts import once
from byparts_tf_keras.network_config import network_config, network_from
from byparts_tf_keras.network_graph import NetworkGraph
from byparts_tf_keras.summary import print_summary
from byparts_tf_keras.weight_files import Saved


@symbol("python.keras.engine.network.Network")
class Network(Saved, Layer):
    """Layers between inputs and outputs: `Network(inputs, outputs, name)`.

    A subclass may make layers in its constructor and call them in `call` instead.

    Raises:
        ValueError: outputs need what is no input.
    """

    def __init__(self, *arguments: Any, **kwargs: Any) -> None:
        inputs = kwargs.pop("inputs", arguments[0] if arguments else None)
        outputs = kwargs.pop("outputs", arguments[1] if len(arguments) > 1 else None)
        name = kwargs.pop("name", arguments[2] if len(arguments) > 2 else None)
        super().__init__(name=name, **{k: v for k, v in kwargs.items() if k in ("dtype",)})
        self._trainable = kwargs.get("trainable", True)
        self.supports_masking = True
        self._graph: Optional[NetworkGraph] = None
        self.inputs: Any = None
        self.outputs: Any = None
        if inputs is not None and outputs is not None:
            self._set_graph(inputs, outputs)

    def _set_graph(self, inputs: Any, outputs: Any) -> None:
        self._nested_inputs, self._nested_outputs = _simple(inputs), _simple(outputs)
        self.inputs, self.outputs = flatten(inputs), flatten(outputs)
        missing = [t for t in self.outputs if not has_history(t)]
        give_history(missing)
        for t in self.inputs:
            if not has_history(t):
                input_of(tensor=t)
        for t in self.outputs:
            if not has_history(t):
                raise ValueError(
                    "Output tensors to a Model must be the output of a TensorFlow `Layer` (thus "
                    f"holding past layer metadata). Found: {t}"
                )
        self._graph = NetworkGraph(self.inputs, self.outputs)
        self._layers = self._graph.layers
        self.input_names = [t._keras_history.layer.name for t in self.inputs]
        self.output_names = _numbered([t._keras_history.layer.name for t in self.outputs])
        self.built = True
        histories = [t._keras_history for t in self.outputs]
        self._inbound_nodes.clear()
        connect(self, self._nested_inputs, self._nested_outputs)
        for t, history in zip(self.outputs, histories, strict=True):
            t._keras_history = history

    @property
    def _is_graph_network(self) -> bool:
        return self._graph is not None

    @property
    def _nodes_by_depth(self) -> Any:
        return self._graph.nodes_by_depth if self._graph else {}

    # Its layers

    def _sublayers(self) -> list[Any]:
        if self._graph is not None:
            more = [la for la in super()._sublayers() if la not in self._layers]
            return once([*self._layers, *more])
        return super()._sublayers()

    @property
    def layers(self) -> list[Any]:
        """The layers, those before first."""
        return self._sublayers()

    def get_layer(self, name: Optional[str] = None, index: Optional[int] = None) -> Any:
        """The layer of this name, or the one at this index.

        Raises:
            ValueError: there is none.
        """
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(layers)} layers."
                )
            return layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def weights(self) -> list[Any]:
        """All weights, layer by layer."""
        nested = [w for layer in self._sublayers() for w in layer.weights]
        return once([*nested, *self._own_variables(True), *self._own_variables(False)])

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that are trained, layer by layer."""
        if not self.trainable:
            return []
        nested = [w for layer in self._sublayers() for w in layer.trainable_weights]
        return once([*nested, *self._own_variables(True)])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that are not trained."""
        trained = {id(w) for w in self.trainable_weights}
        return [w for w in self.weights if id(w) not in trained]

    @property
    def state_updates(self) -> list[Any]:
        """The updates of layers with a state."""
        return [u for layer in self.layers if layer.stateful for u in layer.updates]

    @property
    def stateful(self) -> bool:
        """Whether a layer has a state that goes on from batch to batch."""
        return any(layer.stateful for layer in self.layers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """Accepted: layers say it."""

    def reset_states(self) -> None:
        """Begin the states of its layers anew."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and layer.stateful:
                layer.reset_states()

    # Calling it

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The outputs for other inputs.

        Raises:
            NotImplementedError: it is no graph of layers, and its class does not say it.
        """
        if self._graph is None:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        tensors = flatten(inputs)
        masks = [None] * len(tensors) if mask is None else flatten(mask)
        known: dict[int, Tensor] = {}
        for own, new, m in zip(self.inputs, tensors, masks, strict=True):
            known[id(own)] = new
            if m is not None:
                new._keras_mask = m
        for node in self._graph.nodes:
            if not node.histories:
                continue
            layer, arguments = node.outbound_layer, dict(node.arguments)
            if training is not None and "training" in call_arguments(type(layer)):
                arguments.setdefault("training", training)
            outputs = layer(
                map_structure(lambda t: known[id(t)], node.input_tensors),
                **map_structure(lambda t: known.get(id(t), t), arguments),
            )
            for own, new in zip(flatten(node.output_tensors), flatten(outputs), strict=True):
                known[id(own)] = new
        outputs = [known[id(t)] for t in self.outputs]
        return pack_sequence_as(self._nested_outputs, outputs)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The masks of its outputs, which its layers set."""
        return None

    def build(self, input_shape: Any) -> None:
        """Make the weights of a model without inputs, by calling it on placeholders."""
        if self._graph is not None or self.built:
            return
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        if isinstance(input_shape, list) and all(
            n is None or isinstance(n, int) for n in input_shape
        ):
            shapes = [input_shape]
        self._build_input_shape = input_shape
        placeholders = [tf.placeholder(self._dtype or "float32", tf.TensorShape(s)) for s in shapes]
        self.call(placeholders[0] if len(placeholders) == 1 else placeholders)
        self.built = True

    def _maybe_build(self, inputs: Any, flat: list[Tensor]) -> None:
        if self._dtype is None and flat:
            self._dtype = flat[0].dtype.base_dtype
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shapes of the outputs for inputs of these shapes."""
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        with tf.name_scope("compute_output_shape"):
            placeholders = [tf.placeholder("float32", tf.TensorShape(s)) for s in shapes]
            outputs = self.call(placeholders[0] if len(placeholders) == 1 else placeholders)
        return map_structure(lambda t: t.get_shape(), outputs)

    # What it is

    def summary(self, line_length: Any = None, positions: Any = None, print_fn: Any = None) -> None:
        """Print its layers, their shapes and numbers of parameters.

        Raises:
            ValueError: it is not built.
        """
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the first "
                "layer(s) for automatic build."
            )
        print_summary(self, line_length, positions, print_fn or print)

    def get_config(self) -> dict[str, Any]:
        """The layers and their connections, as data.

        Raises:
            NotImplementedError: a class of the program calls the layers.
        """
        if self._graph is None:
            raise NotImplementedError
        return network_config(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An equal network, with new weights."""
        inputs, outputs = network_from(config, custom_objects or {})
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))


def _simple(tensors: Any) -> Any:
    """A list of one tensor is that tensor."""
    if isinstance(tensors, (list, tuple)) and len(tensors) == 1:
        return tensors[0]
    return list(tensors) if isinstance(tensors, tuple) else tensors


def _numbered(names: list[str]) -> list[str]:
    """Names of outputs: a layer with several has dense, dense_1, ..."""
    numbered: list[str] = []
    for i, name in enumerate(names):
        before = names[:i].count(name)
        numbered.append(f"{name}_{before}" if before else name)
    return numbered
