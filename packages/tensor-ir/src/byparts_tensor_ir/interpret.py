"""Runs a function one statement at a time: slow, and the meaning of the language.

Emitted code is held against it.  Local buffers begin as garbage (NaN, or an odd number) each time
the loop is entered in which they live, indices are checked, and each operation rounds as NumPy
does.  Rounds of a parallel loop, and blocks of a GPU, run in a random order; the threads of a block
run as coroutines from one meeting to the next, in a random order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from random import Random
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError
from byparts_tensor_ir.expression import FLOATS, Expr
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.matrix import (
    FillMatrix,
    Matrix,
    MatrixBox,
    MultiplyAdd,
    ScaleMatrix,
    StoreMatrix,
)
from byparts_tensor_ir.meeting import Arrivals, Race, run_block
from byparts_tensor_ir.nest import thread_nest
from byparts_tensor_ir.operations import NUMPY as NUMPY, OPERATIONS, tf32, wrapped
from byparts_tensor_ir.sizes import dtype_name, expression_sizes
from byparts_tensor_ir.statement import (
    MATRICES,
    WARP,
    Barrier,
    Buffer,
    Collective,
    Exchange,
    For,
    Func,
    Group,
    If,
    Instruction,
    Shuffle,
    Statement,
    Store,
    statement_lines,
)
from byparts_tensor_ir.transfer import CloseGroup, CopyAsync, WaitGroups
from byparts_tensor_ir.vector import Assign, Rest, Strip, Strips, Vector


class OutOfBounds(GraphError):
    """An index outside its buffer; names the statement, the index and the extents."""


def interpret(func: Func, *arrays: np.ndarray[Any, Any], seed: int = 0) -> None:
    """Run the function on these arrays, one for each parameter; outputs are written in place.

    Args:
        func: any function.
        arrays: of the dtypes and shapes of the parameters.
        seed: of the order of threads.

    Raises:
        ValueError: an array does not fit its parameter.
        OutOfBounds: an element outside a buffer is read or written.
    """
    sizes = expression_sizes(func, [(a.shape, dtype_name(a.dtype)) for a in arrays])
    memory = dict(zip(func.params, arrays, strict=True))
    run = _Run(memory, dict(sizes), Random(seed))
    with np.errstate(all="ignore"):
        for b in func.locals:
            memory[b] = run.garbage(b)
        for s, _ in run.statements(placed_identities(func).body):
            raise Race(f"{func.name}: {statement_lines([s])[0]} outside all thread loops")


class _Run:
    """The state of one run: arrays of the buffers, values of the variables."""

    def __init__(
        self,
        memory: dict[Buffer, Any],
        env: dict[Expr, Any],
        random: Random,
        threaded: bool = False,
    ) -> None:
        self.memory, self.env, self.random = memory, env, random
        self.threaded = threaded  # whether a thread loop is around
        self.groups: list[list[Callable[[], None]]] = [[]]  # copies of a thread; the last is open
        self.registers: dict[Expr, Any] = {}
        self.lane, self.end = 0, np.int64(0)  # of the vector; of the loop of the strips

    def garbage(self, buffer: Buffer) -> np.ndarray[Any, Any]:
        shape = tuple([int(self.value(d)) for d in buffer.shape])
        fill = np.nan if buffer.dtype in FLOATS else 101
        return np.full(shape, fill, NUMPY[buffer.dtype])

    def statements(self, body: Sequence[Statement]) -> Arrivals:
        """Run them; yields where the thread waits for others, and is sent what it gets."""
        for s in body:
            if isinstance(s, Store):
                self.store(s)
            elif isinstance(s, If):
                if self.value(s.condition):
                    yield from self.statements(s.body)
            elif isinstance(s, Barrier):
                yield s, None
            elif isinstance(s, (Shuffle, Exchange)):
                self.memory[s.target][()] = yield s, self.value(s.value)
            elif isinstance(s, Collective):
                yield s, self.matrices(s)
            elif isinstance(s, Group):
                yield from self.group(s)
            elif isinstance(s, Instruction):
                self.transfer(s)
            elif s.kind.startswith("threadIdx"):
                arrivals = self.threads(s)
                if self.threaded:
                    yield from arrivals
                else:
                    for _ in arrivals:  # nobody else waits at its barriers
                        pass
            else:
                yield from self.rounds(s)

    def rounds(self, s: For) -> Arrivals:
        """The rounds of a loop that no threads share; each block has shared memory of its own."""
        low = s.var.attr.low
        rounds = list(range(low, low + int(self.value(s.extent))))
        if s.kind == "parallel" or "Idx" in s.kind:
            self.random.shuffle(rounds)
        for i in rounds:
            self.env[s.var] = np.int64(i)
            if "Idx" in s.kind:
                for b in self.memory:
                    if b.scope == "shared":
                        self.memory[b] = self.garbage(b)
            yield from self.statements(s.body)

    def group(self, s: Group) -> Arrivals:
        """Vectors: lanes one after the other, which means the same as all at once."""
        if isinstance(s, Assign):
            for target, value in list(zip(s.targets, map(self.value, s.values), strict=True)):
                self.element(target)[...] = value
        elif isinstance(s, Strips):
            self.env[s.loop.var] = np.int64(s.loop.var.attr.low)
            self.end = self.env[s.loop.var] + self.value(s.loop.extent)
            yield from self.statements(s.body)
        elif isinstance(s, Strip):
            while self.env[s.var] + s.step <= self.end:
                yield from self.statements(s.body)
                self.env[s.var] += np.int64(s.step)
        elif isinstance(s, Rest):
            self.element(s.left)[...] = self.end - self.env[s.var]
            if self.env[s.var] < self.end:
                yield from self.statements(s.body)
        elif isinstance(s, Vector):
            lanes, base = s.lanes, self.value(s.lanes.base)
            for lane in range(lanes.lanes if lanes.count is None else self.value(lanes.count)):
                self.lane = lane
                self.env[lanes.var] = np.int64(base + self.lane)
                yield from self.statements(s.body)
        else:
            yield from self.statements(s.body)

    def element(self, register: Expr) -> Any:
        """The number of this lane in a register, as an array of no dimensions."""
        kept = self.registers.get(register)
        if kept is None:
            kept = np.full(register.attr.lanes, 101, NUMPY[register.dtype])
            self.registers[register] = kept
        return kept[self.lane if register.attr.lanes > 1 else 0, ...]

    def threads(self, loop: For) -> Arrivals:
        """All threads of a nest of loops, from one meeting to the next, in a random order.

        Yields the barriers at which all of them are, for loops of threads around these.
        """
        axes, body = thread_nest(loop)
        lows = [a.var.attr.low for a in axes]
        extents = [int(self.value(a.extent)) for a in axes]
        block = []
        warps: dict[tuple[int, Buffer], np.ndarray[Any, Any]] = {}
        for number in range(prod(extents)):
            at = np.unravel_index(number, extents[::-1])[::-1]  # x, the first axis, runs fastest
            env = dict(self.env)
            for a, low, i in zip(axes, lows, at, strict=True):
                env[a.var] = np.int64(low + i)
            own = _Run(dict(self.memory), env, self.random, True)
            for b in own.memory:
                if b.scope in ("local", "register"):
                    own.memory[b] = self.memory[b].copy()
                elif b.scope in MATRICES:
                    warp = (number // WARP, b)
                    own.memory[b] = warps.setdefault(warp, self.memory[b].copy())
            block.append(own.statements(body))
        yield from run_block(block, ", ".join([a.name for a in axes]), self.random)

    def matrices(self, s: Collective) -> tuple[tuple[int, ...], Callable[[], None]]:
        """(where, what a warp does there) of a statement of `matrix.py`."""
        where = tuple([int(self.value(e)) for e in s.expressions()])
        return where, lambda: self.do_matrices(s)

    def do_matrices(self, s: Collective) -> None:
        if isinstance(s, FillMatrix):
            self.matrix(s.target)[...] = s.value
        elif isinstance(s, MultiplyAdd):
            target = self.matrix(s.target)
            left, right = self.matrix(s.left), self.matrix(s.right)
            total = target.astype(np.float64)
            for k in range(left.shape[1]):  # in order, as emitted code does
                total = total + np.outer(left[:, k].astype(np.float64), right[k].astype(np.float64))
            target[...] = total.astype(np.float32)
        elif isinstance(s, ScaleMatrix):
            self.matrix(s.target)[...] *= self.matrix(s.factor)
        elif isinstance(s, MatrixBox):
            self.box(s)
        else:
            raise NotImplementedError(f"{s}")

    def box(self, s: MatrixBox) -> None:
        """Load or store a matrix, one element after the other."""
        matrix, first = self.matrix(s.matrix), [int(self.value(i)) for i in s.index]
        rounds = s.matrix.buffer.scope != "accumulator" and s.memory.dtype == "f32"
        for i, j in np.ndindex(*s.matrix.shape):
            at = list(first)
            at[s.dims[0]] += i
            at[s.dims[1]] += j
            self.check(s.memory, tuple(at), str(s))
            if isinstance(s, StoreMatrix):
                self.memory[s.memory][tuple(at)] = matrix[i, j]
            else:
                x = self.memory[s.memory][tuple(at)]
                matrix[i, j] = tf32(x) if rounds else x

    def matrix(self, m: Matrix) -> Any:
        """The elements of one matrix."""
        return self.memory[m.buffer][tuple([int(self.value(i)) for i in m.at])]

    def transfer(self, s: Instruction) -> None:
        """Copies begin, and arrive at once or when the thread waits for them."""
        if isinstance(s, CloseGroup):
            self.groups.append([])
        elif isinstance(s, WaitGroups):
            while len(self.groups) > s.pending + 1:
                for copy in self.groups.pop(0):
                    copy()
        elif isinstance(s, CopyAsync):
            copy = partial(
                self.copied, s, *[tuple([int(self.value(i)) for i in x]) for x in (s.index, s.at)]
            )
            if self.random.random() < 0.5:
                copy()
            else:
                self.groups[-1].append(copy)
        else:
            raise NotImplementedError(f"{s}")

    def copied(self, s: CopyAsync, index: tuple[int, ...], at: tuple[int, ...]) -> None:
        for k in range(s.count):
            to, origin = (*index[:-1], index[-1] + k), (*at[:-1], at[-1] + k)
            self.check(s.target, to, str(s))
            self.check(s.source, origin, str(s))
            self.memory[s.target][to] = self.memory[s.source][origin]

    def store(self, s: Store) -> None:
        index = tuple([int(self.value(i)) for i in s.index])
        values = [self.value(v) for v in s.stored()]
        for target, value in zip(s.targets, values, strict=True):
            self.check(target, index, s.block)
            self.memory[target][index] = value

    def check(self, buffer: Buffer, index: tuple[int, ...], where: str) -> None:
        shape = self.memory[buffer].shape
        if any(not 0 <= i < n for i, n in zip(index, shape, strict=True)):
            values = ", ".join(
                f"{v.attr.name}={x}" for v, x in self.env.items() if v.attr.extent is not None
            )
            raise OutOfBounds(
                f"{where}: {buffer.name}[{', '.join(map(str, index))}] is outside of "
                f"{list(shape)}, with {values}"
            )

    def value(self, e: Expr) -> Any:
        """The value of an expression as a NumPy number of its dtype."""
        if e.op == "const":
            return NUMPY[e.dtype](e.attr)
        if e.op == "var":
            return self.env[e]
        if e.op == "register":
            return self.element(e)[()]
        if e.op == "half":
            whole, n = self.registers[e.args[0]], e.args[0].attr.lanes // 2
            return whole[e.attr * n + (self.lane if n > 1 else 0)]
        if e.op == "lane mask":
            return np.bool_(self.lane < self.value(e.args[0]))
        if e.op == "select":
            return self.value(e.args[1] if self.value(e.args[0]) else e.args[2])
        if e.op == "and":
            a = self.value(e.args[0])
            return a & self.value(e.args[1]) if a or e.dtype != "bool" else a
        if e.op == "or":
            a = self.value(e.args[0])
            return a if a and e.dtype == "bool" else a | self.value(e.args[1])
        args = [self.value(a) for a in e.args]
        if e.op == "load":
            index = tuple(map(int, args))
            self.check(e.attr, index, "load")
            return self.memory[e.attr][index]
        if e.op == "linear":
            return wrapped(
                sum(int(a) * c for a, c in zip(args, e.attr[0], strict=True)) + e.attr[1]
            )
        return NUMPY[e.dtype](OPERATIONS[e.op](e, *args))
