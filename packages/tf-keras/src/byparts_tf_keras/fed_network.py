"""A network that takes data: arrays, generators, datasets."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_tf_keras.compiled import Compiled
from byparts_tf_keras.connections import connect
from byparts_tf_keras.data import (
    Batches,
    Sequence,
    check_lengths,
    is_dataset,
    is_stream,
    parts_of,
    standardized,
)
from byparts_tf_keras.inputs import input_of
from byparts_tf_keras.layer import call_arguments
from byparts_tf_keras.loops import Arrays, Source, Stream
from byparts_tf_keras.network import Network
from byparts_tf_keras.state import floatx, learning_phase
from byparts_tf_keras.targets import Expected, check_sparse, weights_of


class FedNetwork(Network):
    """A network to which data is given, in the order of its placeholders."""

    def _runner(self) -> Compiled:
        """The functions of the model, which say which inputs and targets are fed."""
        raise NotImplementedError

    def _set_inputs(self, x: Any) -> None:
        """Make placeholders in the shapes of the first data, and call the model on them."""
        if self.inputs and self.outputs:
            return
        arrays = x if isinstance(x, dict) else map_structure(_array, x)
        if isinstance(x, (list, tuple)) and not hasattr(_array(flatten(x)[0]), "ndim"):
            arrays = np.asarray(x)
        if isinstance(arrays, (list, tuple)) and all(np.ndim(a) == 0 for a in arrays):
            arrays = np.asarray(arrays)

        def placeholder(array: Any) -> Any:
            array = np.expand_dims(array, 1) if array.ndim == 1 else array
            dtype = floatx() if array.dtype.kind == "f" else str(array.dtype)
            return input_of(shape=array.shape[1:], dtype=dtype)

        if isinstance(arrays, dict):
            inputs: Any = {k: placeholder(_array(v)) for k, v in arrays.items()}
        else:
            inputs = map_structure(placeholder, arrays)
        made = flatten(inputs)
        self.built = True
        if type(self).__name__ == "Sequential":
            outputs = self.call(inputs)
        else:
            told = "training" in call_arguments(type(self))
            outputs = self(inputs, **({"training": learning_phase()} if told else {}))
        self.inputs, self.outputs = made, flatten(outputs)
        self.input_names = [t._keras_history.layer.name for t in made]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        if not self._inbound_nodes:
            connect(self, inputs, outputs)

    def _first_seen(self, x: Any) -> Any:
        """The data; a model without inputs is built by the first of them."""
        if self.inputs is not None:
            return x
        if isinstance(x, Sequence):
            self._set_inputs(parts_of(x[0])[0])
        elif hasattr(x, "__next__"):
            first = next(x)
            self._set_inputs(parts_of(first)[0])
            return chain([first], x)
        elif is_dataset(x):
            self._set_inputs(parts_of(next(Batches(x, None, False).epoch()))[0])
        else:
            self._set_inputs(x)
        return x

    def _arrays(self, x: Any, y: Any = None, weights: Any = None, classes: Any = None) -> Any:
        """(arrays in the order of the placeholders, whether there are weights)."""
        self._set_inputs(x)
        runner = self._runner()
        names = [
            n
            for n, t in zip(self.input_names, self.inputs, strict=True)
            if any(t is f for f in runner.fed_inputs)
        ]
        inputs = standardized(x, names, runner.fed_inputs, "input") if names else []
        if y is None:
            check_lengths(inputs, [], [])
            return inputs, False
        outputs = [o for o in runner.trained if o.fed]
        tensors = [Expected(o) for o in outputs]
        targets = standardized(y, [o.name for o in outputs], tensors, "target")
        check_sparse(outputs, targets)
        rows = weights_of(weights, classes, runner.trained, targets)
        check_lengths(inputs, targets, rows or [])
        return [*inputs, *targets, *(rows or [])], rows is not None

    def _source(
        self, x: Any, y: Any, weights: Any, classes: Any, size: Any, steps: Any, shuffle: Any
    ) -> tuple[Source, bool]:
        """(batches, whether there are weights)."""
        if is_stream(x):
            batches = Batches(x, steps, bool(shuffle))
            told: dict[str, bool] = {}

            def prepare(batch: Any) -> list[Any]:
                arrays, told["weighted"] = self._arrays(*parts_of(batch), classes)
                return list(arrays)

            return Told(batches, prepare, told), False
        arrays, weighted = self._arrays(x, y, weights, classes)
        return Arrays(arrays, size or 32, shuffle, steps), weighted


class Told(Stream):
    """Batches of a stream that say whether there are weights."""

    def __init__(self, batches: Batches, prepare: Any, told: dict[str, bool]) -> None:
        super().__init__(batches, prepare)
        self.told = told


def _array(value: Any) -> Any:
    return value if hasattr(value, "shape") and hasattr(value, "ndim") else np.asarray(value)
