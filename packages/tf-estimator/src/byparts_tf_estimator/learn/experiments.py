"""Monitors and experiments of `tf.contrib.learn`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.train.global_step import get_global_step
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.session_run_hook import SessionRunArgs, SessionRunHook
from byparts_tf_files.checkpoint_state import latest_checkpoint


@symbol("contrib.learn.monitors.ValidationMonitor")
class ValidationMonitor(SessionRunHook):
    """Evaluates while a model is trained, and stops when it gets no better.

    Args:
        x: arrays to evaluate on.
        y: labels.
        input_fn: instead of both.
        batch_size: of arrays.
        eval_steps: batches.
        every_n_steps: how often; there has to be a new checkpoint.
        metrics: as of `evaluate`.
        hooks: of the evaluation.
        early_stopping_rounds: stop after so many steps without a better value.
        early_stopping_metric: which value.
        early_stopping_metric_minimize: whether smaller is better.
        name: of the evaluation.
        check_interval_secs: accepted.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        eval_steps: Optional[int] = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: Optional[int] = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: Optional[str] = None,
        check_interval_secs: int = 5,
    ) -> None:
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._given = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._given.update(steps=eval_steps, metrics=metrics, name=name, hooks=hooks)
        self._every, self._rounds = every_n_steps, early_stopping_rounds
        self._metric, self._minimize = early_stopping_metric, early_stopping_metric_minimize
        self._estimator: Any = None
        self._latest: Optional[str] = None
        self._next = every_n_steps
        self._step: Any = None
        self.best_step: Optional[int] = None
        self.best_value: Any = None
        self.best_metrics: Any = None
        self.early_stopped = False

    def set_estimator(self, estimator: Any) -> None:
        """The estimator that is trained."""
        self._estimator = estimator

    def begin(self) -> None:
        """Before the session is made."""
        self._step = get_global_step()

    def before_run(self, run_context: Any) -> Any:
        """The step is fetched, too."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluate when it is time."""
        step = int(run_values.results)
        if step < self._next:
            return
        self._next = step + self._every
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None:
            logging.debug(
                "Skipping evaluation since model has not been saved yet at step %d.", step
            )
        elif path == self._latest:
            logging.debug("Skipping evaluation due to same checkpoint %s for step %d.", path, step)
        else:
            self._latest = path
            self._evaluate(step, run_context)

    def _evaluate(self, step: int, run_context: Any) -> None:
        found = self._estimator.evaluate(**self._given)
        shown = [f"{name} = {value}" for name, value in sorted(found.items())]
        logging.info("Validation (step %d): %s", step, ", ".join(shown))
        if self._rounds is None:
            return
        value = found.get(self._metric)
        if value is None:
            raise ValueError(f"Metric {self._metric} missing from outputs {list(found)}.")
        better = self.best_value is None or (
            value < self.best_value if self._minimize else value > self.best_value
        )
        if better:
            self.best_value, self.best_step, self.best_metrics = value, step, found
        elif self.best_step is not None and step - self.best_step >= self._rounds:
            logging.info(
                "Stopping. Best step: %s with %s = %s.",
                self.best_step,
                self._metric,
                self.best_value,
            )
            self.early_stopped = True
            run_context.request_stop()


@symbol("contrib.learn.Experiment")
class Experiment:
    """An estimator with the data that it is trained and evaluated on.

    Args:
        estimator: the model.
        train_input_fn: gives what it is trained on.
        eval_input_fn: gives what it is evaluated on.
        eval_metrics: as of `evaluate`.
        train_steps: up to which step.
        eval_steps: batches of an evaluation.
        train_monitors: hooks of the training.
        eval_hooks: hooks of the evaluation.
        export_strategies: what exports the model after an evaluation.
        more: accepted.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Any = None,
        train_steps: Optional[int] = None,
        eval_steps: Optional[int] = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        export_strategies: Any = None,
        **more: Any,
    ) -> None:
        self._estimator, self._train_fn, self._eval_fn = estimator, train_input_fn, eval_input_fn
        self._metrics, self._train_steps, self._eval_steps = eval_metrics, train_steps, eval_steps
        self._monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The model."""
        return self._estimator

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """More hooks of the training."""
        self._monitors.extend(additional_hooks)

    def extend_eval_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """More hooks of the evaluation."""
        self._eval_hooks.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Export by others; the old ones."""
        old: Any = self.__dict__.get("_exports")
        one = new_export_strategies
        self._exports = list(one if isinstance(one, (list, tuple)) else [one] if one else [])
        return old

    def train(self, delay_secs: Any = None) -> Any:
        """Train."""
        steps = self._train_steps
        if hasattr(self._estimator, "fit"):
            given = {"monitors": self._monitors, "max_steps": steps}
            return self._estimator.fit(input_fn=self._train_fn, **given)
        return self._estimator.train(self._train_fn, hooks=self._monitors, max_steps=steps)

    def evaluate(self, delay_secs: Any = None, name: Optional[str] = None) -> Any:
        """Evaluate."""
        return self._evaluated(name or "one_pass")

    def _evaluated(self, name: Optional[str]) -> Any:
        given = {"steps": self._eval_steps, "hooks": self._eval_hooks, "name": name}
        if hasattr(self._estimator, "fit"):
            given["metrics"] = self._metrics
        return self._estimator.evaluate(input_fn=self._eval_fn, **given)

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Train, then evaluate; the metrics, and what was exported."""
        self.train()
        found, model = self._evaluated(None), self._estimator
        folder = os.path.join(str(model.model_dir), "export")
        return found, [
            one.export(
                model,
                os.path.join(folder, one.name),
                checkpoint_path=latest_checkpoint(model.model_dir),
                eval_result=found,
            )
            for one in self._exports
        ]

    def test(self) -> Any:
        """Train for one step, evaluate for one, and return the metrics."""
        self._train_steps, self._eval_steps = 1, 1
        return self.train_and_evaluate()[0]

    local_run = continuous_train_and_eval = train_and_evaluate
    run_std_server = train


@symbol("contrib.learn.learn_runner.run", "contrib.learn.python.learn.learn_runner.run")
def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: Any = None,
    schedule: Optional[str] = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Make an experiment and do what `schedule` names: by default train and evaluate.

    Raises:
        ValueError: neither a folder nor a config is given, or there is no such schedule.
    """
    if run_config is not None:
        config = run_config if output_dir is None else run_config.replace(model_dir=output_dir)
        experiment = experiment_fn(run_config=config, hparams=hparams)
    elif output_dir is not None:
        experiment = experiment_fn(output_dir)
    else:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    name = schedule or "train_and_evaluate"
    if not hasattr(experiment, name):
        raise ValueError(f"Schedule references non-existent task {name}")
    return getattr(experiment, name)()
