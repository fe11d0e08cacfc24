"""Random programs on every backend, and the programs that once were wrong.

`byparts check NAME --programs N` tries any number.  A program that fails is printed as small as it
could be made; it goes to `programs/` when what it found is mended.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from byparts_conformance.programs import campaign, expected, program_of, trial

CORPUS = sorted((Path(__file__).parent / "programs").glob("*.txt"))
COMPILER = next(filter(shutil.which, ("g++", "clang++", "c++")), None)
MISSING = {
    "native": "no C++ compiler on the path" if COMPILER is None else "",
    "native by LLVM": "" if find_spec("llvmlite") else "llvmlite is not installed",
    "torch": "" if find_spec("torch") else "torch is not installed",
}
BACKENDS = {
    "numpy": ("numpy",),
    "native": ("native", "numpy"),
    "native by LLVM": ("native", "numpy"),
    "torch": ("torch", "numpy"),
    "cuda": ("cuda", "numpy"),
}


@pytest.fixture(autouse=True)
def _chosen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The emitter and the emulation that a backend's name asks for."""
    name = request.node.callspec.params.get("backend", "")
    if why := MISSING.get(name, ""):
        pytest.skip(why)
    if name.startswith("native"):
        monkeypatch.setenv("BYPARTS_EMITTER", "llvm" if "LLVM" in name else "c")
    if name == "cuda":
        monkeypatch.setenv("BYPARTS_CUDA", "emulated")


def _tried(backend: str, count: int, seed: int, batch: int) -> None:
    report = campaign(BACKENDS[backend], count, seed, batch=batch)
    assert not report.failures, str(report)
    assert report.programs == count and report.compared > 0.95 * report.elements, str(report)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpy", "native", "native by LLVM", "torch"])
def test_programs_give_what_they_mean(backend: str) -> None:
    """Two hundred on each backend, in all the ways of building."""
    _tried(backend, 200, 0, 10 if backend == "numpy" else 20)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("backend", ["numpy", "native by LLVM", "torch"])
def test_thousands_of_programs_give_what_they_mean(backend: str, part: int) -> None:
    """Five thousand on each backend."""
    _tried(backend, 1000, 10_000 + 1000 * part, 10 if backend == "numpy" else 25)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["cuda"])
def test_programs_on_an_emulated_gpu(backend: str) -> None:
    _tried(backend, 40, 20_000, 10)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("backend", ["numpy", "native", "native by LLVM", "torch"])
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_wrong_once_is_right(path: Path, backend: str) -> None:
    """Each file of `programs/` says in its first line what was wrong."""
    first, _, text = path.read_text(encoding="utf-8").partition("\n")
    assert first.startswith("# ")
    program = program_of(text)

    assert not trial(program, expected(program), backends=BACKENDS[backend]), first
