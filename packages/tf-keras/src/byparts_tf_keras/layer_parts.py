"""Parts of a layer: weights, losses, updates, layers inside, and the calls it had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.nest import flatten
from byparts_tf_keras.connections import Node, reachable
from byparts_tf_keras.metric import Mean
from byparts_tf_keras.values import batch_get_value, batch_set_value

_NO_LAYERS = {
    "_inbound_nodes",
    "_outbound_nodes",
    "_trainable_weights",
    "_non_trainable_weights",
    "_arguments",
}


def once(things: Any) -> list[Any]:
    """In order, each once."""
    return list({id(t): t for t in things}.values())


class Attached:
    """The part of a layer that is not its computation."""

    name: str
    _name: str
    _dtype: Any
    _trainable: bool
    built: bool
    stateful: bool

    def _begin(self) -> None:
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._own_updates: list[Any] = []
        self._own_losses: list[Any] = []
        self._penalties: list[Callable[[], Any]] = []
        self._own_metrics: list[Any] = []
        self._inbound_nodes: list[Node] = []
        self._outbound_nodes: list[Node] = []

    # Names and types

    @property  # type: ignore[no-redef]  # declared for the properties here
    def name(self) -> str:
        """The name of the layer."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The name of the dtype of its weights, `None` if it is not known yet."""
        return None if self._dtype is None else self._dtype.name

    # Layers inside

    def _sublayers(self) -> list[Any]:
        """The layers among its attributes, lists and dicts included, in order."""
        kept = [v for k, v in self.__dict__.items() if k not in _NO_LAYERS]
        return once(layer for value in kept for layer in _among(value, Attached))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """All layers inside, and those in them."""
        inside = self._sublayers()
        return tuple(once(m for layer in inside for m in (layer, *layer.submodules)))

    # Weights

    @property
    def trainable(self) -> bool:
        """Whether the weights are trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        for layer in self._sublayers():
            layer.trainable = value

    def _own_variables(self, trainable: bool) -> list[Any]:
        """The variables of `add_weight`, then variables that are attributes."""
        own = self._trainable_weights if trainable else self._non_trainable_weights
        kept = [v for k, v in self.__dict__.items() if k not in _NO_LAYERS and k != "_metrics"]
        known = {id(v) for v in (*self._trainable_weights, *self._non_trainable_weights)}
        more = [v for value in kept for v in _among(value, Variable) if id(v) not in known]
        return [*own, *[v for v in more if v.trainable == trainable]]

    @property
    def trainable_weights(self) -> list[Any]:
        """The weights that are trained."""
        if not self.trainable:
            return []
        nested = [w for layer in self._sublayers() for w in layer.trainable_weights]
        return once([*self._own_variables(True), *nested])

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The weights that are not trained; all of them if the layer is not."""
        inside = self._sublayers()
        if self.trainable:
            nested = [w for layer in inside for w in layer.non_trainable_weights]
            return once([*self._own_variables(False), *nested])
        nested = [w for layer in inside for w in layer.weights]
        return once([*self._own_variables(True), *self._own_variables(False), *nested])

    @property
    def weights(self) -> list[Any]:
        """All weights, those that are trained first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def variables(self) -> list[Any]:
        """All weights."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        """The weights that are trained."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The weights that are not trained."""
        return self.non_trainable_weights

    def get_weights(self) -> list[Any]:
        """The values of the weights, as arrays."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Give the weights values.

        Raises:
            ValueError: there are not so many, or a shape is another.
        """
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(own)} weights. Provided "
                f"weights: {str(weights)[:50]}..."
            )
        for w, value in zip(own, weights, strict=True):
            if tuple(w.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Layer weight shape {tuple(w.shape.as_list())} not compatible with provided "
                    f"weight shape {np.shape(value)}"
                )
        batch_set_value(list(zip(own, weights, strict=True)))

    def count_params(self) -> int:
        """The count of numbers in all weights.

        Raises:
            ValueError: it is not built.
        """
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                "can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum([w.shape.num_elements() for w in self.weights]))

    # Losses, updates, metrics

    def _add_penalty(self, weight: Any, regularizer: Any, name: Optional[str]) -> None:
        penalties: list[Any] = []

        def penalty() -> Any:
            if not penalties:
                with tf.name_scope(f"{name}/Regularizer"):
                    penalties.append(regularizer(weight))
            return penalties[0]

        self._penalties.append(penalty)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add to what a model minimizes: tensors, or functions that give them."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if callable(loss):
                self._penalties.append(loss)
            elif loss is not None:
                self._own_losses.append(tf.convert_to_tensor(loss))

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add operations that a model runs beside its training step."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            operation = update() if callable(update) else update
            self._own_updates.append(operation)

    def add_metric(self, value: Any, aggregation: Any = None, name: Optional[str] = None) -> None:
        """Add to what a model reports: a tensor, and how batches are taken together."""
        kept = Mean(name=name) if aggregation == "mean" else None
        self._own_metrics.append((name, value if kept is None else kept(value), kept))

    @property
    def losses(self) -> list[Any]:
        """The losses that `add_loss` was given, and the penalties on weights."""
        own = [*self._own_losses, *[p() for p in self._penalties]]
        return once([*own, *[v for layer in self._sublayers() for v in layer.losses]])

    @property
    def updates(self) -> list[Any]:
        """The updates that `add_update` was given; none where the layer is not trained."""
        if not self.trainable and not self.stateful:
            return []
        nested = [u for layer in self._sublayers() for u in layer.updates]
        return once([*self._own_updates, *nested])

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on these inputs; for `None` those that depend on none."""
        return [u for u in self.updates if self._depends(u, inputs)]

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on these inputs; for `None` those that depend on none."""
        return [v for v in self.losses if self._depends(v, inputs)]

    def _depends(self, thing: Any, inputs: Any) -> bool:
        if inputs is None:
            calls = [t for node in self._inbound_nodes for t in flatten(node.input_tensors)]
            return not reachable(thing, calls)
        return reachable(thing, inputs)

    # Calls

    def _the(self, what: str, at: Optional[int] = None) -> Any:
        nodes = self._inbound_nodes
        if not nodes:
            raise AttributeError(
                f"The layer has never been called and thus has no defined {what[:-7]} shape."
                if what.endswith("shapes")
                else f"Layer {self.name} is not connected, no {what.partition('_')[0]} to return."
            )
        if at is None and len({str(getattr(n, what)) for n in nodes}) > 1:
            raise AttributeError(
                f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer '
                f'{what.partition("_")[0]}" is ill-defined. Use `get_output_at(node_index)` '
                "instead."
            )
        return getattr(nodes[0 if at is None else at], what)

    @property
    def input(self) -> Any:
        """The inputs of its one call."""
        return self._the("input_tensors")

    @property
    def output(self) -> Any:
        """The outputs of its one call."""
        return self._the("output_tensors")

    @property
    def input_shape(self) -> Any:
        """The shape of the inputs of its calls."""
        return self._the("input_shapes")

    @property
    def output_shape(self) -> Any:
        """The shape of the outputs of its calls."""
        return self._the("output_shapes")

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of a call."""
        return self._the("input_tensors", node_index)

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of a call."""
        return self._the("output_tensors", node_index)

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shape of the inputs of a call."""
        return self._the("input_shapes", node_index)

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shape of the outputs of a call."""
        return self._the("output_shapes", node_index)

    @property
    def input_mask(self) -> Any:
        """The mask of its input."""
        return getattr(self.input, "_keras_mask", None)

    @property
    def output_mask(self) -> Any:
        """The mask of its output."""
        return getattr(self.output, "_keras_mask", None)

    @property
    def inbound_nodes(self) -> list[Node]:
        """The calls of the layer."""
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        """The calls that read its outputs."""
        return self._outbound_nodes


def _among(value: Any, kind: type) -> Iterator[Any]:
    """The objects of a class in a value: itself, or in lists, tuples and dicts."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _among(inner, kind)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _among(inner, kind)
