"""Random GPU functions: branches, shuffles, barriers and shared memory, often with a fault."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from gpu_kernels import bound, buffer, local, put

from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.functions import maximum, select
from byparts_tensor_ir.statement import Barrier, Buffer, Exchange, For, Func, If, Shuffle, Statement

BLOCKS, THREADS = 3, 64
_SHAPES = ((64, 1, 1), (16, 4, 1), (4, 8, 2))
_KINDS = (
    *("alu", "alu", "read", "read", "write", "write", "exchange", "shuffle", "shuffle", "barrier"),
    *("array", "for", "if", "if", "if", "wide", "choose", "global"),
)


class Program:
    """One random function, of x f32[3, 256] and the output y f32[3, 256].

    Attributes:
        func: the function.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.x, self.y = buffer("x", BLOCKS, 4 * THREADS), buffer("y", BLOCKS, 4 * THREADS)
        self.s = buffer("s", THREADS, scope="shared")
        self.plane = buffer("plane", 8, 9, scope="shared")
        self.one = buffer("one", scope="shared")
        self.numbers = [local("a"), local("b"), local("c")]
        self.array = local("array", 3)
        self.block = variable("bx", BLOCKS)
        extents = self.random.choice(_SHAPES)
        at = {f"t{axis}": variable(f"t{axis}", n) for axis, n in zip("xyz", extents, strict=True)}
        self.number = at["tx"] + at["ty"] * extents[0] + at["tz"] * (extents[0] * extents[1])
        axes = self.random.sample(sorted(at), 3)
        t, i = self.number, self.block
        a, b, c = self.numbers
        body = [
            put(self.s, (t,), self.x[i, t]),
            put(a, (), self.x[i, t]),
            put(b, (), 1.0),
            put(c, (), self.x[i, t + 64]),
            For(k := variable("k", 3), (put(self.array, (k,), self.x[i, t + k]),)),
            Barrier(),
            *self.some(3, "block"),
            put(self.y, (i, t), a[()] + b[()] - c[()]),
            put(self.y, (i, t + 64), self.array[0] + self.array[2]),
        ]
        nest = bound(body, bx=i, **{axis: at[axis] for axis in axes})
        locals_ = (self.s, self.plane, self.one, self.array, *self.numbers)
        self.func = Func(f"program{seed}", (self.x, self.y), (self.y,), (), nest, locals_)

    def some(self, depth: int, together: str) -> list[Statement]:
        """A few statements; `together`: who is known to be here at once: block, warp or none."""
        out: list[Statement] = []
        for _ in range(self.random.randint(2, 5)):
            kind = self.random.choice(_KINDS)
            out += getattr(self, f"_{kind}")(depth, together)
        return out

    def maybe(self, chance: float) -> bool:
        """Whether to do what may be a fault."""
        return self.random.random() < chance

    def register(self) -> Buffer:
        return self.random.choice(self.numbers)

    def place(self) -> Expr:
        """An index of `s`: mostly the thread's own."""
        shift = self.random.choice((1, 3, 32)) if self.maybe(0.2) else 0
        if self.maybe(0.02):
            return self.number + 1
        return (self.number + shift) % THREADS

    def _alu(self, depth: int, together: str) -> list[Statement]:
        r, q = self.register(), self.register()
        value = self.random.choice((r[()] * 0.5 + q[()], maximum(r[()], q[()]), q[()] - 1.0))
        return [put(r, (), value)]

    def _read(self, depth: int, together: str) -> list[Statement]:
        r, t = self.register(), self.number
        if self.maybe(0.1):
            return [put(r, (), self.one[()])]
        return [
            put(r, (), self.s[self.place()] + (self.plane[t % 8, 0] if self.maybe(0.1) else 0.0))
        ]

    def _write(self, depth: int, together: str) -> list[Statement]:
        r, t = self.register(), self.number
        if self.maybe(0.1):
            return [put(self.plane, (t // 8, t % 8 + (1 if self.maybe(0.5) else 0)), r[()])]
        if self.maybe(0.1):
            return [If(t.equal(5), (put(self.one, (), r[()]),))]
        return [put(self.s, (self.place(),), r[()])]

    def _exchange(self, depth: int, together: str) -> list[Statement]:
        """The whole block moves its numbers round; a barrier may be missing."""
        if together != "block":
            return []
        r, q, t = self.register(), self.register(), self.number
        shift = self.random.choice((1, 5, 33))
        parts: list[Statement] = [
            Barrier(),
            put(self.s, ((t + shift) % THREADS,), r[()]),
            Barrier(),
            put(q, (), self.s[t] + 0.5),
            Barrier(),
        ]
        if self.maybe(0.15):
            del parts[self.random.choice((0, 2, 4))]
        return parts

    def _shuffle(self, depth: int, together: str) -> list[Statement]:
        if together == "none" and not self.maybe(0.03):
            return []
        delta = self.random.choice((1, 3, 16, 31))
        target, value = self.register(), self.register()[()] + 1.0
        kind = self.random.choice((Shuffle, Shuffle, Exchange))
        return [kind(target, value, delta)]

    def _barrier(self, depth: int, together: str) -> list[Statement]:
        return [Barrier()] if together == "block" or self.maybe(0.03) else []

    def _array(self, depth: int, together: str) -> list[Statement]:
        k, r = variable("k", 3), self.register()
        if self.random.random() < 0.5:
            return [For(k, (put(self.array, (k,), self.array[(k + 1) % 3] + r[()]),), "unroll")]
        return [put(r, (), self.array[self.random.randint(0, 2)])]

    def _for(self, depth: int, together: str) -> list[Statement]:
        if not depth:
            return []
        extent = self.random.choice((const(2), self.block % 3 + 1, self.block))
        k = variable(f"k{depth}", extent)
        return [For(k, tuple(self.some(depth - 1, together)))]

    def _if(self, depth: int, together: str) -> list[Statement]:
        """One arm, or two of opposite conditions."""
        if not depth:
            return []
        t, warp = self.number, "none" if together == "none" else "warp"
        condition, inside = self.random.choice(
            (
                ((self.block % 2).equal(0), together),
                (t < 32, warp),
                ((t // 32).equal(1), warp),
                (t < 7, "none"),
                (self.register()[()] < 0.5, "none"),
                ((t < 32) & (self.s[t] < self.register()[()]), "none"),
            )
        )
        out: list[Statement] = [If(condition, tuple(self.some(depth - 1, inside)))]
        if self.random.random() < 0.5 and not variables_of_memory(condition):
            out.append(If(~condition, tuple(self.some(depth - 1, inside))))
        return out

    def _wide(self, depth: int, together: str) -> list[Statement]:
        """Four neighbours at once; in place, or shifted so that they are not aligned."""
        v, t, i = variable("v", 4), self.number, self.block
        at = t * 4 + v
        q = self.register()
        if self.random.random() < 0.5 or not self.maybe(0.3):
            return [For(v, (put(q, (), q[()] + self.x[i, at]),), "vectorize")]
        value = self.x[i, at] * self.random.choice((q[()], self.y[i, at]))
        return [For(v, (put(self.y, (i, at), value),), "vectorize")]

    def _choose(self, depth: int, together: str) -> list[Statement]:
        """An arm that is read only where it is chosen: outside of it there may be nothing."""
        t, r = self.number, self.register()
        shift = self.random.choice((1, 2))
        arm = self.s[t + shift] if self.maybe(0.3) else self.x[self.block, t * 4 + shift]
        return [put(r, (), select(t + shift < THREADS, arm, r[()]))]

    def _global(self, depth: int, together: str) -> list[Statement]:
        """Through the output: another thread of the block, or another block."""
        t, i, r = self.number, self.block, self.register()
        if together != "block":
            return []
        other = (i + 1) % BLOCKS if self.maybe(0.1) else i
        parts: list[Statement] = [
            put(self.y, (i, t + 128), r[()]),
            Barrier(),
            put(r, (), self.y[other, (t + 1) % THREADS + 128]),
            Barrier(),
        ]
        if self.maybe(0.1):
            del parts[self.random.choice((1, 3))]
        return parts


def variables_of_memory(e: Expr) -> bool:
    """Whether an expression reads memory."""
    return e.op == "load" or any(map(variables_of_memory, e.args))


def programs(seeds: Sequence[int]) -> list[Func]:
    return [Program(seed).func for seed in seeds]
