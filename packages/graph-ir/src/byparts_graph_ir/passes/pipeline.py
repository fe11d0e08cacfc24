"""Passes in a row, each saying what it needs to hold and what holds after it.

    compile = pipeline(Pass("merge", merge), Pass("plan_order", order, needs=("static",)))

Facts are words: "static" (every type is), "legal" (the backend has every op).  A row in which a
pass needs what none before it gives is refused before anything runs.  NNVM's passes declared the
same and used it for an error message alone, while running.
"""

from __future__ import annotations

from time import perf_counter

from byparts_graph_ir.errors import ArgumentError, GraphError, add_note
from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.graph import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

Check: TypeAlias = "Callable[[Graph], object]"


class Pass(Frozen):
    """A function Graph -> Graph with its contract.

    Attributes:
        needs: facts that must hold before.
        gives: facts that hold after.
        breaks: facts that may no longer hold after.
    """

    name: str
    run: Callable[[Graph], Graph]
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()


class Stage(Frozen):
    """What one pass made, for printing; `note` is what else there is to say of it."""

    name: str
    graph: Graph
    elapsed_s: float
    note: str = ""

    def __str__(self) -> str:
        line = f"{self.name}: {len(self.graph.nodes)} nodes, {self.elapsed_s * 1e3:.1f} ms"
        return f"{line}, {self.note}" if self.note else line


class Pipeline(Frozen):
    """A checked row of passes.  Calling it runs them; `stages` does so and keeps each result."""

    passes: tuple[Pass, ...]
    given: tuple[str, ...] = ()
    check: Check | None = None

    def __post_init__(self) -> None:
        have = set(self.given)
        for i, p in enumerate(self.passes):
            for need in p.needs:
                if need not in have:
                    raise GraphError(self._lacks(i, need))
            have = (have - set(p.breaks)) | set(p.gives)

    def __call__(self, graph: Graph) -> Graph:
        """The graph after all passes."""
        stages = self.stages(graph)
        return stages[-1].graph if stages else graph

    def stages(self, graph: Graph) -> list[Stage]:
        """The graph after each pass, with the time it took; `check` is run on each.

        An error carries a note that says which pass was running.
        """
        done: list[Stage] = []
        for i, p in enumerate(self.passes):
            start = perf_counter()
            try:
                graph = returned_graph(p.run(graph), p.run)
                if self.check is not None:
                    self.check(graph)
            except Exception as error:
                add_note(error, f"while running pass {p.name} ({i + 1} of {len(self.passes)})")
                raise
            done.append(Stage(p.name, graph, perf_counter() - start))
        return done

    def _lacks(self, i: int, need: str) -> str:
        p, before = self.passes[i], ", ".join(q.name for q in self.passes[:i]) or "nothing"
        givers = [q.name for q in self.passes[i + 1 :] if need in q.gives]
        advice = f"; move {givers[0]} before it" if givers else ""
        place = f"pass {p.name} ({i + 1} of {len(self.passes)})"
        return f"{place} needs {need!r}, which {before} before it does not leave in place{advice}"


def returned_graph(result: object, run: Any) -> Graph:
    """What a pass returned, if it is a graph.

    Raises:
        GraphError: it is something else, most often `None`.
    """
    if isinstance(result, Graph):
        return result
    run = getattr(run, "func", run)  # of a `partial`
    name, code = getattr(run, "__name__", type(run).__name__), getattr(run, "__code__", None)
    line = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    hint = "; does it lack a `return`?" if result is None else ""
    raise GraphError(f"{name}{line} returned {result!r:.60}, and a pass returns a Graph{hint}")


def pipeline(*passes: Pass, given: Sequence[str] = (), check: Check | None = None) -> Pipeline:
    """A row of passes.

    Args:
        *passes: in the order in which they run.
        given: facts that hold of the graph it will be called on.
        check: called on every pass's result, for instance `verify`.

    Raises:
        GraphError: a pass needs a fact that does not hold where it stands.
    """
    for i, p in enumerate(passes):
        if not isinstance(p, Pass):
            how = 'wrap it, as in Pass("name", function)'
            raise ArgumentError(f"pipeline: pass {i} is {p!r:.60}; {how}")
    return Pipeline(tuple(passes), tuple(given), check)
