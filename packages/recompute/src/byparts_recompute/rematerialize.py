"""Compute again what would cost too many bytes to keep: fewer bytes alive, for more work.

A training step keeps most of its forward pass for the backward one.  Here parts of it are computed
a second time instead, where they are needed.  Which parts, where and how often is searched
(`scheduling/search.py`) on schedules whose true peak is known after every change, with sharing,
views and order; so the plan of the result needs the bytes that are promised.  The search starts
from minimum cuts (`scheduling/cut.py`), schedules of chains (`chains/`) and plain orders.

Effects are never repeated.  Random draws are pure functions of key and counter, so drawing again
gives the same bits.  The result is an ordinary graph, and its values are equal bit for bit, given
the same kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import inf
from sys import float_info
from typing import Optional

from byparts_graph_ir import Graph
from byparts_memplan.buffer import PlanError
from byparts_memplan.steps import Cost, flops
from byparts_recompute.arguments import costed, not_negative, whole_number
from byparts_recompute.chains.sequences import STRATEGIES as CHAINS, chain_sequences
from byparts_recompute.needed_runs import without_unneeded_runs
from byparts_recompute.recomputed import BudgetError, Recomputation
from byparts_recompute.scheduling.cp_sat import Limits, load_solver, solve
from byparts_recompute.scheduling.pool import Progress
from byparts_recompute.scheduling.search import Search
from byparts_recompute.scheduling.whole_tradeoff import chosen_sequence, reordered, whole_tradeoff
from byparts_recompute.undominated import stairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels


def rematerialize(
    graph: Graph,
    budget_bytes: Optional[int] = None,
    *,
    max_extra_cost: Optional[float] = None,
    external: Collection[int] = frozenset(),
    cost: Cost = flops,
    strategy: str = "auto",
    effort: float = 1.0,
    seed: int = 0,
    kernels: Optional[Kernels] = None,
    barriers: bool = True,
    progress: Optional[Progress] = None,
) -> Graph:
    """The same program with some values computed again instead of kept.

    With `budget_bytes`: the least extra cost with which at most that many bytes are alive at any
    step (`peak_bytes` of the result), inputs included but for those in `external`.  The graph
    itself where it is within the budget as it is.  With `max_extra_cost`: the smallest peak for at
    most that fraction of the graph's cost more (0.01 is one hundredth, `inf` is no limit).  The
    order of the nodes may change.

    Args:
        graph: has static types.
        budget_bytes: or
        max_extra_cost: one of them.
        external: positions of inputs that live elsewhere.
        cost: of running a node, by default in floating point operations.
        strategy: "auto", or one of `strategies()`; "exact" needs OR-tools, which is an extra.
        effort: how long to search: 1 is some seconds for some hundred nodes, 0 is greedy alone.
        seed: of the search, which gives the same answer for the same arguments.
        kernels: as in `plan`: with them, the workspace of each step counts where it runs.  A node
            that is computed again is a new `Node`, for which `kernels` is called anew.

        barriers: keep passes from merging what is computed twice (`OptimizationBarrier`).
        progress: called with a line of text now and then.

    Raises:
        BudgetError: nothing within the budget was found; says what is alive at the best peak.
        PlanError: both limits or none, a negative one, an unknown strategy or one whose solver is
            not installed, types not static; what `kernels` gives lacks a fact.
    """
    result = recomputation(
        graph,
        budget_bytes,
        max_extra_cost=max_extra_cost,
        external=external,
        cost=cost,
        strategy=strategy,
        effort=effort,
        seed=seed,
        kernels=kernels,
        progress=progress,
    )
    return result.graph(barriers=barriers)


def recomputation(
    graph: Graph,
    budget_bytes: Optional[int] = None,
    *,
    max_extra_cost: Optional[float] = None,
    external: Collection[int] = frozenset(),
    cost: Cost = flops,
    strategy: str = "auto",
    effort: float = 1.0,
    seed: int = 0,
    kernels: Optional[Kernels] = None,
    progress: Optional[Progress] = None,
) -> Recomputation:
    """Recomputations of `rematerialize`, with peaks and costs.  Arguments and errors as there."""
    if (budget_bytes is None) == (max_extra_cost is None):
        both = f"budget_bytes={budget_bytes}, max_extra_cost={max_extra_cost}"
        raise PlanError(f"{both}: give one of them; the other is what comes out")
    budget = None if budget_bytes is None else whole_number("budget_bytes", budget_bytes)
    extra = None if max_extra_cost is None else not_negative(
        "max_extra_cost", max_extra_cost, "it is a fraction of the graph's cost, 0 or more"
    )  # fmt: skip
    run, (effort, seed) = _strategy(strategy), _checked_search(effort, seed)
    steps = costed(graph, external, cost, kernels)
    plain: Sequence[int] = range(len(steps.nodes))
    if budget is not None and steps.peak_bytes() <= budget:
        return Recomputation.of(steps, plain, "none needed")
    if not plain:
        result = Recomputation.of(steps, plain, strategy, steps.peak_bytes([]))
    else:
        search = Search(steps, plain, effort=effort, seed=seed, progress=progress)
        sequence = without_unneeded_runs(steps, run(search, budget, extra))
        proofs = search.floor, search.least, search.proved
        result = Recomputation.of(steps, sequence, strategy, *proofs)
    if budget is not None and result.peak_bytes > budget:
        raise BudgetError(result, budget)
    return result


def tradeoff(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    cost: Cost = flops,
    points: int = 12,
    effort: float = 1.0,
    seed: int = 0,
    kernels: Optional[Kernels] = None,
    progress: Optional[Progress] = None,
) -> list[tuple[int, float]]:
    """Pairs (peak bytes, extra cost as a fraction): fewer bytes for more work, down to the fewest.

    No pair is worse in both numbers than a schedule that the search has seen.  `points` budgets are
    searched, and of graphs of up to 3000 nodes a third as many limits of cost; there may be more
    pairs than that.

    Raises:
        PlanError: types are not static, or an argument is not what it has to be.
    """
    effort, seed = _checked_search(effort, seed)
    points = whole_number("points", points, 1)
    steps = costed(graph, external, cost, kernels)
    if not steps.nodes:
        return [(steps.peak_bytes([]), 0.0)]
    search = Search(steps, range(len(steps.nodes)), effort=effort, seed=seed, progress=progress)
    _begin(search, None, None)
    if search.small:
        known = whole_tradeoff(search)
        plain = known[0].cost
        return stairs((p.peak_bytes, (p.cost - plain) / (plain or 1.0)) for p in known)
    high, lowest = search.smallest_peak(0.0).peak_bytes, search.smallest_peak(inf)
    for point in range(1, points):
        part = (lowest.peak_bytes / max(1, high)) ** (point / points)
        search.within(int(high * part), search.work / 6)
    for halvings in range(0 if search.large else points // 3):
        search.smallest_peak(lowest.cost / 2 ** (halvings + 1))
    whole = sum(steps.cost) or 1.0
    return stairs((c.peak_bytes, c.cost / whole) for c in search.pool.front())


def _checked_search(effort: float, seed: int) -> tuple[float, int]:
    meaning = "0 is greedy alone, 1 the usual, and no more than a float can hold"
    return not_negative("effort", effort, meaning, float_info.max), whole_number("seed", seed, None)


def strategies() -> list[str]:
    """The names that `rematerialize` knows."""
    return sorted(_STRATEGIES)


Strategy = Callable[[Search, Optional[int], Optional[float]], Sequence[int]]


def _auto(search: Search, budget: Optional[int], limit: Optional[float]) -> Sequence[int]:
    """Search from all kinds of starts."""
    if search.small:  # the whole trade-off is searched, so that all questions get the same one
        _begin(search, None, None)
    else:
        _begin(search, budget, limit)
    return _search(search, budget, limit)


def _search(search: Search, budget: Optional[int], limit: Optional[float]) -> Sequence[int]:
    """Search from what is in the pool; at first that is the graph's own order alone."""
    whole = sum(search.steps.cost)
    if search.small:
        return chosen_sequence(whole_tradeoff(search), budget, limit)
    if budget is not None:
        return search.sequence(search.cheapest(budget))
    return search.sequence(search.smallest_peak((limit or 0) * whole))


