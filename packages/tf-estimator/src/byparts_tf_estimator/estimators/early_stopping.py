"""Hooks that end a training early, by what evaluations wrote; and one that evaluates on the way."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.session_run_hook import SessionRunArgs, SessionRunHook
from byparts_tf_files.event_file import summary_iterator


def _names(name: str) -> list[str]:
    return [f"estimator.experimental.{name}", f"contrib.estimator.{name}"]


@symbol(*_names("read_eval_metrics"))
def read_eval_metrics(eval_dir: Any) -> dict[int, dict[str, float]]:
    """Step -> name -> value, of what evaluations wrote into a folder."""
    found: dict[int, dict[str, float]] = {}
    names = sorted(os.listdir(eval_dir)) if os.path.isdir(eval_dir) else []
    for name in names:
        if ".tfevents." not in name:
            continue
        for event in summary_iterator(os.path.join(eval_dir, name)):
            values = {
                v.tag: v.simple_value
                for v in event.summary.value
                if v.WhichOneof("value") == "simple_value"
            }
            if values:
                found.setdefault(int(event.step), {}).update(values)
    return dict(sorted(found.items()))


@symbol(*_names("make_early_stopping_hook"))
class StopWhen(SessionRunHook):
    """Stops when a function says so.

    Args:
        estimator: the model.
        should_stop_fn: takes nothing.
        run_every_secs: asked so often; or
        run_every_steps: in so many steps.

    Raises:
        ValueError: not one of the last two is given.
    """

    def __init__(
        self,
        estimator: Any,
        should_stop_fn: Callable[[], bool],
        run_every_secs: Optional[float] = 60,
        run_every_steps: Optional[int] = None,
    ) -> None:
        if (run_every_secs is None) == (run_every_steps is None):
            raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
        self._should_stop, self._every_s = should_stop_fn, run_every_secs
        self._every_steps = run_every_steps
        self._asked_s: Optional[float] = None
        self._asked_step: Optional[int] = None
        self._step: Any = None

    def begin(self) -> None:
        """Before the session is made."""
        self._step = get_global_step()

    def before_run(self, run_context: Any) -> Any:
        """The step is fetched, too."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Ask, if it is time."""
        step = int(run_values.results)
        if not self._is_time(step):
            return
        self._asked_s, self._asked_step = time.time(), step
        if self._should_stop():
            logging.info("Requesting early stopping at global step %d", step)
            run_context.request_stop()

    def _is_time(self, step: int) -> bool:
        if self._asked_s is None or self._asked_step is None:
            return True
        if self._every_s is not None:
            return time.time() - self._asked_s >= self._every_s
        return self._every_steps is not None and step - self._asked_step >= self._every_steps


def _beyond(better: Callable[[Any, Any], bool], name: str) -> Callable[..., StopWhen]:
    """Stops when a metric is beyond a threshold."""

    def hook(
        estimator: Any,
        metric_name: str,
        threshold: float,
        eval_dir: Optional[str] = None,
        min_steps: int = 0,
        run_every_secs: Optional[float] = 60,
        run_every_steps: Optional[int] = None,
    ) -> StopWhen:
        def should_stop() -> bool:
            for step, values in read_eval_metrics(eval_dir or estimator.eval_dir()).items():
                if step >= min_steps and better(values[metric_name], threshold):
                    logging.info(
                        'At step %s, metric "%s" has value %s.',
                        step,
                        metric_name,
                        values[metric_name],
                    )
                    return True
            return False

        return StopWhen(estimator, should_stop, run_every_secs, run_every_steps)

    hook.__name__, hook.__qualname__ = name, name
    return hook


def _without(better: Callable[[Any, Any], bool], name: str) -> Callable[..., StopWhen]:
    """Stops when a metric was not better for so many steps."""

    def hook(
        estimator: Any,
        metric_name: str,
        max_steps_without: int,
        eval_dir: Optional[str] = None,
        min_steps: int = 0,
        run_every_secs: Optional[float] = 60,
        run_every_steps: Optional[int] = None,
    ) -> StopWhen:
        def should_stop() -> bool:
            best, best_step = None, None
            for step, values in read_eval_metrics(eval_dir or estimator.eval_dir()).items():
                if step < min_steps:
                    continue
                value = values[metric_name]
                if best is None or better(value, best):
                    best, best_step = value, step
                if best_step is not None and step - best_step >= max_steps_without:
                    logging.info(
                        'No better value of metric "%s" than %s for %s steps, at step %s.',
                        *(metric_name, best, step - best_step, step),
                    )
                    return True
            return False

        return StopWhen(estimator, should_stop, run_every_secs, run_every_steps)

    hook.__name__, hook.__qualname__ = name, name
    return hook


stop_if_higher_hook = _beyond(operator.gt, "stop_if_higher_hook")
stop_if_lower_hook = _beyond(operator.lt, "stop_if_lower_hook")


def stop_if_no_increase_hook(
    estimator: Any, metric_name: str, max_steps_without_increase: int, *given: Any, **named: Any
) -> StopWhen:
    """Stops when a metric has not grown for so many steps."""
    make = _without(operator.gt, "stop_if_no_increase_hook")
    return make(estimator, metric_name, max_steps_without_increase, *given, **named)


def stop_if_no_decrease_hook(
    estimator: Any, metric_name: str, max_steps_without_decrease: int, *given: Any, **named: Any
) -> StopWhen:
    """Stops when a metric has not fallen for so many steps."""
    make = _without(operator.lt, "stop_if_no_decrease_hook")
    return make(estimator, metric_name, max_steps_without_decrease, *given, **named)


@symbol(*_names("InMemoryEvaluatorHook"))
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates in so many steps while a model is trained, from a checkpoint of that moment.

    Args:
        estimator: the model.
        input_fn: what it is evaluated on.
        steps: batches.
        hooks: of the evaluation.
        name: of the evaluation.
        every_n_iter: how often.
    """

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: Optional[int] = None,
        hooks: Any = None,
        name: Optional[str] = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._estimator, self._given = estimator, (input_fn, steps, hooks)
        self._name, self._every, self._runs = name, every_n_iter, 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Count runs anew in a new session."""
        self._runs = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluate, if it is time."""
        self._runs += 1
        if self._runs % self._every == 0:
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        """Evaluate at last."""
        self._evaluate(session)

    def _evaluate(self, session: Any) -> None:
        (saver,) = session.graph.get_collection(GraphKeys.SAVERS)[:1]
        step = int(session.run(get_global_step(session.graph)))
        prefix = os.path.join(self._estimator.model_dir, "in_memory", "model.ckpt")
        path = saver.save(session, prefix, step, write_meta_graph=False, write_state=False)
        input_fn, steps, hooks = self._given
        self._estimator.evaluate(input_fn, steps, hooks, path, self._name)


SYMBOLS = {
    symbol_: name
    for name in (
        *("stop_if_higher_hook", "stop_if_lower_hook"),
        *("stop_if_no_increase_hook", "stop_if_no_decrease_hook"),
    )
    for symbol_ in _names(name)
}
