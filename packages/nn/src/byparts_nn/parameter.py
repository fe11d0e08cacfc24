"""Parameters: cells that are trained, with the number that draws their first value.

Each parameter takes the next number when it is made, and draws with it when its shape is known.  So
the same program has the same weights, on every backend, whichever shapes are found first.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from byparts_eager import Array, Cell
from byparts_graph_ir import GraphError, Shape, TensorType
from byparts_graph_ir.errors import refusal
from byparts_nn.initialize import Initializer, zeros


class _Numbers:
    """The seed of this process, and how many numbers were taken since it was set."""

    seed = 0
    count = itertools.count()


def seed(number: int) -> None:
    """Begin anew the numbers that parameters and random layers take; a program begins with 0."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise GraphError(f"seed: {number!r:.60} is no whole number from 0 on")
    _Numbers.seed, _Numbers.count = number, itertools.count()


def next_number() -> tuple[int, int]:
    """(seed, count): what nothing else in this program has."""
    return _Numbers.seed, next(_Numbers.count)


@dataclass(frozen=True)
class Seeded:
    """An initializer with the numbers that it draws by: the function of a shape that cells want."""

    draw: Initializer
    numbers: tuple[int, int]

    def __call__(self, shape: tuple[int, ...]) -> Any:
        """The first value; the same each time."""
        random = np.random.Generator(np.random.Philox(np.random.SeedSequence(self.numbers)))
        return np.asarray(self.draw(shape, random))


class Parameter(Cell):
    """A place for weights: assigned to a field of a module, the field reads and writes its value.

    Args:
        shape: its shape, in which `None` is found when the module is first called; or an array,
            the first value.
        initializer: draws the first value; zeros by default.
        dtype: of its elements, if a shape is given.
        trainable: whether it has a gradient now; `Module.freeze` changes that.
    """

    __slots__ = ()

    def __init__(
        self,
        shape: Iterable[int | None] | Array | np.ndarray[Any, Any],
        initializer: Initializer = zeros,
        dtype: str = "f32",
        trainable: bool = True,
    ) -> None:
        if isinstance(shape, (Array, np.ndarray)):
            super().__init__(shape, trainable=trainable)
            return
        if not isinstance(shape, (tuple, list)):
            raise refusal("Parameter", "shape", shape, "sizes, as in (3, None), or an array")
        start = TensorType(str(dtype), tuple(shape))
        super().__init__(start, initializer=Seeded(initializer, next_number()), trainable=trainable)

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        new = memo[id(self)] = Parameter.__new__(Parameter)
        _start(new, *copy.deepcopy(self.__reduce__()[1][1:], memo))
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        drawn = self._array is not None or self._variable is not None
        start = self.value if drawn else self.type  # else the copy draws the same, when it is used
        initializer = None if drawn else self._initializer
        return _restored, (Parameter, start, initializer, self.trainable, self.name)


def _start(new: Parameter, start: Any, initializer: Any, trainable: bool, name: str) -> Parameter:
    Cell.__init__(new, start, initializer=initializer, trainable=trainable, name=name)
    return new


def _restored(kind: type[Parameter], *state: Any) -> Parameter:
    return _start(kind.__new__(kind), *state)


def size(cell: Cell, shape: Shape) -> None:
    """Give a cell this shape if its own is open: where no shape rule of an op could tell."""
    if cell.is_open:
        cell.fix(TensorType(cell.type.dtype, shape))
