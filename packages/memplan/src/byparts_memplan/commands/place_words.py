"""The output of `byparts place`: words for people, and one JSON object for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence

from byparts_memplan.amount import human
from byparts_memplan.buffer import Buffer, DoesNotFit
from byparts_memplan.csv_format import write_placement
from byparts_memplan.placed import Placement

JSON_FORMAT = 1
_MOST_NAMED = 40  # buffers of a reason


def summary(placement: Placement) -> str:
    """A line for what was placed."""
    bound = placement.lower_bound_bytes
    over = 100 * (placement.arena_bytes / bound - 1) if bound else 0
    verdict = "none is smaller" if placement.optimal else f"it is {over:.2f} % over"
    return (
        f"placed {len(placement.buffers)} buffers in {placement.arena_bytes} bytes "
        f"({human(placement.arena_bytes)}); lower bound {bound}: {verdict}; {placement.how}"
    )


def refusal(
    ids: Sequence[str],
    failed: DoesNotFit,
    capacity: int | Mapping[str, int] | None,
    time_s: float,
) -> str:
    """Why the buffers do not fit, with the ids of the file; some lines."""
    placement = failed.placement
    proof = "proved" if failed.proved else f"not proved: none was found in {time_s:.2f} s"
    lines = [
        f"{len(placement.buffers)} buffers do not fit in {_told(capacity)} bytes; {proof}",
        f"the best found takes {placement.arena_bytes}; lower bound {placement.lower_bound_bytes}",
    ]
    if failed.subset:
        lines += _reason(ids, placement.buffers, failed.subset)
    return "\n".join(lines)


def _told(capacity: int | Mapping[str, int] | None) -> str:
    """The capacity as it was given."""
    if not isinstance(capacity, Mapping):
        return str(capacity)
    return ", ".join([f"{name}={amount}" for name, amount in capacity.items()])


def _reason(ids: Sequence[str], buffers: Sequence[Buffer], subset: Sequence[int]) -> list[str]:
    """The smallest set that does not fit, as a table."""
    some = [buffers[i] for i in subset]
    total = sum([b.size_bytes for b in some])
    born = max([b.lives[0][0] for b in some if b.lives], default=0)
    here = all(any(lower <= born < upper for lower, upper in b.lives) for b in some)
    step = f", all needed at step {born}" if here else ""
    lines = [
        f"{len(subset)} of them ({total} bytes{step}) do not fit even alone; "
        "without any one of these, the others do:",
        *_table([ids[i] for i in subset[:_MOST_NAMED]], some[:_MOST_NAMED]),
    ]
    more = len(subset) - _MOST_NAMED
    return [*lines, f"and {more} more"] if more > 0 else lines


def _table(ids: Sequence[str], buffers: Sequence[Buffer]) -> list[str]:
    """The buffers as the file has them, in columns; columns that say nothing are left out."""
    text = write_placement(ids, Placement(tuple(buffers), (0,) * len(buffers), 0, 0, ""))
    rows = [list(row) for row in csv.reader(text.splitlines())]
    for row, pin in zip(rows, ["offset", *[b.pinned for b in buffers]], strict=True):
        row[-1] = "" if pin is None else str(pin)
    if all(b.pinned is None for b in buffers):
        rows = [row[:-1] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]).rstrip()
        for row in rows
    ]


def json_of(ids: Sequence[str], placement: Placement, failed: DoesNotFit | None) -> str:
    """The answer as JSON; `byparts_memplan.__main__` describes its fields."""
    fields: dict[str, object] = {
        "byparts": "offsets",
        "format": JSON_FORMAT,
        "fits": failed is None,
        "arena_bytes": placement.arena_bytes,
        "lower_bound_bytes": placement.lower_bound_bytes,
        "optimal": placement.optimal,
        "how": placement.how,
        "arenas": placement.arenas,
        "offsets": dict(zip(ids, placement.offsets, strict=True)),
    }
    if failed is not None:
        fields["proved"] = failed.proved
        fields["subset"] = [ids[i] for i in failed.subset]
    return json.dumps(fields, ensure_ascii=False, indent=1) + "\n"
