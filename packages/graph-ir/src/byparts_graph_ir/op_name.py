"""The name of an op in text and JSON: its class name in snake_case."""

from __future__ import annotations

import re

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_case(name: str) -> str:
    """`LogSoftmax` -> log_softmax; digits stay with what stands before them: `Conv2d` -> conv2d."""
    return _BORDER.sub("_", name).lower()
