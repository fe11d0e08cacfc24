"""Algebra: replaces what is written by something equal that costs less.

The rules stand by subject, one a line with its equation: `arithmetic.py`, `choices.py`,
`movement.py`, `reductions.py`; `broadcasts.py` is one rule for all elementwise ops.  By default
they change no bit of a result, with these exceptions, where the new form is as near or nearer:

- `x ** -1` becomes `1 / x` and `x ** 2` becomes `x * x`: rounded once, where a power may not be;
- `x * 2 * c` becomes `x * (2 * c)`: no overflow on the way;
- a `matmul` takes transposes as flags: the same sums, maybe in another order;
- the sign of a nan, and of a zero that is a sum, are nobody's business: backends differ in them.

`fast_math=True` adds those that hold of real numbers alone: `x + 0 = x` (loses -0.0), `x * 0 = 0`
(loses inf and nan), reordering of constants, division by a constant as a product.
"""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Graph, Node, Value, has_effect
from byparts_graph_ir.contract import checked
from byparts_opset import BroadcastTo
from byparts_optimize import arithmetic, choices, movement, reductions  # noqa: F401  (fill tables)
from byparts_optimize.broadcasts import repeat_late
from byparts_optimize.inside import inside
from byparts_optimize.rules import fast_rules, rules

_MOST_SWEEPS = 100


@checked
def simplify(graph: Graph, *, fast_math: bool = False) -> Graph:
    """The same program by the rules, to a fixpoint.

    Needs nothing, does most on static types; preserves values as said above, effects and their
    order.  Idempotent.  O(nodes) a sweep, two or three sweeps in practice; enters subgraphs.
    """
    for _ in range(_MOST_SWEEPS):
        sweep = Sweep(fast_math)
        graph = graph.rewrite(sweep.rule)
        if not sweep.hits:
            return graph
    raise AssertionError(f"simplify: the rules for {sweep.hits[0]} undo each other")


class Sweep:
    """One pass over the nodes; `hits` names the ops that some rule replaced."""

    def __init__(self, fast_math: bool) -> None:
        self.fast_math = fast_math
        self.hits: list[str] = []

    def rule(self, node: Node) -> Optional[tuple[Value, ...]]:
        """As `Graph.rewrite` asks: what a rule made of the node, and rules of that."""
        node = inside(node, lambda g: simplify(g, fast_math=self.fast_math))
        if len(node.outputs) != 1 or has_effect(node.op):
            return node.outputs
        (y,) = node.outputs
        for _ in range(_MOST_SWEEPS):
            z = None if y.node is None else self._apply(y.node)
            if z is None:
                return (y,)
            y = z
        raise AssertionError(f"simplify: the rules for {self.hits[-1]} undo each other")

    def _apply(self, node: Node) -> Optional[Value]:
        if len(node.outputs) != 1:
            return None
        for table in (rules, fast_rules) if self.fast_math else (rules,):
            rule = table.get(node.op)
            found = None if rule is None else _fitted(rule(node), node.outputs[0])
            if found is not None:
                self.hits.append(node.op.name)
                return found
        found = _fitted(repeat_late(node), node.outputs[0])
        if found is not None:
            self.hits.append(node.op.name)
        return found


def _fitted(new: Optional[Value], old: Value) -> Optional[Value]:
    """The new value in the type of the old one; `None` where its shape cannot be known to be it."""
    if new is None or old.type.shape is None:
        return None
    if new.type == old.type:
        return new
    if old.type.static and new.type.static and new.type.dtype == old.type.dtype:
        return BroadcastTo(old.type.dims)(new)
    return None
