"""The nest of loops around the steps of a region, built from the outermost axis inwards.

A step that reads the result of a reduction over an axis comes into a later loop over that axis, so
softmax is one loop over rows with three over columns inside.  What is only needed within one round
of a loop is kept for that round alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from byparts_op_loops.regions.layout import Axes
from byparts_op_loops.regions.steps import Step, Steps


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop over one axis, and what it holds in order."""

    axis: int
    body: tuple[Item, ...]


Item = Union[Loop, Step]


@dataclass(frozen=True, eq=False)
class Nest:
    """The loops of a region.

    Attributes:
        steps: what is stored.
        body: the outermost loops, and steps without axes, in order.
        paths: step -> the loops around it, outermost first.
        kept: step -> the axes by which a buffer of its own is indexed.
    """

    steps: Steps
    body: tuple[Item, ...]
    paths: Mapping[Step, tuple[Loop, ...]]
    kept: Mapping[Step, Axes]


def nested(steps: Steps) -> Nest:
    """Put the steps, in order, into as few loops as can be."""
    body = _loops(steps, steps.order, frozenset())
    paths = dict(_paths(body, ()))
    return Nest(steps, body, paths, _kept(steps, paths))


@dataclass(eq=False)
class _Group:
    """The steps of a loop over one axis; a step without axes is a group of its own."""

    axis: int | None
    members: list[Step] = field(default_factory=list)


def _loops(steps: Steps, some: Sequence[Step], around: frozenset[int]) -> tuple[Item, ...]:
    """Put some steps, in order, into loops inside of those over the axes `around`."""
    groups: list[_Group] = []
    place: dict[Step, int] = {}  # step -> the number of its group
    for s in some:
        axis = next((a for a in s.axes if a not in around), None)
        first = 0
        for d in steps.needs[s]:
            if d in place:
                together = axis is not None and axis == groups[place[d]].axis and axis not in d.over
                first = max(first, place[d] + (0 if together else 1))
        fits = [i for i in range(first, len(groups)) if axis is not None and groups[i].axis == axis]
        if not fits:
            groups.append(_Group(axis))
        place[s] = fits[0] if fits else len(groups) - 1
        groups[place[s]].members.append(s)
    return tuple(
        [
            g.members[0]
            if g.axis is None
            else Loop(g.axis, _loops(steps, g.members, around | {g.axis}))
            for g in groups
        ]
    )


def _paths(
    body: Sequence[Item], around: tuple[Loop, ...]
) -> Iterator[tuple[Step, tuple[Loop, ...]]]:
    """Each step with the loops around it, in the order in which they run."""
    for item in body:
        if isinstance(item, Step):
            yield item, around
        else:
            yield from _paths(item.body, (*around, item))


def _kept(steps: Steps, paths: Mapping[Step, tuple[Loop, ...]]) -> dict[Step, Axes]:
    """The axes of each step without those of the loops that hold it and all steps that read it."""
    common = dict(paths)
    for reader in steps.order:
        for s in steps.needs[reader]:
            pairs = zip(common[s], paths[reader], strict=False)
            common[s] = tuple([a for a, b in pairs if a is b])
    kept = {}
    for s in steps.order:
        shared = {loop.axis for loop in common[s]}
        kept[s] = tuple([a for a in s.axes if a not in s.over and a not in shared])
    return kept
