"""What CONTRIBUTING.md promises to plugins: within a major version of the API nothing is taken away.

Here stands what each minor version gave.  A line is added with a minor version and never changed;
with a new major version this file begins anew.
"""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest

from byparts_graph_ir.parts import hooks

MAJOR = 1
FIELDS = ("name", "load", "needs", "doc")  # in this order, which plugins may rely on
GIVEN = {  # hook without `byparts_`: its record, the fields of it, the minor version that added it
    "ops": ("Ops", FIELDS, 0),
    "passes": ("Pass", FIELDS, 0),
    "planners": ("Planner", FIELDS, 0),
    "backends": ("Backend", (*FIELDS, "priority", "space"), 0),
    "frontends": ("Frontend", FIELDS, 0),
    "commands": ("Command", FIELDS, 1),
    "pictures": ("Picture", FIELDS, 2),
    "names": ("Names", FIELDS, 3),
    "kernels": ("Kernels", (*FIELDS, "ops"), 4),
}
REQUIRED = {"name", "load"}  # every other field has a default


def test_the_api_is_the_latest_that_stands_here() -> None:
    assert (MAJOR, max(minor for _, _, minor in GIVEN.values())) == hooks.API


@pytest.mark.parametrize("hook", GIVEN)
def test_a_hook_and_the_fields_of_its_record_stay(hook: str) -> None:
    """At their positions; fields behind them are new, and have defaults."""
    record, names, _ = GIVEN[hook]
    kind = getattr(hooks, record)
    there = fields(kind)

    assert callable(getattr(hooks, f"byparts_{hook}")) and hooks.KINDS[hook] is kind
    assert tuple(f.name for f in there)[: len(names)] == names
    assert {f.name for f in there if f.default is MISSING} == REQUIRED


def test_every_hook_stands_here() -> None:
    there = {name.removeprefix("byparts_") for name in dir(hooks) if name.startswith("byparts_")}

    assert there == GIVEN.keys() == hooks.KINDS.keys()
