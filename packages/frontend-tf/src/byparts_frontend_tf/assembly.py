"""Functions of `api/`, `running/` and `node_defs/` that `graph/` calls, which is below them.

The one place that names them.  Imports stand in the functions, because a program that only builds
a graph needs no session, and few programs write a graph as a message.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from byparts_frontend_tf.names import added


class UpperFunctions:
    """Functions that `graph/upper.py` asks for."""

    @cached_property
    def operators(self) -> Any:
        """Python's operators on tensors."""
        from byparts_frontend_tf.api import operators

        return operators

    @cached_property
    def getitem(self) -> Callable[..., Any]:
        """Elements of a tensor, as `x[1:, ...]` names them."""
        from byparts_frontend_tf.api.strided_slice import getitem

        return getitem

    @cached_property
    def stack(self) -> Callable[..., Any]:
        """`tf.stack`."""
        from byparts_frontend_tf.api.stack import stack

        return stack

    @cached_property
    def placeholder(self) -> Callable[..., Any]:
        """The kind of `tf.placeholder`."""
        from byparts_frontend_tf.api.placeholder import PLACEHOLDER

        return PLACEHOLDER

    @cached_property
    def densify(self) -> Callable[..., Any]:
        """From `IndexedSlices` to the tensor that they are rows of."""
        from byparts_frontend_tf.api.indexed_slices import densify

        return densify

    @cached_property
    def sparse_math(self) -> Any:
        """Products and quotients of a `SparseTensor` and a tensor."""
        from byparts_frontend_tf.api.sparse import math

        return math

    @cached_property
    def session_for(self) -> Callable[[Any, Any, str], Any]:
        """The session that a graph's `eval` and `run` use."""
        from byparts_frontend_tf.running.stack import session_for

        return session_for

    @cached_property
    def node_def(self) -> Callable[..., Any]:
        """From an operation to TensorFlow's `NodeDef`."""
        from byparts_frontend_tf.node_defs.write import node_def

        return node_def

    @cached_property
    def graph_def(self) -> Callable[..., Any]:
        """From a graph to TensorFlow's `GraphDef`."""
        from byparts_frontend_tf.node_defs.write import graph_def

        return graph_def

    @cached_property
    def attribute_of(self) -> Callable[[Any], Any]:
        """From TensorFlow's `AttrValue` to a value of Python."""
        from byparts_frontend_tf.node_defs.values import attribute_of

        return attribute_of

    @cached_property
    def variable_def(self) -> Callable[..., Any]:
        """Make the message `VariableDef` of TensorFlow's files."""
        from byparts_tf_files.messages.meta_graph import VariableDef

        return VariableDef

    def load_kinds(self) -> None:
        """Have the modules of `api/`, and of parts beside this one, say their kinds."""
        load_kinds()


@cache
def load_kinds() -> None:
    """Import all modules of `api/`, and those that other parts name in their `kinds.tsv`."""
    from pkgutil import walk_packages

    from byparts_frontend_tf import api

    for info in walk_packages(api.__path__, f"{api.__name__}."):
        import_module(info.name)
    for module in sorted(set(added("tf-kinds").values())):
        import_module(module)
