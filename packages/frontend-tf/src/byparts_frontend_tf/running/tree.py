"""Steps of a run, kept as a tree of what was observed on the way.

    shapes of the feeds -> numbers that decide shapes -> a program -> what the host does -> ...

Most runs are one program.  Each step puts its results behind the `slots`, and gives a key: what the
rest depends on.  The next step is found by that key, so a path that was taken once is taken again
without looking at the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.static import evaluated
from byparts_graph_ir import Value
from byparts_runtime import Program
from byparts_tf_files.errors import OpError, error_of

Slots = list[Any]


class Step:
    """A step of a run.

    Attributes:
        children: what is observed -> what comes next.
    """

    __slots__ = ("children",)

    def __init__(self) -> None:
        self.children: dict[Hashable, Step] = {}

    def do(self, slots: Slots) -> Hashable:
        """Do it, append its results to `slots`, and give the key of what comes next."""
        raise NotImplementedError


class Finish(Step):
    """The end of a run: which slots are fetched."""

    __slots__ = ("slots",)

    def __init__(self, slots: Sequence[Optional[int]]) -> None:
        super().__init__()
        self.slots = tuple(slots)


class AskStep(Step):
    """Compute a value from feeds, by NumPy; the rest is for this very value.

    Args:
        value: what is asked for.
        inputs: the values it depends on, and the slots these are in.
    """

    __slots__ = ("_inputs", "_value")

    def __init__(self, value: Value, inputs: Sequence[tuple[Value, int]]) -> None:
        super().__init__()
        self._value, self._inputs = value, tuple(inputs)

    def do(self, slots: Slots) -> Hashable:
        if self._value.node is None:
            array = slots[self._inputs[0][1]]
        else:
            known = {v: np.asarray(slots[i]) for v, i in self._inputs}
            (array,) = evaluated((self._value,), known)
        slots.append(array)
        return key_of(array)


class ComputeStep(Step):
    """Compute arrays from slots, by a function; the rest is for these very arrays.

    Args:
        function: takes the arrays, gives a list of arrays, or `None`.
        inputs: their slots.
    """

    __slots__ = ("_function", "_inputs")

    def __init__(self, function: Callable[..., Any], inputs: Sequence[int]) -> None:
        super().__init__()
        self._function, self._inputs = function, tuple(inputs)

    def do(self, slots: Slots) -> Hashable:
        results = self._function(*[slots[i] for i in self._inputs])
        slots.append(results)
        return None if results is None else tuple([key_of(r) for r in results])


class ProgramStep(Step):
    """Run a program.

    Args:
        program: what `build` made.
        inputs: the slots of its feeds.
        asked: which of its results the rest is specialised on.
        after: called when it has run.
        blame: finds the operation that an error comes from.
    """

    __slots__ = ("_after", "_asked", "_blame", "_inputs", "program")

    def __init__(
        self,
        program: Program,
        inputs: Sequence[int],
        asked: Sequence[int] = (),
        after: Optional[Callable[[], None]] = None,
        blame: Optional[Callable[[BaseException], Any]] = None,
    ) -> None:
        super().__init__()
        self.program, self._inputs, self._asked = program, tuple(inputs), tuple(asked)
        self._after, self._blame = after, blame

    def results(self, slots: Slots) -> tuple[Any, ...]:
        """Compute the results of the program from the slots.

        Raises:
            OpError: it failed, in the operation that it names.
        """
        try:
            return self.program(*[slots[i] for i in self._inputs])
        except (OpError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise error_of(self._blame(error) if self._blame else None, error) from error

    def all_of_a_run(self, first: int) -> Optional[list[Optional[int]]]:
        """For each fetch the position among the results, or `None` for operations.

        `None` if more than this program is to be done, or something is fetched that is fed.

        Args:
            first: slot of the first result.
        """
        end = None if self._asked or self._after else self.children.get(None)
        if not isinstance(end, Finish) or any(i is not None and i < first for i in end.slots):
            return None
        return [None if i is None else i - first for i in end.slots]

    def do(self, slots: Slots) -> Hashable:
        results = self.results(slots)
        slots += results
        if self._after is not None:
            self._after()
        return tuple([key_of(results[i]) for i in self._asked]) if self._asked else None


class HostStep(Step):
    """Call a function of arrays.

    Args:
        op: the operation it is; `None` where it is part of several.
        function: takes the arrays, gives a list of results.
        inputs: their slots.
        typed: whether the rest depends on the types of the results: programs read them.
    """

    __slots__ = ("_function", "_inputs", "_op", "_typed")

    def __init__(
        self, op: Any, function: Callable[..., Any], inputs: Sequence[int], typed: bool = True
    ) -> None:
        super().__init__()
        self._op, self._function, self._inputs, self._typed = op, function, tuple(inputs), typed

    def do(self, slots: Slots) -> Hashable:
        try:
            results = self._function(*[slots[i] for i in self._inputs])
        except OpError as error:
            if error.op is None:
                error.op = self._op
            raise
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            raise error_of(self._op, error) from error
        slots += results
        return tuple([type_key(r) for r in results]) if self._typed else None


def key_of(array: Any) -> Hashable:
    """Key that tells an array from others: its type and content."""
    array = np.asarray(array)
    content = tuple(array.reshape(-1)) if array.dtype == object else array.tobytes()
    return array.dtype.str, array.shape, content


def type_key(result: Any) -> Hashable:
    """Key that tells the type of a result from others."""
    if isinstance(result, np.ndarray):
        return result.dtype.str, result.shape
    return type(result).__name__
