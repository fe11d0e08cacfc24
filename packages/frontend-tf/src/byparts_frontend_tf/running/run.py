"""State that all levels of the lowering of one run share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.running.host_calls import Host
from byparts_frontend_tf.running.inputs import Inputs
from byparts_frontend_tf.running.numbers import Numbers
from byparts_frontend_tf.running.starts import Starts

if TYPE_CHECKING:
    from byparts_frontend_tf.running.session import BaseSession


@dataclass(frozen=True)
class Run:
    """A run that is being explored: where its values come from, and what the host does.

    Attributes:
        session: whose variables and resources.
        inputs: the inputs that its programs read.
        numbers: what is known of values.
        starts: what variables are before it.
        host: calls functions of arrays.
        body: where its fetches are: `None`, or the body of a loop that the host runs.
        operations: what it needs.
        passed: numbers of the rules for gradients that the program says (`own_gradient.py`).
    """

    session: BaseSession
    inputs: Inputs
    numbers: Numbers
    starts: Starts
    host: Host
    body: Any = None
    operations: set[Operation] = field(default_factory=set)
    passed: list[int] = field(default_factory=list)
