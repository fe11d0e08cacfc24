"""Placeholders, variables, and what changes variables: TensorFlow's, with TinyFlow's rules.

A variable takes the shape of whatever it is assigned, a layer makes variables that have no first
value, and `initialize_all_variables` is for those made since the last call.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional

import byparts_frontend_tf as tensorflow
from byparts_frontend_tf.api.identity import IDENTITY
from byparts_frontend_tf.api.variables import variables
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.operators import Operators
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_graph_ir import ArgumentError, GraphError
from byparts_tf_files.dtypes import float32
from byparts_tf_files.errors import raises_graph_errors
from byparts_tf_files.shape import Dims


class Variable(variables.Variable):
    """A tensor that a session remembers between runs.

    Args:
        init: its first value, taken by `initialize_all_variables`; `None`: it is assigned one.
        name: a label; by default variable0, variable1, ...

    Raises:
        ArgumentError: `init` is no tensor.
    """

    @raises_graph_errors
    def __init__(self, init: Optional[Operators] = None, name: Optional[str] = None) -> None:
        name = automatic("variable") if name is None else name
        if init is None:
            self._make_unassigned(None, name)
        elif isinstance(init, Operators):
            first: Any = init
            super().__init__(first, validate_shape=first.shape.is_fully_defined(), name=name)
        else:
            told = f"Variable: init is {init!r}"
            raise ArgumentError(f"{told}; wrap it, as in Variable(tf.zeros([2, 3]))")

    def _make_unassigned(self, dims: Dims, name: str) -> None:
        self._variable = variables.variable_op(dims, float32, name)
        self._snapshot = IDENTITY(self._variable, name=f"{self.op.name}/read")
        self._snapshot.variable = self.op
        self.op.variable_object = self

    def initialized_value(self) -> Tensor:
        """First value of the variable, or its present value if it has no first one."""
        return self.value() if self._initial_value is None else super().initialized_value()


def made_by_layer(name: str, *dims: Optional[int]) -> Variable:
    """A parameter of a layer: no first value, a partly known shape."""
    made = Variable.__new__(Variable)
    made._make_unassigned(dims, name)
    return made


def next_number(kind: str) -> int:
    """Count up how many of a kind the default graph has had; returns the number before."""
    counts = get_default_graph().kept.setdefault("made by TinyFlow", Counter())
    counts[kind] += 1
    return int(counts[kind] - 1)


def automatic(kind: str) -> str:
    """The next name of a kind: kind0, kind1, ..."""
    return f"{kind}{next_number(kind)}"


@raises_graph_errors
def placeholder(dtype: Any = float32, shape: Any = None, name: Optional[str] = None) -> Tensor:
    """A tensor that each run is fed.  `None` in the shape is a dimension that may vary."""
    name = automatic("placeholder") if name is None else name
    made: Tensor = tensorflow.placeholder(dtype, shape, name)
    return made


@raises_graph_errors
def assign(variable: Any, value: TensorLike, name: Optional[str] = None) -> Tensor:
    """The new value of a variable; in the runs that compute it, the variable takes it.

    Raises:
        GraphError: the target is not a variable.
    """
    if not isinstance(variable, variables.Variable):
        raise GraphError(f"assign: Mutation target can only be Variable, this is {variable!r}")
    made: Tensor = variables.assign(variable, value, validate_shape=False, name=name)
    return made


group = raises_graph_errors(tensorflow.group)


def initialize_all_variables() -> Operation:
    """Assigns their first values to the variables made since the last call."""
    graph = get_default_graph()
    known = tensorflow.global_variables()
    begin = graph.kept.get("initialized by TinyFlow", 0)
    graph.kept["initialized by TinyFlow"] = len(known)
    made: Operation = tensorflow.variables_initializer(known[begin:])
    return made
