"""Trains an estimator once: from a model to the loss of its last step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection
from byparts_tf_estimator.estimators.run_config import RunConfig
from byparts_tf_estimator.estimators.spec import EstimatorSpec
from byparts_tf_estimator.training.hooks import LoggingTensorHook, NanTensorHook
from byparts_tf_estimator.training.monitored_training import MonitoredTrainingSession
from byparts_tf_estimator.training.saving_hooks import CheckpointSaverHook
from byparts_tf_files.checkpoint_reader import load_variable
from byparts_tf_files.checkpoint_state import latest_checkpoint
from byparts_tf_files.errors import NotFoundError


def saved_step(model_dir: str) -> int:
    """The step of the latest checkpoint; 0 if there is none."""
    path = latest_checkpoint(model_dir)
    if path is None:
        return 0
    try:
        return int(load_variable(path, GraphKeys.GLOBAL_STEP))
    except NotFoundError:
        return 0


def train_once(
    spec: EstimatorSpec,
    step: Any,
    config: RunConfig,
    hooks: Sequence[Any],
    listeners: Sequence[Any],
) -> Any:
    """Run the training until a hook or the input ends it; the last loss."""
    _collect(spec, config)
    worker = [*hooks, NanTensorHook(spec.loss)]
    every = config.log_step_count_steps
    if every is not None:
        shown = {"loss": spec.loss, "step": step}
        worker.append(LoggingTensorHook(shown, every_n_iter=every))
    worker += spec.training_hooks
    chief = [*_savers(spec, config, worker, listeners), *spec.training_chief_hooks]
    loss = None
    with MonitoredTrainingSession(
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker,
        chief_only_hooks=chief,
        save_checkpoint_secs=0,
        save_summaries_steps=config.save_summary_steps,
        config=config.session_config,
        log_step_count_steps=every,
    ) as session:
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
    if loss is None:
        logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _collect(spec: EstimatorSpec, config: RunConfig) -> None:
    """A summary of the loss and a saver, unless the model has them."""
    if all(t.op.name != "loss" for t in get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    add_to_collection(GraphKeys.LOSSES, spec.loss)
    if spec.scaffold.saver is None and not get_collection(GraphKeys.SAVERS):
        saver = Saver(
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        add_to_collection(GraphKeys.SAVERS, saver)


def _savers(
    spec: EstimatorSpec, config: RunConfig, hooks: Sequence[Any], listeners: Sequence[Any]
) -> list[Any]:
    """The hook that saves checkpoints, unless the model has one.

    Raises:
        ValueError: there are listeners, and nothing that saves.
    """
    kind = CheckpointSaverHook
    there = [h for h in [*hooks, *spec.training_chief_hooks] if isinstance(h, kind)]
    made = []
    steps, seconds = config.save_checkpoints_steps, config.save_checkpoints_secs
    if not there and (steps or seconds):
        made.append(
            kind(config.model_dir, save_secs=seconds, save_steps=steps, scaffold=spec.scaffold)
        )
    if listeners:
        if not there and not made:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        (there or made)[0]._listeners.extend(listeners)
    return made
