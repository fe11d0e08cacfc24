"""All node tests and models of the onnx package: `NODE_TESTS.md` says what comes of them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.mark.long
def test_the_table_of_node_tests_is_fresh() -> None:
    """A wrong result raises; half a minute at most."""
    if not (TOOLS / "onnx_node_tests.py").is_file():
        pytest.skip("needs the repository's tools/onnx_node_tests.py")
    sys.path.insert(0, str(TOOLS))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of onnx, and of NumPy where inputs are nan
            import onnx_node_tests

            text = onnx_node_tests.text()
    finally:
        sys.path.remove(str(TOOLS))

    assert onnx_node_tests.FILE.read_text(encoding="utf-8") == text, "run the tool"
