"""Goes on where greedy orders end: exact search, and for large problems the hard part of it.

What is small enough is searched as a whole (`smallest.py`).  Of what is not, only the most crowded
steps are hard: the buffers that live there are searched alone, and the others put around them in
greedy order.  Where even the neighbours of all are too many to list, lowest gaps are found with a
tree over time (`tree_fit.py`).
"""

from __future__ import annotations

from byparts_memplan.buffer import Buffer
from byparts_memplan.effort import Effort
from byparts_memplan.placement.fit import Fit
from byparts_memplan.placement.smallest import smaller, within
from byparts_memplan.portfolio import Portfolio, lowest_gaps, tightest_gaps
from byparts_memplan.tree_fit import tree_gaps

Orders = dict[str, list[int]]  # name -> members

_SEARCHABLE = 1_000_000  # pairs of buffers alive together
_MANY = 3000  # buffers; with more, a run of the search takes too long
_EACH = 20_000  # work of the search for each buffer: small problems are not worth a second
_EACH_PAIR = 1000  # the same for each pair that is alive together
_QUESTION = 200_000  # work for each question that looks for the reason why some do not fit
_MOST_EXACT = 20_000  # of many buffers, 0.1 % over the bound is good enough; of more, in proportion
_TREE = 0.9  # of the effort, for orders with a tree
_EACH_ORDER = 0.7  # of what is left of that, at most
_EACH_BUFFER = 600  # work of an order that comes out well; others are given up early
_FIRST = {"lifetime": 180, "crowd, then size": 600, "size": 600}  # good in deep networks
_CORES = (50, 150, 450, 1000, 2000)  # buffers of the most crowded steps
_CORE = 0.3  # of the effort that is left, for each of these


def improve(best: Portfolio, effort: Effort, seed: int) -> None:
    """Find a smaller placement, or prove more."""
    count = len(best.crowd.members)
    if count <= _MANY and best.crowd.pairs <= _SEARCHABLE:
        effort = effort.part(1, most=max(_EACH * count, _EACH_PAIR * best.crowd.pairs))
        if best.capacity is None:
            best.made = smaller(best.made, effort, seed)
        else:
            best.made = within(best.made, best.capacity, effort, seed)
        return
    if best.capacity is None and effort.deadline is None:
        best.enough += best.enough * max(_MOST_EXACT, count) // (1000 * _MOST_EXACT)
    orders = dict(best.crowd.orders())
    orders = {name: orders[name] for name in dict.fromkeys([*_FIRST, *orders])}
    if not best.listed:
        _with_tree(best, orders, effort.part(_TREE))
    for core in _CORES:
        if not best.done and not effort.over and core < count:
            _around(best, orders, core, effort.part(_CORE), seed)


def decide(some: tuple[Buffer, ...], capacity: int) -> bool | None:
    """Whether these fit, with little effort."""
    return Fit(some).decide(capacity, Effort(_QUESTION))


def _with_tree(best: Portfolio, orders: Orders, effort: Effort) -> None:
    """All orders, none with all the effort to itself."""
    count = len(best.crowd.members)
    for name, order in orders.items():
        if not best.done and not effort.over:
            part = effort.part(_EACH_ORDER, count * _FIRST.get(name, _EACH_BUFFER))
            best.attempt(order, tree_gaps, f"by {name}, lowest gap", part)


def _around(best: Portfolio, orders: Orders, core: int, effort: Effort, seed: int) -> None:
    """Search for the most crowded members alone, and put the others around them."""
    crowd = best.crowd
    crowded = sorted(range(len(crowd.load)), key=lambda i: (-crowd.load[i], i))
    inside = sorted({*crowded[:core], *best.fixed})
    fit = Fit(tuple([crowd.members[i] for i in inside]), seed)
    if not fit.decide(best.enough, effort.part(0.5)):
        return
    fixed = dict(zip(inside, fit.offsets(), strict=True))
    for name, order in orders.items():
        for fit_gaps in (lowest_gaps, tightest_gaps) if best.listed else (tree_gaps,):
            if not best.done and not effort.over:
                best.attempt(order, fit_gaps, f"by search of {core}, {name}", effort, fixed)
