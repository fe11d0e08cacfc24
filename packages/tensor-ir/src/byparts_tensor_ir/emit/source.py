"""Emitted C, and files of it; light, so that a process that finds its code compiled starts fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from byparts_tensor_ir.emit.vectors import HEADER, PARALLEL, vector_types


@dataclass(frozen=True)
class Source:
    """Emitted code.

    Attributes:
        name: of the C function.
        body: C of the function alone.
        vectors: the vector types (dtype, lanes) that it uses.
        workspace_bytes: that its argument after the buffers must point to.
        parallel: whether it has loops that threads share.
    """

    name: str
    body: str
    vectors: frozenset[tuple[str, int]]
    workspace_bytes: int
    parallel: bool = False

    @property
    def text(self) -> str:
        """A whole file."""
        return file_of([self])

    def renamed(self, name: str) -> Source:
        """The same function under another name."""
        return replace(
            self, name=name, body=self.body.replace(f"void {self.name}(", f"void {name}(")
        )

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Source:
        """From the JSON of its fields."""
        vectors = frozenset((dtype, lanes) for dtype, lanes in record["vectors"])
        return cls(**{**record, "vectors": vectors})


def file_of(sources: Sequence[Source], header: str = HEADER) -> str:
    """Join the sources of several functions into one C file."""
    used = {v for s in sources for v in s.vectors}
    shared = PARALLEL if any(s.parallel for s in sources) else ""
    return "\n".join([header + vector_types(used) + shared, *[s.body for s in sources]])


@dataclass(frozen=True)
class LlvmSource:
    """Emitted code.

    Attributes:
        name: of the function.
        body: LLVM IR of a whole module.
        workspace_bytes: that its argument after the buffers must point to.
        libm: functions of the C library that it calls, each as `libm.NAME`.
    """

    name: str
    body: str
    workspace_bytes: int
    libm: frozenset[str]

    def renamed(self, name: str) -> LlvmSource:
        """The same function under another name."""
        return replace(self, name=name, body=self.body.replace(f'@"{self.name}"', f'@"{name}"'))

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> LlvmSource:
        """From the JSON of its fields."""
        return cls(**{**record, "libm": frozenset(record["libm"])})
