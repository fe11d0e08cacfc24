"""`SymbolicProgram`: a program of named dimensions, one for every size.

    x = Input(TensorType("f32", ("n", 784)), name="x")
    program = build(graph)              # lowers the graph and compiles its kernels, for all n
    program(rows)                       # n = len(rows): places and binds, the first time
    program.at(n=32).explain()          # the program of one size

Programs of sizes are kept as an `Executor` keeps them, in one arena, which is as large as the
largest size needs, and grows by halves where sizes go on growing; `program.arena.trim()` gives back
what is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Optional

from byparts_graph_ir import Graph, GraphError, Stage, TensorType, Types
from byparts_graph_ir.passes.sizes import names_in, with_sizes
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.signature import Bound, feeds_first
from byparts_runtime.inspect.costs import Costs
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.executor import Executor, typed_feeds
from byparts_runtime.run.program import BoundProgram, Program
from byparts_runtime.run.step import Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_runtime.building.kernels import Kernels
    from byparts_runtime.inspect.profile import Profile
    from byparts_runtime.memory.plan import Plan


class SymbolicProgram(Program):
    """A program for every size of its named dimensions; what `build` makes of such a graph.

    What a program of one size has (a plan, steps, an arena) is here that of the last size.
    """

    def __init__(
        self,
        graph: Graph,
        variables: Bound,
        updates: Sequence[Variable],
        arena: Optional[Arena],
        options: BuildOptions,
    ) -> None:
        self._executor = Executor(arena="shared" if arena is None else arena, options=options)
        self._graph, self._bound = graph, variables
        inputs = {graph.inputs[i]: variable for i, variable in variables.items()}
        self._options: dict[str, Any] = {"variables": inputs, "updates": tuple(updates)}
        self._last: Optional[Program] = None
        self.why = self._executor.prepare(graph, **self._options)

    def __call__(self, *feeds: object) -> tuple[Any, ...]:
        """Run on feeds of any size that the names allow; the fetches.

        Raises:
            ShapeError: a feed is not of its type, or one name would be two numbers.
            Exception: what a kernel raised; no variable has changed.
        """
        program, values = self._for(feeds)
        return program(*values)

    def at(self, **sizes: int) -> Program:
        """The program of one size, as in `program.at(n=32)`.

        Raises:
            GraphError: a name is missing, or there is none of this name.
            ShapeError: the graph has no such size.
        """
        names = names_in(Graph(self._feeds, (), ()))
        if names != sizes.keys():
            wanted = ", ".join(f"{name}=..." for name in sorted(names))
            asked = ", ".join(f"{name}={n!r}" for name, n in sizes.items())
            raise GraphError(f"at({asked}): the names of this program are at({wanted})")
        feeds = with_sizes(Graph(self._feeds, (), ()), sizes).inputs
        return self._of(tuple([v.type for v in feeds]))

    @property
    def feed_types(self) -> Types:
        """The types of the feeds, with names."""
        return tuple([v.type for v in self._feeds])

    @property
    def _feeds(self) -> tuple[Any, ...]:
        first = feeds_first(self._graph, self._bound)
        return first.inputs[: len(first.inputs) - len(self._bound)]

    def _for(self, feeds: Sequence[object]) -> tuple[Program, list[object]]:
        typed = typed_feeds(self._graph, feeds, self._bound, self._executor.backends[0].space)
        return self._of(tuple([kind for _, kind in typed])), [value for value, _ in typed]

    def _of(self, types: Types) -> Program:
        self._last = self._executor.program(self._graph, types, **self._options)
        return self._last

    def _one(self) -> Program:
        """The program of the last size.

        Raises:
            GraphError: there has been none.
        """
        if self._last is None:
            names = ", ".join(f"{name}=..." for name in sorted(names_in(self._graph)))
            raise GraphError(f"the program has had no size yet: call it, or take at({names})")
        return self._last

    # -- what a program of one size has ------------------------------------------------------------

    def bind(self, *feeds: Any) -> BoundProgram:
        """The program of their size on these very arrays; see `Program.bind`."""
        return self._for(feeds)[0].bind(*feeds)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages from the graph as given to the graph of the last size."""
        return self._one().stages

    @property
    def graph(self) -> Graph:
        """The graph of the last size; with names where there has been none."""
        return self._graph if self._last is None else self._last.graph

    @property
    def kernels(self) -> Kernels:
        """Node of `graph` -> its kernel."""
        return self._one().kernels

    @property
    def plan(self) -> Plan:
        """The plan of the last size."""
        return self._one().plan

    @property
    def arena(self) -> Arena:
        """The memory of all sizes."""
        return self._one().arena

    @property
    def steps(self) -> tuple[Step, ...]:
        """The bound kernels of the last size."""
        return self._one().steps

    def explain(self, *, width: Optional[int] = None, **parts: bool) -> str:
        """A table of what runs where, at the last size; with names where there has been none."""
        if self._last is not None:
            return self._last.explain(width=width, **parts)
        return f"{self.why}\n{with_bytes(self._graph)}"

    def profile(self, *feeds: object, runs: int = 10) -> Profile:
        """Time each step at the size of these feeds; see `Program.profile`."""
        program, values = self._for(feeds)
        return program.profile(*values, runs=runs)

    def costs(self, *feeds: object, runs: int = 10) -> Costs:
        """The seconds of each node at the size of these feeds; see `Program.costs`."""
        program, values = self._for(feeds)
        return program.costs(*values, runs=runs)

    def trace(self, *feeds: object, path: Any = None) -> dict[str, Any]:
        """Run once, timed, at the size of these feeds; see `Program.trace`."""
        program, values = self._for(feeds)
        return program.trace(*values, path=path)

    def __repr__(self) -> str:
        feeds = ", ".join(map(str, self.feed_types))
        return f"SymbolicProgram({feeds}; {len(self._executor)} sizes)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("send the graph and the values of its variables, and build() it there")


def with_bytes(graph: Graph) -> str:
    """The nodes of a graph, each with its types and bytes, as expressions of names.  O(nodes)."""
    lines = []
    for i, node in enumerate(graph.nodes):
        types = ", ".join(str(v.type) for v in node.outputs)
        sizes = ", ".join(f"{_bytes(v.type)} bytes" for v in node.outputs)
        lines.append(f"{i:4}  {node.op.name:20} {types}  {sizes}  {node.where.rpartition('/')[2]}")
    return "\n".join(lines)


def _bytes(kind: TensorType) -> object:
    """The size of a type in bytes: a number, or an expression such as "512*n"."""
    from byparts_graph_ir import ITEM_BYTES, dimension  # only for people

    if kind.shape is None or None in kind.shape:
        return "?"
    return dimension("*".join([str(ITEM_BYTES[kind.dtype]), *[f"({d})" for d in kind.shape]]))
