"""Just these parts are here, with just what they declare, and each of them loads."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distributions
from importlib.util import find_spec

from proof.spec import Check, Spec, module_of

PREFIX = "byparts-"


def checks(spec: Spec) -> Iterator[Check]:
    """Lists first: whatever else goes wrong, they say why."""
    here = {found.name.lower().replace("_", "-") for found in distributions()}
    parts = {name[len(PREFIX) :] for name in here if name.startswith(PREFIX)}

    def just_these_parts_are_here() -> None:
        compare(parts, spec.parts)

    def just_the_declared_packages_are_here() -> None:
        if spec.packages is not None:
            compare({name for name in here if not name.startswith(PREFIX)}, spec.packages)

    def absent_parts_cannot_be_imported() -> None:
        compare({part for part in spec.every if find_spec(module_of(part))}, spec.parts)

    def every_part_can_be_imported() -> None:
        for part in spec.parts:
            import_module(module_of(part))

    yield from (just_these_parts_are_here, just_the_declared_packages_are_here)
    yield from (absent_parts_cannot_be_imported, every_part_can_be_imported)
    if spec.has("graph-ir"):
        yield no_part_is_broken


def no_part_is_broken() -> None:
    """The hub can load what every part declares."""
    from byparts_graph_ir.parts.hub import parts  # not at the top: this group needs no part

    assert {part.name: part.why for part in parts.all() if part.state != "ok"} == {}


def compare(found: set[str], expected: tuple[str, ...]) -> None:
    """Raise with the difference by name."""
    sides = {"too much": found - set(expected), "missing": set(expected) - found}
    said = [f"{what}: {', '.join(sorted(names))}" for what, names in sides.items() if names]
    assert not said, "; ".join(said)
