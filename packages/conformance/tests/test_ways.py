"""Ways to build programs: what they are said to do, they do."""

from __future__ import annotations

from typing import Any

import pytest

from byparts_conformance.programs import generate, run
from byparts_conformance.programs.ways import WAYS


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_lie_in_two_memory_spaces() -> None:
    """Each has an arena, and values are copied between them."""
    (way,) = [way for way in WAYS if way.name == "in two memory spaces"]
    built: list[Any] = []
    run(generate(3), seen=built.append, **way.build_options(("numpy",), 3))

    assert set(built[0].plan.arenas) == {"host", "elsewhere:0"}
    assert "copy" in [node.op.name for node in built[0].graph.nodes]
