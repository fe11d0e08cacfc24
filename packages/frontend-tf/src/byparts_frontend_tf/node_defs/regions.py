"""Branches and loops of TensorFlow 1 that the nodes of a `GraphDef` are inside.

No field names them: a branch is what `Switch` feeds, up to `Merge`; a loop is what `Enter` feeds,
up to `Exit`.  Each node gets its path: the branches and loops around it, from the outside.
O(nodes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from byparts_tf_files.messages.graph import NodeDef

ENTERS, EXITS = ("Enter", "RefEnter"), ("Exit", "RefExit")
SWITCHES, MERGES = ("Switch", "RefSwitch"), ("Merge", "RefMerge")
NEXTS = ("NextIteration", "RefNextIteration")


class Inside(NamedTuple):
    """A step of a path: a branch or a loop around a node.

    Attributes:
        loop: whether it is a loop.
        key: which loop, or which `cond`.
        side: of a branch, which output of its switches: 1 is true.
    """

    loop: bool
    key: str
    side: int = 0

    @property
    def region(self) -> tuple[bool, str]:
        """The loop, or the two branches of a `cond`."""
        return self.loop, self.key


Path = tuple[Inside, ...]


def source(given: str) -> tuple[str, int]:
    """The node that an input names and its output; -1 for a node that is waited for."""
    if given.startswith("^"):
        return given[1:], -1
    name, _, index = given.partition(":")
    return name, int(index or 0)


def ordered(nodes: Mapping[str, NodeDef]) -> list[str]:
    """The names of nodes, each after its inputs; what closes a loop does not count.

    Raises:
        ValueError: there is a circle that is no loop.
    """
    done: dict[str, bool] = {}
    for first in nodes:
        stack: list[tuple[str, Iterator[str]]] = []
        if first not in done:
            stack.append((first, iter(_before(nodes[first], nodes))))
            done[first] = False
        while stack:
            name, rest = stack[-1]
            for other in rest:
                if other not in done:
                    done[other] = False
                    stack.append((other, iter(_before(nodes[other], nodes))))
                    break
                if not done[other]:
                    raise ValueError(f"nodes {other!r} and {name!r} need each other")
            else:
                stack.pop()
                del done[name]
                done[name] = True  # now behind what it needs
    return list(done)


def _before(node: NodeDef, nodes: Mapping[str, NodeDef]) -> list[str]:
    names = [source(i)[0] for i in node.input]
    return [n for n in names if n in nodes and nodes[n].op not in NEXTS]


def paths(nodes: Mapping[str, NodeDef], order: Sequence[str]) -> dict[str, Path]:
    """The path of each node; that of a `Switch` is inside, on no side."""
    found: dict[str, Path] = {}
    for name in order:
        node = nodes[name]
        around: Path = ()
        for given in node.input:
            path = _path_of(given, nodes, found)
            around = max(around, path, key=len)
        if node.op in ENTERS:
            around += (Inside(True, node.attr["frame_name"].s.decode()),)
        elif node.op in EXITS or (node.op in MERGES and not closes_loop(node, nodes)):
            around = around[:-1]
        elif node.op in SWITCHES and not is_of_loop(node, nodes):
            around += (Inside(False, _cond_of(node, nodes)),)
        found[name] = around
    return found


def _path_of(given: str, nodes: Mapping[str, NodeDef], found: Mapping[str, Path]) -> Path:
    name, index = source(given)
    if name not in found:
        return ()
    path = found[name]
    if nodes[name].op in SWITCHES and index >= 0 and not is_of_loop(nodes[name], nodes):
        return (*path[:-1], path[-1]._replace(side=index))
    return path


def closes_loop(merge: NodeDef, nodes: Mapping[str, NodeDef]) -> bool:
    """Whether a `Merge` is where a loop begins again."""
    return any(_type(i, nodes) in NEXTS for i in merge.input)


def merges_of(nodes: Mapping[str, NodeDef]) -> dict[str, list[str]]:
    """Name of a node -> the `Merge`s that read it."""
    found: dict[str, list[str]] = {}
    for name, node in nodes.items():
        for given in node.input if node.op in MERGES else ():
            found.setdefault(source(given)[0], []).append(name)
    return found


def is_of_loop(switch: NodeDef, nodes: Mapping[str, NodeDef]) -> bool:
    """Whether a `Switch` is where a loop ends."""
    return _type(switch.input[1], nodes) == "LoopCond"


def _type(given: str, nodes: Mapping[str, NodeDef]) -> str:
    node = nodes.get(source(given)[0])
    return "" if node is None else str(node.op)


def _cond_of(switch: NodeDef, nodes: Mapping[str, NodeDef]) -> str:
    """Name of the `cond` of a `Switch`: the scope of its `pred_id`, or its predicate."""
    predicate = source(switch.input[1])[0]
    scope, _, last = predicate.rpartition("/")
    if last.startswith("pred_id"):
        return scope
    scope = str(switch.name).rpartition("/")[0]
    return scope if f"{scope}/pred_id" in nodes else predicate


def items_in_order(
    members: Mapping[Any, Sequence[str]],
    item_of: Mapping[str, Any],
    nodes: Mapping[str, NodeDef],
) -> list[Any]:
    """Nodes and regions, each after what it needs.

    Args:
        members: the nodes of each item: of a node itself, of a region all that are inside.
        item_of: the item of each of these nodes.
        nodes: all nodes.

    Raises:
        ValueError: items need each other.
    """
    needs = {item: _needed_items(item, inside, item_of, nodes) for item, inside in members.items()}
    order: dict[Any, None] = {}
    for first in members:
        stack, entered = [first], set[Any]()
        while stack:
            item = stack[-1]
            rest = [n for n in needs[item] if n not in order]
            if item in order or not rest:
                order[item] = None
                stack.pop()
            elif item in entered:
                raise ValueError(
                    f"the control flow at {members[item][0]!r} is neither a tf.cond nor a "
                    "tf.while_loop; nodes need each other"
                )
            else:
                entered.add(item)
                stack.extend(rest)
    return list(order)


def _needed_items(
    item: Any, inside: Sequence[str], item_of: Mapping[str, Any], nodes: Mapping[str, NodeDef]
) -> dict[Any, None]:
    names = [source(i)[0] for name in inside for i in nodes[name].input]
    return dict.fromkeys([item_of[n] for n in names if n in item_of and item_of[n] != item])
