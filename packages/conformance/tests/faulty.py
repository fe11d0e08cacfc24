"""The NumPy backend with a fault in some of its kernels, for tests of whether it is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from byparts_graph_ir import Backend, Op, Table
from byparts_graph_ir.model.frozen import replace
from byparts_kernels_numpy import make

Spoil = Callable[[Sequence[Any]], object]


def with_fault(kinds: Sequence[type[Op]], spoil: Spoil) -> Backend:
    """The NumPy backend, where each run of a kernel for these ops ends with `spoil(outputs)`."""
    backend = make()
    return replace(backend, kernels=_Spoilt(backend.kernels, tuple(kinds), spoil))


class _Spoilt(Table[Any]):
    """A table of rules of which some do one thing more."""

    def __init__(self, table: Table[Any], kinds: tuple[type[Op], ...], spoil: Spoil) -> None:
        super().__init__(table.what)
        self.table, self.kinds, self.spoil = table, kinds, spoil

    def get(self, op: Op | type[Op]) -> Any:
        """The rule for an op, or `None`."""
        rule = self.table.get(op)
        kind = op if isinstance(op, type) else type(op)
        if rule is None or not issubclass(kind, self.kinds):
            return rule

        def spoilt(op: Op, inputs: Sequence[Any], outputs: Sequence[Any], *rest: Any) -> Any:
            run = rule(op, inputs, outputs, *rest)
            return lambda: (run(), self.spoil(outputs))

        return spoilt

    def takes_workspace(self, op: Op) -> bool:
        return self.table.takes_workspace(op)

    def compiled(self, op: Op) -> bool:
        return self.table.compiled(op)

    def __iter__(self) -> Iterator[type[Op]]:
        return iter(self.table)
