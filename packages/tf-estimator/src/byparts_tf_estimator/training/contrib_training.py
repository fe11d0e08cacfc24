"""`tf.contrib.training.train`: run an operation until a hook says stop."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.training.monitored_training import MonitoredTrainingSession


@symbol("contrib.training.train")
def train(
    train_op: Any,
    logdir: Any,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = 600,
    save_summaries_steps: Any = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
) -> Any:
    """Run `train_op` in a session that keeps checkpoints, until a hook stops it; its last value.

    Raises:
        ValueError: there is a place for checkpoints but nothing that would stop it.
    """
    if logdir is None and is_chief and (save_summaries_steps or save_checkpoint_secs):
        raise ValueError("logdir cannot be None when save_summaries_steps is not None")
    loss = None
    with MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op)
    return loss
