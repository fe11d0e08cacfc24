"""Device strings: accepted, written as TensorFlow writes them; sessions compute everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.operation import Operation

_SHORT = re.compile(r"^(cpu|gpu|tpu):(\d+|\*)$", re.IGNORECASE)


class Devices:
    """The `with device(...)` blocks that are open in a graph."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []

    @contextmanager
    def entered(self, device: Any) -> Iterator[None]:
        """Operations made inside ask for a device: a string, a function of them, `None`."""
        if isinstance(device, str):
            device = canonical(device)
        self._blocks.append(device)
        try:
            yield
        finally:
            self._blocks.pop()

    def current(self, op: Operation) -> str:
        """The device that an operation made now asks for: inner blocks first, as in TensorFlow.

        What a function answers stands as it is, in place of what inner blocks say.
        """
        asked = ""
        for device in reversed(self._blocks):
            if device is None:
                break
            if isinstance(device, str):
                asked = merged(device, asked)
            elif hasattr(device, "to_string"):
                asked = merged(canonical(device.to_string()), asked)
            else:
                op._device = asked  # a function may look at it
                asked = _text(device(op))
        return asked


def _text(given: Any) -> str:
    return "" if given is None else given.to_string() if hasattr(given, "to_string") else str(given)


def canonical(device: str) -> str:
    """`/gpu:0` as `/device:GPU:0`; other strings in TensorFlow's order of parts.

    Raises:
        ValueError: it is no device.
    """
    return written(parts_of_device(device))


def merged(outer: str, inner: str) -> str:
    """The parts that `inner` names, and of `outer` those that it does not."""
    if not outer or not inner:
        return inner or outer
    return written({**parts_of_device(outer), **parts_of_device(inner)})


def parts_of_device(device: str) -> dict[str, str]:
    """The parts of a device's name: "job", "replica", "task", "device" ("GPU:0").

    Raises:
        ValueError: it is no device.
    """
    parts: dict[str, str] = {}
    for piece in device.strip("/").split("/"):
        key, _, value = piece.partition(":")
        if not piece:
            continue
        if _SHORT.match(piece) or (not value and key.lower() in ("cpu", "gpu", "tpu")):
            parts["device"] = f"{key.upper()}:{value or '*'}"
        elif key == "device" and value:
            kind, _, number = value.partition(":")
            parts["device"] = f"{kind.upper()}:{number or '*'}"
        elif key in ("job", "replica", "task") and value:
            parts[key] = value
        else:
            raise ValueError(f"Unknown attribute: {key!r} in {device!r}")
    return parts


def written(parts: dict[str, str]) -> str:
    """The name of a device with these parts."""
    keys = ("job", "replica", "task", "device")
    return "".join([f"/{key}:{parts[key]}" for key in keys if key in parts])
