"""Evaluates an estimator once: metrics over batches, from a checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.metrics import metrics
from byparts_frontend_tf.api.variables.variable_scope import get_variable, variable_scope
from byparts_frontend_tf.api.variables.variables import assign_add
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import named
from byparts_tf_estimator.estimators.spec import EstimatorSpec
from byparts_tf_estimator.training.hooks import FinalOpsHook
from byparts_tf_estimator.training.monitored_session import ChiefSessionCreator, MonitoredSession
from byparts_tf_estimator.training.session_run_hook import SessionRunArgs, SessionRunHook
from byparts_tf_files.dtypes import int64
from byparts_tf_files.event_file import FileWriter
from byparts_tf_files.messages.summary import Summary

LOSS = "loss"


class StopAfterEvals(SessionRunHook):
    """Ends an evaluation after so many batches, and says how far it is.

    Args:
        evals: batches.
        log_progress: whether it says so.
    """

    def __init__(self, evals: Optional[int], log_progress: bool = True) -> None:
        self._evals, self._log_progress = evals, log_progress
        self._every = 1 if evals is None or evals < 20 else evals // 10
        self._done: Any = None

    def _set_evals_completed_tensor(self, updated: Any) -> None:
        self._done = updated

    def before_run(self, run_context: Any) -> Any:
        """The count of batches is fetched, too."""
        return SessionRunArgs({"evals": self._done})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stop after the last."""
        done = int(run_values.results["evals"])
        if self._evals is not None:
            if self._log_progress and (done % self._every == 0 or done == self._evals):
                logging.info("Evaluation [%d/%d]", done, self._evals)
            if done >= self._evals:
                run_context.request_stop()


def steps_hooks(steps: Optional[int]) -> list[Any]:
    """Hooks that end an evaluation after so many batches; none for `None`.

    Raises:
        ValueError: `steps` is not positive.
    """
    if steps is None:
        return []
    if steps <= 0:
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    return [StopAfterEvals(steps)]


def metrics_of(spec: EstimatorSpec, step: Any) -> tuple[Any, dict[str, Any]]:
    """The operation that takes a batch into account, and name -> value.

    Raises:
        ValueError: the model has a metric named loss.
    """
    found = dict(spec.eval_metric_ops)
    if LOSS in found:
        raise ValueError(
            f'Metric with name "{LOSS}" is not allowed, because Estimator already defines a '
            "default metric with the same name."
        )
    found[LOSS] = metrics.mean(spec.loss)
    pairs = {name: _pair(metric) for name, metric in found.items()}
    values = {name: value for name, (value, _) in sorted(pairs.items())}
    updates = [update for _, (_, update) in sorted(pairs.items())]
    values[GraphKeys.GLOBAL_STEP] = step
    return group(*updates), values


def _pair(metric: Any) -> Any:
    if isinstance(metric, tuple):
        return metric
    (update,) = metric.updates  # one of Keras
    return metric.result(), update


def evaluate_once(
    spec: EstimatorSpec,
    step: Any,
    checkpoint_path: Optional[str],
    config: Any,
    hooks: Sequence[Any],
) -> dict[str, Any]:
    """The metrics over all batches until the input or a hook ends it."""
    update, values = metrics_of(spec, step)
    counted = assign_add(eval_step(), 1, use_locking=True)
    for hook in hooks:
        if hasattr(hook, "_set_evals_completed_tensor"):
            hook._set_evals_completed_tensor(counted)
    final = FinalOpsHook(values)
    logging.info("Starting evaluation at " + _now())
    creator = ChiefSessionCreator(
        scaffold=spec.scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        config=config.session_config,
    )
    given = [*hooks, *spec.evaluation_hooks, final]
    with MonitoredSession(session_creator=creator, hooks=given) as session:
        while not session.should_stop():
            session.run([update, counted])
    logging.info("Finished evaluation at " + _now())
    return dict(final.final_ops_values)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime())


def eval_step() -> Any:
    """The local variable that counts the batches of an evaluation."""
    there = get_collection(GraphKeys.EVAL_STEP)
    if there:
        return there[0]
    with variable_scope("", reuse=None):
        return get_variable(
            "eval_step",
            shape=[],
            dtype=int64,
            initializer=named("zeros_initializer")(),
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
        )


def write_metrics(
    folder: str, found: Mapping[str, Any], step: int, checkpoint_path: Optional[str]
) -> None:
    """Write an evaluation for TensorBoard, and log it."""
    shown = [f"{k} = {v!s}" for k, v in sorted(found.items()) if not isinstance(v, bytes)]
    logging.info("Saving dict for global step %d: %s", step, ", ".join(shown))
    summary = Summary()
    for name, value in found.items():
        if name == GraphKeys.GLOBAL_STEP or value is None:
            continue
        if isinstance(value, (float, int, np.floating, np.integer)):
            summary.value.add(tag=name, simple_value=float(value))
        elif isinstance(value, bytes):
            merged = Summary.FromString(value)
            for i, part in enumerate(merged.value):
                summary.value.add(tag=f"{name}/{i}").CopyFrom(part)
        else:
            logging.warning("Skipping summary for %s, must be a float, np.float32, ...", name)
    os.makedirs(folder, exist_ok=True)
    writer = FileWriter(folder)
    writer.add_summary(summary, step)
    writer.close()
    if checkpoint_path:
        logging.info(
            "Saving '%s' summary for global step %d: %s", "checkpoint_path", step, checkpoint_path
        )
