"""The ways in which programs are built: options, backends in part, other programs that do the same.

Whatever a way changes, a program must give what it means.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from byparts_conformance.programs.program import Program
from byparts_conformance.programs.twins import as_rounds, before_shapes, unrolled
from byparts_graph_ir import Backend, HostSpace, Node, Op, Table
from byparts_graph_ir.model.frozen import replace
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import separate

Backends = Sequence[Any]


def _as_given(backends: Backends, seed: int) -> Backends:
    return backends


def _the_same(program: Program) -> Program:
    return program


@dataclass(frozen=True)
class Way:
    """A way to build programs.

    Attributes:
        name: in reports.
        options: of `build`.
        backends: what becomes of the backends that were asked for; the seed may decide.
        twin: another program that gives the same.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    backends: Callable[[Backends, int], Backends] = _as_given
    twin: Callable[[Program], Program] = _the_same

    def build_options(self, backends: Backends, seed: int) -> dict[str, Any]:
        """The options of `build`, with backends."""
        return {**self.options, "backends": tuple(self.backends(backends, seed))}


class _SomeOps(Table[Any]):
    """A table of rules without those for some ops."""

    def __init__(self, table: Table[Any], keeps: Callable[[type[Op]], bool]) -> None:
        super().__init__(table.what)
        self.table, self.keeps = table, keeps

    def get(self, op: Op | type[Op]) -> Any:
        """The rule for an op, or `None`."""
        kind = op if isinstance(op, type) else type(op)
        return self.table.get(op) if self.keeps(kind) else None

    def takes_workspace(self, op: Op) -> bool:
        return self.table.takes_workspace(op)

    def compiled(self, op: Op) -> bool:
        return self.keeps(type(op)) and self.table.compiled(op)

    def __iter__(self) -> Iterator[type[Op]]:
        return iter([kind for kind in self.table if self.keeps(kind)])


def without_regions(backends: Backends, seed: int) -> Backends:
    """Backends that join no nodes."""
    own = [loaded(b) for b in backends]
    return [b if b.wants is None else replace(b, wants=None) for b in own]


def in_part(backends: Backends, seed: int) -> Backends:
    """Backends of which each but the last lacks half of its ops, so that they take turns."""
    own = [loaded(b) for b in backends]
    return [*[_half(b, seed) for b in own[:-1]], own[-1]]


class Elsewhere(HostSpace):
    """Memory of the host that is not taken for that of other backends."""

    name = "elsewhere:0"


def in_two_spaces(backends: Backends, seed: int) -> Backends:
    """Backends in part, and the last one in another memory space, so that values are copied."""
    own = [loaded(b) for b in backends]
    return [*[_half(b, seed) for b in own], replace(own[-1], name="elsewhere", space=Elsewhere())]


def _half(backend: Backend, seed: int) -> Backend:
    def keeps(kind: type[Op]) -> bool:
        return Random(f"{seed} {kind.__name__}").random() < 0.5 or kind.__name__ == "Fused"

    wants = backend.wants

    def wanted(node: Node) -> bool:
        return wants is not None and keeps(type(node.op)) and wants(node)

    tables = {
        "kernels": _SomeOps(backend.kernels, keeps),
        "functions": _SomeOps(backend.functions, keeps),
    }
    return replace(backend, wants=None if wants is None else wanted, **tables)


def loaded(backend: Any) -> Backend:
    """A backend by name, or itself."""
    made = parts.backend(backend) if isinstance(backend, str) else backend
    assert isinstance(made, Backend), f"{made!r} is no backend"
    return made


def renewed(backend: Any) -> Backend:
    """The same backend, which has compiled nothing yet."""
    return replace(loaded(backend))


@contextmanager
def shared_loops() -> Iterator[None]:
    """While it is entered backends that share loops among threads share short ones too.

    Two threads at least compute.  Kernels that a backend has compiled before are not made again.
    """
    before = {name: os.environ.get(name) for name in ("BYPARTS_SHARE_FROM_US", "OMP_NUM_THREADS")}
    threads = before["OMP_NUM_THREADS"] or str(os.cpu_count() or 1)
    os.environ["BYPARTS_SHARE_FROM_US"] = "0"
    os.environ["OMP_NUM_THREADS"] = str(max(2, int(threads.split(",")[0])))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({name: value} if value is not None else {})


PLAIN = Way("as a user builds")
WAYS = (
    PLAIN,
    Way("without passes", {"passes": ()}),
    Way("each value in memory of its own", {"planner": separate, "order": None}),
    Way("new values copied", {"commit": "copy", "capture": False}),
    Way("in the order as written", {"order": None}),
    Way("values computed again", {"max_extra_cost": 0.05}),
    Way("without regions", backends=without_regions),
    Way("backends in part", backends=in_part),
    Way("in two memory spaces", backends=in_two_spaces),
    Way("bodies written out", twin=unrolled),
    Way("as rounds of a loop", twin=as_rounds),
    Way("optimized before shapes are known", twin=before_shapes),
)


def way_of(number: int) -> Way:
    """The way in which the batch of this number is built: every second one as a user builds."""
    return PLAIN if number % 2 == 0 else WAYS[1 + number // 2 % (len(WAYS) - 1)]
