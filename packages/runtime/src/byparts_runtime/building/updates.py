"""Moves updates that may run on the variables themselves to the end of a graph.

    w' = w - rate * dw        only a new value, of the very type, in whose place the old one may go

A node is such an update if all its outputs are new values of variables and nothing else, if its
kernel says that each may be written over the old value (`Kernel.inplace`), and if no other such
node reads what it overwrites.  These nodes are moved behind all others, and the planner is offered
the variables' own bytes for their results ("donate").  Results that it puts there need no memory
in the arena and no copy.

A large gradient that only one update reads, made of less than it has itself (a product of thin
matrices), is not computed before the commit but in it, just before that update, behind the others:
their gradients are dead by then, and it can lie where they were.

A run that fails or is interrupted must leave the variables alone, so the updates are part of the
commit: they run inside one C call, in which Python delivers no Ctrl-C.  A node whose kernel does
not say that it is `atomic` is left where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from byparts_graph_ir import Graph, Node, Op, Value, has_effect
from byparts_runtime.building.kernels import Kernels
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.variable import Variable

Donations = dict[int, int]  # position of an input -> position of the output written over it


def updates_last(
    graph: Graph, signature: Signature, kernels: Kernels
) -> tuple[Graph, Donations, int]:
    """The graph with updates in place behind all other nodes; what to offer the planner; how many.

    O(nodes).
    """
    candidates = _candidates(graph, signature, kernels)
    while True:  # dropping a candidate may allow another one, and never forbids one
        written = {v for pairs in candidates.values() for v, _ in pairs}
        kept = {n: p for n, p in candidates.items() if not _reads_others(n, p, written)}
        if len(kept) == len(candidates):
            break
        candidates = kept
    updates = [n for n in graph.nodes if n in candidates]
    tail = _with_late(updates, graph, frozenset(signature.variable_values(graph)), kernels)
    moved = set(tail)
    nodes = (*(n for n in graph.nodes if n not in moved), *tail)
    inputs = {v: i for i, v in enumerate(graph.inputs)}
    outputs = {v: j for j, v in enumerate(graph.outputs)}
    donate = {inputs[old]: outputs[new] for n in updates for old, new in candidates[n]}
    return Graph(graph.inputs, nodes, graph.outputs), donate, len(tail)


Pairs = tuple[tuple[Value, Value], ...]  # old and new value, by output


def _candidates(graph: Graph, signature: Signature, kernels: Kernels) -> dict[Node, Pairs]:
    """Nodes that make nothing but new values, each of which may overwrite its own old value."""
    old = dict(zip(signature.variable_values(graph), signature.variables, strict=True))
    news = signature.new_values(graph)
    new, count = dict(zip(news, signature.updates, strict=True)), Counter(news)
    used = {v for n in graph.nodes for v in n.inputs}
    taken = used | set(graph.outputs[: signature.fetches])
    single = {v for v in new if v not in taken and count[v] == 1}
    passed_on = {old[v] for v in news if v in old}  # the old value of one, the new one of another
    free = {v: variable for v, variable in old.items() if variable not in passed_on}
    candidates = {}
    for node in graph.nodes:
        if has_effect(node.op) or not node.outputs or not single.issuperset(node.outputs):
            continue
        pairs = _pairs(node, free, new, kernels)
        if len(pairs) == len(node.outputs) and _read_once(node, pairs, old):
            candidates[node] = pairs
    return candidates


def _pairs(
    node: Node, old: dict[Value, Variable], new: dict[Value, Variable], kernels: Kernels
) -> Pairs:
    """For each output that the kernel may write over the old value of its variable: that value."""
    kernel = kernels(node).kernel
    pairs: dict[int, tuple[Value, Value]] = {}
    for i, o in kernel.inplace if kernel.atomic else ():
        x, y = node.inputs[i], node.outputs[o]
        if old.get(x) is new[y] and x.type == y.type:
            pairs[o] = (x, y)
    return tuple(pairs[o] for o in sorted(pairs))


def _read_once(node: Node, pairs: Pairs, old: dict[Value, Variable]) -> bool:
    """Whether each variable of `pairs` is an input of the node exactly once."""
    count = Counter(old[v] for v in node.inputs if v in old)
    return all(count[old[v]] == 1 for v, _ in pairs)


def _reads_others(node: Node, pairs: Pairs, written: set[Value]) -> bool:
    """Whether the node reads an old value that another update overwrites."""
    own = {v for v, _ in pairs}
    return any(v in written and v not in own for v in node.inputs)


def _with_late(
    updates: Sequence[Node], graph: Graph, variables: frozenset[Value], kernels: Kernels
) -> tuple[Node, ...]:
    """The updates; at the end those with a late gradient, each behind the node that makes it."""
    uses = Counter(v for n in graph.nodes for v in n.inputs)
    uses.update(graph.outputs)
    late: dict[Node, list[Node]] = {}
    for update in updates if len(updates) > 1 else ():
        makers = dict.fromkeys(v.node for v in update.inputs if v.node is not None)
        gradients = [n for n in makers if uses[n.outputs[0]] == 1 and _is_late(n, variables)]
        late[update] = [n for n in gradients if kernels(n).kernel.atomic]
    early = [n for n in updates if not late.get(n)]
    return (
        *early,
        *(n for update, gradients in late.items() if gradients for n in (*gradients, update)),
    )


def _is_late(node: Node, variables: frozenset[Value]) -> bool:
    """Whether a gradient may be computed late: it reads no variable, and less than it makes.

    Nor does it read the output of an op with views, which may be bytes of a variable.
    """
    if len(node.outputs) != 1 or has_effect(node.op) or not variables.isdisjoint(node.inputs):
        return False
    makers = [v.node for v in node.inputs if v.node is not None]
    if not makers or any(type(n.op).views is not Op.views for n in makers):
        return False
    read = sum(v.type.size_bytes for v in node.inputs if v.node is not None)
    return read < node.outputs[0].type.size_bytes
