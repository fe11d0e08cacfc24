"""Tries mutants of both kinds, and says of each what became of it.

told      a program gives something wrong, or fails
equal     on its programs, and on the same programs with other arrays, all results are the same
          to the bit: another way to the same
survives  results differ, and not by more than rounding may; or, of our source, no program shows
          a difference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from mutation.binding import STAGE as BINDING
from mutation.graphs import STAGE as GRAPHS
from mutation.loops import STAGE as LOOPS
from mutation.place import Changer, Place, Recorder, Stage
from mutation.plans import STAGE as PLANS
from mutation.source import Mutant, apply
from mutation.texts import OF_C_TEXT, OF_LLVM
from mutation.trying import (
    DRAWS,
    MORE_DRAWS,
    Batch,
    Tried,
    Tries,
    forget_kernels,
    in_child,
    more_time,
    prepare,
    prepare_draws,
)

STAGES: dict[str, Stage] = {
    "graphs": GRAPHS,
    "loops": LOOPS,
    "LLVM IR": OF_LLVM,
    "C": OF_C_TEXT,
    "plans": PLANS,
    "binding": BINDING,
}


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        group: row of the table.
        rule: what was changed.
        mutant: the place, in words.
        kind: told, equal or survives.
        said: what told it, or what is known of it.
        key: names the place in a file of explanations; of our source alone.
    """

    group: str
    rule: str
    mutant: str
    kind: str
    said: str
    key: str = ""

    def line(self) -> str:
        """A line of a log."""
        words = (self.kind, self.group, self.rule, self.mutant, self.said, self.key)
        return "\t".join([" ".join(word.split()) for word in words])


def outcome_of_line(line: str) -> Outcome:
    """The outcome of which `line` is this."""
    kind, group, rule, mutant, said, key = line.split("\t")
    return Outcome(group, rule, mutant, kind, said, key)


# -- places of outputs ----------------------------------------------------------------------------


def places(stage: str, tried: Sequence[Batch]) -> list[Place]:
    """All places of the outputs of a stage while these batches are built."""
    found = []
    for number, batch in enumerate(tried):
        rows = in_child(partial(_recorded, STAGES[stage], batch))
        assert isinstance(rows, list), f"{stage}: {rows} while its places are listed"
        found += [Place(stage, rule, number, call, k, words) for rule, call, k, words in rows]
    return found


def _recorded(stage: Stage, batch: Batch) -> list[tuple[str, int, int, str]]:
    recorder = Recorder(stage.rules)
    stage.hook(recorder)
    if stage.recompiles:
        forget_kernels()
    batch.tried()
    return recorder.places


def spread(found: Sequence[Place], count: int, dice: Random) -> list[Place]:
    """So many places, as many of each rule as there are, and of different words first."""
    shuffled = dice.sample(list(found), len(found))
    seen: Counter[Any] = Counter()
    ranked = []
    for k, place in enumerate(shuffled):
        about = (place.rule, place.words)
        rank = (seen[about], seen[place.rule])
        seen[about] += 1
        seen[place.rule] += seen[about] == 1
        ranked.append((*rank, k, place))
    return [place for *_, place in sorted(ranked, key=lambda r: r[:3])[:count]]


def outcome_of_place(place: Place, tried: Sequence[Batch]) -> Outcome:
    """What becomes of a changed output."""
    stage, batch = STAGES[place.stage], tried[place.batch]
    prepare(batch, stage.recompiles)
    found = in_child(lambda: _wrong(stage, place, [batch]))
    kind, said = _judged(found, [batch], stage.recompiles)
    for count, least in ((DRAWS, "told"), (MORE_DRAWS, "equal")):
        if kind in ("told", least):
            break
        prepare_draws(batch, stage.recompiles, count)
        draws = [batch, *[b for b in batch.draws if stage.recompiles in b.right]]
        found = in_child(partial(_wrong, stage, place, draws))
        kind, said = _judged(found, draws, stage.recompiles)
    return Outcome(stage.group, place.rule, str(place), kind, said)


def _wrong(stage: Stage, place: Place, draws: Sequence[Batch]) -> list[Tried]:
    """What the changed stage makes of a batch, with some arrays or others."""
    if stage.recompiles:
        forget_kernels()
    changer = Changer(stage.rules[place.rule], place)
    stage.hook(changer)
    found = []
    for batch in draws:
        more_time()
        changer.calls = 0
        found.append(batch.tried())
        if found[-1].wrong:
            break
    assert changer.done, "the place is not there any more"
    return found


def _judged(found: Any, draws: Sequence[Batch], recompiles: bool) -> tuple[str, str]:
    if isinstance(found, str):
        return "told", found
    for one in found:
        if one.wrong:
            return "told", one.wrong
    pairs = zip(found, [b.right[recompiles] for b in draws], strict=True)
    differ = sum(one.bits != right.bits for one, right in pairs)
    if differ:
        return "survives", f"results differ within rounding on {differ} of {len(found)} draws"
    return "equal", f"the same bits on {len(found)} draws of all arrays"


# -- places of our source -------------------------------------------------------------------------

_RECOMPILES = {"lowering", "emitter of LLVM", "emitter of C"}


def recompiles(group: str) -> bool:
    """Whether code must be made again to see what changed in this group."""
    return group in _RECOMPILES


def outcome_of_source(mutant: Mutant, some: Sequence[Tries]) -> Outcome:
    """What becomes of changed source, tried on these batches until one tells."""
    anew = recompiles(mutant.group)
    for batch in some:
        prepare(batch, anew)
    found = in_child(lambda: _with_source(mutant, some, anew))
    if isinstance(found, str):
        kind, said = "told", found
    elif not found:
        kind, said = "no mutant", ""
    elif found[-1].wrong:
        kind, said = "told", found[-1].wrong
    else:
        rights = [b.right[anew] for b in some]
        made = sum(a.made != b.made for a, b in zip(found, rights, strict=True))
        bits = sum(a.bits != b.bits for a, b in zip(found, rights, strict=True))
        kind = "survives"
        said = f"of {len(found)} batches {made} are made otherwise, {bits} give other bits"
    return Outcome(mutant.group, mutant.rule, str(mutant), kind, said, mutant.key)


def _with_source(mutant: Mutant, some: Sequence[Tries], recompiles: bool) -> list[Tried]:
    if recompiles:
        forget_kernels()
    if not apply(mutant):
        return []
    found = []
    for batch in some:
        more_time()
        found.append(batch.tried())
        if found[-1].wrong:
            break
    return found
