"""A layer that is one of TensorFlow's operations, for models of layers and functions."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Operation
from byparts_tf_keras.connections import OP_LAYERS, has_history
from byparts_tf_keras.layer import Layer


class TensorFlowOpLayer(Layer):
    """The operation, on other tensors in the place of those that layers made."""

    def __init__(self, operation: Operation, name: Optional[str] = None) -> None:
        super().__init__(name=name or f"tf_op_layer_{operation.name}")
        self._operation, self.built = operation, True
        self._constants = {i: t for i, t in enumerate(operation.inputs) if not has_history(t)}

    def call(self, inputs: Any) -> Any:
        """The outputs of an operation of the same kind."""
        values, op = iter(flatten(inputs)), self._operation
        tensors = [
            self._constants[i] if i in self._constants else next(values)
            for i in range(len(op.inputs))
        ]
        outputs = op.kind.operation(tensors, None, **op.attributes).outputs
        return outputs[0] if len(outputs) == 1 else list(outputs)

    def get_config(self) -> dict[str, Any]:
        """Refused.

        Raises:
            NotImplementedError: always: operations have no configuration here.
        """
        raise NotImplementedError(
            f"{self.name} is an operation of TensorFlow: wrap it in a Lambda layer to save the "
            "configuration of the model"
        )


OP_LAYERS.append(TensorFlowOpLayer)
