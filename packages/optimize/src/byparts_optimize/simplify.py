"""Algebra: replaces expressions by equal ones that cost less.

The rules are grouped by subject, one a line with its equation: `arithmetic.py`, `choices.py`,
`movement.py`, `reductions.py`; `broadcasts.py` is one rule for all elementwise ops.  By default
they change no bit of a result, with these exceptions, where the new form has no larger error:

- `x ** -1` becomes `1 / x` and `x ** 2` becomes `x * x`: rounded once, where a power may not be;
- `x * 2 * c` becomes `x * (2 * c)`: the intermediate `x * 2` cannot overflow any more;
- a `matmul` takes transposes as flags: the same sums, maybe in another order;
- the sign of a nan, and of a zero that is a sum, may change: backends differ in them anyway.

`fast_math=True` adds rules that hold for real numbers but not for all floats: `x + 0 = x` (loses
-0.0), `x * 0 = 0` (loses inf and nan), reordering of constants, division by a constant as a
product.
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

_MAX_SWEEPS = 100


@checked
def simplify(graph: Graph, *, fast_math: bool = False) -> Graph:
    """Apply the rules until none applies.

    Most rules need static types.  Preserves values as the module says, effects and their order.
    Idempotent.  O(nodes) a sweep, two or three sweeps in practice.  Enters bodies.
    """
    for _ in range(_MAX_SWEEPS):
        sweep = Sweep(fast_math)
        graph = graph.rewrite(sweep.rule)
        if not sweep.hits:
            return graph
    raise AssertionError(f"simplify: the rules for {sweep.hits[0]} undo each other")


class Sweep:
    """A pass over the nodes; `hits` names the ops that some rule replaced."""

    def __init__(self, fast_math: bool) -> None:
        self.fast_math = fast_math
        self.hits: list[str] = []

    def rule(self, node: Node) -> Optional[tuple[Value, ...]]:
        """For `Graph.rewrite`: apply rules to the node and to their results until none applies."""
        node = inside(node, lambda g: simplify(g, fast_math=self.fast_math))
        if len(node.outputs) != 1 or has_effect(node.op):
            return node.outputs
        (y,) = node.outputs
        for _ in range(_MAX_SWEEPS):
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
            simpler = None if rule is None else _fitted(rule(node), node.outputs[0])
            if simpler is not None:
                self.hits.append(node.op.name)
                return simpler
        simpler = _fitted(repeat_late(node), node.outputs[0])
        if simpler is not None:
            self.hits.append(node.op.name)
        return simpler


def _fitted(new: Optional[Value], old: Value) -> Optional[Value]:
    """Broadcast `new` to the type of `old`; `None` where that is not known to be possible."""
    if new is None or old.type.shape is None:
        return None
    if new.type == old.type:
        return new
    if old.type.static and new.type.static and new.type.dtype == old.type.dtype:
        return BroadcastTo(old.type.dims)(new)
    return None
