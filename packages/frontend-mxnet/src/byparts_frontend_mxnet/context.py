"""Devices by MXNet's names.  All are labels of arrays: the backends compute in host memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from byparts_frontend_mxnet.defaults import quick_planner, usual_backends

_stack: list[Context] = []
# A first run does not wait for a compiler: most programs end before that is worth its time.
options: dict[str, Any] = {"backends": "auto", "wait": os.environ.get("BYPARTS_WAIT") == "1"}
options["planner"] = quick_planner
options["keep_gradients"] = True
"""Options of `build` for all programs, as in `mx.options["backends"] = ("native", "numpy")`.

Where `keep_gradients` is False, a gradient that an update uses in the program of its step is not
written to memory, which saves 2 to 4 % of a step of LeNet; reading it is an error that says so.
"""


def program_options() -> dict[str, Any]:
    """The options of `build`, with the backends that "auto" means here."""
    found = {name: value for name, value in options.items() if name != "keep_gradients"}
    return found | {"backends": usual_backends()} if options["backends"] == "auto" else found


@dataclass(frozen=True)
class Context:
    """A device: `with cpu(1): ...` makes it the one of new arrays."""

    device_type: str = "cpu"
    device_id: int = 0

    def __enter__(self) -> Context:
        _stack.append(self)
        return self

    def __exit__(self, *raised: Any) -> None:
        _stack.pop()

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __str__ = __repr__


def listed(x: Any) -> list[Any]:
    """A list or tuple as a list; anything else as a list of one: a device, an array, a callback."""
    return list(x) if isinstance(x, (list, tuple)) else [x]


def cpu(device_id: int = 0) -> Context:
    """The host."""
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """A label: arrays of it are in host memory, too."""
    return Context("gpu", device_id)


cpu_pinned = cpu


def current_context() -> Context:
    """The innermost context that is active, or the host."""
    return _stack[-1] if _stack else _HOST


_HOST = Context()
