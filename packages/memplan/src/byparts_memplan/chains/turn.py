"""Which steps of a training graph run forward, and where its backward turns.

The turn is where most bytes wait: of the depths (longest ways from the inputs), the one that most
storages cross.  Its step with the longest way still to go and all that it depends on run forward;
everything else runs backward: gradients, and what is computed for nobody but them or for the
caller.  O(reads).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from byparts_graph_ir import Value
from byparts_memplan.steps import Steps


def forward_steps(steps: Steps) -> list[int]:
    """In the given order; empty where there is nothing to turn."""
    if not steps.nodes:
        return []
    writers = earlier(steps)
    depth = depths(writers)
    turn = _deepest_crossing(steps, depth)
    height = [0] * len(steps.nodes)
    for s in range(len(steps.nodes) - 1, -1, -1):
        for w in writers[s]:
            height[w] = max(height[w], height[s] + 1)
    top = max((s for s, d in enumerate(depth) if d == turn), key=lambda s: (height[s], -s))
    found, todo = {top}, [top]
    while todo:
        for w in writers[todo.pop()]:
            if w not in found:
                found.add(w)
                todo.append(w)
    return sorted(found)


def deepest_first(steps: Steps, forward: list[int]) -> list[int]:
    """The forward steps, each as late as the deepest of what is to follow allows.

    A graph's own order may compute for all steps of time at once what only one of them reads.
    """
    writers, ahead = earlier(steps), set(forward)
    depth = depths(writers)
    top = max(forward, key=lambda s: (depth[s], s))
    found: list[int] = []
    done: set[int] = set()
    todo = [(top, False)]
    while todo:
        s, ready = todo.pop()
        if s in done:
            continue
        if ready:
            done.add(s)
            found.append(s)
            continue
        todo.append((s, True))
        inputs = dict.fromkeys(w for w in writers[s] if w in ahead and w not in done)
        todo += [(w, False) for w in sorted(inputs, key=lambda w: (depth[w], -w))]
    return found


def depths(before: Sequence[Sequence[int]]) -> list[int]:
    """By step, how many have to run before it one after the other."""
    found: list[int] = []
    for writers in before:
        found.append(max([found[w] + 1 for w in writers], default=0))
    return found


def earlier(steps: Steps) -> list[tuple[int, ...]]:
    """By step, those that have to run before it: also makers of what it ignores, or of views."""
    step_of = {node: s for s, node in enumerate(steps.nodes)}
    makers: dict[Value, tuple[int, ...]] = {}
    found = []
    for node in steps.graph.nodes:
        before = [w for v in node.inputs for w in makers.get(v, ())]
        made = tuple(dict.fromkeys(before)) if len(before) > 1 else tuple(before)
        if node in step_of:
            found.append(made)
            made = (step_of[node],)
        makers.update((v, made) for v in node.outputs)  # of a view: those of what it looks at
    return found


def _deepest_crossing(steps: Steps, depth: list[int]) -> int:
    """The depth after which most bytes wait that do not leave the graph."""
    last: dict[int, int] = {}
    for s, reads in enumerate(steps.reads):
        for r in reads:
            last[r] = max(last.get(r, 0), depth[s])
    change = [0] * (max(depth) + 2)
    for r, s in steps.writer.items():
        if r not in steps.kept and last.get(r, -1) > depth[s]:
            change[depth[s]] += steps.size[r]
            change[last[r]] -= steps.size[r]
    waiting = list(accumulate(change))
    return waiting.index(max(waiting))
