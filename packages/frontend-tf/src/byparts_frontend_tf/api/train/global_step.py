"""The variable that counts the steps of a training."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.initializers import Zeros
from byparts_frontend_tf.api.variables.variable_scope import get_variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64


@symbol("train.global_step")
def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the step in this session."""
    return int(sess.run(global_step_tensor))


@symbol("train.get_global_step", "contrib.framework.get_global_step")
def get_global_step(graph: Any = None) -> Any:
    """The variable that counts steps, or `None`: that of the collection, or named global_step.

    Raises:
        TypeError: it is no integer, or no scalar.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@symbol("train.assert_global_step", "contrib.framework.assert_global_step")
def assert_global_step(global_step_tensor: Any) -> None:
    """Raise `TypeError` if it is no integer, or no scalar."""
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            'Existing "global_step" does not have integer type: '
            f"{global_step_tensor.dtype.base_dtype.name}"
        )
    shape = global_step_tensor.get_shape()
    if shape.ndims not in (None, 0):
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


@symbol("train.create_global_step", "contrib.framework.create_global_step")
def create_global_step(graph: Any = None) -> Any:
    """A new variable that counts steps.

    Raises:
        ValueError: there is one.
    """
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


@symbol("train.get_or_create_global_step", "contrib.framework.get_or_create_global_step")
def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts steps; a new one if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step
