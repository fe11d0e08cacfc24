"""The values of a session's variables, outside every arena.

A variable of TensorFlow has a value from its first assignment on.  One that is assigned a value of
another shape gets new memory, and the programs bound to the old one are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph import seeds
from byparts_frontend_tf.graph.operation import Operation
from byparts_graph_ir import Space, TensorType
from byparts_graph_ir.fork import make_lock
from byparts_runtime import Variable as Stored
from byparts_tf_files.errors import FailedPreconditionError

DRAWS = 1 << 32  # numbers that an operation draws each time it is executed, at most


class Variables:
    """Variable of the graph -> its memory in this session.

    Args:
        space: gives that in which programs of the session compute.

    Attributes:
        moved: how often a variable got other memory than programs are bound to.
    """

    def __init__(self, space: Callable[[], Space]) -> None:
        self._space = space
        self._stored: dict[Any, Stored] = {}
        self._objects: dict[Any, Any] = {}
        self._lock = make_lock()
        self.moved = 0

    def get(self, variable: Any) -> Optional[Stored]:
        """Memory of a variable, or `None` if it has no value."""
        return self._stored.get(variable)

    def has(self, variable: Any) -> bool:
        """Whether a variable has a value."""
        return variable in self._stored or variable in self._objects

    def target(self, variable: Any, kind: TensorType, name: str) -> Stored:
        """Memory for a new value of this type; the variable's from `keep` on."""
        stored = self._stored.get(variable)
        if stored is not None and stored.type == kind:
            return stored
        return Stored(name, kind, space=self._space())

    def counter(self, op: Operation) -> Stored:
        """The counter of an operation's draws: from 0 where a seed says them, else from anywhere.

        Each has its own, so that two of one seed draw the same, whichever runs first or more often.
        """
        found = self._stored.get(op)
        if found is None:
            start = 0 if op.attributes["fixed"] else seeds.unseeded(24) * DRAWS
            first = np.array(start, np.int64)
            found = self._stored[op] = Stored(op.name, first, space=self._space())
        return found

    def keep(self, variable: Any, stored: Stored) -> None:
        """The variable has this memory from now on."""
        before = self._stored.get(variable)
        if before is not stored:
            self._stored[variable] = stored
            self.moved += before is not None

    def write(self, variable: Any, array: Any, name: str) -> None:
        """Give a variable the value of an array."""
        array = np.asarray(array)
        stored = self.target(variable, Stored(name, array).type, name)
        stored.write(array)
        self.keep(variable, stored)

    def object_of(self, variable: Any) -> Any:
        """The value of a variable that lives on the host: strings.

        Raises:
            FailedPreconditionError: it has none.
        """
        if variable not in self._objects:
            raise FailedPreconditionError(
                None, variable, f"Attempting to use uninitialized value {variable.name}"
            )
        return self._objects[variable]

    def write_object(self, variable: Any, value: Any) -> None:
        """Give a variable that lives on the host a value."""
        self._objects[variable] = value

    def clear(self) -> None:
        """Forget all values."""
        self._stored.clear()
        self._objects.clear()
