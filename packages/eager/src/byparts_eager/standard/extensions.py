"""The extensions `linalg` and `fft` of the standard, which are of the part `byparts-linalg`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {"linalg": "byparts_linalg", "fft": "byparts_linalg.fft"}


def __getattr__(name: str) -> Any:
    """The module of an extension, imported when it is first used.

    Raises:
        AttributeError: the part is not installed; `hasattr(xp, "linalg")` asks so.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name not in ("byparts_linalg", _HOMES[name]):
            raise  # it is installed, and lacks something else
        raise AttributeError(
            f"{name} is in the part byparts-linalg, which is not installed: "
            "pip install byparts-linalg"
        ) from None
