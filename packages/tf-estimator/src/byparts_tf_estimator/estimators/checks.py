"""Checks of what an estimator is given; the graph it builds in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from tempfile import mkdtemp
from typing import Any, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.train.global_step import create_global_step
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.scopes import set_random_seed
from byparts_tf_estimator.estimators.arguments import argument_names
from byparts_tf_estimator.estimators.run_config import RunConfig


class NewGraph:
    """A new default graph with a seed and a step."""

    def __init__(self, seed: Optional[int]) -> None:
        self._seed = seed
        self._graph = Graph().as_default()

    def __enter__(self) -> Any:
        self._graph.__enter__()
        set_random_seed(self._seed)
        return create_global_step()

    def __exit__(self, *error: Any) -> None:
        self._graph.__exit__(*error)


def config_of(config: Any, model_dir: Any) -> Any:
    """The config with a folder: that of the config, the given one, or a new one."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    elif not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of RunConfig, but provided {config}.")
    folder = None if model_dir is None else os.fspath(model_dir)
    if folder is not None:
        if config.model_dir not in (None, folder):
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. "
                f"In constructor: '{folder}', in RunConfig: '{config.model_dir}' "
            )
    elif config.model_dir is None:
        folder = mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", folder)
    return config.replace(model_dir=config.model_dir or folder)


def check_arguments(model_fn: Any, params: Any) -> None:
    """Raise `ValueError` if a model function takes no features, or what it is not given."""
    takes = argument_names(model_fn)
    if "features" not in takes:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in takes:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    known = {"features", "labels", "mode", "params", "config", "self"}
    if set(takes) - known:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {set(takes) - known}"
        )


def checked_hooks(hooks: Optional[Sequence[Any]]) -> list[Any]:
    """The hooks as a list; `TypeError` if one is none."""
    for hook in hooks or ():
        if not hasattr(hook, "after_run"):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return list(hooks or ())
