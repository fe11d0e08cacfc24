"""Updates that may run on the variables themselves, as the last thing of a run.

    w' = w - rate * dw        only a new value, of the very type, in whose place the old one may go

A node is such an update if all its outputs are new values of variables and nothing else, if its op
says that each may be written over the old value (`Op.inplace`), and if no other such node reads
what it overwrites.  These nodes are moved behind all others, and the planner is offered the
variables' own bytes for their results ("donate").  What it takes needs no memory and no copy.

A large gradient that only one update reads, made of less than it has itself (a product of thin
matrices), is not computed before the commit but in it, just before that update, behind the others:
their gradients are dead by then, and it can lie where they were.

A run that fails or is interrupted must leave the variables alone, so the updates are part of the
commit: they run inside one C call, in which Python delivers no Ctrl-C, and a node whose kernel is
not a single C function, or does not get through a rehearsal on scratch memory, is left where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from byparts_graph_ir import Backend, Graph, Node, Op, Value
from byparts_graph_ir.backend import Run
from byparts_runtime.bind import Bytes, bind
from byparts_runtime.cycle import around
from byparts_runtime.interface import Interface
from byparts_runtime.variable import Variable

Donations = dict[int, int]  # position of an input -> position of the output written over it


def updates_last(
    graph: Graph, interface: Interface, backends: Sequence[Backend]
) -> tuple[Graph, Donations, int]:
    """The graph with updates in place behind all other nodes; what to offer the planner; how many.

    O(nodes).
    """
    found = _candidates(graph, interface)
    while True:  # dropping one may free another, never the other way round
        written = {v for pairs in found.values() for v, _ in pairs}
        kept = {n: p for n, p in found.items() if not _reads_others(n, p, written)}
        if len(kept) == len(found):
            break
        found = kept
    last = [n for n in graph.nodes if n in found and _is_one_call(n, found[n], backends)]
    variables = frozenset(graph.inputs[interface.first_variable :][: len(interface.variables)])
    tail = _with_late(last, graph, variables, backends)
    moved = set(tail)
    nodes = (*(n for n in graph.nodes if n not in moved), *tail)
    inputs = {v: i for i, v in enumerate(graph.inputs)}
    outputs = {v: j for j, v in enumerate(graph.outputs)}
    donate = {inputs[old]: outputs[new] for n in last for old, new in found[n]}
    return Graph(graph.inputs, nodes, graph.outputs), donate, len(tail)


Pairs = tuple[tuple[Value, Value], ...]  # old and new value, by output


def _candidates(graph: Graph, interface: Interface) -> dict[Node, Pairs]:
    """Nodes that only make new values, each in the place of its own old one."""
    old = dict(zip(graph.inputs[interface.first_variable :], interface.variables, strict=False))
    news = graph.outputs[interface.first_update :]
    new, count = dict(zip(news, interface.updates, strict=True)), Counter(news)
    used = {v for n in graph.nodes for v in n.inputs}
    taken = used | set(graph.outputs[: interface.first_update])
    single = {v for v in new if v not in taken and count[v] == 1}
    passed_on = {old[v] for v in news if v in old}  # the old value of one, the new one of another
    free = {v: variable for v, variable in old.items() if variable not in passed_on}
    found = {}
    for node in graph.nodes:
        if node.op.effect or not node.outputs or not single.issuperset(node.outputs):
            continue
        pairs = _pairs(node, free, new)
        if len(pairs) == len(node.outputs) and _read_once(node, pairs, old):
            found[node] = pairs
    return found


def _pairs(node: Node, old: dict[Value, Variable], new: dict[Value, Variable]) -> Pairs:
    """For each output the old value of its variable, where the op lets it go over that."""
    found: dict[int, tuple[Value, Value]] = {}
    for i, o in node.op.inplace:
        if i < len(node.inputs) and o < len(node.outputs):
            x, y = node.inputs[i], node.outputs[o]
            if old.get(x) is new[y] and x.type == y.type:
                found[o] = (x, y)
    return tuple(found[o] for o in sorted(found))


def _read_once(node: Node, pairs: Pairs, old: dict[Value, Variable]) -> bool:
    """Each variable is one input of the node, and comes to it in no other way."""
    count = Counter(old[v] for v in node.inputs if v in old)
    return all(count[old[v]] == 1 for v, _ in pairs)


def _reads_others(node: Node, pairs: Pairs, written: set[Value]) -> bool:
    own = {v for v, _ in pairs}
    return any(v in written and v not in own for v in node.inputs)


def _with_late(
    updates: Sequence[Node], graph: Graph, variables: frozenset[Value], backends: Sequence[Backend]
) -> tuple[Node, ...]:
    """The updates; behind the others those whose gradient is computed late, each after it."""
    uses = Counter(v for n in graph.nodes for v in n.inputs)
    uses.update(graph.outputs)
    late: dict[Node, list[Node]] = {}
    for update in updates if len(updates) > 1 else ():
        makers = dict.fromkeys(v.node for v in update.inputs if v.node is not None)
        made = [n for n in makers if uses[n.outputs[0]] == 1 and _is_late(n, variables)]
        late[update] = [n for n in made if _is_one_call(n, (), backends)]
    early = [n for n in updates if not late.get(n)]
    return (*early, *(n for update, made in late.items() if made for n in (*made, update)))


def _is_late(node: Node, variables: frozenset[Value]) -> bool:
    """Whether it reads no variable, nor what may be bytes of one, and less than it makes."""
    if len(node.outputs) != 1 or node.op.effect or not variables.isdisjoint(node.inputs):
        return False
    makers = [v.node for v in node.inputs if v.node is not None]
    if not makers or any(type(n.op).views is not Op.views for n in makers):
        return False
    read = sum(v.type.size_bytes for v in node.inputs if v.node is not None)
    return read < node.outputs[0].type.size_bytes


def _is_one_call(node: Node, pairs: Pairs, backends: Sequence[Backend]) -> bool:
    """Whether the kernel is one C function, and runs: tried on memory that is nobody's."""
    single = Graph(tuple(dict.fromkeys(node.inputs)), (node,), node.outputs)
    space, over = backends[0].space, {new: old for old, new in pairs}
    values = [v for v in single.values if v not in over]
    memory = {v: space.allocate(max(1, v.type.size_bytes)) for v in values}
    places = [Bytes(memory[over.get(v, v)], 0) for v in single.values]
    with around(backends)():  # silent: what is computed of zeros here may be no number
        (step,) = bind(single, places, frozenset(), backends)
        if not in_c(step.run):
            return False
        try:
            step.run()
            space.synchronize()
        except Exception:  # the step itself will say so, when nothing depends on it
            return False
    return True


def in_c(run: Run) -> bool:
    """Whether calling it executes no Python code, so that nothing can come in between."""
    function: Any = run.func if isinstance(run, partial) else None
    return isinstance(function, (BuiltinFunctionType, np.ufunc))
