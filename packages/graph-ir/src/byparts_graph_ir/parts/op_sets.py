"""The ops of all installed op sets, by name.

An op set that cannot be loaded, and a name that two of them give to different ops, concern only
graphs that use such a name: the error is raised when it is looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.discover import Part, conflict

if TYPE_CHECKING:
    from byparts_graph_ir.model.op import Op

OpSet = tuple[Part, Mapping[str, Any]]


class OpSets(Mapping[str, "type[Op]"]):
    """Name -> op.  Iteration leaves out the names in `conflicts`.

    Attributes:
        conflicts: name -> the parts that mean different ops by it.
        failures: why an op set cannot be loaded, for each that cannot.
    """

    def __init__(self, sets: Sequence[OpSet], failures: Sequence[str]) -> None:
        self._owners: dict[str, list[OpSet]] = {}
        for part, ops in sets:
            for name in ops:
                self._owners.setdefault(name, []).append((part, ops))
        self.failures = tuple(failures)
        self.conflicts = {
            name: [part for part, _ in owners]
            for name, owners in self._owners.items()
            if any(ops[name] is not owners[0][1][name] for _, ops in owners[1:])
        }

    def __getitem__(self, name: str) -> type[Op]:
        """The op.

        Raises:
            PartError: two parts provide it, it is no op, or an op set that fails may have it.
        """
        if name in self.conflicts:
            raise PartError(conflict(f"op {name!r}", self.conflicts[name]))
        if name not in self._owners:
            if self.failures:
                raise PartError(f"no op {name!r} among those that load; {'; '.join(self.failures)}")
            raise KeyError(name)
        part, ops = self._owners[name][0]
        op: type[Op] = ops[name]
        if not isinstance(op, type) or not hasattr(op, "infer") or op.name != name:
            what = f"the op set of {part.distribution} has {op!r:.60} as {name!r}"
            raise PartError(
                f"{what}: write {{op.name: op}}, with subclasses of byparts_graph_ir.Op"
            )
        return op

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._owners if name not in self.conflicts)

    def __len__(self) -> int:
        return len(self._owners) - len(self.conflicts)
