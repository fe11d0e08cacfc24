"""Values of variables in the session of Keras, and functions of placeholders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import get_session


@symbol("keras.backend.get_value")
def get_value(x: Any) -> Any:
    """The value of a variable, as an array."""
    return x if isinstance(x, (int, float, np.ndarray, np.generic)) else get_session().run(x)


@symbol("keras.backend.batch_get_value")
def batch_get_value(tensors: Any) -> list[Any]:
    """The values of variables, as arrays."""
    return list(get_session().run(list(tensors))) if tensors else []


@symbol("keras.backend.eval")
def evaluate(x: Any) -> Any:
    """The value of a tensor that needs no feed."""
    return get_session().run(x)


@symbol("keras.backend.set_value")
def set_value(x: Any, value: Any) -> None:
    """Give a variable a value."""
    batch_set_value([(x, value)])


@symbol("keras.backend.batch_set_value")
def batch_set_value(tuples: Any) -> None:
    """Give variables values: pairs of a variable and an array."""
    if not tuples:
        return
    session = get_session()
    for variable, value in tuples:
        session.load(variable, np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype))


class Function:
    """A function of placeholders: runs outputs and updates in the session of Keras.

    Args:
        inputs: placeholders, in any structure.
        outputs: tensors, in any structure.
        updates: operations, or pairs of a variable and its new value; after the outputs.
        feed: what is fed besides.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        updates: Any = None,
        feed: Optional[Mapping[Any, Any]] = None,
    ) -> None:
        self.inputs, self.outputs = flatten(inputs), flatten(outputs)
        self._structure, self._feed = outputs, dict(feed or {})
        ops = []
        with tf.control_dependencies([t for t in self.outputs if isinstance(t, Tensor)][:1]):
            for update in updates or ():
                made = tf.assign(*update) if isinstance(update, tuple) else update
                ops.append(getattr(made, "op", made))
            group = (tf.group(*ops),) if ops else ()
        self._fetches = (*self.outputs, *group)

    def __call__(self, inputs: Any) -> Any:
        """The outputs, in their structure."""
        feed = dict(self._feed)
        for tensor, value in zip(self.inputs, _listed(inputs, len(self.inputs)), strict=True):
            if value is None:
                raise ValueError(f"Feeding from symbolic tensors is not supported: {tensor}")
            if isinstance(tensor, int):  # a learning phase that was set
                continue
            feed[tensor] = value
        results = get_session().run(self._fetches, feed)
        return pack_sequence_as(self._structure, list(results[: len(self.outputs)]))


def _listed(inputs: Any, count: int) -> list[Any]:
    if count == 1 and not isinstance(inputs, (list, tuple)):
        return [inputs]
    return list(inputs)


@symbol("keras.backend.function", "python.keras.backend.function")
def function(
    inputs: Any, outputs: Any, updates: Any = None, name: Optional[str] = None, **kwargs: Any
) -> Function:
    """A function of placeholders."""
    return Function(inputs, outputs, updates)
