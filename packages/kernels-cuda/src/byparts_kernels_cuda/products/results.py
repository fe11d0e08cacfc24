"""Writing of finished sums; where blocks shared a sum, a launch adds up their parts first."""

from __future__ import annotations

from collections.abc import Callable

from byparts_kernels_cuda.builder import Builder
from byparts_kernels_cuda.products.contraction import Contraction, Index, decoded, moved
from byparts_tensor_ir.expression import Expr
from byparts_tensor_ir.statement import Buffer, Func

THREADS = 256  # of a block that works element by element


def write(
    build: Builder, c: Contraction, value: Callable[[Expr], Expr], at: Index, lanes: int
) -> None:
    """Write neighbours of y, from (batch, i, j) on.

    Args:
        build: where the statements go.
        c: says where they stand and how they are finished.
        value: lane -> the sum.
        at: (batch, i, j) of lane 0.
        lanes: how many; one access.
    """
    place = c.place(*at)
    if c.finish is None and c.dtype == c.y.dtype:
        with build.lanes(lanes) as lane:
            build.store(c.y, moved(place, lane), value(lane))
        return
    held = []
    for x in c.addends:
        own = build.buffer("register", "addend", (lanes if x.moves else 1,), x.buffer.dtype)
        with build.lanes(lanes if x.moves else 1) as lane:
            index = x.index(place)
            build.store(own, (lane,), x.buffer[moved(index, lane) if x.moves else index])
        held.append((own, x.moves))
    finished = build.buffer("register", "made", (lanes,), c.y.dtype)
    with build.unrolled(lane=lanes) as (lane,):
        build.store(
            finished, (lane,), c.finished(value(lane), *[own[lane if m else 0] for own, m in held])
        )
    with build.lanes(lanes) as lane:
        build.store(c.y, moved(place, lane), finished[lane])


def added(c: Contraction, part: Buffer) -> Func:
    """The launch that adds the parts of each sum, in order, and finishes it.

    Args:
        c: the contraction.
        part: (split, batch, i, j).
    """
    splits, batch, rows, columns = (int(d.attr) for d in part.shape)
    lanes = c.lanes if columns % c.lanes == 0 else 1
    count = batch * rows * columns // lanes
    build = Builder()
    blocks, threads = -(-count // THREADS), min(THREADS, count)
    with build.grid(blocks, threads) as (block, thread):
        number = block * THREADS + thread
        with build.when(number < count):
            b, i, j = decoded(number, (batch, rows, columns // lanes))
            j = j * lanes
            total, one = (
                build.buffer("register", name, (lanes,), c.dtype) for name in ("total", "one")
            )
            with build.unrolled(lane=lanes) as (lane,):
                build.store(total, (lane,), 0)
            with build.loop("split", splits) as split:
                with build.lanes(lanes) as lane:
                    build.store(one, (lane,), part[split, b, i, j + lane])
                with build.unrolled(lane=lanes) as (lane,):
                    build.store(total, (lane,), total[lane] + one[lane])
            write(build, c, lambda lane: total[lane], (b, i, j), lanes)
    return build.function("sum_of_parts", (part, *c.reads, c.y), (c.y,))
