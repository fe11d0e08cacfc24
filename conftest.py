"""Run only the tests of the parts that are installed, and say which are not."""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = Path(__file__).parent / "packages"


PARTS = sorted(path.parent.name for path in PACKAGES.glob("*/pyproject.toml"))
ABSENT = [part for part in PARTS if find_spec("byparts_" + part.replace("-", "_")) is None]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Skip the folder of a part that is not installed."""
    if PACKAGES not in collection_path.parents:
        return None
    part = collection_path.relative_to(PACKAGES).parts[0]
    return True if part in ABSENT else None


def pytest_report_header() -> str:
    """Show it, so that a green run is not read as more than it is."""
    return "parts not installed, not tested: " + (", ".join(ABSENT) or "none")