def _begin(search: Search, budget: Optional[int], limit: Optional[float]) -> None:
    """Put another order, minimum cuts and schedules of chains into the pool."""
    steps, pool = search.steps, search.pool
    plain = list(range(len(steps.nodes)))
    better = reordered(steps, plain)
    if better != plain:
        pool.propose(better)
    pool.add_cuts()
    names = ("chain",) if search.large else ("chain", "sqrt", "recursive", "recurrence")
    chains = chain_sequences(steps, budget_bytes=budget, max_extra_cost=limit, strategies=names)
    pool.consider(chains, budget, limit)


def _chain(
    name: str, search: Search, budget: Optional[int], limit: Optional[float]
) -> Sequence[int]:
    """The best schedule of one kind without any search, or the graph's own order."""
    steps = search.steps
    most = inf if limit is None else (1 + limit + 1e-12) * sum(steps.cost)
    best, least = list(range(len(steps.nodes))), (inf, inf, inf)
    chains = chain_sequences(steps, budget_bytes=budget, max_extra_cost=limit, strategies=(name,))
    for sequence in (best, *chains):
        peak, cost = steps.peak_bytes(sequence), steps.total_cost(sequence)
        over = max(0, peak - budget) if budget is not None else max(0.0, cost - most)
        rank = (float(over), cost, peak) if budget is not None else (over, peak, cost)
        if rank < least:
            best, least = sequence, rank
    return best


def _exact(search: Search, budget: Optional[int], limit: Optional[float]) -> Sequence[int]:
    """The best that a solver finds, which is given the answers of all other strategies."""
    solver, steps, whole = load_solver(), search.steps, search.steps.total_cost()
    others = [strategy for strategy in _STRATEGIES.values() if strategy is not _exact]
    sequences = [strategy(search.restarted(), budget, limit) for strategy in others]
    starts = [without_unneeded_runs(steps, sequence) for sequence in sequences]
    limits = Limits(budget, inf if limit is None else limit * whole)
    effort, seed = search.asked
    answer = solve(solver, steps, starts, limits, effort=effort, seed=seed)
    search.floor, search.proved = max(search.floor, answer.floor_bytes), answer.proved
    search.least = answer.least_cost / (whole or 1.0)
    return answer.sequence


_STRATEGIES: dict[str, Strategy] = {
    "auto": _auto,
    "exact": _exact,
    "greedy": _search,
    **{name: partial(_chain, name) for name in CHAINS},
}


def _strategy(strategy: str) -> Strategy:
    if not isinstance(strategy, str) or strategy not in _STRATEGIES:
        raise PlanError(f"there is no strategy {strategy!r}; there are {', '.join(strategies())}")
    return _STRATEGIES[strategy]
