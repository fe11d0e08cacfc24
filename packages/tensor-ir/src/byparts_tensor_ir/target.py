"""Targets of compilation: the vectors and instructions of this CPU, asked at run time.

Objects are kept by their flags, so machines that share a home directory share no instructions that
one of them lacks.  `BYPARTS_TARGET` names another target than the best.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from byparts_graph_ir import GraphError


class TargetError(GraphError):
    """`BYPARTS_TARGET` names no target, or one that this CPU cannot run."""


@dataclass(frozen=True)
class Target:
    """A kind of CPU.

    Attributes:
        machine: what `platform.machine` says there; "" for any.
        vector_bytes: of a vector register; of plain C, what the compiler takes apart.
        features: that the CPU must have, as GCC and LLVM call them.
        flags: more of the compiler.
    """

    name: str
    machine: str
    vector_bytes: int
    features: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def compiler_flags(self) -> tuple[str, ...]:
        """Flags that allow the C compiler to use the target's instructions."""
        return (*[f"-m{f}" for f in self.features], *self.flags)


_AVX2 = ("avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "popcnt")
_AVX512 = (*_AVX2, "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
_TUNED = ("-mtune=native",)
TARGETS = (  # the best first
    Target("avx512", "x86_64", 64, _AVX512, ("-mprefer-vector-width=512", *_TUNED)),
    Target("avx2", "x86_64", 32, _AVX2, _TUNED),
    Target("sse2", "x86_64", 16, (), _TUNED),
    Target("neon", "aarch64", 16),
    Target("plain", "", 16),
)
_LINUX_NAMES = {"bmi": "bmi1", "lzcnt": "abm"}  # in /proc/cpuinfo
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def target() -> Target:
    """The best target of this CPU, or the one that `BYPARTS_TARGET` names.

    Raises:
        TargetError: the one that is named does not exist, or this CPU lacks a feature of it.
    """
    return _target(os.environ.get("BYPARTS_TARGET", ""))


@lru_cache(maxsize=8)
def _target(name: str) -> Target:
    if not name:
        return next(t for t in TARGETS if lacking(t) == ())
    named = next((t for t in TARGETS if t.name == name), None)
    if named is None:
        known = ", ".join(t.name for t in TARGETS)
        raise TargetError(f"BYPARTS_TARGET={name}: no such target; there are {known}")
    if missing := lacking(named):
        raise TargetError(f"BYPARTS_TARGET={name}: this CPU is without {', '.join(missing)}")
    return named


def lacking(wanted: Target) -> tuple[str, ...]:
    """List what a target needs and this CPU lacks: another machine, or features."""
    machine = platform.machine().lower()
    if wanted.machine not in ("", _MACHINES.get(machine, machine)):
        return (wanted.machine,)
    here = _features() if wanted.features else frozenset()
    return tuple([f for f in wanted.features if _LINUX_NAMES.get(f, f) not in here])


def has(feature: str) -> bool:
    """Whether Linux says that this CPU has a feature, by its name in /proc/cpuinfo."""
    return feature in _features()


@lru_cache(maxsize=1)
def _features() -> frozenset[str]:
    """CPU features that Linux reports; none on other systems, where plain vectors are used."""
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return frozenset()
    return frozenset(flags.partition(":")[2].split())
