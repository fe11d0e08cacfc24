"""Random programs on one backend, for the tests of all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from byparts_conformance.programs import campaign, campaign_on_threads, expected, program_of, trial

CORPUS = sorted((Path(__file__).parent / "programs").glob("*.txt"))


def check(backend: str, count: int, seed: int, batch: int) -> None:
    """Try `count` programs; what the backend lacks runs on NumPy kernels."""
    backends = tuple(dict.fromkeys((backend, "numpy")))
    report = campaign(backends, count, seed, batch=batch)
    assert not report.failures, str(report)
    assert report.programs == count and report.compared > 0.95 * report.elements, str(report)


def check_on_threads(count: int, seed: int, batch: int) -> None:
    """Try `count` programs in generated C whose loops are shared, however short they are."""
    report = campaign_on_threads(("native", "numpy"), count, seed, batch=batch)
    assert not report.failures, str(report)
    assert report.structure.having["shared loops"] > 0.9 * report.structure.programs, str(report)


def check_again(path: Path, backend: str) -> None:
    """Try a program that was wrong once; its first line says how."""
    first, _, text = path.read_text(encoding="utf-8").partition("\n")
    assert first.startswith("# ")
    program, backends = program_of(text), tuple(dict.fromkeys((backend, "numpy")))

    assert not trial(program, expected(program), backends=backends), first


each_of_the_corpus = pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
overflows = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # on the way; results are compared
