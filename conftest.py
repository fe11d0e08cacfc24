"""Run only the tests of the parts that are installed, and say which are not.

Property tests draw other examples in every run, except in CI, where a failure must be the change's
own.  `pytest --hypothesis-profile=few` draws fewer of them, `many` more.
"""

import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir

import pytest

FEW = 15  # examples of each property
PACKAGES = Path(__file__).parent / "packages"

# One thread of BLAS for each worker, and for the programs that tests start: on two cores, threads
# that wait for each other by spinning made a test 25 times slower.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# Sessions of TensorFlow programs begin on NumPy's kernels, and tests are short: generated code is
# tried as well, so it is waited for.
os.environ.setdefault("BYPARTS_WAIT", "1")

# Tests start hundreds of Pythons.  Where the environment says that no bytecode is written into the
# tree, each of them would compile whatever it imports, for half of its time: it is kept elsewhere.
BYTECODE = Path(__file__).parent / ".pytest_cache" / "bytecode"
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(BYTECODE)
    os.environ["PYTHONPYCACHEPREFIX"] = str(BYTECODE)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if find_spec("hypothesis") is not None:
    from hypothesis import settings

    in_ci = "CI" in os.environ
    settings.register_profile("usual", deadline=None, derandomize=in_ci)
    settings.register_profile("few", deadline=None, derandomize=in_ci, max_examples=FEW)
    settings.register_profile("many", deadline=None, max_examples=3000)
    settings.load_profile("usual")  # no deadline: the machine is shared, and no test is timed

PARTS = sorted(path.parent.name for path in PACKAGES.glob("*/pyproject.toml"))
ABSENT = [part for part in PARTS if find_spec("byparts_" + part.replace("-", "_")) is None]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let `few` hold also for properties that state how many examples they want, but in CI.

    They state it for `hatch run test-long` and for CI, which draw that many; 400 s of the 770 s of
    processor time of `hatch run test` was for examples beyond the first of each property.
    """
    if config.getoption("hypothesis_profile", None) != "few" or "CI" in os.environ:
        return
    for item in items:
        function = getattr(item, "obj", None)
        stated = getattr(function, "_hypothesis_internal_use_settings", None)
        if stated is not None and stated.max_examples > FEW:
            fewer = settings(stated, max_examples=FEW)
            vars(function)["_hypothesis_internal_use_settings"] = fewer


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Skip the folder of a part that is not installed."""
    if PACKAGES not in collection_path.parents:
        return None
    part = collection_path.relative_to(PACKAGES).parts[0]
    return True if part in ABSENT else None


@pytest.hookimpl(tryfirst=True)  # before fixtures put the environment back
def pytest_runtest_teardown() -> None:
    """Forget an emulated GPU that a test started: "auto" of the next test would be that."""
    hub = sys.modules.get("byparts_graph_ir.parts.hub")
    if hub is not None and os.environ.get("BYPARTS_CUDA"):
        hub.parts.forget("cuda")


def pytest_unconfigure() -> None:
    """Remove the bytecode of temporary files, which no other run has."""
    if "PYTEST_XDIST_WORKER" in os.environ:  # others are still at work
        return
    temporary, here = (_bytecode_of(Path(path)) for path in (gettempdir(), __file__))
    for folder in temporary.glob("*"):
        if folder not in here.parents:
            shutil.rmtree(folder, ignore_errors=True)


def _bytecode_of(path: Path) -> Path:
    return BYTECODE.joinpath(*path.resolve().parts[1:])


def pytest_report_header() -> str:
    """Show it, so that a green run is not read as more than it is."""
    return "parts not installed, not tested: " + (", ".join(ABSENT) or "none")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are written anew only where that is asked for."""
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """`golden(path, text)`: the file holds the text; `--update-golden` puts it there."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        assert text == expected, f"{path.name} is another; if that is right: --update-golden"

    return check
