"""Cells of Keras one upon the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.layer import Layer, call_arguments
from byparts_tf_keras.network_config import layer_of, serialize
from byparts_tf_keras.recurrent_cells import zero_states


@symbol("keras.layers.StackedRNNCells")
class StackedRNNCells(Layer):
    """Cells one upon the other, as one cell."""

    def __init__(self, cells: Sequence[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def state_size(self) -> Any:
        """The sizes of the states of all cells."""
        return tuple([c.state_size for c in self.cells])

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        last = self.cells[-1]
        return getattr(last, "output_size", last.state_size)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Zeros."""
        return tuple([zero_states(c, inputs, batch_size, dtype) for c in self.cells])

    def build(self, input_shape: Any) -> None:
        """Make the weights of all cells."""
        shape = tf.TensorShape(input_shape).as_list()
        for cell in self.cells:
            if not cell.built:
                cell.build(tf.TensorShape(shape))
                cell.built = True
            size = getattr(cell, "output_size", cell.state_size)
            shape = [shape[0], size if isinstance(size, int) else size[0]]
        self.built = True

    def call(self, inputs: Any, states: Any, constants: Any = None, training: Any = None) -> Any:
        """(output, states)."""
        news, rest = [], list(states)
        for cell in self.cells:
            several = isinstance(cell.state_size, (list, tuple))
            count = len(cell.state_size) if several else 1
            own = rest[0] if rest and isinstance(rest[0], (list, tuple)) else rest[:count]
            rest = rest[1:] if rest and isinstance(rest[0], (list, tuple)) else rest[count:]
            told = "training" in call_arguments(type(cell))
            inputs, new = cell.call(inputs, own, **({"training": training} if told else {}))
            news += list(new) if isinstance(new, (list, tuple)) else [new]
        return inputs, news

    def get_config(self) -> dict[str, Any]:
        """The cells, as data."""
        cells = [serialize(c) for c in self.cells]
        return {"name": self.name, "trainable": self.trainable, "cells": cells}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An equal one, with new weights."""
        cells = [layer_of(c, custom_objects) for c in config["cells"]]
        return cls(cells, **{k: v for k, v in config.items() if k != "cells"})


def cell_training(cell: Any, training: Optional[Any]) -> dict[str, Any]:
    """The argument `training` of a call of the cell, if it takes one."""
    return {"training": training} if "training" in call_arguments(type(cell)) else {}
