"""A program run by the runtime, and compared with what it may give.

`run` builds a program in one way (a backend, options) and runs it twice from the same variables,
the second time on arrays that are not contiguous.  In between it runs on other feeds, so that what
an earlier run left in memory is not taken for what a step should have made, and on indices that are
out of range, which must be refused.  What is only read must
not change, and results of the first run not by the second.  `trial` compares both with `expected`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.programs.bounds import Expected, expected
from byparts_conformance.programs.effects import as_array, recorded
from byparts_conformance.programs.program import Program, parts_of, side_by_side
from byparts_conformance.programs.refused import refused_feeds, unrefused
from byparts_graph_ir import MissingRule
from byparts_runtime import Variable, build

Array = NDArray[Any]


class Wrong(AssertionError):
    """A program that does not give what it means; the message says where."""


def run(
    program: Program,
    rounds: int = 2,
    seen: Callable[[Any], None] = lambda built: None,
    **options: Any,
) -> list[tuple[Array, ...]]:
    """The outputs (fetches, then new values of variables) of several runs from the same state.

    The last one of a program that prints is the text of the run, as bytes.

    Args:
        program: to build and run.
        rounds: how often it runs on its arrays; its variables are put back before each run.
        seen: called with what `build` made, after it ran.
        options: of `byparts_runtime.build`.
    """
    inputs, feeds = program.graph.inputs, program.feeds
    states = program.arrays[feeds:]
    variables = [Variable(f"v{i}", np.array(a)) for i, a in enumerate(states)]
    known = dict(zip(inputs[feeds:], variables, strict=True))
    with _no_other_backend():
        built = build(
            program.graph, variables=known, updates=variables[: program.updates], **options
        )
    results: list[tuple[Any, ...]] = []
    for number in range(rounds):
        if number:
            with recorded():
                built(*[np.array(np.flip(a)) for a in program.arrays[:feeds]])
                for spoiled, sentence in refused_feeds(program):
                    if said := unrefused(built, spoiled, sentence):
                        raise Wrong(said)
        for v, a in zip(variables, states, strict=True):
            v.write(a)
        given = [np.array(a) if number % 2 == 0 else _spread(a) for a in program.arrays[:feeds]]
        with recorded() as text:
            fetched = built(*given)
        printed = [as_array(text.getvalue())] if program.graph.has_effect else []
        results.append((*fetched, *[v.read() for v in variables[: program.updates]], *printed))
        _check_unchanged("feed", given, program.arrays)
        kept = [v.read() for v in variables[program.updates :]]
        _check_unchanged("variable that is only read", kept, states[program.updates :])
    seen(built)
    return [tuple(map(np.array, some)) for some in results]


@contextmanager
def _no_other_backend() -> Iterator[None]:
    """Raise where a build goes on without a backend that fails: the others would be tried twice."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "going on without", RuntimeWarning)
        yield


def _spread(a: Array) -> Array:
    """The same array with other elements between its own, backwards in memory."""
    if not a.ndim:
        return np.array(a)
    wide = np.empty([2 * n for n in a.shape], a.dtype)
    view = wide[tuple([slice(None, None, -2)] * a.ndim)]
    view[...] = a
    return view


def _check_unchanged(what: str, arrays: Sequence[Array], were: Sequence[Array]) -> None:
    for i, (now, before) in enumerate(zip(arrays, were, strict=False)):
        if now.tobytes() != before.tobytes():
            raise Wrong(f"{what} {i} was changed")


def difference(results: Sequence[tuple[Array, ...]], wants: Sequence[Expected]) -> str:
    """A sentence that names the first output that is wrong, or ""."""
    for number, outputs in enumerate(results):
        for i, (got, want) in enumerate(zip(outputs, wants, strict=True)):
            if said := want.difference(got):
                return f"output {i} of run {number + 1}, {said}"
    return ""


def trial(program: Program, wants: Sequence[Expected] | None = None, **options: Any) -> str:
    """The error of a program on these options, in a sentence; "" if it is right.

    Raises:
        MissingRule: no backend has one of its ops.
    """
    wants = expected(program) if wants is None else wants
    try:
        return difference(run(program, **options), wants)
    except MissingRule:
        raise
    except Exception as error:  # a build or a run that fails, in any way, is what is looked for
        return f"raises {type(error).__name__}: {_first_line(error)}"


def batch_trial(
    programs: Sequence[Program],
    wants: Sequence[Sequence[Expected]],
    seen: Callable[[Any], None] = lambda built: None,
    **options: Any,
) -> dict[Program, str]:
    """The programs that are wrong, each with a sentence: tried together, then those by themselves.

    Together they are one program of many parts, which a compiler does sooner.

    Raises:
        MissingRule: no backend has an op of one of them.
    """
    try:
        runs = run(side_by_side(programs), seen=seen, **options)
    except MissingRule:
        raise
    except Exception:  # whose fault it is comes out below
        suspects = list(programs)
    else:
        parted = [parts_of(r, programs) for r in runs]
        suspects = [
            p
            for i, p in enumerate(programs)
            if difference([outputs[i] for outputs in parted], wants[i])
        ]
    by = dict(zip(programs, wants, strict=True))
    return {p: said for p in suspects if (said := _alone(p, by[p], options))}


def _alone(program: Program, wants: Sequence[Expected], options: dict[str, Any]) -> str:
    try:
        return trial(program, wants, **options)
    except MissingRule:
        return ""


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:300]
