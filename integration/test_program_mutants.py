"""Programs tell when a stage gives something wrong: a few mutants of docs/program-mutants.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from byparts_conformance.programs.named import NamedReport
from mutation.named import NamedBatch
from mutation.outcome import outcome_of_line, outcome_of_place, outcome_of_source, places
from mutation.page import FILE, page, reasons
from mutation.source import GROUPS, mutants_of
from mutation.trying import Batch, batches, forget_kernels, in_child

pytest.importorskip("llvmlite")

TOLD = (  # stage, rule
    ("graphs", "another op"),
    ("loops", "stored one further"),
    ("LLVM IR", "fsub for fadd"),
    ("plans", "a value over another"),
    ("binding", "a step is missing"),
)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[Batch]]:
    """One batch of programs, right without a mutant."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYPARTS_EMITTER", "llvm")
        patch.setenv("BYPARTS_CACHE", str(tmp_path_factory.mktemp("cache")))
        forget_kernels()
        yield batches(("native", "numpy"), 1, 4, 16, 12)


@pytest.mark.parametrize(("stage", "rule"), TOLD, ids=lambda x: x.replace(" ", "-"))
def test_a_wrong_output_of_a_stage_is_told(tried: Sequence[Batch], stage: str, rule: str) -> None:
    """One of the first three places at least, by programs that are being built there."""
    some = [place for place in places(stage, tried) if place.rule == rule][:3]

    assert "told" in [outcome_of_place(place, tried).kind for place in some]


def test_wrong_source_is_told(tried: Sequence[Batch]) -> None:
    module = "byparts_optimize.prune"
    (mutant,) = [m for m in mutants_of("passes", module) if m.text == "if old not in narrow:"][:1]

    assert outcome_of_source(mutant, tried).kind == "told"


def test_programs_of_a_named_dimension_are_tried_as_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Right as they are; what is wrong with one tells."""
    right = NamedBatch(("numpy",), 1, 0).tried()
    wrong = NamedReport(failures=["seed 0, n = 3: wrong\n(%x: f32[n]) {"])
    monkeypatch.setattr("mutation.named.named_campaign", lambda *_, **__: wrong)

    assert not right.wrong and right.made
    assert NamedBatch(("numpy",), 1, 0).tried().wrong == "program of names: seed 0, n = 3: wrong"


@pytest.mark.parametrize("way", ["guarded", "threads"])
def test_watched_batches_are_right(tried: Sequence[Batch], way: str) -> None:
    """In memory where nobody may touch what lies around a value, and on threads."""
    watched = replace(tried[0], guarded=way == "guarded", threads=way == "threads")

    assert in_child(watched.tried).bits == tried[0].tried().bits


def test_explanations_name_places_that_exist() -> None:
    """A change of source that is said to be equal is still there to be made."""
    keys = {m.key for g, modules in GROUPS.items() for name in modules for m in mutants_of(g, name)}

    assert not reasons().keys() - keys, "stale: integration/program_mutants_equal.tsv"


def _told() -> tuple[float, int]:
    """The share of mutants that the page says are told, in percent, and of how many."""
    text = FILE.read_text(encoding="utf-8")
    share, wrong = text.partition("told are ")[2].partition(" that are wrong")[0].split(" % of ")
    return float(share), int(wrong.replace(",", ""))


def test_the_page_says_how_many_are_told() -> None:
    """Of four hundred and fifty and more that are wrong."""
    share, wrong = _told()

    assert wrong >= 450 and share > 90


def test_nearly_all_mutants_are_told() -> None:
    """Asked for: 95 % and more.  Of changed lines of sources fewer are."""
    assert _told()[0] >= 95


def test_an_outcome_is_read_back() -> None:
    line = "told\tplanner\ta rule\twhere\tprogram 0: wrong\t"

    assert outcome_of_line(line).line() == line
    assert "1 mutants: 1 told" in page([outcome_of_line(line)], "", 6)
