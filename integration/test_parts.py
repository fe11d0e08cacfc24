"""What the installed parts declare is what they have."""

from __future__ import annotations

import pytest

from byparts_graph_ir.parts.hooks import KINDS, Record
from byparts_graph_ir.parts.hub import Part, PartError, parts

DECLARED = [(kind, part, record) for kind in KINDS for part, record in parts.records(kind)]


def test_every_installed_part_is_usable() -> None:
    assert {part.name: part.why for part in parts.all() if part.state != "ok"} == {}


@pytest.mark.parametrize(
    ("kind", "part", "record"), DECLARED, ids=[f"{kind}-{r.name}" for kind, _, r in DECLARED]
)
def test_every_record_resolves(kind: str, part: Part, record: Record) -> None:
    if missing := record.missing():
        pytest.skip(f"{part.distribution} needs {missing[0]}")

    assert parts.get(kind, record.name) is record.resolve()


def test_the_standard_ops_are_found() -> None:
    assert {"add", "matmul", "tanh"} <= set(parts.ops())


def test_auto_is_a_backend_that_has_kernels() -> None:
    assert len(parts.backend().kernels) > 0


def test_cuda_names_its_reason() -> None:
    with pytest.raises(PartError, match="'cuda' of byparts-kernels-cuda does not start: Runtime"):
        parts.backend("cuda")
