"""docs/program-mutants.md: how many mutants programs tell, and why others live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from mutation.outcome import Outcome

FILE = Path(__file__).parents[2] / "docs" / "program-mutants.md"
EQUAL = Path(__file__).parents[1] / "program_mutants_equal.tsv"
_HEAD = """# Wrong stages, and whether programs tell

Written by `python integration/program_mutants.py`, in some tens of minutes, or with
`--page LOG` from logs of parts of that.

Random programs (`byparts check NAME --programs N`) are to find what is wrong between ops: in
passes, lowering, emitters, the planner, the runtime.  So each of these is made wrong at one place,
by rule (`integration/mutation/`), and programs are built and run with it, on the native and NumPy
backends, in the ways of `byparts_conformance/programs/ways.py`:

- in what it gives: one node of the graph after the passes, one place of the loops of a region, of
  its LLVM IR or its C, of the plan, of the steps that are bound.  The programs that are being
  built there must tell;
- in its source: one expression of one function.  Programs that run the line must tell.

The larger programs, on which changed source is tried that lives, are also run with pages around
each value that nobody may touch (`byparts_conformance/programs/guarded.py`), on threads, and as
programs of a named dimension; NumPy's in two memory spaces too.

`told`: a program gave something wrong, or failed, or its process died.  `same bits`: another way to
the same, for its programs gave the same to the bit, also on {draws} other draws of all their arrays
(a product of ones, a guard that always holds, a lane that nothing reads).  `explained`: a change of
source that only costs time, bytes or a message; `integration/program_mutants_equal.tsv` says why
for each.  `lives`: none of these; where results differed within rounding, on 24 draws.

{programs}

{total}

| group | what is wrong | mutants | told | same bits | explained | lives | told of what is wrong |
|---|---|---|---|---|---|---|---|
"""


@cache
def reasons() -> dict[str, str]:
    """Places of our source -> why a change there changes no result."""
    rows = [line.split("\t") for line in EQUAL.read_text(encoding="utf-8").splitlines()]
    return {key: why for key, why in rows}


def explained(one: Outcome) -> Outcome:
    """The outcome; a survivor of which the file says why is equal."""
    why = reasons().get(one.key)
    if one.kind != "survives" or why is None:
        return one
    return replace(one, kind="explained", said=why)


def page(made: Sequence[Outcome], programs: str, draws: int) -> str:
    """The text of the page."""
    total = Counter(one.kind for one in made)
    head = _HEAD.format(draws=draws, programs=programs, total=f"{_sentence(total)}.")
    return head + "\n".join([*_groups(made), "", *_how_told(made), *_rules(made), *_others(made)])


def _sentence(kinds: Counter[str]) -> str:
    told, lives = kinds["told"], kinds["survives"]
    share = 100 * told / max(1, told + lives)
    return (
        f"{kinds.total():,} mutants: {told:,} told, {kinds['equal']} of the same bits, "
        f"{kinds['explained']} explained, {lives} live; told are {share:.1f} % of {told + lives:,} "
        "that are wrong"
    )


def _cells(kinds: Counter[str]) -> str:
    told, lives = kinds["told"], kinds["survives"]
    share = f"{100 * told / (told + lives):.0f} %" if told + lives else ""
    counts = (kinds.total(), told, kinds["equal"], kinds["explained"], lives)
    return " | ".join([*[str(n or "") for n in counts], share])


def _groups(made: Sequence[Outcome]) -> Iterator[str]:
    for group in dict.fromkeys(one.group for one in made):
        for source in (False, True):
            some = [one for one in made if one.group == group and bool(one.key) == source]
            if some:
                what = "source" if source else "output"
                yield f"| {group} | {what} | {_cells(Counter(one.kind for one in some))} |"


def _how_told(made: Sequence[Outcome]) -> Iterator[str]:
    how: Counter[str] = Counter()
    for one in made:
        if one.kind == "told":
            program = one.said.startswith("program")
            how["a wrong result" if program else _failure(one.said)] += 1
    counts = ", ".join(f"{what} {n}" for what, n in how.most_common())
    yield from (f"What told them: {counts}.", "")


def _failure(said: str) -> str:
    return {"dies": "the process died", "hangs": "no end"}.get(said, "an error")


def _rules(made: Sequence[Outcome]) -> Iterator[str]:
    yield "## By rule"
    yield ""
    yield "| group | rule | mutants | told | same bits | explained | lives | told of wrong |"
    yield "|---|---|---|---|---|---|---|---|"
    for group, source, rule in sorted({(o.group, bool(o.key), o.rule) for o in made}):
        some = [o for o in made if (o.group, bool(o.key), o.rule) == (group, source, rule)]
        name = f"source: {rule}" if source else rule
        yield f"| {group} | {name} | {_cells(Counter(o.kind for o in some))} |"
    yield ""


def _others(made: Sequence[Outcome]) -> Iterator[str]:
    for kind, title in (("survives", "Mutants that live"), ("explained", "Explained")):
        yield f"## {title}"
        yield ""
        for one in sorted(made, key=lambda o: (o.group, o.mutant)):
            if one.kind == kind:
                about = one.key or one.mutant
                yield f"- {one.group}: `{about.replace('`', '')}`: {one.said}"
        yield ""
