"""Wrong programs: steps that are missing or out of order, and steps bound to other memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from byparts_runtime.run.bind import Binding
from byparts_runtime.run.bound import Bound
from byparts_runtime.run.commit import Commit
from mutation.place import Change, Rule, Stage

Thing = tuple[str, Any]  # what is bound, and what it is bound to


def _steps(found: Thing) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    what, steps = found
    for i, step in enumerate(steps if what == "steps" else ()):
        yield step.node.op.name, i, steps


def _missing(found: Thing) -> Iterator[tuple[str, Change]]:
    for name, i, steps in _steps(found):
        yield f"step {i}, {name}", partial(_same, "steps", (*steps[:i], *steps[i + 1 :]))


def _same(what: str, value: Any) -> Thing:
    return what, value


def _out_of_order(found: Thing) -> Iterator[tuple[str, Change]]:
    for name, j, steps in _steps(found):
        read = set(steps[j].node.inputs)
        before = [i for i in range(j) if read & set(steps[i].node.outputs)]
        for i in before[-1:]:
            order = (*steps[:i], *steps[i + 1 : j + 1], steps[i], *steps[j + 1 :])
            yield f"step {i} after step {j}, {name}", partial(_same, "steps", order)


def _arguments(found: Thing, outputs: bool) -> Iterator[tuple[str, Change]]:
    what, given = found
    if what != "arguments":
        return
    node, (ins, outs, *blocks) = given
    values, at = (node.outputs, outs) if outputs else (node.inputs, ins)
    for i in range(len(values)):
        for j in [j for j in range(i) if values[j].type == values[i].type]:
            if at[i] is at[j] or values[i] is values[j]:
                continue
            other = list(at)
            other[i], other[j] = at[j], at[i]
            made = (ins, other, *blocks) if outputs else (other, outs, *blocks)
            words = f"{'outputs' if outputs else 'inputs'} {j} and {i} of {node.op.name}"
            yield words, partial(_same, "arguments", (node, made))


def _pairs(kind: str) -> Rule:
    """The rule that exchanges two of one type."""

    def places(found: Thing) -> Iterator[tuple[str, Change]]:
        what, (types, things) = found if found[0] == kind else (kind, ((), ()))
        for i in range(len(things)):
            for j in [j for j in range(i) if types[j] == types[i]][-1:]:
                other = list(things)
                other[i], other[j] = things[j], things[i]
                yield f"{kind} {j} and {i}", partial(_same, what, (types, tuple(other)))

    return places


def _lost(kind: str) -> Rule:
    """The rule that leaves out one of the pairs of a commit."""

    def places(found: Thing) -> Iterator[tuple[str, Change]]:
        what, (types, things) = found if found[0] == kind else (kind, ((), ()))
        for i in range(len(things)):
            yield f"{kind} {i}", partial(_same, what, (types, (*things[:i], *things[i + 1 :])))

    return places


RULES: dict[str, Rule] = {
    "a step is missing": _missing,
    "a step is late": _out_of_order,
    "inputs exchanged": partial(_arguments, outputs=False),
    "outputs exchanged": partial(_arguments, outputs=True),
    "feeds exchanged": _pairs("feeds"),
    "fetches exchanged": _pairs("fetches"),
    "new values exchanged": _pairs("new values"),
    "a new value is not written": _lost("new values"),
}


def hook(change: Callable[[Any], Any]) -> None:
    """Have what is bound go through the change: steps, their arguments, feeds, fetches, updates."""
    bound, arguments, writers = Binding._steps, Bound.arguments, Binding._feed_writers
    copies, reader = Binding._copies, Binding._reader

    def steps(self: Binding) -> Any:
        return change(("steps", bound(self)))[1]

    def given(self: Bound, node: Any) -> Any:
        return change(("arguments", (node, arguments(self, node))))[1][1]

    def feeds(self: Binding) -> Any:
        made = writers(self)
        return change(("feeds", ([w[1:] for w in made], made)))[1][1]

    def fetch(self: Binding, output: int) -> Any:
        outputs = self._loaded.graph.outputs[: self._loaded.signature.fetches]
        order = tuple(range(len(outputs)))
        if not output:
            self._order = change(("fetches", ([v.type for v in outputs], order)))[1][1]  # type: ignore[attr-defined]
        return reader(self, self._order[output])  # type: ignore[attr-defined]

    def updates(self: Binding) -> Any:
        staging, commit = copies(self)
        kinds = [
            repr(getattr(s, "shape", s)) + str(getattr(s, "dtype", "")) for s in commit.sources
        ]
        pairs = tuple(zip(commit.sources, commit.targets, strict=True))
        made = change(("new values", (kinds, pairs)))[1][1]
        if made == pairs:
            return staging, commit
        sources = [s for s, _ in made]
        targets = [t for _, t in made] if len(made) < len(pairs) else commit.targets
        return staging, Commit(targets, sources, (), commit.counters, commit.duplicate)

    Binding._steps, Bound.arguments = steps, given  # type: ignore[method-assign]
    Binding._feed_writers, Binding._reader = feeds, fetch  # type: ignore[method-assign]
    Binding._copies = updates  # type: ignore[method-assign]


STAGE = Stage("runtime", RULES, hook)
