"""Labels for what a program makes: `placeholder0`, `conv2d0_weight`, and a serial for each draw.

Names are labels and never identity (NNVM's were, and two optimizers called "Adam" shared state), so
nothing breaks if two are equal.  They count in the order of creation, for the whole process, as
TinyFlow's did; `reset_default_graph` begins again.
"""

from __future__ import annotations

from collections import Counter

_made: Counter[str] = Counter()


def automatic(kind: str) -> str:
    """The next name of a kind: kind0, kind1, ..."""
    name = f"{kind}{_made[kind]}"
    _made[kind] += 1
    return name


def serial(kind: str) -> int:
    """The next number of a kind."""
    _made[kind] += 1
    return _made[kind] - 1


def forget_names() -> None:
    """Count from 0 again."""
    _made.clear()
