"""The forward part of a training graph; all other steps run backward.

The depth of a step is the longest path to it from the inputs.  The forward part ends at the depth
that most bytes cross: of the steps there, the one with the longest path still to go, and all that
it depends on, run forward.  Everything else runs backward: gradients, and what is computed for them
or for the caller alone.  O(reads).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from byparts_memplan.steps import Steps


def forward_steps(steps: Steps) -> list[int]:
    """The forward steps in the order of the graph; empty for a graph without steps."""
    if not steps.nodes:
        return []
    dependencies = steps.before
    depth = depths(dependencies)
    last_depth = _depth_that_most_cross(steps, depth)
    height = [0] * len(steps.nodes)  # the longest path from a step to the end
    for s in range(len(steps.nodes) - 1, -1, -1):
        for w in dependencies[s]:
            height[w] = max(height[w], height[s] + 1)
    top = max((s for s, d in enumerate(depth) if d == last_depth), key=lambda s: (height[s], -s))
    forward, todo = {top}, [top]
    while todo:
        for w in dependencies[todo.pop()]:
            if w not in forward:
                forward.add(w)
                todo.append(w)
    return sorted(forward)


def by_depth(steps: Steps, forward: list[int]) -> list[int]:
    """The forward steps in another order: each just before the deepest path that needs it.

    A graph's own order may compute for all steps of time at once what only one of them reads.
    """
    dependencies, allowed = steps.before, set(forward)
    depth = depths(dependencies)
    top = max(forward, key=lambda s: (depth[s], s))
    order: list[int] = []
    done: set[int] = set()
    todo = [(top, False)]  # (step, whether all that it depends on is done)
    while todo:
        s, ready = todo.pop()
        if s in done:
            continue
        if ready:
            done.add(s)
            order.append(s)
            continue
        todo.append((s, True))
        inputs = dict.fromkeys(w for w in dependencies[s] if w in allowed and w not in done)
        todo += [(w, False) for w in sorted(inputs, key=lambda w: (depth[w], -w))]
    return order


def depths(dependencies: Sequence[Sequence[int]]) -> list[int]:
    """By step, the length of the longest chain of steps that must run before it."""
    depth: list[int] = []
    for needed in dependencies:
        depth.append(max([depth[w] + 1 for w in needed], default=0))
    return depth


def _depth_that_most_cross(steps: Steps, depth: list[int]) -> int:
    """The depth after which most bytes wait for deeper readers, graph outputs aside."""
    last: dict[int, int] = {}  # storage -> depth of its deepest reader
    for s, reads in enumerate(steps.reads):
        for r in reads:
            last[r] = max(last.get(r, 0), depth[s])
    change = [0] * (max(depth) + 2)
    for r, s in steps.writer.items():
        if r not in steps.kept and last.get(r, -1) > depth[s]:
            change[depth[s]] += steps.size[r]
            change[last[r]] -= steps.size[r]
    crossing = list(accumulate(change))
    return crossing.index(max(crossing))
