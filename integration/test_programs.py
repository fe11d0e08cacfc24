"""Random programs on every backend, and the programs that once were wrong.

`byparts check NAME --programs N` tries any number.  A program that fails is printed as small as it
could be made; it goes to `programs/` when what it found is mended.
"""

from __future__ import annotations

import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_conformance.programs import generate
from byparts_optimize.simplify import Sweep
from program_trials import check, check_again, check_on_threads, each_of_the_corpus, overflows

COMPILER = next(filter(shutil.which, ("g++", "clang++", "c++")), None)
MISSING = {
    "c": "no C++ compiler on the path" if COMPILER is None else "",
    "llvm": "" if find_spec("llvmlite") else "llvmlite is not installed",
}


@pytest.fixture
def emitter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What makes code for the backend native in this test."""
    name = str(request.param)
    if MISSING[name]:
        pytest.skip(MISSING[name])
    monkeypatch.setenv("BYPARTS_EMITTER", name)
    return name


def test_rules_of_many_ops_apply_to_programs_of_what_passes_rewrite() -> None:
    """To nodes of more than twenty ops in two hundred programs, of most of them often."""
    hits: Counter[str] = Counter()
    for seed in range(200):
        sweep = Sweep(fast_math=False)
        generate(seed, theme="rewritten").graph.rewrite(sweep.rule)
        hits.update(sweep.hits)

    assert len(hits) > 20 and sum(n > 10 for n in hits.values()) > 12


native = pytest.mark.parametrize("emitter", list(MISSING), indirect=True)


@overflows
def test_programs_on_numpy_give_what_they_mean() -> None:
    """Two hundred, in all the ways of building."""
    check("numpy", 200, 0, 10)


@pytest.mark.parametrize("emitter", ["llvm"], indirect=True)
@overflows
def test_programs_in_each_way_of_building_give_what_they_mean(emitter: str) -> None:
    """Fifty; no two share code, so that each is compiled for an eighth of a second."""
    check("native", 50, 0, 5)


@pytest.mark.long
@native
@overflows
def test_programs_in_generated_code_give_what_they_mean(emitter: str) -> None:
    """A hundred and fifty, in all the ways of building; not the fifty above."""
    check("native", 150, 50, 25)


@pytest.mark.long
@overflows
@pytest.mark.parametrize("part", range(5))
def test_thousands_of_programs_on_numpy(part: int) -> None:
    """Five thousand."""
    check("numpy", 1000, 10_000 + 1000 * part, 10)


@pytest.mark.long
@overflows
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("emitter", ["llvm"], indirect=True)
def test_thousands_of_programs_in_generated_code(emitter: str, part: int) -> None:
    """Five thousand."""
    check("native", 1000, 10_000 + 1000 * part, 25)


@overflows
@pytest.mark.parametrize("emitter", ["c"], indirect=True)
def test_programs_whose_loops_threads_share(emitter: str) -> None:
    """Twenty; LLVM's code computes on one thread."""
    check_on_threads(20, 40_000, 10)


@pytest.mark.long
@overflows
@pytest.mark.parametrize("emitter", ["c"], indirect=True)
def test_more_programs_whose_loops_threads_share(emitter: str) -> None:
    """Fifty: threads are slow to start and stop on a busy machine."""
    check_on_threads(50, 41_000, 25)


@pytest.mark.long
@overflows
def test_programs_on_an_emulated_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    check("cuda", 40, 20_000, 10)


@overflows
@each_of_the_corpus
def test_what_was_wrong_once_is_right_on_numpy(path: Path) -> None:
    check_again(path, "numpy")


@native
@overflows
@each_of_the_corpus
def test_what_was_wrong_once_is_right_in_generated_code(path: Path, emitter: str) -> None:
    check_again(path, "native")


@pytest.mark.long
@overflows
@each_of_the_corpus
def test_what_was_wrong_once_is_right_on_an_emulated_gpu(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    check_again(path, "cuda")
