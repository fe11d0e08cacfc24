"""Layers of Keras that have options for each of their weights."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_tf_keras import penalties, starts
from byparts_tf_keras.layer import Layer


class Weighted(Layer):
    """A layer that has an initializer, a regularizer and a constraint for each of its weights."""

    bias_initializer: Any
    moving_mean_initializer: Any
    moving_variance_initializer: Any

    def _options(self, options: dict[str, Any]) -> None:
        """Keep what of the arguments of a constructor is for weights: `bias_constraint`, ..."""
        for key, value in options.items():
            if key.endswith("_initializer"):
                setattr(self, key, starts.get(self.usual_initializer if value is None else value))
            elif key.endswith("_regularizer") and key != "activity_regularizer":
                setattr(self, key, penalties.regularizer_of(value))
            elif key.endswith("_constraint"):
                setattr(self, key, penalties.constraint_of(value))

    def _weight(self, name: str, shape: Any, options: Optional[str] = None) -> Any:
        """A weight, by the options of `options` (its own name by default)."""
        key = options or name
        return self.add_weight(
            name,
            shape,
            initializer=getattr(self, f"{key}_initializer"),
            regularizer=getattr(self, f"{key}_regularizer", None),
            constraint=getattr(self, f"{key}_constraint", None),
        )


def last_of(shape: Any, layer: Any) -> int:
    """The last extent.

    Raises:
        ValueError: it is not known.
    """
    last = tf.TensorShape(shape).as_list()[-1]
    if last is None:
        raise ValueError(
            f"The last dimension of the inputs to `{type(layer).__name__}` should be defined. "
            "Found `None`."
        )
    return int(last)
