"""The conformance kit finds the ops and the backends that are here."""

from __future__ import annotations

from collections.abc import Iterator

from byparts_graph_ir.parts.hub import parts
from proof.command import byparts
from proof.spec import Check, Spec, about

OPS = ("add", "matmul")
FEW = ("-k", "not (edges or long)")


def checks(spec: Spec) -> Iterator[Check]:
    """`byparts check` on each backend that starts, on two ops; and on one that is not here.

    Edges and long arrays take most of the time: they are tried where the kit has one backend.
    """
    records = [record for _, record in parts.records("backends")]
    some = FEW if len(records) > 1 else ()
    for record in records:
        if getattr(record, "space", "host") == "host" and not set(record.needs) & set(spec.lacks):
            yield from about(record.name, _checked(record.name, some))
    yield a_backend_that_is_not_here_is_named


def _checked(name: str, some: tuple[str, ...]) -> Check:
    def the_kit_finds_nothing_wrong() -> str:
        done = byparts("check", name, *(f"--byparts-op={op}" for op in OPS), *some)
        said = next((s for s in done.stdout.splitlines() if " ops right, " in s), "")
        right = done.returncode == 0 and said.startswith(f"{len(OPS)} of {len(OPS)} ops right")
        assert right, done.stdout + done.stderr
        return said

    return the_kit_finds_nothing_wrong


def a_backend_that_is_not_here_is_named() -> None:
    """And so are those that are."""
    done = byparts("check", "abacus")
    installed = ", ".join(parts.names("backends")) or "none"

    message = f"byparts check: no backend 'abacus'; installed: {installed}\n"
    assert (done.returncode, done.stderr) == (2, message)
