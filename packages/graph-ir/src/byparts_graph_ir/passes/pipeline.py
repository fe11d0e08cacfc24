"""A sequence of passes, each with the facts that it needs and those that hold after it.

    compile = pipeline(Pass("merge", merge), Pass("plan_order", order, needs=("static",)))

Facts are words: "static" (every type is static), "legal" (the backend has every op).  `pipeline`
refuses a sequence in which a pass needs a fact that no pass before it gives.  NNVM's passes declare
such facts too, but check them only while running.
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
    """A function Graph -> Graph and the facts of graphs that it needs and changes.

    Attributes:
        name: for messages.
        run: the function.
        needs: facts that must hold of its argument.
        gives: facts that hold of its result.
        breaks: facts that may no longer hold of its result.
    """

    name: str
    run: Callable[[Graph], Graph]
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()


class Stage(Frozen):
    """The result of one pass, for printing.

    Attributes:
        name: of the pass.
        graph: its result.
        elapsed_s: how long it took.
        note: more about it; may be empty.
    """

    name: str
    graph: Graph
    elapsed_s: float
    note: str = ""

    def __str__(self) -> str:
        line = f"{self.name}: {len(self.graph.nodes)} nodes, {self.elapsed_s * 1e3:.1f} ms"
        return f"{line}, {self.note}" if self.note else line


class Pipeline(Frozen):
    """A sequence of passes whose facts were checked.

    A call runs them; `stages` runs them and returns each result.

    Attributes:
        passes: in the order in which they run.
        given: facts that hold of the graph it is called on.
        check: called on the result of each pass, e.g. `verify`.
    """

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
                graph = applied(p.run, graph)
                if self.check is not None:
                    self.check(graph)
            except Exception as error:
                add_note(error, f"while running pass {p.name} ({i + 1} of {len(self.passes)})")
                raise
            done.append(Stage(p.name, graph, perf_counter() - start))
        return done

    def _lacks(self, i: int, need: str) -> str:
        """The message that pass i needs a fact which does not hold before it."""
        p, before = self.passes[i], ", ".join(q.name for q in self.passes[:i]) or "nothing"
        givers = [q.name for q in self.passes[i + 1 :] if need in q.gives]
        advice = f"; move {givers[0]} before it" if givers else ""
        place = f"pass {p.name} ({i + 1} of {len(self.passes)})"
        return f"{place} needs {need!r}, which {before} before it does not leave in place{advice}"


def applied(run: Callable[..., object], graph: Graph, *more: Any, **facts: Any) -> Graph:
    """Run a pass on a graph.

    Raises:
        GraphError: it takes other arguments, or returns something else than a graph.
    """
    try:
        result = run(graph, *more, **facts)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # from inside the pass
        arguments = ", ".join(["graph", *("..." for _ in more), *(f"{name}=..." for name in facts)])
        raise GraphError(f"{_place(run)} is called as pass({arguments}): {error}") from error
    return returned_graph(result, run)


def _place(run: Any) -> str:
    """The name of a pass, and where it is defined."""
    while hasattr(run, "func"):  # of a `partial`
        run = run.func
    name, code = getattr(run, "__name__", type(run).__name__), getattr(run, "__code__", None)
    return name + (f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else "")


def returned_graph(result: object, run: Any) -> Graph:
    """`result`, which a pass returned, if it is a graph.

    Args:
        result: what the pass returned.
        run: the function of the pass, for the message.

    Raises:
        GraphError: the result is something else, most often `None`.
    """
    if isinstance(result, Graph):
        return result
    hint = "; does it lack a `return`?" if result is None else ""
    raise GraphError(f"{_place(run)} returned {result!r:.60}, and a pass returns a Graph{hint}")


def pipeline(*passes: Pass, given: Sequence[str] = (), check: Check | None = None) -> Pipeline:
    """A sequence of passes that runs as one.

    Args:
        *passes: in the order in which they run.
        given: facts that hold of the graph it will be called on.
        check: called on the result of each pass, e.g. `verify`.

    Raises:
        GraphError: a pass needs a fact that does not hold before it runs.
        ArgumentError: an element is no `Pass`.
    """
    for i, p in enumerate(passes):
        if not isinstance(p, Pass):
            how = 'wrap it, as in Pass("name", function)'
            raise ArgumentError(f"pipeline: pass {i} is {p!r:.60}; {how}")
    return Pipeline(tuple(passes), tuple(given), check)
