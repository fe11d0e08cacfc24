"""Passes, lowering, emitters, planner and runtime, made wrong by rule: do programs tell?

    python integration/program_mutants.py                       # tries all, writes the page
    python integration/program_mutants.py --only loops --count 40 --log mutants.tsv
    python integration/program_mutants.py --page mutants.tsv    # writes the page from a log

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
from mutation.page import FILE, explained, page
from mutation.source import GROUPS, lines_run, mutants_of
from mutation.trying import DRAWS, Batch, batches, forget_kernels, in_child

# what is tried -> how many mutants
COUNTS = {
    **{"binding": 120, "plans": 120, "graphs": 120, "loops": 110, "LLVM IR": 90, "C": 40},
    **{f"source of {group}": 40 if recompiles(group) else 20 for group in GROUPS},
}
BACKENDS = ("native", "numpy")
_MORE_BATCHES = 60  # that source is tried on which the first ones did not tell


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
        if found.kind == "survives" and not recompiles(group):
            found = outcome_of_source(mutant, more_batches(seed))
        if found.kind != "no mutant":
            yield found
            left -= 1
        if not left:
            return


@cache
def more_batches(seed: int) -> list[Batch]:
    """Larger programs that need no compiler, for source that the first ones do not tell."""
    return batches(BACKENDS[1:], _MORE_BATCHES, 6, seed + 10_000, 24)


def _lines(group: str, batch: Batch) -> dict[str, set[int]]:
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
        lines = Path(args.page).read_text(encoding="utf-8").splitlines()
        _write([outcome_of_line(line) for line in lines], args)
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
    if not args.only:
        _write(made, args)
    return 0


def _write(made: Sequence[Outcome], args: argparse.Namespace) -> None:
    programs = (
        f"Programs of seeds {args.seed} on, of at most {args.nodes} growth steps, {args.size} of "
        f"them built together; {args.batches} builds where LLVM makes code, {args.batches // 3} "
        "where g++ does.  Source that they do not tell, other than of lowering and emitters, is "
        f"tried on {6 * _MORE_BATCHES} larger programs on NumPy."
    )
    text = page([explained(one) for one in made], programs, DRAWS)
    FILE.write_text(text, encoding="utf-8")


def _tried_with(emitter: str, some: Sequence[str], args: argparse.Namespace) -> list[Outcome]:
    """The outcomes of mutants that one emitter shows; each emitter has a process of its own."""
    os.environ["BYPARTS_EMITTER"] = emitter
    count = args.batches if emitter == "llvm" else args.batches // 3
    forget_kernels()  # of the other emitter
    tried = batches(BACKENDS, count, args.size, args.seed, args.nodes)
    print(f"{emitter}: {len(tried)} batches of {args.size} programs", flush=True)
    made = []
    for what in some:
        for one in outcomes(what, args.count or COUNTS[what], tried, args.seed):
            made.append(one)
            _logged(one, args.log)
    return made


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
    parser.add_argument("--log", default="", help="a file to which each outcome is added")
    parser.add_argument("--page", default="", help="such a file, to write the page from")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
