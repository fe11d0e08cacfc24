"""Collections of a graph, and their standard names."""

from __future__ import annotations

import re
from typing import Any, Optional


class GraphKeys:
    """The standard names of collections."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


class Collections:
    """Named lists of whatever a program puts there."""

    def __init__(self) -> None:
        self._lists: dict[Any, list[Any]] = {}

    def add(self, name: Any, value: Any) -> None:
        """Append `value` to the collection."""
        self._lists.setdefault(name, []).append(value)

    def get(self, name: Any, scope: Optional[str] = None) -> list[Any]:
        """A copy; with a scope, what has a name that begins so (as a regular expression)."""
        found = list(self._lists.get(name, ()))
        if not scope:
            return found
        begins = re.compile(scope)
        return [v for v in found if hasattr(v, "name") and begins.match(v.name)]

    def reference(self, name: Any) -> list[Any]:
        """The list itself."""
        return self._lists.setdefault(name, [])

    def clear(self, name: Any) -> None:
        """Forget a collection."""
        self._lists.pop(name, None)

    @property
    def names(self) -> list[Any]:
        """The collections that hold something."""
        return [name for name, values in self._lists.items() if values]
