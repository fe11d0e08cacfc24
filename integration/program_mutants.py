"""Passes, lowering, emitters, planner and runtime, made wrong by rule: do programs tell?

    python integration/program_mutants.py                       # tries all, writes the page
    python integration/program_mutants.py --only loops --count 40 --log mutants.tsv
    python integration/program_mutants.py --page mutants.tsv    # writes the page from a log
    python integration/program_mutants.py --again mutants.tsv --log more.tsv    # source that lives

Writes docs/program-mutants.md from the outcomes and from `program_mutants_equal.tsv`, which says of
places of our source why a change there gives what was given before.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random

from byparts_conformance.programs.ways import WAYS, way_of
from mutation.named import named_batches
from mutation.outcome import (
    STAGES,
    Outcome,
    outcome_of_line,
    outcome_of_place,
    outcome_of_source,
    places,
    recompiles,
    spread,
)
from mutation.page import FILE, explained, page, reasons
from mutation.source import GROUPS, Mutant, lines_run, mutants_of
from mutation.trying import DRAWS, Batch, Tries, batches, forget_kernels, in_child

# what is tried -> how many mutants
COUNTS = {
    **{"binding": 110, "plans": 110, "graphs": 110, "loops": 80, "LLVM IR": 70, "C": 30},
    **{f"source of {group}": 30 if recompiles(group) else 20 for group in GROUPS},
}
BACKENDS = ("native", "numpy")
# Of larger programs where code is made: windows and their gradients are seldom in the others.
_THEMES = ("", "networks", "gradients")
# Batches of larger programs, on which source is tried that the first ones did not tell.
_MORE_BATCHES, _MORE_COMPILED, _MORE_BY_GXX, _MORE_SIZE = 40, 12, 6, 6


def outcomes(what: str, count: int, tried: Sequence[Batch], seed: int) -> Iterator[Outcome]:
    """What becomes of so many mutants."""
    dice = Random(f"{seed} {what}")
    if what in STAGES:
        for place in spread(places(what, tried), count, dice):
            yield outcome_of_place(place, tried)
        return
    group = what.removeprefix("source of ")
    every = [m for name in GROUPS[group] for m in mutants_of(group, name)]
    reached = [in_child(partial(_lines, group, b)) for b in tried]
    every = dice.sample(every, len(every))
    live = [m for m in every if any(m.line in lines.get(m.module, ()) for lines in reached)]
    print(f"{what}: {len(every):,} mutants, {len(live):,} of lines that programs run")
    left = count
    for mutant in live:
        pairs = zip(tried, reached, strict=True)
        some = [b for b, lines in pairs if mutant.line in lines.get(mutant.module, ())]
        found = outcome_of_source(mutant, some)
        if found.kind == "survives" and mutant.key not in reasons():  # else there is none to tell
            found = outcome_on_more(mutant, seed) or found
        if found.kind != "no mutant":
            yield found
            left -= 1
        if not left:
            return


def outcome_on_more(mutant: Mutant, seed: int) -> Outcome | None:
    """What larger programs say of changed source that lives; `None` if none runs the line."""
    pairs = more_batches(mutant.group, seed)
    some = [b for b, lines in pairs if mutant.line in lines.get(mutant.module, ())]
    return outcome_of_source(mutant, some) if some else None


@cache
def more_batches(group: str, seed: int) -> list[tuple[Tries, dict[str, set[int]]]]:
    """Larger programs, and the lines of the group that they run; compiled only where it matters."""
    tried = _more(recompiles(group), seed)
    return [(b, in_child(partial(_lines, group, b))) for b in tried]


@cache
def _more(compiled: bool, seed: int) -> list[Tries]:
    backends = BACKENDS if compiled else BACKENDS[1:]
    count = _MORE_COMPILED if compiled else _MORE_BATCHES
    if compiled and os.environ["BYPARTS_EMITTER"] == "c":
        count = _MORE_BY_GXX
    themes = _THEMES if compiled else ("",)
    ways = way_of if compiled else lambda number: WAYS[1 + number % (len(WAYS) - 1)]
    more: list[Tries] = [
        *batches(
            backends,
            count,
            _MORE_SIZE,
            seed + 10_000,
            24,
            watched=compiled,
            themes=themes,
            ways=ways,
        )
    ]
    return [*more, *named_batches(backends, 3, 2, seed)] if compiled else more


def outcomes_again(what: str, log: Sequence[Outcome], seed: int) -> Iterator[Outcome]:
    """The outcomes of a log, source of one group that lives tried again on larger programs."""
    group = what.removeprefix("source of ")
    live = {one.key for one in log if one.kind == "survives" and one.group == group and one.key}
    live -= reasons().keys()
    every = {m.key: m for name in GROUPS[group] for m in mutants_of(group, name)}
    found = [outcome_on_more(every[key], seed) for key in sorted(live)]
    yield from [one for one in found if one is not None]


def _lines(group: str, batch: Tries) -> dict[str, set[int]]:
    if recompiles(group):
        forget_kernels()
    return lines_run(GROUPS[group], batch.tried)


def emitter_of(what: str) -> str:
    """Which emitter makes code where this is tried."""
    return "c" if what in ("C", "source of emitter of C") else "llvm"


def main() -> int:
    """Try mutants, and write the page where all were tried."""
    args = _arguments()
    if args.page:
        _write(read_log(args.page), args)
        return 0
    warnings.simplefilter("ignore")
    wanted = args.only or list(COUNTS)
    made: list[Outcome] = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["BYPARTS_CACHE"] = cache
        for emitter in ("llvm", "c"):
            some = [what for what in wanted if emitter_of(what) == emitter]
            if some:
                made += _tried_with(emitter, some, args)
    if not (args.only or args.again):
        _write(made, args)
    return 0


def _write(made: Sequence[Outcome], args: argparse.Namespace) -> None:
    programs = (
        f"Programs of seeds {args.seed} on, of at most {args.nodes} growth steps, {args.size} of "
        f"them built together; {args.batches} builds where LLVM makes code, {args.batches // 3} "
        "where g++ does.  Source that they do not tell is tried on larger programs, up to "
        f"{_MORE_SIZE * _MORE_BATCHES:,} on NumPy; of lowering and emitters up to "
        f"{_MORE_SIZE * _MORE_COMPILED} compiled by LLVM or {_MORE_SIZE * _MORE_BY_GXX} by g++."
    )
    programs = f"{programs}\n\n{args.note}" if args.note else programs
    text = page([explained(one) for one in made], programs, DRAWS)
    FILE.write_text(text, encoding="utf-8")


def _tried_with(emitter: str, some: Sequence[str], args: argparse.Namespace) -> list[Outcome]:
    """The outcomes of mutants that one emitter shows; each emitter has a process of its own."""
    os.environ["BYPARTS_EMITTER"] = emitter
    count = args.batches if emitter == "llvm" else args.batches // 3
    if args.again:
        return _tried_again(some, args)
    forget_kernels()  # of the other emitter
    tried = batches(BACKENDS, count, args.size, args.seed, args.nodes)
    print(f"{emitter}: {len(tried)} batches of {args.size} programs", flush=True)
    made = []
    for what in some:
        for one in outcomes(what, args.count or COUNTS[what], tried, args.seed):
            made.append(one)
            _logged(one, args.log)
    return made


def _tried_again(some: Sequence[str], args: argparse.Namespace) -> list[Outcome]:
    forget_kernels()  # of the other emitter
    log = read_log(args.again)
    made = [o for what in some if what not in STAGES for o in outcomes_again(what, log, args.seed)]
    for one in made:
        _logged(one, args.log)
    return made


def read_log(path: str) -> list[Outcome]:
    """The outcomes of a log; of changed source the last one."""
    rows: dict[object, Outcome] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines()):
        one = outcome_of_line(line)
        rows[(one.group, one.key) if one.key else number] = one
    return list(rows.values())


def _logged(one: Outcome, log: str) -> None:
    if one.kind == "survives":
        print(one.line(), flush=True)
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(one.line() + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--only", action="append", choices=list(COUNTS))
    parser.add_argument("--count", type=int, default=0, help="mutants of each; by default all")
    parser.add_argument("--batches", type=int, default=32)
    parser.add_argument("--size", type=int, default=4, help="programs of a batch")
    parser.add_argument("--nodes", type=int, default=12, help="of a program, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", default="", help="a file to add each outcome to")
    parser.add_argument("--again", default="", help="such a file, to try its survivors again")
    parser.add_argument("--page", default="", help="such a file, to write the page from")
    parser.add_argument("--note", default="", help="about the programs, a paragraph of the page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
