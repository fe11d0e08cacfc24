"""draft"""

from __future__ import annotations

from dataclasses import replace

from byparts_kernels_cuda.launches import Launches
from byparts_kernels_cuda.mapping.choice import team_for
from byparts_kernels_cuda.mapping.independence import Pairs, surroundings, used
from byparts_kernels_cuda.mapping.machine import H100, Machine
from byparts_kernels_cuda.mapping.phases import Alone, phases_of
from byparts_kernels_cuda.mapping.piece import Piece, kernel
from byparts_kernels_cuda.mapping.plain import plain
from byparts_kernels_cuda.mapping.rows import Rows, rows_of
from byparts_kernels_cuda.mapping.weave import Weaver, guarded
from byparts_tensor_ir.expression import variable
from byparts_tensor_ir.statement import Func
from byparts_tensor_ir.substitute import buffers_replaced, in_statements


def mapped(func: Func, inplace: Pairs = (), machine: Machine = H100) -> Launches:
    func = plain(func, inplace)
    around = surroundings(func, inplace)
    pieces, workspace = [], []
    body = func.body
    # locals that several statements use live in global memory
    by = {}
    for b in func.locals:
        users = [s for s in body if b in used([s])]
        if len(users) > 1:
            by[b] = replace(b, scope="global")
    body = buffers_replaced(body, by)
    workspace += by.values()
    around = replace(around, locals=frozenset(b for b in func.locals if b not in by))
    for s in body:
        rows = rows_of([s], around)
        p = piece_of(rows, machine)
        pieces.append(p)
        workspace += p.workspace
    known = [*func.params, *workspace]
    kernels = tuple(kernel(p, f"{func.name}_{k}", known) for k, p in enumerate(pieces))
    return Launches(func.params, tuple(workspace), kernels, tuple(inplace))


def piece_of(rows: Rows, machine: Machine) -> Piece:
    phases = phases_of(rows.body, rows.around)
    team = team_for(rows, phases, machine)
    if team.size == 1:
        phases = tuple([Alone(s) for s in rows.body])
    blocks = -(-rows.count // team.teams)
    block = variable("b", blocks)
    thread = variable("t", team.threads)
    woven = Weaver(rows, phases, team, thread, machine).woven()
    row = block * team.teams + team.number(thread)
    body = woven.body
    if rows.count % team.teams:
        body = guarded(body, row < rows.count)
    by = {}
    left = row
    for v in reversed(rows.loops[1:]):
        n = v.attr.extent
        by[v] = left % n + v.attr.low
        left = left // n
    if rows.loops:
        by[rows.loops[0]] = left + rows.loops[0].attr.low
    return Piece(block, thread, in_statements(body, by), woven.locals, woven.workspace)
