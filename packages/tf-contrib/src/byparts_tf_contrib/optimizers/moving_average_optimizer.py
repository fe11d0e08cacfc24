"""`tf.contrib.opt.MovingAverageOptimizer`: trains variables, and saves their moving averages."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.train.moving_averages import ExponentialMovingAverage
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.variables.variable_lists import global_variables
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import symbol


@symbol("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """An optimizer that updates moving averages of the variables after each step.

    Args:
        opt: the optimizer.
        average_decay: of the averages.
        num_updates: as of `ExponentialMovingAverage`.
        sequential_update: whether the averages are of the variables after the step.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: Any = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(False, type(self).__name__)
        self._opt, self._sequential = opt, sequential_update
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: Optional[dict[str, str]] = None

    def compute_gradients(self, *arguments: Any, **named: Any) -> Any:
        """Call the optimizer's `compute_gradients`."""
        return self._opt.compute_gradients(*arguments, **named)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """The optimizer's step, and then the averages."""
        pairs = list(grads_and_vars)
        trained = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
        variables = [v for gradient, v in pairs if gradient is not None]
        if self._sequential:
            with control_dependencies([trained]):
                averaged = self._ema.apply(variables)
        else:
            averaged = self._ema.apply(variables)
        self._swapped = {v.op.name: self._ema.average(v).op.name for v in variables}
        return group(trained, averaged, name="train_with_avg")

    def get_slot(self, *arguments: Any, **named: Any) -> Any:
        """Call the optimizer's `get_slot`."""
        return self._opt.get_slot(*arguments, **named)

    def get_slot_names(self, *arguments: Any, **named: Any) -> Any:
        """Call the optimizer's `get_slot_names`."""
        return self._opt.get_slot_names(*arguments, **named)

    def variables(self) -> Any:
        """Call the optimizer's `variables`."""
        return self._opt.variables()

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **options: Any
    ) -> Saver:
        """A saver that writes averages under the names of variables, and the other way round.

        Raises:
            RuntimeError: no gradients were applied yet.
            ValueError: a variable of `var_list` has no average in it.
        """
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        chosen = global_variables() if var_list is None else var_list
        named = chosen if isinstance(chosen, dict) else {v.op.name: v for v in chosen}
        by_name = {v.op.name: key for key, v in named.items()}
        swapped = dict(named)
        for variable, average in self._swapped.items():
            if variable not in by_name:
                continue
            if average not in by_name:
                raise ValueError(f"Variable to swap {average} is not in variables to save")
            one, other = by_name[variable], by_name[average]
            swapped[one], swapped[other] = named[other], named[one]
        return Saver(swapped, name=name, **options)
