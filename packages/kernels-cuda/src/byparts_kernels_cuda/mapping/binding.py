"""A stage bound to blocks and threads."""

from __future__ import annotations

from byparts_kernels_cuda.mapping.phases import Alone
from byparts_kernels_cuda.mapping.piece import Piece
from byparts_kernels_cuda.mapping.rows import Rows
from byparts_kernels_cuda.mapping.shares import vector_lanes
from byparts_kernels_cuda.mapping.stages import Stage
from byparts_kernels_cuda.mapping.team import Team
from byparts_kernels_cuda.mapping.weave import Weaver, guarded
from byparts_tensor_ir.expression import Expr, variable
from byparts_tensor_ir.statement import For, If
from byparts_tensor_ir.substitute import in_statements


def piece_of(stage: Stage) -> Piece:
    """What the threads of a stage do.

    A team takes a row; the rows of a block are neighbours.  A thread that has a row of its own
    takes four neighbours, where these are vectors.
    """
    rows, team = stage.rows, stage.team
    phases = stage.phases
    if team.size == 1:
        rows = _in_vectors(rows)
        phases = tuple([Alone(s) for s in rows.body])
    thread = variable("t", _threads(rows, team))
    block = variable("b", -(-rows.count // team.teams))
    woven = Weaver(rows, phases, team, thread, stage.machine).woven()
    row = block * team.teams + team.number(thread)
    body = woven.body
    if rows.count % team.teams:
        body = guarded(body, row < rows.count)
    body = in_statements(body, _indices(rows, row))
    for condition in reversed(stage.conditions):
        body = (If(condition, body),)
    return Piece(block, thread, body, woven.locals, woven.workspace)


def _threads(rows: Rows, team: Team) -> int:
    return team.threads


def _in_vectors(rows: Rows) -> Rows:
    """Rows of several neighbours, where these are vectors in memory."""
    if not rows.loops:
        return rows
    *outer, last = rows.loops
    lanes = vector_lanes(last, rows.body)
    if lanes == 1:
        return rows
    vector = variable(last.attr.name, int(last.attr.extent.attr) // lanes)
    lane = variable(f"{last}_v", lanes)
    inner = in_statements(rows.body, {last: vector * lanes + lane})
    return Rows((*outer, vector), (For(lane, inner, "vectorize"),), rows.around)


def _indices(rows: Rows, row: Expr) -> dict[Expr, Expr]:
    """The value of each loop's variable in a row; the last runs fastest."""
    found: dict[Expr, Expr] = {}
    for v in reversed(rows.loops[1:]):
        found[v] = row % v.attr.extent + v.attr.low
        row = row // v.attr.extent
    for v in rows.loops[:1]:
        found[v] = row + v.attr.low
    return found
