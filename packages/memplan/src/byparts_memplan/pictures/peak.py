"""The worst step of a plan: which it is, what is alive there, and why.

Without a graph only what the plan's labels tell; with it, nodes and readers by name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from byparts_graph_ir import Graph, Node
from byparts_memplan.amount import human
from byparts_memplan.buffer import PlanError
from byparts_memplan.lifetimes import Values, describe
from byparts_memplan.pictures.alive import alive_at, profile, scope_of, worst
from byparts_memplan.pictures.curve import curve_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.plan import Plan

AROUND = 3  # steps shown before and after the worst one
NODE, BAR = 42, 10  # columns


class Peak:
    """The worst step of one space, whose buffers are `members`.

    Attributes:
        step, alive_bytes: the first step at which most is alive, and how much.
    """

    def __init__(self, plan: Plan, graph: Graph | None, members: Sequence[int]) -> None:
        if graph is not None and len(graph.values) != len(plan.locations):
            raise PlanError(
                f"the plan is of {len(plan.locations)} values, the graph has {len(graph.values)}; "
                "give the graph that was planned"
            )
        self.plan, self.graph, self.members = plan, graph, members
        self.buffers = [plan.placement.buffers[i] for i in members]
        self.profile = profile(self.buffers)
        self.step, self.alive_bytes = worst(self.profile)
        self.values = None if graph is None else Values(graph)

    def sections(self, rows: int, of: str) -> list[list[str]]:
        """Paragraphs of the report; `of` says which space it is."""
        alive = [self.members[i] for i in alive_at(self.buffers, self.step)]
        return [
            self._curve(of),
            self._around(),
            self._by_op(rows),
            self._alive(alive, rows),
            self._by_scope(alive, rows),
        ]

    def _curve(self, of: str) -> list[str]:
        head = (
            f"worst step{of}: {self.step}{self._node(self.step)}, {human(self.alive_bytes)} alive"
        )
        steps = self.profile[-1][0]
        every = [self._at(step) for step in range(steps)] if steps <= 100_000 else []
        drawn = curve_text({"": every}, height=6) if len(every) > 2 * AROUND else ""
        return [head, *drawn.splitlines()]

    def _around(self) -> list[str]:
        """Lines on what is alive a few steps before and after the peak."""
        if self.graph is None:
            return []
        lower = max(0, self.step - AROUND)
        upper = min(self.step + AROUND, len(self.graph.nodes))
        lines = ["around it"]
        for step in range(lower, upper + 1):
            live = self._at(step)
            bar = "#" * (BAR * live // self.alive_bytes)
            mark = ">" if step == self.step else " "
            lines.append(f"{mark} {step:>6} {human(live):>10}  {bar:<{BAR}} {self._node(step)[2:]}")
        return lines

    def _by_op(self, rows: int) -> list[str]:
        """The fullest step of each op."""
        if self.graph is None:
            return []
        fullest: dict[str, tuple[int, int, int]] = {}  # name -> (bytes, step, how many)
        for step, node in enumerate(self.graph.nodes):
            live, at, count = fullest.get(node.op.name, (-1, 0, 0))
            now = self._at(step)
            fullest[node.op.name] = (now, step, count + 1) if now > live else (live, at, count + 1)
        ranked = [item for item in fullest.items() if item[1][0]]
        ranked.sort(key=lambda item: (-item[1][0], item[1][1]))
        lines = [f"{'most alive':>12}  {'at step':>7}  {'of':>5}  op"]
        lines += [
            f"{human(live):>12}  {step:>7}  {count:>5}  {cut(name, 30)}{self._where(step)}"
            for name, (live, step, count) in ranked[:rows]
        ]
        return [*lines, *_more(len(ranked), rows, "ops")]

    def _alive(self, alive: Sequence[int], rows: int) -> list[str]:
        """The largest buffers that are alive at the worst step, and who needs them last."""
        buffers = self.plan.placement.buffers
        lines = [f"{'bytes':>12}  {'steps':<12} alive there, the largest first"]
        for i in alive[:rows]:
            b = buffers[i]
            label, until = self._holder(i)
            lines.append(f"{human(b.size_bytes):>12}  {f'[{b.born}, {b.dies})':<12} {label}")
            lines += [f"{'':>27} {until}"] if until else []
        rest = sum(buffers[i].size_bytes for i in alive[rows:])
        return [*lines, *_more(len(alive), rows, f"buffers, {human(rest)}")]

    def _by_scope(self, alive: Sequence[int], rows: int) -> list[str]:
        """Bytes alive at the worst step by the user's line, where there are several."""
        held: dict[str, tuple[int, int]] = {}
        for i in alive:
            label = self.plan.labels[i] if self.graph is None else self._holder(i)[0]
            scope = scope_of(label)
            size, count = held.get(scope, (0, 0))
            held[scope] = size + self.plan.placement.buffers[i].size_bytes, count + 1
        if len(held) < 2:
            return []
        ranked = sorted(held.items(), key=lambda item: -item[1][0])
        lines = [f"{'bytes':>12} {'share':>8}  {'buffers':>7}  by line"]
        lines += [
            f"{human(size):>12} {100 * size / self.alive_bytes:>6.1f} %  {count:>7}  {scope}"
            for scope, (size, count) in ranked[:rows]
        ]
        return [*lines, *_more(len(ranked), rows, "lines")]

    def _holder(self, i: int) -> tuple[str, str]:
        """The value in a buffer at the worst step, and the node that needs its bytes last."""
        ids, values = self.plan.residents[i], self.values
        if not ids:
            return self.plan.labels[i], ""
        if self.graph is None or values is None:
            more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
            return self.plan.labels[i] + more, ""
        born = [v for v in ids if values.root[v] == v and values.born[v] <= self.step]
        v = max(born, key=lambda v: values.born[v], default=ids[0])
        step = values.last[values.root[v]]
        node = self._find(step)
        name = f"by {node.op.name}{self._where(step)}" if node is not None else "by the caller"
        return f"%{v} {describe(self.graph.values[v])}", f"until step {step}, {name}"

    def _at(self, step: int) -> int:
        """Bytes alive at a step."""
        at = bisect_right(self.profile, step, key=lambda item: item[0])
        return self.profile[at - 1][1] if at else 0

    def _node(self, step: int) -> str:
        """The node of a step as text, behind a comma."""
        node = self._find(step)
        if node is None:
            return "" if self.graph is None else ", the caller reads the outputs"
        types = ", ".join(str(v.type) for v in node.outputs)
        return f", {cut(f'{node.op.name} {types}', NODE)}{self._where(step)}"

    def _where(self, step: int) -> str:
        node = self._find(step)
        line = node.where.replace(chr(92), "/").rsplit("/", 1)[-1] if node is not None else ""
        return f" ({line})" if line else ""

    def _find(self, step: int) -> Node | None:
        if self.graph is None or step >= len(self.graph.nodes):
            return None
        return self.graph.nodes[step]


def cut(words: str, most: int) -> str:
    """Text cut to at most `most` columns, without spaces at the end."""
    words = words.rstrip()
    return words if len(words) <= most else f"{words[: most - 3]}..."


def _more(count: int, rows: int, what: str) -> list[str]:
    return [f"{'and':>12} {count - rows} more {what}"] if count > rows else []
