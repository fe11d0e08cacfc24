"""`tf.estimator.RunConfig`: how an estimator runs: folder, seed, checkpoints, summaries."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol

UNSET: Any = object()  # where a program said nothing
REPLACEABLE = (
    *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps"),
    *("save_checkpoints_secs", "session_config", "keep_checkpoint_max", "device_fn", "protocol"),
    *("keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute"),
    *("eval_distribute", "experimental_distribute", "experimental_max_worker_delay_secs"),
    "session_creation_timeout_secs",
)


@symbol("estimator.RunConfig")
class RunConfig:
    """Options of the runs of an estimator.

    Args:
        model_dir: of checkpoints and summaries.
        tf_random_seed: of the graphs.
        save_summary_steps: a summary in so many steps.
        save_checkpoints_steps: a checkpoint in so many steps.
        save_checkpoints_secs: a checkpoint in so many seconds; 600 unless steps are given.
        session_config: a `ConfigProto`.
        keep_checkpoint_max: how many checkpoints are kept; 0 or `None`: all.
        keep_checkpoint_every_n_hours: one in so many hours is kept for good.
        log_step_count_steps: the loss is logged once in so many steps.
        train_distribute: a strategy of one device, or `None`.
        device_fn: accepted.
        protocol: accepted.
        eval_distribute: as `train_distribute`.
        experimental_distribute: accepted.
        experimental_max_worker_delay_secs: accepted.
        session_creation_timeout_secs: accepted.

    Raises:
        ValueError: both kinds of `save_checkpoints` are given; a number is not positive; the
            environment's TF_CONFIG names a cluster.
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: Optional[int] = None,
        save_summary_steps: Optional[int] = 100,
        save_checkpoints_steps: Any = UNSET,
        save_checkpoints_secs: Any = UNSET,
        session_config: Any = None,
        keep_checkpoint_max: Optional[int] = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: Optional[int] = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: Any = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: Optional[int] = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        given = dict(locals())
        steps, seconds = _checkpoints(save_checkpoints_steps, save_checkpoints_secs)
        given.update(save_checkpoints_steps=steps, save_checkpoints_secs=seconds)
        given["model_dir"] = _folder(model_dir)
        self._set({name: given[name] for name in REPLACEABLE})
        _refuse_clusters()
        self._service = None
        self._cluster_spec: dict[str, Any] = {}
        self._task_type, self._task_id = "worker", 0
        self._global_id_in_cluster = 0
        self._master = self._evaluation_master = ""
        self._num_ps_replicas, self._num_worker_replicas = 0, 1
        self._is_chief = True

    def _set(self, values: dict[str, Any]) -> None:
        for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs"):
            _check(name, values.get(name), lowest=0)
        _check("keep_checkpoint_max", values.get("keep_checkpoint_max"), lowest=0)
        _check("log_step_count_steps", values.get("log_step_count_steps"), lowest=1)
        for name, value in values.items():
            setattr(self, f"_{name}", value)

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values.

        Raises:
            ValueError: one cannot be replaced, or both kinds of `save_checkpoints` are given.
        """
        for name in kwargs:
            if name not in REPLACEABLE:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {REPLACEABLE}."
                )
        steps, seconds = (kwargs.get(f"save_checkpoints_{unit}") for unit in ("steps", "secs"))
        if steps is not None and seconds is not None:
            raise ValueError(
                "Can not provide both save_checkpoints_steps and save_checkpoints_secs."
            )
        if steps is not None:
            kwargs["save_checkpoints_secs"] = None
        elif seconds is not None:
            kwargs["save_checkpoints_steps"] = None
        made = copy.copy(self)
        made._set(kwargs)
        return made

    def __getattr__(self, name: str) -> Any:
        """Each value `x`, which is kept as `_x`: TensorFlow logs them so."""
        if not name.startswith("_") and f"_{name}" in self.__dict__:
            return self.__dict__[f"_{name}"]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _checkpoints(steps: Any, seconds: Any) -> tuple[Optional[int], Optional[int]]:
    """After how many steps, or seconds, there is a checkpoint; `None`, `None`: never."""
    if steps is UNSET and seconds is UNSET:
        return None, 600
    if steps is UNSET:
        return None, seconds
    if seconds is UNSET:
        return steps, None
    if steps is not None and seconds is not None:
        raise ValueError("Can not provide both save_checkpoints_steps and save_checkpoints_secs.")
    return steps, seconds


def _check(name: str, value: Any, lowest: int) -> None:
    if value is not None and value < lowest:
        raise ValueError(f"{name} should be >= {lowest}")


def _folder(given: Any) -> Optional[str]:
    """The folder that is given, or that TF_CONFIG names.

    Raises:
        ValueError: it is empty.
    """
    if given is None:
        found = _environment().get("model_dir")
        return None if found is None else str(found)
    if not given:
        raise ValueError("model_dir should be non-empty, or None")
    return os.fspath(given) if hasattr(given, "__fspath__") else str(given)


def _environment() -> dict[str, Any]:
    found = json.loads(os.environ.get("TF_CONFIG") or "{}")
    return found if isinstance(found, dict) else {}


def _refuse_clusters() -> None:
    hosts = [h for job in _environment().get("cluster", {}).values() for h in job]
    if len(hosts) > 1:
        raise ValueError(
            f"TF_CONFIG names a cluster of {len(hosts)} processes; estimators run in one process "
            "here: unset TF_CONFIG"
        )
