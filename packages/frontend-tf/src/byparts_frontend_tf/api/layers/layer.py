"""`tf.layers.Layer`: variables made once, in a scope of the layer's name, and a function of inputs.

The scope is opened when the layer is first called: "dense", or "dense_1" where there is one.  Later
calls find the variables again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.dtypes import as_dtype
from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection, name_scope
from byparts_frontend_tf.graph.shape import TensorShape
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol

_COUNTS = "counts of layers' names"


@symbol("layers.InputSpec", "keras.layers.InputSpec")
class InputSpec:
    """What a layer asks of an input: dtype, rank, some of its dimensions."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: Optional[int] = None,
        max_ndim: Optional[int] = None,
        min_ndim: Optional[int] = None,
        axes: Optional[dict[int, int]] = None,
    ) -> None:
        self.dtype, self.shape, self.ndim = dtype, shape, ndim
        self.max_ndim, self.min_ndim, self.axes = max_ndim, min_ndim, axes or {}


@symbol("layers.Layer", "python.layers.base.Layer")
class Layer:
    """A base class: a subclass makes variables in `build` and computes in `call`.

    Args:
        trainable: whether optimizers change its variables by default.
        name: of its scope; by default that of the class, in small letters.
        dtype: of its variables; by default that of the first input.
        _scope: its scope, a name or one that was captured.
        _reuse: whether its variables are there already.
    """

    def __init__(
        self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, **given: Any
    ) -> None:
        self.trainable, self.built = trainable, False
        self._dtype = None if dtype is None else as_dtype(dtype).base_dtype
        self._reuse, scope = given.pop("_reuse", None), given.pop("_scope", None)
        self.activity_regularizer = given.pop("activity_regularizer", None)
        self.input_spec: Any = None
        self._weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._base_name = name or _snake(type(self).__name__)
        self._name = name or _numbered(self._base_name)
        self._scope: Any = None
        if scope is not None:
            with variable_scope(scope) as captured:
                self._scope = captured

    # What a subclass says

    def build(self, input_shape: Any) -> None:
        """Make the variables for inputs of this shape."""
        self.built = True

    def call(self, inputs: Any, *arguments: Any, **given: Any) -> Any:
        """The outputs."""
        return inputs

    # Calling it

    def __call__(self, inputs: Any, *arguments: Any, **given: Any) -> Any:
        """The outputs for these inputs; the first call makes the variables."""
        self._capture(given.pop("scope", None))
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current_scope = scope
            with name_scope(scope.original_name_scope or None):
                if not self.built:
                    self._build(inputs)
                outputs = self.call(inputs, *arguments, **given)
        if self.activity_regularizer is not None:
            for output in flatten(outputs):
                self.add_loss(self.activity_regularizer(output))
        return outputs

    def apply(self, inputs: Any, *arguments: Any, **given: Any) -> Any:
        """As a call."""
        return self(inputs, *arguments, **given)

    def _capture(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            made = variable_scope(self._base_name if scope is None else scope)
        else:
            made = variable_scope(scope, default_name=self._base_name)
        with made as captured:
            self._scope = captured

    def _build(self, inputs: Any) -> None:
        tensors = [convert_to_tensor(t) for t in flatten(inputs)]
        if self._dtype is None and tensors:
            self._dtype = tensors[0].dtype.base_dtype
        shapes = [t.get_shape() for t in tensors]
        self._check(tensors)
        self.build(shapes[0] if len(shapes) == 1 else shapes)
        self.built = True

    def _check(self, tensors: list[Tensor]) -> None:
        spec, least = self.input_spec, getattr(self.input_spec, "min_ndim", None)
        for t in tensors if isinstance(spec, InputSpec) else ():
            rank = t.get_shape().ndims
            if rank is not None and spec.ndim is not None and rank != spec.ndim:
                raise ValueError(
                    f"Input 0 of layer {self.name} is incompatible with the layer: expected "
                    f"ndim={spec.ndim}, found ndim={rank}. Full shape received: {t.get_shape()}"
                )
            if rank is not None and least is not None and rank < least:
                raise ValueError(
                    f"Input 0 of layer {self.name} is incompatible with the layer: its rank is "
                    f"undefined, or less than {least}: {t.get_shape()}"
                )

    # Variables, losses, updates

    def add_weight(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: Optional[bool] = None,
        constraint: Any = None,
        **given: Any,
    ) -> Any:
        """A variable of this layer, made or found in its scope."""
        penalties = len(get_collection(GraphKeys.REGULARIZATION_LOSSES))
        made = get_variable(
            name,
            TensorShape(shape),
            (self._dtype if dtype is None else as_dtype(dtype)) or None,
            initializer,
            regularizer,
            trainable=self.trainable and (trainable is None or trainable),
            constraint=constraint,
            partitioner=given.get("partitioner"),
            use_resource=given.get("use_resource"),
        )
        if made not in self._weights:
            self._weights.append(made)
        self._losses += get_collection(GraphKeys.REGULARIZATION_LOSSES)[penalties:]
        return made

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add to REGULARIZATION_LOSSES."""
        for loss in flatten(losses):
            self._losses.append(loss)
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add to UPDATE_OPS: what a program runs beside its training step."""
        for update in flatten(updates):
            self._updates.append(update)
            add_to_collection(GraphKeys.UPDATE_OPS, update)

    def _trained(self, wanted: bool) -> list[Any]:
        return [v for v in self._weights if (v.trainable and self.trainable) == wanted]

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables that optimizers change."""
        return self._trained(True)

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other ones."""
        return self._trained(False)

    @property
    def weights(self) -> list[Any]:
        """All variables, those that are trained first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    variables = weights

    @property
    def losses(self) -> list[Any]:
        """What `add_loss` was given, and the penalties on its variables."""
        return list(self._losses)

    @property
    def updates(self) -> list[Any]:
        """What `add_update` was given."""
        return list(self._updates)

    # What it is

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The name of the dtype of its variables, `None` before the first call."""
        return None if self._dtype is None else self._dtype.name

    @property
    def scope_name(self) -> str:
        """The name of its variable scope.

        Raises:
            ValueError: it was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self.name}" has not been '
                "used yet."
            )
        return str(self._scope.name)

    @property
    def graph(self) -> Any:
        """The graph of its variables."""
        return self._weights[0].graph if self._weights else get_default_graph()

    def count_params(self) -> int:
        """How many numbers its variables have."""
        return sum(v.get_shape().num_elements() for v in self._weights)

    def get_weights(self) -> list[Any]:
        """The values of its variables, in the default session."""
        return [v.eval() for v in self.weights]


def _snake(name: str) -> str:
    """TensorFlow's name for a class: BasicLSTMCell is basic_lstm_cell."""
    apart = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", apart).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def _numbered(base: str) -> str:
    counts = get_default_graph().kept.setdefault(_COUNTS, {})
    counts[base] = counts.get(base, 0) + 1
    return base if counts[base] == 1 else f"{base}_{counts[base] - 1}"


def activation_of(given: Any) -> Optional[Callable[..., Any]]:
    """The function that is meant; `None` for none.

    Raises:
        ValueError: no activation has this name.
    """
    if given is None or callable(given):
        return given  # type: ignore[no-any-return]  # a function
    import byparts_frontend_tf as tf

    names: dict[str, Any] = {"linear": None}
    if given in names:
        return None
    found = getattr(tf.nn, str(given), None)
    if found is None:
        raise ValueError(f"Unknown activation function: {given}")
    return found  # type: ignore[no-any-return]  # a function


def sizes(given: Any, count: int, what: str) -> tuple[int, ...]:
    """A number for each spatial dimension.

    Raises:
        ValueError: not a number, nor so many.
    """
    if isinstance(given, int):
        return (given,) * count
    made = tuple(int(g) for g in given) if isinstance(given, Iterable) else ()
    if len(made) != count:
        raise ValueError(f"The `{what}` argument must be a tuple of {count} integers. Got: {given}")
    return made
