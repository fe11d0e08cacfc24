"""A loop that the host runs: each round is a run of the session, with the states fed.

It is for what no body of graph-ir can be: states whose shapes change, Python functions, strings.
No gradient passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.running.arrays import Rows
from byparts_frontend_tf.running.host_arrays import HostRows
from byparts_frontend_tf.running.known import Literal
from byparts_frontend_tf.running.lowering import Lowering
from byparts_frontend_tf.running.plan import BodyPlan
from byparts_graph_ir import Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


class HostLoop:
    """The rounds of one loop.

    Args:
        session: runs them.
        op: the loop.
    """

    def __init__(self, session: BaseSession, op: Operation) -> None:
        given = op.attributes
        self._count = len(op.outputs)
        self._arrays: dict[int, bool] = {}  # inputs that are stacked rows -> whether they grow
        self._most = given["maximum_iterations"] is not None
        captured = op.inputs[self._count : len(op.inputs) - self._most]
        fed = [*given["states"], *captured]
        self._cond = BodyPlan(session, [given["cond"]], fed, given["body"])
        self._body = BodyPlan(session, given["news"], fed, given["body"])

    def array_input(self, position: int, rows: Rows) -> Value | Literal:
        """Input of the host loop for an array: its rows, or nothing where it has none."""
        if rows.buffer is None and not rows.parts:
            return Literal(HostRows((None,) * rows.size, rows.dynamic))
        self._arrays[position] = rows.dynamic
        return rows.stacked()

    def __call__(self, *given: Any) -> Any:
        """The last states, of the first ones and what the loop reads outside."""
        arrays = list(given)
        for i, dynamic in self._arrays.items():
            arrays[i] = HostRows(tuple(arrays[i]), dynamic)
        states, rest = arrays[: self._count], arrays[self._count :]
        most = int(rest.pop()) if self._most else -1
        rounds = 0
        while rounds != most and bool(np.asarray(self._cond(states + rest)[0]).item()):
            states = self._body(states + rest)
            rounds += 1
        return states if len(states) != 1 else states[0]


def run_on_host(lowering: Lowering, op: Operation) -> None:
    """Run a loop round after round, each a run of its own."""
    top = lowering.top
    loop = HostLoop(lowering.run.session, op)
    inputs: list[Any] = []
    for i, t in enumerate(op.inputs):
        rows = top.array_of(t)
        inputs.append(t if rows is None else loop.array_input(i, rows))
    top.call(op, loop, inputs, [None] * len(op.outputs))
