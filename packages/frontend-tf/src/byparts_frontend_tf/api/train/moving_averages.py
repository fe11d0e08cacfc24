"""Moving averages of variables: `tf.train.ExponentialMovingAverage`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.identity import group, identity
from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.math.binary import minimum, pow
from byparts_frontend_tf.api.train.slots import create_slot, create_zeros_slot
from byparts_frontend_tf.api.variables.variable_lists import (
    moving_average_variables,
    trainable_variables,
)
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.api.variables.variables import Variable, assign_add, assign_sub
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import (
    add_to_collection,
    control_dependencies,
    init_scope,
    name_scope,
)
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol


@symbol("python.training.moving_averages.assign_moving_average")
def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: Optional[str] = None
) -> Any:
    """variable' = decay * variable + (1 - decay) * value.

    With `zero_debias` the average is divided by what its beginning with zeros lacks; two variables,
    `biased` and `local_step`, remember what that needs (Kingma and Ba 2015, section 3).
    """
    with name_scope(name, "AssignMovingAvg") as scope:
        dtype = variable.dtype.base_dtype
        rest = cast(convert_to_tensor(1.0 - decay), dtype)
        now = convert_to_tensor(value)
        change = _without_bias(variable, now, rest) if zero_debias else (variable - now) * rest
        return assign_sub(variable, change, name=scope)


def _without_bias(variable: Any, value: Tensor, rest: Tensor) -> Tensor:
    with variable_scope(variable.op.name, values=[variable, value, rest]):
        dtype, shape = variable.dtype.base_dtype, variable.get_shape()
        biased = get_variable("biased", shape, dtype, Zeros(), trainable=False)
        step = get_variable("local_step", [], dtype, Zeros(), trainable=False)
        updated = assign_sub(biased, (biased - value) * rest)
        steps = assign_add(step, constant(1.0, dtype))
        with control_dependencies([updated, steps]):
            passed = identity(steps)
            return variable - identity(updated) / (1.0 - pow(1.0 - rest, passed))  # type: ignore[no-any-return]


@symbol("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps for each variable one that is its moving average: the variable's name and this name.

    Args:
        decay: what remains of an average at each update; with `num_updates` at most
            (1 + num_updates) / (10 + num_updates).
        num_updates: how many updates there have been.
        zero_debias: of averages that begin with zeros: those of tensors.
        name: of the averages.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates, self._zero_debias = decay, num_updates, zero_debias
        self._name, self._averages = name, dict[Any, Any]()

    @property
    def name(self) -> str:
        """Name of the averages."""
        return self._name

    def apply(self, var_list: Optional[Sequence[Any]] = None) -> Any:
        """An operation that updates the averages of variables, by default the trainable ones.

        Raises:
            TypeError: one is not of floats.
            ValueError: one has an average already.
        """
        chosen = trainable_variables() if var_list is None else list(var_list)
        biased = set()
        for v in chosen:
            if not v.dtype.base_dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {v.name}")
            if _key(v) not in self._averages and self._make(v):
                biased.add(_key(v))
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                updates = cast(self._num_updates, decay.dtype.base_dtype)
                decay = minimum(decay, (1.0 + updates) / (10.0 + updates))
            updated = [
                assign_moving_average(self._averages[_key(v)], v, decay, _key(v) in biased)
                for v in chosen
            ]
            return group(*updated, name=scope)

    def _make(self, v: Any) -> bool:
        """Make the average of a variable or tensor.  Whether `_without_bias` is to update it."""
        with init_scope():
            if isinstance(v, Variable):
                made = create_slot(v, v.initialized_value(), self.name)
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, v)
            else:
                made = create_zeros_slot(v, self.name)
        self._averages[_key(v)] = made
        return self._zero_debias and not isinstance(v, Variable)

    def average(self, var: Any) -> Any:
        """The average of a variable, or `None`."""
        return self._averages.get(_key(var))

    def average_name(self, var: Any) -> str:
        """The name that the average of a variable has, or would have."""
        made = self.average(var)
        if made is not None:
            return str(made.op.name)
        return str(get_default_graph().unique_name(f"{var.op.name}/{self.name}", False))

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Name in a checkpoint -> variable: those with an average get the average's value."""
        averaged = moving_avg_variables
        if averaged is None:
            averaged = [*trainable_variables(), *moving_average_variables()]
        found = {self.average_name(v): v for v in dict.fromkeys(averaged)}
        names = {v.op.name for v in averaged}
        for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
            if v.op.name not in names and v.op.name not in found:
                found[v.op.name] = v
        return found


def _key(variable: Any) -> Any:
    return variable.op if isinstance(variable, Variable) else variable
