"""Many programs on a backend: tried in batches and in several ways, failures made small.

    report = campaign(("native", "numpy"), count=1000)
    print(report)

Each batch is built in one way of `ways.py`: as a user builds, without passes, with every value in
memory of its own, by backends that take turns, as rounds of a loop, and so on.  Equal seeds and
counts try equal programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from byparts_conformance.programs.bounds import Expected, expected, surely
from byparts_conformance.programs.generate import generate
from byparts_conformance.programs.minimise import minimised
from byparts_conformance.programs.program import Program
from byparts_conformance.programs.structure import Structure
from byparts_conformance.programs.text import as_test
from byparts_conformance.programs.trial import batch_trial, trial
from byparts_conformance.programs.ways import Way, loaded, renewed, shared_loops, way_of
from byparts_graph_ir import MissingRule

# Samples of noise that confirm a report: few dismiss most reports, many take seconds.
FEW = 40
MANY = 320


@dataclass(frozen=True, eq=False)
class Failure:
    """A program that is wrong, as small as it could be made.

    Attributes:
        program: the small one; its `seed` is that of the generated program.
        said: what is wrong with it.
        backends: that were asked for.
        way: how it was built.
    """

    program: Program
    said: str
    backends: tuple[Any, ...]
    way: Way

    def __str__(self) -> str:
        shown = {"backends": self.backends, **self.way.options}
        head = f"seed {self.program.seed}, {self.way.name}: {self.said}"
        return f"{head}\n\n{as_test(self.program, self.said, shown)}"


@dataclass
class Report:
    """The findings of a campaign.

    Attributes:
        programs: how many were tried.
        missing: how many of them no backend has an op of.
        failures: those that are wrong.
        compared, elements: how many elements of outputs could be compared, of how many.
        structure: what building made of them.
        ops: name of an op -> how many programs have it.
        ways: name of a way -> how many programs were built in it.
    """

    programs: int = 0
    missing: int = 0
    failures: list[Failure] = field(default_factory=list)
    compared: int = 0
    elements: int = 0
    structure: Structure = field(default_factory=Structure)
    ops: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        share = 100 * self.compared / max(1, self.elements)
        lines = [
            f"{self.programs:,} programs, {len(self.failures)} wrong, {self.missing} with an op "
            f"that no backend has; {len(self.ops)} ops",
            f"compared {share:.2f} % of {self.elements:,} elements",
            self.structure.line(),
            "built " + ", ".join([f"{way} {n:,}" for way, n in self.ways.items()]),
        ]
        return "\n".join([*map(str, self.failures), *lines])


def campaign(
    backends: Sequence[Any],
    count: int,
    seed: int = 0,
    *,
    batch: int = 16,
    theme: str = "",
    not_finite: bool | None = None,
    prints: bool | None = None,
    most_failures: int = 5,
    shrink: bool = True,
    progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Try `count` programs from `seed` on.

    Args:
        backends: as `build` takes them.
        count: how many programs.
        seed: of the first; the next ones follow it.
        batch: how many are built together; backends that compile are faster with more.
        theme: one of `generate.THEMES`; by default all.
        not_finite: whether inputs hold nan and infinities; by default in every eighth program.
        prints: whether values are printed; by default in every fifth program.
        most_failures: ends sooner after so many.
        shrink: whether failures are made small.
        progress: called after each batch.
    """
    report, flushes = Report(), any([loaded(b).flushes for b in backends])
    for number, first in enumerate(range(seed, seed + count, batch)):
        seeds = range(first, min(first + batch, seed + count))
        drawn = [_drawn(s, theme, not_finite, prints, flushes) for s in seeds]
        way = way_of(number)
        options = way.build_options(backends, first)
        tried = {way.twin(p): (p, some) for p, some in drawn}
        for twin in _wrong(report, list(tried), [some for _, some in tried.values()], options):
            program = tried[twin][0]
            if failure := _failure(program, tuple(backends), way, options, shrink):
                report.failures.append(failure)
                if len(report.failures) >= most_failures:
                    break
        _count(report, drawn, way)
        progress(report)
        if len(report.failures) >= most_failures:
            break
    return report


def campaign_on_threads(
    backends: Sequence[Any], count: int, seed: int = 0, **options: Any
) -> Report:
    """Run `campaign` by backends that share among threads what is too short for it as a rule."""
    with shared_loops():
        return campaign([renewed(b) for b in backends], count, seed, **options)


@lru_cache(maxsize=256)  # tests try the same programs on several backends
def _drawn(
    seed: int, theme: str, not_finite: bool | None, prints: bool | None, flushes: bool
) -> tuple[Program, tuple[Expected, ...]]:
    """The program of a seed and what it must give."""
    program = generate(seed, theme=theme, not_finite=not_finite, prints=prints)
    return program, expected(program, flushes=flushes)


def _count(report: Report, drawn: Sequence[tuple[Program, Sequence[Expected]]], way: Way) -> None:
    report.programs += len(drawn)
    report.ways[way.name] += len(drawn)
    for p, some in drawn:
        report.ops.update({node.op.name for node in p.graph.nodes})
        report.compared += sum(w.compared for w in some)
        report.elements += sum(w.value.size for w in some)


def _wrong(
    report: Report,
    programs: Sequence[Program],
    wants: Sequence[Sequence[Expected]],
    options: dict[str, Any],
) -> Iterator[Program]:
    """The programs that are wrong; those of which an op is missing are counted."""
    try:
        yield from batch_trial(programs, wants, seen=report.structure.add, **options)
        return
    except MissingRule:
        pass
    for p, some in zip(programs, wants, strict=True):
        try:
            if trial(p, some, seen=report.structure.add, **options):
                yield p
        except MissingRule:
            report.missing += 1


def _failure(
    program: Program, backends: tuple[Any, ...], way: Way, options: dict[str, Any], shrink: bool
) -> Failure | None:
    """The failure of a program, made small; none where more samples allow what it gives."""
    flushes = any([loaded(b).flushes for b in backends])

    def wrong(candidate: Program, samples: Sequence[int] = ()) -> str:
        twin = way.twin(candidate)
        try:
            said = trial(twin, expected(candidate, flushes=flushes), **options)
            for count in samples:
                if not said:
                    return ""
                bounds = surely(candidate, count, flushes=flushes)
                said = trial(twin, bounds, **options)
            return said
        except (MissingRule, ValueError):
            return ""

    if not wrong(program, (FEW, MANY)):
        return None
    small = minimised(program, partial(wrong, samples=(FEW,))) if shrink else program
    shown = small if small is not program and wrong(small, (FEW, MANY)) else program
    return Failure(replace(shown, seed=program.seed), wrong(shown), backends, way)
