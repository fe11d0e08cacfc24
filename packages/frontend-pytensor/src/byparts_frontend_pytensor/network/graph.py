"""`Graph`: parameters, operations by name, and the tape of what ran forward."""

from __future__ import annotations

from collections import defaultdict as defaultdict
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from byparts_frontend_pytensor.network.late import Late
from byparts_frontend_pytensor.network.operation import OPERATIONS, Use
from byparts_frontend_pytensor.network.optimizer import *  # noqa: F403
from byparts_frontend_pytensor.network.optimizer import SGD
from byparts_frontend_pytensor.network.parameter import Parameter
from byparts_frontend_pytensor.ops import *  # noqa: F403
from byparts_graph_ir import GraphError


class Graph:
    """Subclass with `forward(input)` and `loss(target)`; operations are made in `__init__`.

    Args:
        name: for errors.
        xp: the array module that it computes with: `numpy`, `cupy`, or one with their names.
        dtype: of the parameters.

    Attributes:
        train_state, recording: whether operations go on the tape; whether it is being recorded.
        forward_ops: the tape: uses of operations, in the order they ran.
        parameter, optimizer: the trained tensors, and an SGD with lr 0.01 for them.
        ops_index: how many operations of each type were made.
        late: products that are computed together.
    """

    def __init__(self, name: str = "graph", xp: Any = np, dtype: Any = np.float64) -> None:
        self.name, self.train_state, self.recording = name, True, False
        self.forward_ops: list[Use] = []
        self.parameter = Parameter(xp, dtype)
        self.optimizer = SGD(self.parameter)
        self.ops_index: defaultdict[str, int] = defaultdict(int)
        self.late = Late()

    def get_operation(
        self, ops_type: str, ops_argument: Any = None, ops_name: str | None = None
    ) -> Any:
        """A new operation of a class of `ops`, or of any subclass of `Operation`, by its name.

        Args:
            ops_type: the name of the class.
            ops_argument: sizes and options.
            ops_name: of its parameters; two operations of one name share them.
        """
        if ops_type not in OPERATIONS:
            close = get_close_matches(ops_type, OPERATIONS, 3)
            advice = f"did you mean {' or '.join(close)}?" if close else "define a subclass of it"
            raise GraphError(f"get_operation: no Operation is called {ops_type!r}; {advice}")
        if ops_name is None:
            ops_name = f"{ops_type.lower()}_{self.ops_index[ops_type]}"
        self.ops_index[ops_type] += 1
        return OPERATIONS[ops_type](ops_name, ops_argument, self)

    def get_tensor(self, name: str, shape: Sequence[int]) -> Any:
        return self.parameter.get_tensor(name, shape)

    get_variable = get_tensor  # the name of 2018

    def train(self) -> None:
        """Put what runs on the tape."""
        self.train_state = True

    def eval(self) -> None:
        """Only compute."""
        self.train_state = False

    def forward(self, input_tensors: Any) -> Any:
        """The outputs of the model."""
        raise NotImplementedError(f"{type(self).__name__} lacks forward(self, input_tensors)")

    def loss(self, target_tensor: Any) -> Any:
        """The loss of the last `forward`."""
        raise NotImplementedError(f"{type(self).__name__} lacks loss(self, target_tensor)")

    def register(self, ops: Any) -> None:
        """Put a use of an operation on the tape."""
        if self.train_state or self.recording:
            self.forward_ops.append(Use(ops))

    def clear(self) -> None:
        """Empty the tape."""
        for use in self.forward_ops:
            use.op._last_use, use.op._waiting = None, ()
        self.forward_ops = []

    def backward(self) -> None:
        """Add to the gradients of all that the tape used, from its end, and empty it."""
        if not self.forward_ops:
            why = "call forward first" if self.train_state else "it is in eval state: call train()"
            raise GraphError(f"graph {self.name!r}: backward with nothing on the tape; {why}")
        for use in reversed(self.forward_ops):
            use.backward()
        self.late.settle()
        self.clear()
