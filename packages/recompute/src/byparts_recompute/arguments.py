"""Checks of arguments, made once: limits, counts, costs.

A number that cannot be meant is refused here, with its value, so that no search asks again.
"""

from __future__ import annotations

from collections.abc import Collection
from math import inf, isfinite
from operator import index
from typing import Any, Optional

from byparts_graph_ir import Graph, Node
from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import describe
from byparts_memplan.steps import Cost, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

_LEAST, _MOST = 1e-280, 1e280  # of all costs together: beyond, shares of them lose their digits


def whole_number(name: str, value: Any, least: int | None = 0) -> int:
    """An integer of any kind, also NumPy's or a float without fraction, as Python's.

    Raises:
        PlanError: it is none, or less than `least`.
    """
    expected = "expected an integer" + (f", {least} or more" if least is not None else "")
    try:
        number = index(int(value) if isinstance(value, float) and value.is_integer() else value)
    except TypeError:
        raise PlanError(f"{name} is {value!r:.60}; {expected}") from None
    if least is not None and number < least:
        raise PlanError(f"{name} is {value!r:.60}; {expected}")
    return number


def not_negative(name: str, value: Any, meaning: str, most: float = inf) -> float:
    """A number from 0 to `most`, as a float; `meaning` tells the caller what it is.

    Raises:
        PlanError: it is no number, text, NaN, or outside.
    """
    number = _number(value)
    if number is None or not 0 <= number <= most:
        raise PlanError(f"{name} is {value!r:.60}; {meaning}")
    return number


def costed(
    graph: Graph, external: Collection[int], cost: Cost, kernels: Optional[Kernels] = None
) -> Steps:
    """The steps of a graph, whose costs are finite, not negative, and sum to a usable number.

    Raises:
        PlanError: a cost is not; or `cost` raised; or as `Steps`.
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
    name = describe(node.outputs[0]) if node.outputs else node.op.name
    try:
        answer: object = cost(node)
    except Exception as error:
        raise PlanError(
            f"the cost of {name} cannot be told: {type(error).__name__}: {error}"
        ) from error
    number = _number(answer)
    if number is None or not isfinite(number) or number < 0:
        raise PlanError(f"the cost of {name} is {answer}; it is 0 or more, and finite")
    return number


def _number(value: Any) -> Optional[float]:
    """The argument as a float; `None` for what is none: text, an integer beyond all floats."""
    try:
        return None if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
