"""`tensorflow.python.ops.resources`: what else a training initialises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.api.identity import group, no_op
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol


@symbol("python.ops.resources.shared_resources")
def shared_resources() -> list[Any]:
    """The resources of the graph: rows with a handle, an initializer and what says if it ran."""
    return get_collection(GraphKeys.RESOURCES)


@symbol("python.ops.resources.local_resources")
def local_resources() -> list[Any]:
    """The resources that are of one session."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


@symbol("python.ops.resources.initialize_resources")
def initialize_resources(resource_list: Sequence[Any], name: str = "init") -> Any:
    """An operation that initialises them."""
    if not resource_list:
        return no_op(name=name)
    return group(*[r.create for r in resource_list], name=name)
