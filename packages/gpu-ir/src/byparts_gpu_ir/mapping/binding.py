"""A stage bound to blocks and threads."""

from __future__ import annotations

from dataclasses import replace

from byparts_gpu_ir.mapping.kept import Keeper
from byparts_gpu_ir.mapping.phases import Alone
from byparts_gpu_ir.mapping.piece import Piece
from byparts_gpu_ir.mapping.rows import Rows
from byparts_gpu_ir.mapping.shares import vector_lanes
from byparts_gpu_ir.mapping.stages import Stage
from byparts_gpu_ir.mapping.team import Team
from byparts_gpu_ir.mapping.weave import Weaver, guarded
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.statement import For, If
from byparts_tensor_ir.substitute import buffers_replaced, in_statements


def piece_of(stage: Stage) -> Piece:
    """Bind the stage to blocks and threads.

    A team takes a row; the rows of a block are neighbours.  A thread that has a row of its own
    takes four neighbours, where these are vectors.
    """
    rows, team = stage.rows, stage.team
    phases = stage.phases
    if team.size == 1:
        rows = _in_vectors(rows)
        phases = tuple([Alone(s) for s in rows.body])
    else:
        keeper = Keeper(rows.around, team.size)
        phases = keeper.kept(phases)
        rows = rows.with_locals(keeper.buffers)
    thread = variable("t", team.threads)
    count = rows.exact_count
    block = variable("b", (count + (team.teams - 1)) // team.teams)
    woven = Weaver(rows, phases, team, thread, stage.machine).woven()
    body = woven.body
    if count % team.teams is not const(0):
        body = guarded(body, block * team.teams + team.number(thread) < count)
    body = in_statements(body, _indices(rows, block, team, thread))
    for condition in reversed(stage.conditions):
        body = (If(condition, body),)
    return Piece(block, thread, body, woven.locals, woven.workspace)


def _in_vectors(rows: Rows) -> Rows:
    """Rows of several neighbours, where these are vectors in memory."""
    if not rows.loops:
        return rows
    *outer, last = rows.loops
    lanes = vector_lanes(last, rows.body)
    if lanes <= 1:
        return rows
    vector = variable(last.attr.name, int(last.attr.extent.attr) // lanes)
    lane = variable(f"{last}_v", lanes)
    by = {b: replace(b, shape=(*b.shape, lane.attr.extent)) for b in rows.own()}
    body = buffers_replaced(rows.body, by, lambda _, index: (*index, lane))
    inner = in_statements(body, {last: vector * lanes + lane})
    wide = Rows((*outer, vector), (For(lane, inner, "vectorize"),), rows.around)
    return wide.with_locals([*by.values()])


def _indices(rows: Rows, block: Expr, team: Team, thread: Expr) -> dict[Expr, Expr]:
    """The value of each loop's variable in the row of a thread; the last runs fastest.

    Where the rows of a block differ in the last alone, the others are the same for all its threads.
    """
    values: dict[Expr, Expr] = {}
    loops = list(rows.loops)
    left = block * team.teams + team.number(thread)
    last = loops[-1].attr.extent if loops else const(1)
    if len(loops) > 1 and last.op == "const" and last.attr % team.teams == 0:
        v = loops.pop()
        blocks = int(v.attr.extent.attr) // team.teams
        values[v] = block % blocks * team.teams + team.number(thread) + v.attr.low
        left = block // blocks
    for v in reversed(loops[1:]):
        values[v] = left % v.attr.extent + v.attr.low
        left = left // v.attr.extent
    for v in loops[:1]:
        values[v] = left + v.attr.low
    return values
