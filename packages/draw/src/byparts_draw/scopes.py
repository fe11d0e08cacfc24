"""Frames of a picture: nodes of a scope, as far as one frame can hold them.

A scope is what `where` says: "train.py:41 in encoder/attention" has the path of `with scope(...)`,
or of a PyTorch module; where no node has one, the lines of the program are the scopes.  A scope's
nodes may lie apart: the gradient of a layer comes long after the layer, and what is between reads
one and is read by the other.  So nodes get levels, which rise along every edge from one frame to
another, and a node joins a frame only if all that it reads from outside is on a lower level: then
no path leaves a frame and comes back, and frames can be laid out as if they were nodes.
O(edges * depth of scopes).
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from byparts_graph_ir.model.value import Node

    Path: TypeAlias = "tuple[str, ...]"
    Group: TypeAlias = "tuple[str, list[Node | Group]]"  # title, members

DEEPEST = 4  # frames in frames; what is deeper is in the fourth


def grouped(nodes: Sequence[Node]) -> list[Node | Group]:
    """The nodes, those of one scope in a group; groups in groups where scopes have parts."""
    paths = scopes(nodes)
    return _grouped(nodes, paths, 0) if any(paths.values()) else list(nodes)


def scopes(nodes: Sequence[Node]) -> dict[Node, Path]:
    """The scope of each node; lines only where no node has a named scope."""
    named = {node: _named(node.where) for node in nodes}
    if any(named.values()):
        return named
    return {node: _line(node.where) for node in nodes}


def _named(where: str) -> Path:
    match = re.search(r"(?:^| )in (\S+)$", where)
    scope = match[1] if match else ""
    return tuple(part for part in scope.split("/") if part)[:DEEPEST]


def _line(where: str) -> Path:
    return (re.split(r"[/\\]", where)[-1],) if where else ()


def _grouped(nodes: Sequence[Node], paths: Mapping[Node, Path], depth: int) -> list[Node | Group]:
    """Members at this depth, in the order of their first nodes."""
    made: list[Node | Group] = []
    for members in _runs(nodes, [paths[node][depth : depth + 1] for node in nodes]):
        path = paths[members[0]]
        if len(path) <= depth or (len(members) == 1 and ":" in path[depth]):
            made += members
            continue
        inner = _grouped(members, paths, depth + 1)
        title = path[depth]
        if len(inner) == 1 and isinstance(inner[0], tuple):  # a frame around one frame alone
            title, inner = f"{title}/{inner[0][0]}", inner[0][1]
        made.append((title, inner))
    whole = len(made) == 1 and isinstance(made[0], tuple) and ":" in made[0][0]
    return made[0][1] if whole and isinstance(made[0], tuple) else made


def _runs(nodes: Sequence[Node], keys: Sequence[Path]) -> list[list[Node]]:
    """Sets of nodes of one key, such that no path leaves one and comes back."""
    home: dict[Node, int] = {}
    runs: list[list[Node]] = []
    levels: list[int] = []
    names: list[Path] = []
    latest: dict[Path, int] = {}
    for node, key in zip(nodes, keys, strict=True):
        near = {home[v.node] for v in node.inputs if v.node in home}
        own = [i for i in near if key and names[i] == key]
        own += [latest[key]] if key in latest else []
        fitting = (i for i in own if all(levels[j] < levels[i] for j in near if j != i))
        home[node] = run = next(fitting, len(runs))
        if run == len(runs):
            runs.append([])
            levels.append(1 + max((levels[i] for i in near), default=-1))
            names.append(key)
            if key:
                latest[key] = run
        runs[run].append(node)
    return runs
