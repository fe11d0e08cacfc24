"""`tf.layers.Layer`: a layer of Keras whose variables are in a variable scope of its name.

The scope is opened when the layer is first called: "dense", or "dense_1" where there is one.  Later
calls find the variables again.  Penalties and updates are in the graph's collections, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.shape import TensorShape
from byparts_tf_keras.connections import has_history
from byparts_tf_keras.layer import Layer as KerasLayer
from byparts_tf_keras.state import snake, track_variable


@symbol("layers.Layer", "python.layers.base.Layer")
class Layer(KerasLayer):
    """A base class: a subclass makes variables in `build` and computes in `call`.

    Args:
        trainable: whether optimizers change its variables by default.
        name: of its scope; by default that of the class, in small letters.
        dtype: of its variables; by default that of the first input.
        _scope: its scope, a name or one that was captured.
        _reuse: whether its variables are there already.
    """

    usual_initializer = None  # that of the variable scope
    usual_layout = "channels_last"

    def __init__(
        self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        self._reuse, scope = kwargs.pop("_reuse", None), kwargs.pop("_scope", None)
        super().__init__(trainable, name, dtype, **kwargs)
        self._base_name = name or snake(type(self).__name__)
        self._scope: Any = None
        if scope is not None:
            with variable_scope(scope) as captured:
                self._scope = captured

    def __call__(self, inputs: Any, *arguments: Any, **kwargs: Any) -> Any:
        """The outputs for these inputs; the first call makes the variables."""
        with self._entered(kwargs.pop("scope", None)):
            return super().__call__(map_structure(_tensor, inputs), *arguments, **kwargs)

    @contextmanager
    def _entered(self, scope: Any = None) -> Iterator[None]:
        """Inside of its variable scope, which `scope` or its name says when it is first entered."""
        if self._scope is None:
            if self._reuse:
                opened = variable_scope(self._base_name if scope is None else scope)
            else:
                opened = variable_scope(scope, default_name=self._base_name)
            with opened as captured:
                self._scope = captured
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as entered:
            self._current_scope = entered
            yield

    def _scope_name(self) -> Any:
        return self._current_scope.original_name_scope or None

    def _own_outputs(self, outputs: Any, flat: list[Tensor]) -> Any:
        if flat and all(has_history(t) for t in flat):
            return super()._own_outputs(outputs, flat)
        return outputs

    # Variables, losses, updates

    def add_weight(
        self,
        name: Any = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: Optional[bool] = None,
        constraint: Any = None,
        **kwargs: Any,
    ) -> Any:
        """A variable of this layer, made or found in its scope."""
        penalties = len(get_collection(GraphKeys.REGULARIZATION_LOSSES))
        existing = set(get_collection(GraphKeys.GLOBAL_VARIABLES)) if regularizer else ()
        wanted = self.trainable and trainable is not False
        with self._entered():
            variable = get_variable(
                name,
                TensorShape(shape),
                (self._dtype if dtype is None else as_dtype(dtype)) or None,
                initializer,
                trainable=wanted,
                constraint=constraint,
                partitioner=kwargs.get("partitioner"),
                use_resource=kwargs.get("use_resource"),
            )
            if regularizer is not None and variable not in existing:
                with name_scope(f"{name}/Regularizer"):
                    penalty = regularizer(variable)
                if penalty is not None:
                    add_to_collection(GraphKeys.REGULARIZATION_LOSSES, penalty)
        self._own_losses += get_collection(GraphKeys.REGULARIZATION_LOSSES)[penalties:]
        if not any(variable is w for w in (*self._trainable_weights, *self._non_trainable_weights)):
            trained = getattr(variable, "trainable", False)  # a getter may give a tensor
            (self._trainable_weights if trained else self._non_trainable_weights).append(variable)
            if isinstance(variable, Variable):
                track_variable(variable)
        return variable

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add to REGULARIZATION_LOSSES: tensors, or functions that give them."""
        tensors = [loss() if callable(loss) else loss for loss in flatten(losses)]
        super().add_loss(tensors, inputs)
        for loss in tensors:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add to UPDATE_OPS, if this layer is trained: what runs beside a training step."""
        before = len(self._own_updates)
        super().add_update(flatten(updates), inputs)
        for update in self._own_updates[before:] if self.trainable else ():
            add_to_collection(GraphKeys.UPDATE_OPS, update)

    # What it is

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
        return self.weights[0].graph if self.weights else get_default_graph()


def _tensor(value: Any) -> Any:
    return value if value is None else convert_to_tensor(value)
