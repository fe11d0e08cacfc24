"""The combinations worth trying, computed from what the parts declare.

- Every part with what it requires, and nothing else: nobody leans on what is not declared.
- Every kernels part with the ops and the runtime, and with each part that the runtime would find
  through the hub (passes, planners), with none of them and with all.
- Every front-end on every kernels part.
- The conformance kit on every kernels part.
- All kernels parts with the runtime; everything.
- Wherever a part requires torch: the same without it, which must be said and not crash.
- The parts of a small device, straight from their wheels, not unpacked.

The same set of parts is tried once.  A new part takes its places by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations as choose

from combinations.facts import Parts, closure, part_name

OPS, RUNTIME, KIT = "opset", "runtime", "conformance"
FOUND_BY_THE_RUNTIME = frozenset({"passes", "planners"})
MAY_LACK = "torch"  # large, and so the one that people try to do without
SMALL_DEVICE = ("kernels-numpy", "memplan", RUNTIME)


@dataclass(frozen=True)
class Combination:
    """Parts to try together.

    Attributes:
        id: what is reported and what `--only` matches: the parts that no other one brings along.
        parts: all of them.
        lacks: third-party packages that are left out although they are required.
        zipped: whether the wheels are put on the path as they are.
    """

    id: str
    parts: frozenset[str]
    lacks: frozenset[str] = frozenset()
    zipped: bool = False


def combinations(parts: Parts, *, every_subset: bool = False) -> list[Combination]:
    """All of them, smallest first within each kind; `every_subset` of what the runtime finds."""
    made: dict[object, Combination] = {}
    for names in _sets(parts, every_subset=every_subset):
        whole = closure(names, parts)
        everything = whole == frozenset(parts)
        made.setdefault(whole, Combination("all" if everything else _id(whole, parts), whole))
    for name, part in parts.items():
        if any(r.name == MAY_LACK for r in part.others):
            bare = closure([name, *({OPS, RUNTIME} & parts.keys())], parts)
            lacking = Combination(f"{name} - {MAY_LACK}", bare, frozenset({MAY_LACK}))
            made[lacking.id] = lacking
    if parts.keys() >= set(SMALL_DEVICE):
        small = closure(SMALL_DEVICE, parts)
        made["zipped"] = Combination(f"{_id(small, parts)} (zipped)", small, zipped=True)
    return list(made.values())


def providers(parts: Parts, *sockets: str) -> list[str]:
    """Names of the parts that fill one of these sockets."""
    return [name for name, part in parts.items() if part.sockets & set(sockets)]


def _sets(parts: Parts, *, every_subset: bool) -> Iterator[Iterable[str]]:
    yield from ([name] for name in sorted(parts, key=lambda n: (len(closure([n], parts)), n)))
    kernels = providers(parts, "backends")
    below = [name for name in (OPS, RUNTIME) if name in parts]
    extras = providers(parts, *FOUND_BY_THE_RUNTIME)
    sizes = range(len(extras) + 1) if every_subset else sorted({0, 1, len(extras)})
    for backend in kernels:
        for size in sizes:
            yield from ([backend, *below, *extra] for extra in choose(extras, size))
    for frontend in providers(parts, "frontends"):
        yield from ([frontend, backend, *below] for backend in kernels)
    if KIT in parts:
        yield from ([KIT, backend] for backend in kernels)
    yield [*kernels, *below]
    yield parts


def _id(whole: frozenset[str], parts: Parts) -> str:
    """The parts that nobody else in the set requires."""
    brought = {part_name(r) for name in whole for r in parts[name].needs}
    return "+".join(sorted(whole - brought))
