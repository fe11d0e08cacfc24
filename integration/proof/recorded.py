"""The recorded programs: a graph as JSON, arrays as npz, and what is known about both.

Every combination reads the same files.  Arrays are read only where NumPy is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byparts_graph_ir import Graph, Op, TensorType, from_json
from byparts_graph_ir.model.cached_property import cached_property
from proof.own_op import OWN_OPS
from proof.spec import Spec
from proof.stand_in import stand_ins

Arrays = list[Any]


@dataclass(frozen=True)
class Recorded:
    """One program.

    Attributes:
        json: the graph.
        facts: `text`, `specialized` (text, for `types`), `arena_bytes`, `ops`, `updates` (how many
            of the last inputs are variables, which the last outputs update).
        arrays: the npz file.
    """

    name: str
    json: str
    facts: Mapping[str, Any]
    arrays: Path

    @property
    def types(self) -> list[TensorType]:
        """Static types of the inputs."""
        return [TensorType(dtype, tuple(shape)) for dtype, shape in self.facts["types"]]

    @cached_property
    def inputs(self) -> Arrays:
        """What the inputs are given; variables their first values."""
        return self._read("input")

    @cached_property
    def answers(self) -> Arrays:
        """What the outputs were, after one run."""
        return self._read("answer")

    def graph(self, ops: Mapping[str, type[Op]]) -> Graph:
        """The program, in these ops."""
        return from_json(self.json, ops)

    def _read(self, kind: str) -> Arrays:
        import numpy as np  # where graph-ir is alone there is none

        with np.load(self.arrays) as file:
            return [file[name] for name in file.files if name.startswith(kind)]


def recorded(spec: Spec) -> list[Recorded]:
    """All programs, in name order."""
    return [_load(file) for file in sorted(Path(spec.programs).glob("*.graph.json"))]


def ops_for(spec: Spec, program: Recorded) -> Mapping[str, type[Op]]:
    """The installed ops and the third party's; stand-ins where there is no op set."""
    if not spec.has("opset"):
        return stand_ins(program.facts["ops"])
    from byparts_graph_ir.parts.hub import parts  # which would find none

    return {**parts.ops(), **OWN_OPS}


def assert_close(found: Any, expected: Any, what: str) -> None:
    """Of f32 arithmetic in another order; says by how much they differ."""
    import numpy as np  # as above

    found = np.asarray(found)
    same = (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert same, f"{what}: {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if not np.allclose(found, expected, rtol=1e-5, atol=1e-6):
        raise AssertionError(f"{what}: off by {np.abs(found - expected).max()}:\n{found}")


def _load(file: Path) -> Recorded:
    name = file.name.partition(".")[0]
    facts = json.loads(file.with_name(f"{name}.facts.json").read_text(encoding="utf-8"))
    text = file.read_text(encoding="utf-8")
    return Recorded(name, text, facts, file.with_name(f"{name}.npz"))
