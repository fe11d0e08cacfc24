"""The extensions `linalg` and `fft` of the standard, which are of the part `byparts-linalg`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """The module of an extension, imported when it is first used.

    Raises:
        AttributeError: the part is not installed; `hasattr(xp, "linalg")` asks so.
    """
    if name not in ("linalg", "fft"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import byparts_linalg
        import byparts_linalg.fft

        return byparts_linalg if name == "linalg" else byparts_linalg.fft
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("byparts_linalg"):
            raise  # it is installed, and lacks something else
        raise AttributeError(
            f"{name} is in the part byparts-linalg, which is not installed: "
            "pip install byparts-linalg"
        ) from None
