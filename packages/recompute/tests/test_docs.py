"""The examples in the README are run."""

import doctest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_readme() -> None:
    """Every example prints what stands there."""
    result = doctest.testfile(str(README), module_relative=False)

    assert (result.failed, result.attempted > 10) == (0, True)
