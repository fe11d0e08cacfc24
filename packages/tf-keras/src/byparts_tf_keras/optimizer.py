"""The base of Keras's optimizers: numbers that a program may set, slots, gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.train.row_updates import Rule
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import starts
from byparts_tf_keras.objects import plain
from byparts_tf_keras.state import track_variable
from byparts_tf_keras.values import batch_get_value, batch_set_value, get_value


@symbol("keras.optimizers.Optimizer", "python.keras.optimizer_v2.optimizer_v2.OptimizerV2")
class Optimizer:
    """A subclass says the rule, slots and rates; or how one variable changes.

    Args:
        name: of the scope of its variables.
        given: clipnorm, clipvalue, lr (the old name of learning_rate), decay.

    Raises:
        TypeError, ValueError: another argument; a negative one.
    """

    rule: Optional[Rule] = None
    slots: Sequence[str] = ()
    _use_locking = True

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._hyper: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key not in ("clipnorm", "clipvalue", "lr", "decay"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name, self._made = name, False
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                setattr(self, key, kwargs[key])
        self._initial_decay = kwargs.get("decay") or 0.0
        self._slots: dict[Any, dict[str, Any]] = {}
        self._own: list[Any] = []
        self._iterations: Any = None

    # Numbers

    def _set_hyper(self, name: str, value: Any) -> None:
        before = self._hyper.get(name)
        if isinstance(before, tf.Variable) and not callable(value):
            batch_set_value([(before, value)])
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        self._create_hypers()
        value = self._hyper[name]
        if callable(value) and not isinstance(value, (Tensor, tf.Variable)):
            if isinstance(value, LearningRateSchedule):
                return value
            value = value()
        return value if dtype is None else tf.cast(value, dtype)

    def _create_hypers(self) -> None:
        if self._made:
            return
        self._made = True
        for name, value in sorted(self._hyper.items()):
            if not callable(value) and not isinstance(value, (Tensor, tf.Variable)):
                self._hyper[name] = self.add_weight(name, (), initializer=value, tracked=False)
                self._hyper[name]._keras_first = value

    def __getattr__(self, name: str) -> Any:
        hyper = self.__dict__.get("_hyper", {})
        name = "learning_rate" if name == "lr" else name
        if name in hyper:
            self._create_hypers()
            return self._hyper[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        known = "learning_rate" if name == "lr" else name
        if known in self.__dict__.get("_hyper", {}):
            self._set_hyper(known, value)
        else:
            object.__setattr__(self, name, value)

    def _decayed_lr(self, dtype: Any) -> Any:
        rate = self._get_hyper("learning_rate")
        steps = tf.cast(self.iterations, dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = rate(steps)
        rate = tf.cast(rate, dtype)
        if self._initial_decay > 0.0:
            rate = rate / (1.0 + tf.cast(self._get_hyper("decay"), dtype) * steps)
        return rate

    @property
    def iterations(self) -> Any:
        """The number of steps taken: a variable."""
        if self._iterations is None:
            self._iterations = self.add_weight("iter", (), tf.int64, "zeros")
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._iterations = variable

    # Variables

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = "zeros",
        trainable: bool = False,
        tracked: bool = True,
        **kwargs: Any,
    ) -> Any:
        """A variable of the optimizer."""
        kind = tf.as_dtype(dtype or "float32")
        if isinstance(initializer, str) or callable(initializer):
            start, dims = starts.get(initializer), tf.TensorShape(shape).as_list()
            weight = tf.Variable(
                lambda: start(dims, dtype=kind), name=name, trainable=trainable, dtype=kind
            )
        else:
            weight = tf.Variable(initializer, name=name, trainable=trainable, dtype=kind)
        track_variable(weight)
        if tracked:
            self._own.append(weight)
        return weight

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """A variable of the shape of another."""
        slots = self._slots.setdefault(var, {})
        if slot_name not in slots:
            slots[slot_name] = self.add_weight(
                f"{var.op.name}/{slot_name}", var.shape, var.dtype.base_dtype, initializer
            )
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """A slot of a variable."""
        return self._slots[var][slot_name]

    @property
    def weights(self) -> list[Any]:
        """The variables of the optimizer: the number of steps, and slots."""
        return list(self._own)

    def variables(self) -> list[Any]:
        """The variables of the optimizer."""
        return self.weights

    def get_weights(self) -> list[Any]:
        """The values of its variables."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Give its variables values.

        Raises:
            ValueError: there are not so many.
        """
        if len(weights) != len(self.weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(self.weights)} "
                "weights."
            )
        batch_set_value(list(zip(self.weights, weights, strict=True)))

    # Gradients

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients, clipped as it was told.

        Raises:
            ValueError: one of them is `None`.
        """
        with tf.name_scope("gradients"):
            gradients = tf.gradients(loss, params)
            for g, p in zip(gradients, params, strict=True):
                if g is None:
                    raise ValueError(
                        f"Variable {p} has `None` for gradient. Please make sure that all of your "
                        "ops have a gradient defined (i.e. are differentiable). Common ops "
                        "without gradient: K.argmax, K.round, K.eval."
                    )
            return self._clipped(gradients)

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if hasattr(self, "clipnorm"):
            gradients = [_norm_clipped(g, self.clipnorm) for g in gradients]
        if hasattr(self, "clipvalue"):
            gradients = [tf.clip_by_value(g, -self.clipvalue, self.clipvalue) for g in gradients]
        return gradients

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """Operations that take one step."""
        gradients = self.get_gradients(loss, params)
        return [self.apply_gradients(zip(gradients, params, strict=True))]

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: Optional[str] = None
    ) -> Any:
        """An operation that takes one step down the loss."""
        loss = loss() if callable(loss) and not isinstance(loss, Tensor) else loss
        variables = var_list() if callable(var_list) else var_list
        gradients = self._clipped(tf.gradients(loss, variables, grad_loss))
        return self.apply_gradients(list(zip(gradients, variables, strict=True)), name)

    def apply_gradients(self, grads_and_vars: Any, name: Optional[str] = None) -> Any:
        """An operation that changes variables by gradients.

        Raises:
            ValueError: there is no gradient.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        variables = [v for _, v in pairs]
        with tf.name_scope(self._name):
            with tf.init_scope():
                steps = self.iterations
                self._create_hypers()
                self._create_slots(variables)
            self._prepare(variables)
            updates = [self._updated(g, v) for g, v in pairs]
            with tf.control_dependencies(updates):
                return tf.assign_add(steps, tf.constant(1, tf.int64)).op

    def _updated(self, gradient: Any, var: Any) -> Any:
        if isinstance(gradient, IndexedSlices):
            update = self._resource_apply_sparse_duplicate_indices(
                gradient.values, var, gradient.indices
            )
        else:
            update = self._resource_apply_dense(gradient, var)
        update = getattr(update, "op", update)
        if getattr(var, "constraint", None) is None:
            return update
        with tf.control_dependencies([update]):
            return tf.assign(var, var.constraint(tf.identity(var._ref()))).op

    # What a subclass says

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in self.slots:
            for v in var_list:
                self.add_slot(v, name)

    def _prepare(self, var_list: Sequence[Any]) -> None:
        """Before the variables are changed."""

    def _rates(self, dtype: Any) -> list[Any]:
        """The numbers that the rule takes between variables and gradient."""
        return [self._decayed_lr(dtype)]

    def _rule(self) -> Any:
        return self.rule

    def _changed(self, gradient: Any, var: Any) -> Any:
        rule = self._rule()
        if rule is None:
            raise NotImplementedError(f"{type(self).__name__} must say _resource_apply_dense")
        variables = [var, *[self.get_slot(var, slot) for slot in self.slots]]
        dtype = var.dtype.base_dtype
        rates = [tf.cast(convert_to_tensor(r), dtype) for r in self._rates(dtype)]
        return rule.operation(variables, rates, gradient)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._changed(grad, var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._changed(IndexedSlices(grad, indices), var)

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._resource_apply_sparse(grad, var, indices)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies([tf.scatter_add(x, i, v)]):
            return x.read_value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies([tf.scatter_update(x, i, v)]):
            return x.read_value()

    # Configurations

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if callable(value) and not isinstance(value, (Tensor, tf.Variable)):
            return value()
        return plain(get_value(value)) if isinstance(value, (Tensor, tf.Variable)) else value

    def get_config(self) -> dict[str, Any]:
        """Arguments that make an equal optimizer, without its variables."""
        config: dict[str, Any] = {"name": self._name}
        for key in ("clipnorm", "clipvalue"):
            if hasattr(self, key):
                config[key] = getattr(self, key)
        config.update({name: self._serialize_hyperparameter(name) for name in self._hyper})
        config.update(
            {
                k: getattr(self, k)
                for k in ("epsilon", "amsgrad", "nesterov", "centered")
                if k in self.__dict__
            }
        )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Make an optimizer with these arguments."""
        arguments = dict(config)
        if "lr" in arguments:
            arguments["learning_rate"] = arguments.pop("lr")
        return cls(**arguments)


def _norm_clipped(gradient: Any, norm: float) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(
            tf.clip_by_norm(gradient.values, norm), gradient.indices, gradient.dense_shape
        )
    return tf.clip_by_norm(gradient, norm)


@symbol("keras.optimizers.schedules.LearningRateSchedule")
class LearningRateSchedule:
    """A learning rate that depends on the number of steps."""

    def __call__(self, step: Any) -> Any:
        """The rate at this step."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {k: v for k, v in vars(self).items() if not k.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make an optimizer with these arguments."""
        return cls(**config)
