"""An order of the nodes that keeps fewer bytes alive.

What is alive at the worst step bounds every arena, so that is what counts: exactly, with all that
may be written over something else.  Cheap orders first (`list_schedule.py`); then the peak is taken
down where it stands: by what a minimum cut says should be done before it (`ordering/bound.py`), and
by searching the best order of ever longer windows around it (`ordering/window.py`).  It ends when
the cut proves that no order is better, when the window is as long as what could matter, or when the
effort is spent.  A window never reaches beyond a task that all others come before or after: what
lies between two such tasks can be ordered by itself.

O((nodes + reads) log nodes) and the effort; deterministic.  Effects keep their order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Optional

from byparts_graph_ir import Graph
from byparts_memplan.buffer import Buffer, PlanError, is_number, lower_bound
from byparts_memplan.kernel_facts import known_kernels
from byparts_memplan.lifetimes import Values, positions
from byparts_memplan.ordering.search import search
from byparts_memplan.ordering.tasks import Tasks
from byparts_memplan.share import Sharing
from byparts_memplan.tuning import LARGE_GRAPH, ORDER_ROUNDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels


def order(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    effort: Optional[int] = None,
    kernels: Optional[Kernels] = None,
) -> Graph:
    """The same nodes in an order with a lower peak; the graph itself where none is ordered.

    Inputs in `external` live elsewhere, so that reading them for the last time frees nothing.
    `effort` bounds the search, in tasks looked at, about half a million a second; by default a
    tenth of a second for some hundred nodes, up to a few seconds for 20,000, and next to nothing
    where the first orders are proved.  With `kernels` (see `plan`), workspaces count, and kernels
    say what is in place.  Needs static types; preserves values, and effects with their order.

    Raises:
        PlanError: a type is not static, there is no such input, or no such effort; what `kernels`
            gives lacks a fact.
    """
    external, known = positions(graph, external), known_kernels(kernels)
    if effort is not None and (not is_number(effort) or effort < 0):
        raise PlanError(f"effort is {effort!r:.60}; expected a number of tasks, 0 or more")
    before = peak_bytes(graph, external, kernels=known)
    for _ in range(ORDER_ROUNDS if len(graph.nodes) < LARGE_GRAPH else 1):
        tasks = Tasks(graph, external, known)
        usual = min(max(40_000, 60 * len(tasks.graph_order)), 300_000)
        ordered = search(tasks, usual if effort is None else effort)
        if ordered.peak_bytes >= before:
            return graph
        better = tasks.graph_of(ordered.sequence)
        after = peak_bytes(better, external, kernels=known)
        if after >= before:
            return graph
        graph, before = better, after
        if ordered.proved:
            return graph
    return graph


def peak_bytes(
    graph: Graph, external: Collection[int] = frozenset(), *, kernels: Optional[Kernels] = None
) -> int:
    """The bytes alive at the worst step, once all that may share bytes does.

    Without padding; with `kernels`, workspaces count, and kernels say what is in place.

    Raises:
        PlanError: as `order`.
    """
    outside = sorted(positions(graph, external))
    values = Values(graph, kernels=kernels)
    sharing = Sharing(values, outside, {})
    lives = [*zip(sharing.size, sharing.born, sharing.last, strict=True)]
    lives += [(size, step, step) for step, size in enumerate(values.workspace)]
    return lower_bound([Buffer(size, born, last + 1) for size, born, last in lives])
