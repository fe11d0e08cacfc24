"""Placements and plans as JSON, with a format version.  Reading checks the form, runs nothing.

Format 1 had no gaps and no spaces, formats 1 and 2 no workspaces.  Placements are read in all of
them, plans in format 3 alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from byparts_graph_ir import FormatError
from byparts_graph_ir.formats.attributes import shown
from byparts_graph_ir.formats.strict_json import Json, as_list, check_keys, fault, parsed, path
from byparts_graph_ir.model.field_types import misfit
from byparts_graph_ir.model.frozen import field_defaults, field_names
from byparts_memplan.buffer import Buffer, PlanError, check_kind
from byparts_memplan.lifetimes import Decision
from byparts_memplan.placed import Placement
from byparts_memplan.plan import Location, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_graph_ir.formats.strict_json import Place

FORMAT = 3
OLDEST = {"placement": 1, "plan": 3}
_DEEPEST = 3  # levels of lists in a field


def placement_to_json(placement: Placement) -> str:
    """The placement in one line; `placement_from_json` gives an equal value.

    Raises:
        PlanError: it is no placement.
    """
    check_kind(placement, Placement)
    return _dump("placement", _placement_fields(placement))


def placement_from_json(text: str) -> Placement:
    """The placement.  It is not checked: `check` does that.

    Raises:
        FormatError: the text is not a placement in this format; says where.
    """
    fields = _load("placement", text, Placement)
    return _placement(fields, ())


def plan_to_json(plan: Plan) -> str:
    """The plan in one line; `plan_from_json` gives an equal value.  The graph is not in it.

    Raises:
        PlanError: it is no plan.
    """
    check_kind(plan, Plan)
    fields = {
        **vars(plan),
        "locations": [list(_values(at)) for at in plan.locations],
        "decisions": [list(_values(d)) for d in plan.decisions],
        "placement": _placement_fields(plan.placement),
    }
    return _dump("plan", fields)


def plan_from_json(text: str) -> Plan:
    """The plan.  It is not checked: `check_plan` does that, against its graph.

    Raises:
        FormatError: the text is not a plan in this format; says where.
    """
    fields = _load("plan", text, Plan)
    check_keys(fields["placement"], field_names(Placement), ("placement",))
    fields["placement"] = _placement(fields["placement"], ("placement",))
    for name, kind in (("locations", Location), ("decisions", Decision)):
        items = enumerate(as_list(fields[name], (name,)))
        fields[name] = [_row(kind, item, (name, i)) for i, item in items]
    plan: Plan = _built(Plan, fields, ())
    buffers = len(plan.placement.buffers)
    if not len(plan.residents) == len(plan.labels) == buffers:
        counts = f"{len(plan.residents)} residents, {len(plan.labels)} labels, {buffers} buffers"
        raise FormatError(f"{counts}; expected as many of each")
    return plan


def _placement_fields(placement: Placement) -> dict[str, Any]:
    return {**vars(placement), "buffers": [list(_values(b)) for b in placement.buffers]}


def _placement(fields: dict[str, Json], place: Place) -> Placement:
    buffers = enumerate(as_list(fields["buffers"], (*place, "buffers")))
    rows = [_row(Buffer, item, (*place, "buffers", i)) for i, item in buffers]
    placement: Placement = _built(Placement, {**fields, "buffers": rows}, place)
    if len(placement.offsets) != len(rows):
        what = f"{len(placement.offsets)} offsets of {len(rows)} buffers"
        raise FormatError(f"{path((*place, 'offsets'))}: {what}; expected as many")
    return placement


def _row(kind: type, item: Json, place: Place) -> Any:
    """An instance of `kind` from a list of its fields; the last may be absent."""
    names, values = field_names(kind), as_list(item, place)
    needed = len(names) - len(field_defaults(kind))
    if not needed <= len(values) <= len(names):
        raise fault(place, f"{needed} to {len(names)} fields", values)
    return _built(kind, dict(zip(names, values, strict=False)), place)


def _built(kind: type, fields: Mapping[str, Json], place: Place) -> Any:
    """An instance of `kind`, after a check that the fields have the types that it declares."""
    known = {name: _tuples(value, 0) for name, value in fields.items()}
    if wrong := misfit(kind, known):
        name, expected = wrong
        raise fault((*place, name), expected, fields[name])
    try:
        return kind(**known)
    except PlanError as error:
        raise FormatError(f"{path(place)}: {error}") from error


def _tuples(value: Json, depth: int) -> Json:
    """Lists as tuples, as deep as any field has them."""
    if not isinstance(value, list) or depth > _DEEPEST:
        return value
    return tuple([_tuples(item, depth + 1) for item in value])


def _dump(kind: str, fields: dict[str, Any]) -> str:
    return json.dumps({"byparts": kind, "format": FORMAT, **fields}, separators=(",", ":"))


def _load(kind: str, text: str, record: type) -> dict[str, Json]:
    """The fields of a document of this kind, and no others."""
    document = parsed(text)
    written = document.get("byparts") if isinstance(document, dict) else document
    if written != kind:
        what = f", but {shown(written)}" if written else ""
        raise FormatError(f"not a {kind}{what}; expected what {kind}_to_json writes")
    version = document.get("format")
    oldest = OLDEST[kind]
    if type(version) is not int or not oldest <= version <= FORMAT:
        reads = "this reads format " + " to ".join(map(str, sorted({oldest, FORMAT})))
        raise FormatError(f"{kind} in format {shown(version)}; {reads}")
    check_keys(document, ("byparts", "format", *field_names(record)), ())
    return {name: document[name] for name in field_names(record)}


def _values(record: Any) -> tuple[Any, ...]:
    """The fields of a dataclass of plain values."""
    return tuple(vars(record).values())
