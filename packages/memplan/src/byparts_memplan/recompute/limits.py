"""What is asked of a recomputation, before anything is searched: limits, costs, inputs.

Whatever cannot be meant is refused here, with its value, so that the search need not ask again.
"""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite, isnan
from operator import index
from typing import Optional

from byparts_graph_ir import Graph, Node
from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import describe
from byparts_memplan.steps import Cost, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

_LEAST, _MOST = 1e-280, 1e280  # all costs together: beyond, shares of them lose their digits


def checked_budget(budget_bytes: object) -> int:
    """A whole number of bytes.

    Raises:
        PlanError: it is no whole number, or a negative one.
    """
    whole = isinstance(budget_bytes, float) and budget_bytes.is_integer()
    try:
        budget = int(budget_bytes) if whole else index(budget_bytes)  # type: ignore[call-overload, arg-type]  # refused below
    except TypeError:
        raise PlanError(
            f"budget_bytes is {budget_bytes!r}; it counts bytes, a whole number"
        ) from None
    if budget < 0:
        raise PlanError(f"budget_bytes is {budget}; it counts bytes, 0 or more")
    return int(budget)


def checked_fraction(max_extra_cost: object) -> float:
    """A share of the whole cost; infinity is no limit.

    Raises:
        PlanError: it is no number, or a negative one.
    """
    found = _number(max_extra_cost)
    if found is None or isnan(found) or found < 0:
        raise PlanError(
            f"max_extra_cost is {max_extra_cost!r}; it is a fraction of the graph's cost, 0 or more"
        )
    return found


def checked_effort(effort: object) -> float:
    """How long to search.

    Raises:
        PlanError: it is no number, negative, or infinite.
    """
    found = _number(effort)
    if found is None or not isfinite(found) or found < 0:
        raise PlanError(f"effort is {effort!r}; 0 is greedy alone, 1 the usual")
    return found


def checked_count(name: str, given: object, least: int | None = None) -> int:
    """A whole number, of `least` or more if there is a least.

    Raises:
        PlanError: it is none, or too small; its name and value.
    """
    try:
        found = index(given)  # type: ignore[arg-type]  # refused below
    except TypeError:
        raise PlanError(f"{name} is {given!r:.60}; expected an integer") from None
    if least is not None and found < least:
        raise PlanError(f"{name} is {found}; expected {least} or more")
    return found


def costed(
    graph: Graph, external: Collection[int], cost: Cost, kernels: Optional[Kernels] = None
) -> Steps:
    """The steps of a graph, each with a cost that can be reckoned with.

    Raises:
        PlanError: there is no such external input; a type is not static; the cost of a node is
            negative, not finite or no number, or all together are; asking for it failed; what
            `kernels` gives lacks a fact.
    """
    steps = Steps(graph, external=external, cost=lambda node: _cost(node, cost), kernels=kernels)
    whole = sum(steps.cost)
    if whole and not _LEAST < whole < _MOST:
        raise PlanError(
            f"the costs of {len(steps.nodes)} nodes sum to {whole:g}; shares of that cannot be "
            "told, so give them in another unit"
        )
    return steps


def _cost(node: Node, cost: Cost) -> float:
    try:
        given: object = cost(node)
    except Exception as error:
        raise PlanError(
            f"the cost of {_named(node)} cannot be told: {type(error).__name__}: {error}"
        ) from error
    found = _number(given)
    if found is None or not isfinite(found) or found < 0:
        raise PlanError(f"the cost of {_named(node)} is {given}; it is 0 or more, and finite")
    return found


def _named(node: Node) -> str:
    return describe(node.outputs[0]) if node.outputs else node.op.name


def _number(given: object) -> Optional[float]:
    """As a float; `None` for what is none, such as text, or an integer beyond all floats."""
    try:
        return None if isinstance(given, str) else float(given)  # type: ignore[arg-type]  # caught
    except (TypeError, ValueError, OverflowError):
        return None
