"""Control of the bodies of an op, as data from which a runtime can plan and run any such op.

An op gives one of these from `Op.control`; its bodies are then programs whose memory is planned
within the program, and no backend needs a kernel for the op.
"""

from __future__ import annotations

from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.graph import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


class Branches(Frozen):
    """A call or a branch: one body runs, once, and gives the outputs.

    Attributes:
        bodies: of one body, it takes the inputs of the op.  Of two, the first input of the op is
            a bool[]: the second body runs if it holds, else the first; both take the other inputs.
        names: what each is called in messages.
    """

    bodies: tuple[Graph, ...]
    names: tuple[str, ...]


class Loop(Frozen):
    """A body runs again and again on states, slices of sequences and invariants.

        inputs of the op:      states, sequences, invariants
        inputs of a body:      states, slices, invariants
        outputs of `body`:     new states, rows
        outputs of the op:     last states, stacked rows

    Attributes:
        states: how many; each has the type of the new one.
        sequences: how many inputs give one slice along axis 0 to each round.
        cond: gives a bool[] before each round: whether there is another.  `None`: `rounds` says.
        rounds: the most there are.
        reverse: the first round has the last slices, and its rows are the last of the stacks.
    """

    body: Graph
    states: int
    sequences: int = 0
    cond: Graph | None = None
    rounds: int | None = None
    reverse: bool = False


class ReversedLoop(Frozen):
    """A loop runs and keeps states of each round; then `back` runs once a round, last round first.

        inputs of the op:                  states, carried, invariants
        inputs of the bodies of `loop`:    states, invariants
        inputs of `back`:                  carried, kept states before the round, invariants
        outputs of `back`:                 new carried
        outputs of the op:                 last carried

    The kept states are on a stack that grows with the rounds, since their number depends on data.

    Attributes:
        loop: without sequences and without rows.
        kept: positions of the states that `back` reads.
    """

    loop: Loop
    back: Graph
    kept: tuple[int, ...]


Control: TypeAlias = "Branches | Loop | ReversedLoop"
