"""`tf.keras.layers.Layer`: weights made at the first call, and a function of tensors."""

from __future__ import annotations

import inspect
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_keras import penalties, starts
from byparts_tf_keras.configuration import (
    arguments_of,
    is_own,
    remember_arguments,
)
from byparts_tf_keras.connections import (
    connect,
    give_history,
    has_history,
    masks_of,
    shape_like,
)
from byparts_tf_keras.layer_parts import Attached
from byparts_tf_keras.state import floatx, snake, track_variable, unique_name

_GIVEN = {
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "input_dim",
    "input_length",
    "autocast",
    "dynamic",
}

_NO_SPEC: Any = None


class _Context:
    """The calls of layers that are going on: how deep, and whether they are training."""

    depth = 0
    training: Any = None


def call_arguments(kind: Any) -> frozenset[str]:
    """The names of the arguments of `call`."""
    names = kind.__dict__.get("_call_arguments")
    if names is None:
        names = kind._call_arguments = frozenset(inspect.signature(kind.call).parameters)
    return names  # type: ignore[no-any-return]  # what was kept


@symbol("keras.layers.Layer", "python.keras.engine.base_layer.Layer")
class Layer(Attached):
    """A base class: a subclass makes weights in `build` and computes in `call`.

    Args:
        trainable: whether its weights are trained.
        name: of the layer, and of the scope of its weights and operations.
        dtype: of its weights; by default that of the first input.
        given: input_shape, batch_input_shape, batch_size, weights, activity_regularizer.

    Raises:
        TypeError: another argument is given; the name is no text.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        remember_arguments(cls)

    def __init__(
        self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        for key in kwargs:
            if key not in _GIVEN:
                raise TypeError("Keyword argument not understood:", key)
        self._trainable, self.stateful, self.built = trainable, False, False
        self.supports_masking, self.input_spec = False, _NO_SPEC
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a layer is a text, and is {name!r:.80}")
        self._name = name or unique_name(snake(type(self).__name__))
        self._dtype = None if dtype is None else as_dtype(dtype).base_dtype
        self._begin()
        self._initial_weights = kwargs.get("weights")
        self.activity_regularizer = penalties.regularizer_of(kwargs.get("activity_regularizer"))
        shape = kwargs.get("batch_input_shape")
        if shape is None and kwargs.get("input_shape") is not None:
            shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        elif shape is None and kwargs.get("input_dim") is not None:
            length = kwargs.get("input_length")
            rest = (kwargs["input_dim"],) if length is None else (length, kwargs["input_dim"])
            shape = (kwargs.get("batch_size"), *rest)
        if shape is not None:
            self._batch_input_shape = tuple(shape)

    usual_initializer: Any = "glorot_uniform"  # of a weight, where `None` is given
    usual_layout: Optional[str] = None  # where channels are; `None`: as Keras's backend says

    # What a subclass says

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape."""
        self.built = True

    def call(self, *inputs: Any, **kwargs: Any) -> Any:
        """The outputs: of one input, it by default."""
        return inputs[0]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: that of the inputs.

        Raises:
            TypeError: there is a mask, and the layer does not support masking.
        """
        if not self.supports_masking:
            if any(m is not None for m in flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask: "
                    f"{mask}"
                )
            return None
        return mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of this shape.

        Raises:
            NotImplementedError: the layer has weights, and its class does not say it.
        """
        if self.weights or not is_own(type(self)):
            raise NotImplementedError(
                f"{type(self).__name__} must implement compute_output_shape to be wrapped"
            )
        with tf.Graph().as_default():
            dtype = self._dtype or floatx()
            kept = dict(self.__dict__)
            outputs = self.call(tf.placeholder(dtype, input_shape))
            self.__dict__.update(kept)
            return shape_like(outputs)

    # Calling it

    def __call__(self, inputs: Any, *arguments: Any, **kwargs: Any) -> Any:
        """The outputs for these inputs; the first call makes the weights."""
        inputs = map_structure(_tensor, inputs)
        flat = [t for t in flatten(inputs) if isinstance(t, Tensor)]
        outermost = _Context.depth == 0
        if outermost:
            give_history(flat)
        connected = bool(flat) and all(has_history(t) for t in flat)
        remembered = {k: v for k, v in kwargs.items() if v is not None}
        self._give_mask(inputs, arguments, kwargs)
        before = _Context.training
        self._give_training(arguments, kwargs)
        _Context.depth += 1
        try:
            with tf.name_scope(self._scope_name()):
                self._maybe_build(inputs, flat)
                outputs = self.call(inputs, *arguments, **kwargs)
            if outputs is None:
                raise ValueError(
                    "A layer's `call` method should return a Tensor or a list of Tensors, not "
                    f"None (layer: {self.name})."
                )
            outputs = self._own_outputs(outputs, flat)
            self._penalize(outputs)
            self._mask_outputs(inputs, outputs, kwargs.get("mask", masks_of(inputs)))
        finally:
            _Context.depth -= 1
            _Context.training = before
        if connected and outermost:
            connect(self, inputs, outputs, remembered)
        return outputs

    def apply(self, inputs: Any, *arguments: Any, **kwargs: Any) -> Any:
        """Call the layer."""
        return self(inputs, *arguments, **kwargs)

    def _scope_name(self) -> str:
        return self.name

    def _give_mask(self, inputs: Any, arguments: Any, kwargs: dict[str, Any]) -> None:
        if "mask" in call_arguments(type(self)) and "mask" not in kwargs and not arguments:
            masks = masks_of(inputs)
            if masks is not None:
                kwargs["mask"] = masks

    def _give_training(self, arguments: Any, kwargs: dict[str, Any]) -> None:
        """Layers inside hear whether an outer one was told that this is training."""
        if "training" not in call_arguments(type(self)):
            return
        if kwargs.get("training") is not None:
            _Context.training = kwargs["training"]
        elif _Context.training is not None and not arguments:
            kwargs["training"] = _Context.training

    def _maybe_build(self, inputs: Any, flat: list[Tensor]) -> None:
        self._check_inputs(flat)
        if self.built:
            return
        if self._dtype is None and flat:
            self._dtype = flat[0].dtype.base_dtype
        shapes = shape_like(inputs)
        self.build(shapes)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _check_inputs(self, flat: list[Tensor]) -> None:
        specs = self.input_spec if isinstance(self.input_spec, (list, tuple)) else [self.input_spec]
        for i, (t, spec) in enumerate(zip(flat, specs, strict=False)):
            for misfit in () if spec is None else spec.misfits(t):
                raise ValueError(
                    f"Input {i} of layer {self.name} is incompatible with the layer: {misfit}"
                )

    def _own_outputs(self, outputs: Any, flat: list[Tensor]) -> Any:
        """Outputs that are inputs are copied: a tensor comes of one layer."""
        same = {id(t) for t in flat}

        def own(t: Any) -> Any:
            return tf.identity(t) if id(t) in same else _tensor(t)

        return map_structure(own, outputs)

    def _penalize(self, outputs: Any) -> None:
        if self.activity_regularizer is not None:
            with tf.name_scope("ActivityRegularizer"):
                for t in flatten(outputs):
                    penalty = self.activity_regularizer(t)
                    self.add_loss(penalty / tf.cast(tf.shape(t)[0], penalty.dtype), inputs=True)

    def _mask_outputs(self, inputs: Any, outputs: Any, mask: Any) -> None:
        flat = flatten(outputs)
        overridden = type(self).compute_mask is not Layer.compute_mask
        if not (self.supports_masking or overridden):
            return
        if any(getattr(t, "_keras_mask", None) is not None for t in flat):
            return
        masks = self.compute_mask(inputs, mask)
        listed = [masks] if isinstance(outputs, Tensor) else flatten(masks)
        for t, m in zip(flat, listed, strict=False):
            if m is not None:
                t._keras_mask = m

    # Weights

    def add_weight(
        self,
        name: Optional[str] = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: Optional[bool] = None,
        constraint: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A new weight of this layer, in its scope."""
        if name is not None and not isinstance(name, str):  # an old program: shape, initializer
            name, shape, initializer = None, name, shape
        kind = as_dtype(dtype or self._dtype or floatx()).base_dtype
        if initializer is None:
            initializer = "glorot_uniform" if kind.is_floating else "zeros"
        initializer = starts.get(initializer)
        dims = [] if shape is None else tf.TensorShape(shape).as_list()
        weight = tf.Variable(
            lambda: initializer(dims, dtype=kind),
            trainable=trainable is not False,
            name=name,
            dtype=kind,
            constraint=penalties.constraint_of(constraint),
            use_resource=True,
        )
        track_variable(weight)
        (self._trainable_weights if trainable is not False else self._non_trainable_weights).append(
            weight
        )
        if regularizer is not None:
            self._add_penalty(weight, penalties.regularizer_of(regularizer), name)
        return weight

    def add_variable(self, *arguments: Any, **kwargs: Any) -> Any:
        """Add a weight, as `add_weight`."""
        return self.add_weight(*arguments, **kwargs)

    # Configurations

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal layer, without its weights.

        Raises:
            NotImplementedError: a class of the program with arguments of its own does not say it.
        """
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        config.update(arguments_of(self))
        if not is_own(type(self)) and "get_config" not in _said(type(self)):
            more = set(inspect.signature(type(self).__init__).parameters) - {"self", *config}
            if more - {"kwargs", "args"} and "__init__" in _said(type(self)):
                raise NotImplementedError(
                    "Layers with arguments in `__init__` must override `get_config`."
                )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An equal layer, with new weights."""
        return cls(**config)


def _said(kind: type) -> set[str]:
    """The names that classes of the program say."""
    return {name for k in kind.__mro__ if not is_own(k) and k is not object for name in vars(k)}


def _tensor(value: Any) -> Any:
    if isinstance(value, Tensor) or value is None:
        return value
    if isinstance(value, (float, int, bool)) or (
        isinstance(value, np.ndarray) and value.dtype == np.float64
    ):
        return convert_to_tensor(value, floatx())
    return convert_to_tensor(value)
