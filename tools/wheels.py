"""Builds the wheels of every part and of `byparts`, in one process: a second for all.

    python tools/wheels.py dist

`hatch build --all` makes the same files, and first an environment with all parts and torch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from combinations.environment import build_wheels
from combinations.facts import read_distribution, read_parts

ROOT = Path(__file__).resolve().parent.parent


def main(words: Sequence[str]) -> int:
    """Build into the folder that is given, and print what is there."""
    folder = Path(*words).resolve()  # each wheel is built in the folder of its part
    parts = read_parts(ROOT)
    build_wheels({**parts, "byparts": read_distribution(ROOT)}, folder)
    for wheel in sorted(folder.glob("*.whl")):
        print(f"{wheel.stat().st_size:9,} bytes  {wheel.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
