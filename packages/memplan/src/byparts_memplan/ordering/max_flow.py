"""Maximum flow and minimum cut (Dinic 1970), for integer capacities.

Blocking flows along shortest paths; iterative, because paths are longer than Python's stack.
O(nodes^2 * edges) at worst, on the networks of planners close to linear in a handful of phases.
"""

from __future__ import annotations

from typing import Optional

FOREVER = 1 << 62  # the capacity of an edge that must not be cut


class Network:
    """Nodes are numbers; the flow goes from `source` to `sink`."""

    def __init__(self, nodes: int, source: int, sink: int) -> None:
        self.source, self.sink = source, sink
        self.edges: list[list[int]] = [[] for _ in range(nodes)]
        self.to: list[int] = []  # edge 2k and its reverse 2k + 1
        self.room: list[int] = []
        self.looks = 0  # how many edges were looked at

    def connect(self, tail: int, head: int, capacity: int) -> None:
        """An edge; parallel ones add up."""
        self.edges[tail].append(len(self.to))
        self.edges[head].append(len(self.to) + 1)
        self.to += (head, tail)
        self.room += (capacity, 0)

    def flow(self, work: int = FOREVER) -> Optional[int]:
        """The maximum, or `None` once more than `work` edges have been looked at."""
        total = 0
        while (depth := self._depths())[self.sink] >= 0:
            total += self._block(depth, work)
            if self.looks > work:
                return None
        return total

    def source_side(self) -> list[bool]:
        """For each node, whether it is on the source's side of the smallest minimum cut."""
        return [d >= 0 for d in self._depths()]

    def _depths(self) -> list[int]:
        """For each node, its distance from the source along edges with room; -1: not reached."""
        depth = [-1] * len(self.edges)
        depth[self.source] = 0
        self.looks += len(self.to)
        row = [self.source]
        for tail in row:  # grows while we walk it
            for e in self.edges[tail]:
                head = self.to[e]
                if self.room[e] and depth[head] < 0:
                    depth[head] = depth[tail] + 1
                    row.append(head)
        return depth

    def _block(self, depth: list[int], work: int) -> int:
        """Fill every shortest path.  Returns the flow that was added."""
        to, room, edges, sink = self.to, self.room, self.edges, self.sink
        tried = [0] * len(edges)
        path: list[int] = []
        node, total = self.source, 0
        while self.looks <= work:
            if node == sink:
                total += self._push(path)
                full = next(i for i, e in enumerate(path) if not room[e])
                node = to[path[full] ^ 1]
                del path[full:]
            for k in range(tried[node], len(edges[node])):
                e = edges[node][k]
                self.looks += 1
                if room[e] and depth[to[e]] == depth[node] + 1:
                    tried[node] = k
                    path.append(e)
                    node = to[e]
                    break
            else:
                tried[node] = len(edges[node])
                if not path:
                    break
                node = to[path.pop() ^ 1]
                tried[node] += 1
        return total

    def _push(self, path: list[int]) -> int:
        """Fill a path up to its narrowest edge.  Returns how much that is."""
        amount = min([self.room[e] for e in path])
        for e in path:
            self.room[e] -= amount
            self.room[e ^ 1] += amount
        return amount
