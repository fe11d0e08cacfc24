"""Measured seconds of nodes: for passes that choose what to compute again.

    costs = program.costs(x, labels)             # of this program, on this machine
    build(step, budget_bytes=2**30, costs=costs)

Nodes are known by op and input types, wherever they stand.  What was not measured is reckoned from
its floating point operations, at the rate of what was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from byparts_graph_ir import Node, Op, Types
from byparts_graph_ir.model.frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:  # it needs the options, which need costs
    from byparts_runtime.run.step import Step

Cost = Callable[[Node], float]
Kind = tuple[Op, Types]


def flops(node: Node) -> float:
    """Floating point operations: the cost where nothing is measured."""
    return float(node.op.flops(*[v.type for v in node.inputs]))


class Costs(Frozen):
    """Seconds by op and input types; a `Cost`.

    Attributes:
        known: the mean of the steps of this kind.
        s_per_flop: for other nodes.
    """

    known: Mapping[Kind, float]
    s_per_flop: float

    def __call__(self, node: Node) -> float:
        """Seconds to run the node."""
        measured_s = self.known.get(_kind(node))
        return self.s_per_flop * flops(node) if measured_s is None else measured_s

    def __repr__(self) -> str:
        return f"Costs({len(self.known)} kinds of nodes, {self.s_per_flop:.3g} s a flop)"


def costs_of(nodes: Sequence[Node], steps: Sequence[Step], step_s: Sequence[float]) -> Costs:
    """The costs of `nodes`, whose `steps` took these seconds; a node without a step takes none."""
    times: dict[Kind, list[float]] = {}
    for step, s in zip(steps, step_s, strict=True):
        times.setdefault(_kind(step.node), []).append(s)
    known = {kind: sum(all_s) / len(all_s) for kind, all_s in times.items()}
    free = {_kind(node): 0.0 for node in nodes}
    done = sum(flops(step.node) for step in steps)
    return Costs({**free, **known}, sum(step_s) / done if done else 0.0)


def _kind(node: Node) -> Kind:
    return node.op, tuple([v.type for v in node.inputs])
