"""One arena for several programs of a session, of real parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parent / "examples" / "buckets.py"

linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/statm is Linux's")


def run(arena: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), arena], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@linux
def test_batch_sizes_share_the_memory_of_the_largest() -> None:
    """Ten programs, five sizes, training and evaluating: a third of the bytes."""
    own, shared = run("own"), run("shared")
    total, largest = sum(own["arenas"]), max(own["arenas"])

    assert shared["losses"] == own["losses"]
    assert (own["held_bytes"], shared["held_bytes"]) == (total, largest)
    assert total > 3 * largest
    assert own["grown_bytes"] - shared["grown_bytes"] > 0.8 * (total - largest)
