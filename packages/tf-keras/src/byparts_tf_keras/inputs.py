"""`tf.keras.Input`: a placeholder that a layer made."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import op_layer  # noqa: F401 - what begins with an input may meet operations
from byparts_tf_keras.connections import connect
from byparts_tf_keras.layer import Layer
from byparts_tf_keras.state import floatx, get_uid


@symbol("keras.layers.InputLayer", "python.keras.engine.input_layer.InputLayer")
class InputLayer(Layer):
    """A layer without inputs, where a model begins.

    Args:
        input_shape: of one example.
        batch_size: of the placeholder; unknown by default.
        dtype: float32 by default.
        input_tensor: is used in place of a new placeholder.
        sparse: whether the placeholder is sparse.
        name: input_1, input_2, ... by default.
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: Optional[int] = None,
        dtype: Any = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        if "batch_input_shape" in kwargs:
            whole = tuple(kwargs.pop("batch_input_shape"))
            batch_size, input_shape = whole[0], whole[1:]
        if kwargs.pop("ragged", False) or kwargs.pop("optional", False):
            raise NotImplementedError("InputLayer: ragged and optional inputs are not here")
        kwargs.pop("optional", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
        if isinstance(input_shape, int):
            input_shape = (input_shape,)
        if input_tensor is not None:
            dtype = input_tensor.dtype.base_dtype
        super().__init__(dtype=dtype or floatx(), name=name or f"input_{get_uid('input')}")
        self.sparse, self.built, self.supports_masking = sparse, True, True
        if input_tensor is None:
            shape = (batch_size, *tf.TensorShape(input_shape).as_list())
            make = tf.sparse_placeholder if sparse else tf.placeholder
            with tf.name_scope(None):
                input_tensor = make(self._dtype, shape, name=self.name)
        dims = input_tensor.get_shape()
        known: Any = None if dims.ndims is None else tuple(dims.as_list())
        self._batch_input_shape = known
        self.is_placeholder = input_tensor.op.type.startswith("Placeholder")
        input_tensor._keras_mask = None
        connect(self, [], [input_tensor])
        self._inbound_nodes[0].input_tensors = [input_tensor]
        self._inbound_nodes[0].input_shapes = self._inbound_nodes[0].output_shapes

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer."""
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "name": self.name,
        }


@symbol("keras.Input", "keras.layers.Input")
def input_of(
    shape: Any = None,
    batch_size: Optional[int] = None,
    name: Optional[str] = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    **kwargs: Any,
) -> Any:
    """A placeholder for examples of this shape.

    Raises:
        ValueError: neither a shape nor a tensor.
    """
    if "batch_shape" in kwargs:
        whole = tuple(kwargs.pop("batch_shape"))
        batch_size, shape = whole[0], whole[1:]
    kwargs.pop("ragged", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
    if shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    layer = InputLayer(
        shape, batch_size=batch_size, name=name, dtype=dtype, sparse=sparse, input_tensor=tensor
    )
    return layer._inbound_nodes[0].output_tensors[0]
