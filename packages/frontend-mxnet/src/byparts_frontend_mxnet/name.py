"""Names and attributes that symbols get from the `with` blocks around them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Optional


class _Blocks(threading.local):
    """The blocks that are open in a thread, the innermost last."""

    def __init__(self) -> None:
        self.names: list[NameManager] = [NameManager()]
        self.attributes: list[dict[str, str]] = [{}]


class NameManager:
    """Gives names to symbols that have none: the op in small letters and a number.

    `with NameManager():` counts from 0 inside.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def get(self, name: Optional[str], hint: str) -> str:
        """The given name, or a new one that begins with `hint`."""
        if name:
            return name
        number = self._counts.get(hint, 0)
        self._counts[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self) -> NameManager:
        blocks.names.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        blocks.names.pop()


class Prefix(NameManager):
    """A name manager that puts `prefix` before all names, given ones too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: Optional[str], hint: str) -> str:
        return self._prefix + super().get(name, hint)


class AttrScope:
    """A block whose symbols have these attributes, as texts: `with AttrScope(ctx_group="dev1")`."""

    def __init__(self, **attributes: str) -> None:
        if any(not isinstance(v, str) for v in attributes.values()):
            raise ValueError(f"AttrScope: attributes are texts, and here are {attributes}")
        self._attributes = attributes

    def get(self, attributes: Optional[dict[str, str]]) -> dict[str, str]:
        """The attributes of the block, and those that are given."""
        return {**self._attributes, **(attributes or {})}

    def __enter__(self) -> AttrScope:
        blocks.attributes.append({**blocks.attributes[-1], **self._attributes})
        return self

    def __exit__(self, *raised: object) -> None:
        blocks.attributes.pop()


blocks = _Blocks()


def new_name(name: Optional[str], hint: str) -> str:
    """The name that the innermost block gives."""
    return blocks.names[-1].get(name, hint)


def scope_attributes(attributes: Optional[Mapping[str, Any]]) -> dict[str, str]:
    """The attributes of the blocks around, and those that are given, as texts."""
    return {**blocks.attributes[-1], **{k: str(v) for k, v in (attributes or {}).items()}}
