"""`tf.train.SyncReplicasOptimizer` for one process, whose gradients are the only ones."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.identity import group, no_op
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.variable_lists import (
    global_variables,
    report_uninitialized_variables,
)
from byparts_frontend_tf.graph.scopes import control_dependencies
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.session_run_hook import SessionRunHook
from byparts_tf_files.errors import UnimplementedError
from byparts_tf_input.queues.queue_runner import QueueRunner
from byparts_tf_input.queues.queues import FIFOQueue


@symbol("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """An optimizer that waits for the gradients of all replicas: here one.

    Args:
        opt: the optimizer.
        replicas_to_aggregate: how many gradients make a step; 1.
        total_num_replicas: how many replicas there are; 1.
        variable_averages: an `ExponentialMovingAverage`.
        variables_to_average: what it averages.
        use_locking: accepted.
        name: of the optimizer.
        more: `replica_id` of old programs.

    Raises:
        UnimplementedError: there are several replicas.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: Optional[int] = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
        **more: Any,
    ) -> None:
        super().__init__(use_locking, name)
        several = max(replicas_to_aggregate, total_num_replicas or 0)
        if several > 1:
            raise UnimplementedError(
                None,
                None,
                f"SyncReplicasOptimizer: {several} replicas; programs here train in one process: "
                "use the optimizer itself, with batches as large as those of all replicas",
            )
        self._opt, self._averages, self._averaged = opt, variable_averages, variables_to_average
        self._applied = False

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Call the optimizer's `compute_gradients`."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """Call the optimizer's `apply_gradients`; then variables are averaged.

        Raises:
            ValueError: there is no gradient, or no global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        step = self._opt.apply_gradients(pairs, global_step, name)
        self._applied = True
        if self._averages is None:
            return step
        with control_dependencies([step]):
            return group(self._averages.apply(self._averaged), name=name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Call the optimizer's `get_slot`."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Call the optimizer's `get_slot_names`."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """Call the optimizer's `variables`."""
        found: list[Any] = self._opt.variables()
        return found

    @property
    def chief_init_op(self) -> Any:
        """Nothing is to be initialised."""
        return self._ready(no_op())

    local_step_init_op = chief_init_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of variables that have no value."""
        return self._ready(report_uninitialized_variables(global_variables()))

    def _ready(self, made: Any) -> Any:
        if not self._applied:
            raise ValueError("This should be called after apply_gradients().")
        return made

    def get_chief_queue_runner(self) -> Any:
        """A queue runner that has nothing to do: its queue is full at once."""
        queue = FIFOQueue(1, get_global_step().dtype.base_dtype, shapes=[[]], name="sync_token_q")
        return self._ready(QueueRunner(queue, [queue.enqueue(get_global_step())]))

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """An operation that does nothing."""
        return self._ready(no_op(name="set_token_queue"))

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that does nothing."""
        return SessionRunHook()
