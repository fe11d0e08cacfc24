"""Placements and plans as JSON, with a format version.  Reading checks the form, runs nothing.

Format 1 had no gaps and no spaces; it is read too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from byparts_memplan.buffer import Buffer, Placement, PlanError
from byparts_memplan.lifetimes import Decision
from byparts_memplan.plan import Location, Plan

FORMAT, OLDEST = 2, 1


def placement_to_json(placement: Placement) -> str:
    """One line; `placement_from_json` gives an equal value.

    Raises:
        PlanError: it is no placement.
    """
    _check_kind(placement, Placement)
    return _dump("placement", _placement_fields(placement))


def placement_from_json(text: str) -> Placement:
    """The placement.  It is not checked: `check` does that.

    Raises:
        PlanError: the text is not a placement in this format.
    """
    fields = _load("placement", text)
    try:
        return _placement(fields)
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"not a placement: {error!r}") from error


def plan_to_json(plan: Plan) -> str:
    """One line; `plan_from_json` gives an equal value.  The graph is not in it.

    Raises:
        PlanError: it is no plan.
    """
    _check_kind(plan, Plan)
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
        PlanError: the text is not a plan in this format.
    """
    fields = _load("plan", text)
    try:
        return Plan(
            locations=tuple([Location(*at) for at in fields["locations"]]),
            placement=_placement(fields["placement"]),
            residents=tuple([tuple(ids) for ids in fields["residents"]]),
            labels=tuple(fields["labels"]),
            external=tuple(fields["external"]),
            donated=tuple([(k, j) for k, j in fields["donated"]]),
            decisions=tuple([Decision(*d) for d in fields["decisions"]]),
            naive_bytes=fields["naive_bytes"],
            alignment=fields["alignment"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"not a plan: {error!r}") from error


def _placement_fields(placement: Placement) -> dict[str, Any]:
    return {**vars(placement), "buffers": [list(_values(b)) for b in placement.buffers]}


def _placement(fields: dict[str, Any]) -> Placement:
    return Placement(
        buffers=tuple([_buffer(*b) for b in fields["buffers"]]),
        offsets=tuple([_whole(offset) for offset in fields["offsets"]]),
        arena_bytes=_whole(fields["arena_bytes"]),
        lower_bound_bytes=_whole(fields["lower_bound_bytes"]),
        how=str(fields["how"]),
    )


def _buffer(
    size_bytes: int,
    born: int,
    dies: int,
    alignment: int,
    pinned: int | None,
    gaps: Sequence[tuple[int, int]] = (),
    space: str = "",
) -> Buffer:
    size_bytes, born, dies, alignment = map(_whole, (size_bytes, born, dies, alignment))
    pairs = tuple([(_whole(lower), _whole(upper)) for lower, upper in gaps])
    pinned = None if pinned is None else _whole(pinned)
    return Buffer(size_bytes, born, dies, alignment, pinned, pairs, str(space))


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(f"{number!r} is no whole number")
    return number


def _check_kind(given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise PlanError(f"expected a {kind.__name__}; got {given!r:.60}")


def _dump(kind: str, fields: dict[str, Any]) -> str:
    return json.dumps({"byparts": kind, "format": FORMAT, **fields}, separators=(",", ":"))


def _load(kind: str, text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise PlanError(f"not JSON: {error}") from error
    found = fields.get("byparts") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or found != kind:
        what = f", but {found!r:.40}" if found else ""
        raise PlanError(f"not a {kind}{what}; expected what {kind}_to_json writes")
    if fields.get("format") not in range(OLDEST, FORMAT + 1):
        raise PlanError(
            f"{kind} in format {fields.get('format')}; this reads formats {OLDEST} to {FORMAT}"
        )
    return fields


def _values(record: Any) -> tuple[Any, ...]:
    """The fields of a dataclass of plain values."""
    return tuple(vars(record).values())
