"""`tf.estimator.train_and_evaluate`: training, and an evaluation after each checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.exporters import Exporter
from byparts_tf_estimator.training.saving_hooks import CheckpointSaverListener


class _Train(NamedTuple):
    input_fn: Any
    max_steps: Optional[int]
    hooks: tuple[Any, ...]
    saving_listeners: tuple[Any, ...]


@symbol("estimator.TrainSpec")
class TrainSpec(_Train):
    """Options of a training.

    Raises:
        ValueError: `max_steps` is not positive.
        TypeError: `input_fn` is no function, or a hook none.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: Optional[int] = None,
        hooks: Any = None,
        saving_listeners: Any = None,
    ) -> TrainSpec:
        """Checked."""
        _check_function(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        given = tuple(hooks or ()), tuple(saving_listeners or ())
        return super().__new__(cls, input_fn, max_steps, *given)


class _Eval(NamedTuple):
    input_fn: Any
    steps: Optional[int]
    name: Optional[str]
    hooks: tuple[Any, ...]
    exporters: tuple[Any, ...]
    start_delay_secs: float
    throttle_secs: float


@symbol("estimator.EvalSpec")
class EvalSpec(_Eval):
    """Options of an evaluation.

    Raises:
        ValueError: a number is negative, or exporters have one name.
        TypeError: `input_fn` is no function, or an exporter none.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: Optional[int] = 100,
        name: Optional[str] = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Checked."""
        _check_function(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        for what, value in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if value < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {value}")
        given = tuple(hooks or ()), _exporters(exporters)
        return super().__new__(cls, input_fn, steps, name, *given, start_delay_secs, throttle_secs)


def _check_function(given: Any) -> None:
    if not callable(given):
        raise TypeError(f"input_fn must be callable, given: {given}")


def _exporters(given: Any) -> tuple[Exporter, ...]:
    exporters = (given,) if isinstance(given, Exporter) else tuple(given or ())
    for exporter in exporters:
        if not isinstance(exporter, Exporter):
            raise TypeError(f"exporters must be a list of Exporter, given: {exporter}")
    names = [e.name for e in exporters]
    if len(set(names)) != len(names):
        raise ValueError(f"`exporters` must have unique names. Given: {names}")
    return exporters


class Evaluator:
    """Evaluates and exports, not more often than `throttle_secs` say."""

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: Optional[int]) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self._last_path: Optional[str] = None
        self._last_s: Optional[float] = None
        self.result: Any = None
        self.exported: list[Any] = []

    def is_due(self) -> bool:
        """Whether enough time has passed since the last evaluation."""
        return self._last_s is None or time.time() - self._last_s >= self._spec.throttle_secs

    def evaluate(self) -> None:
        """Evaluate the latest checkpoint, unless that is done, and export."""
        path = self._estimator.latest_checkpoint()
        if path is None or path == self._last_path:
            return
        spec = self._spec
        self.result = self._estimator.evaluate(
            spec.input_fn, spec.steps, spec.hooks, path, spec.name
        )
        self._last_path, self._last_s = path, time.time()
        final = self._max_steps is not None and int(self.result["global_step"]) >= self._max_steps
        self.exported = []
        for exporter in spec.exporters:
            folder = os.path.join(self._estimator.model_dir, "export", exporter.name)
            os.makedirs(folder, exist_ok=True)
            made = exporter.export(self._estimator, folder, path, self.result, final)
            self.exported.append(made)


class EvaluateWhenSaved(CheckpointSaverListener):
    """Evaluates whenever a checkpoint is saved, but for the first one, at the beginning."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._first = evaluator, True

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluate, if it is due."""
        if self._first:
            self._first = False
        elif self._evaluator.is_due():
            self._evaluator.evaluate()

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluate the last one."""
        self._evaluator.evaluate()


@symbol("estimator.train_and_evaluate")
def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, Any]:
    """Train, evaluating and exporting on the way; the last metrics, and what was exported.

    Raises:
        ValueError: no checkpoints are saved.
    """
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(f"`train_spec` must be a TrainSpec: {train_spec}")
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must be an EvalSpec: {eval_spec}")
    config = estimator.config
    logging.info("Not using Distribute Coordinator.")
    logging.info("Running training and evaluation locally (non-distributed).")
    if not (config.save_checkpoints_secs or config.save_checkpoints_steps):
        raise ValueError("train_and_evaluate needs save_checkpoints_secs or _steps in RunConfig")
    logging.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
        "Checkpoint frequency is determined based on RunConfig arguments: save_checkpoints_steps "
        "%s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    evaluator = Evaluator(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=(*train_spec.saving_listeners, EvaluateWhenSaved(evaluator)),
    )
    return evaluator.result, evaluator.exported
