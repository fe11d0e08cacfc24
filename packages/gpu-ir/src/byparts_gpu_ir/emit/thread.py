"""C of what one thread of a GPU does, for CUDA and for its emulation alike.

Both follow what stands here: how values are named, which loops of neighbours become wide loads and
stores, which arms of a `select` are computed.  So the emulation runs what a GPU would run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from byparts_gpu_ir.emit.inline import bare
from byparts_gpu_ir.emit.wide import Wide, always_read, lanes_of_loop, wide_access
from byparts_tensor_ir.emit.strategy import flat_index, forget_loads, is_safe, unrounded
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.expression import HALVES, Expr, const, make
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.nest import AXES, nest_of
from byparts_tensor_ir.statement import (
    Barrier,
    Buffer,
    For,
    Func,
    If,
    Instruction,
    Statement,
    Store,
    walk,
    written,
)
from byparts_tensor_ir.substitute import loads

LOCAL = ("local", "register")
_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const "
    "constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast return "
    "short signed sizeof static static_assert static_cast struct switch template this throw true "
    "try typedef typeid typename union unsigned using virtual void volatile while xor xor_eq"
)
KEYWORDS = tuple(_WORDS.split())  # of C++: no name of a buffer or a loop


class ThreadCode(Values):
    """Lines of C of one thread.

    Attributes:
        nest: the loops of blocks and threads, and what is inside.
        grid_shape: how many blocks there are along x, y, z.
        block_shape: how many threads a block has along x, y, z.
        names: of buffers and variables in the C.
        exchanged: buffers through which threads of a block speak to each other.
    """

    names: dict[Any, str]

    def __init__(self, func: Func, reserved: Sequence[str] = ()) -> None:
        nest = nest_of(func)
        self.grid_shape, self.block_shape = nest.grid, nest.block
        super().__init__(func, 16)
        self.nest = nest_of(self.func)
        self.taken = set(reserved)
        self.read: set[Expr] = set()  # by the statement that is being written, in any case
        self.names = {}
        for b in (*self.func.params, *self.func.locals):
            self.name(b, b.name)
        outputs = {b for s in self.all_statements() for b in written(s)}
        locals_ = [b for b in self.func.locals if b.scope == "shared"]
        self.exchanged = {*locals_, *[p for p in self.func.params if p in outputs]}

    def simplified(self, func: Func) -> Func:
        """Conditions that always hold are gone; loops stay whole: a GPU has no use for two."""
        return without_guards(func, cuts=False)

    def _place_in_workspace(self) -> None:
        """No local buffer stands in a workspace: a GPU has none."""

    def name(self, what: Any, wanted: str) -> str:
        """A name of its own for a buffer or a variable: the wanted one, or with a number."""
        name = wanted
        for k in count(1):
            if name not in self.taken:
                break
            name = f"{wanted}_{k}"
        self.taken.add(name)
        self.names[what] = name
        return name

    def fresh(self, stem: str = "t") -> str:
        name = super().fresh(stem)
        self.taken.add(name)
        return name

    # -- statements ----------------------------------------------------------------------------

    def statements(self, body: Sequence[Statement]) -> None:
        for s in body:
            self.at(s)
            if isinstance(s, Store):
                self.store(s)
            elif isinstance(s, If):
                with self.block_of(f"if ({bare(self.value(s.condition, None))})"):
                    self.statements(s.body)
            elif isinstance(s, Barrier):
                self.barrier(s)
            elif isinstance(s, Instruction):
                self.instruction(s)
            elif s.kind == "vectorize" and lanes_of_loop(s):
                self.lanes(s.body, s)
            else:
                self.loop(s)

    def at(self, s: Statement) -> None:
        """Note that the code that follows belongs to statement s; a subclass records it."""

    def barrier(self, s: Barrier) -> None:
        raise NotImplementedError

    def instruction(self, s: Instruction) -> None:
        raise NotImplementedError

    @contextmanager
    def block_of(self, head: str) -> Any:
        """Lines between braces; what they read is not known after them."""
        with self.block(head):
            yield

    def loop(self, s: For) -> None:
        """A loop in which each round stands by itself."""
        self.forget(s)
        with self.rounds(s):
            self.statements(s.body)

    @contextmanager
    def rounds(self, s: For) -> Any:
        """The braces of a loop, and its variable."""
        with self.block(self.loop_head(s)):
            yield
        self.taken.discard(self.names[s.var])

    def loop_head(self, s: For) -> str:
        end = self.index(s.extent + s.var.attr.low)
        name = self.name(s.var, s.name)
        return f"for (int64_t {name} = {s.var.attr.low}; {name} < {end}; ++{name})"

    def forget(self, s: Statement) -> None:
        """Forget what was read from buffers that this statement, or what is inside, may change."""
        forget_loads(self.scopes, [s])

    def store(self, s: Store) -> None:
        values = unrounded(s)
        texts = self.computed(values)
        for target, value, text in zip(s.targets, values, texts, strict=True):
            self.write(target, s.index, text, value)
        forget_loads(self.scopes, [s])

    def computed(self, values: Sequence[Expr]) -> list[str]:
        """C for values, none of which changes when another one is stored."""
        self.read = {x for v in values for x in always_read(v, self.safe)}
        texts = [self.deep_value(v, None) for v in values]
        self.read = set()
        return texts

    def write(self, buffer: Buffer, index: tuple[Expr, ...], text: str, value: Expr) -> None:
        self.line(f"{self.element(buffer, index, True)} = {bare(self.as_stored(buffer, text))};")

    def as_stored(self, buffer: Buffer, text: str) -> str:
        """A value as it stands in memory."""
        return self.call_of(f"to_{buffer.dtype}", text) if buffer.dtype in HALVES else text

    def as_value(self, dtype: str, text: str) -> str:
        """Convert text that reads an element from memory to a value: halves become f32."""
        return self.call_of(f"from_{dtype}", text) if dtype in HALVES else text

    def call_of(self, function: str, text: str) -> str:
        """A call of a function of one number."""
        return f"{function}({text})"

    # -- neighbours ----------------------------------------------------------------------------

    def lanes(self, body: Sequence[Statement], loop: For) -> None:
        """Write the statements one by one, each for all rounds of a vectorized loop."""
        for s in body:
            self.at(s)
            if isinstance(s, Store):
                self.lane_store(s, loop)
            elif isinstance(s, If):
                with self.block_of(f"if ({bare(self.value(s.condition, None))})"):
                    self.lanes(s.body, loop)
            elif isinstance(s, For):
                self.forget(s)
                with self.rounds(s):
                    self.lanes(s.body, loop)

    def lane_store(self, s: Store, loop: For) -> None:
        """A store in all rounds, between wide loads and wide stores of what has them."""
        values, n = unrounded(s), loop.extent.attr
        held: dict[Expr, str] = {}
        for load in dict.fromkeys(x for v in values for x in always_read(v, self.safe)):
            wide = wide_access(load.attr, load.args, loop.var, n)
            if wide is not None and not self.known(load):
                held[load] = self.lane_array(load.dtype, n)
                self.wide_load(load, wide, held[load], loop)
        wides = [wide_access(t, s.index, loop.var, n) for t in s.targets]
        arrays = [
            self.lane_array(t.dtype, n) if wide else ""
            for t, wide in zip(s.targets, wides, strict=True)
        ]
        self.forget(s)
        with self.rounds(loop):
            lane = self.index(loop.var - loop.var.attr.low)
            for load, name in held.items():
                self.lane_value(load, f"{name}[{lane}]")
            texts = self.computed(values)
            for target, array, value, text in zip(s.targets, arrays, values, texts, strict=True):
                if array:
                    self.line(f"{array}[{lane}] = {bare(self.as_stored(target, text))};")
                else:
                    self.write(target, s.index, text, value)
        for target, wide, array in zip(s.targets, wides, arrays, strict=True):
            if wide is not None:
                self.wide_store(target, s.index, wide, array, loop)
        self.forget(s)

    def lane_value(self, load: Expr, element: str) -> None:
        """Make a loaded element known as the value of `load` in the current scope."""
        text = self.as_value(load.dtype, element)
        if text != element:
            name = self.fresh()
            self.line(f"const {self.type_of(load, None)} {name} = {text};")
            text = name
        self.scopes[-1][load] = text

    def lane_array(self, dtype: str, lanes: int) -> str:
        """A new array of a thread with an element for each lane."""
        name = self.fresh("v")
        self.line(f"{self.array_type(dtype)} {name}[{lanes}];")
        return name

    def array_type(self, dtype: str) -> str:
        """The type of an array of lanes, before its name."""
        raise NotImplementedError

    def wide_load(self, load: Expr, wide: Wide, array: str, loop: For) -> None:
        """Fill an array with the elements of all lanes, by wide instructions."""
        raise NotImplementedError

    def wide_store(
        self, buffer: Buffer, index: tuple[Expr, ...], wide: Wide, array: str, loop: For
    ) -> None:
        """Store the elements of all lanes from an array, by wide instructions."""
        raise NotImplementedError

    # -- values --------------------------------------------------------------------------------

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """C for an element in memory, to read or to write."""
        if not buffer.shape and buffer.scope != "global":
            return self.names[buffer]
        return f"{self.names[buffer]}[{bare(self.index(flat_index(buffer, index)))}]"

    def safe(self, e: Expr) -> bool:
        """Whether e may be computed where it is not chosen: what it loads is there, or is known.

        What the statement reads whatever is chosen is there too.
        """
        return all(self.known(x) or x in self.read or is_safe(x) for x in loads(e))

    def known(self, e: Expr) -> bool:
        return any(e in scope for scope in self.scopes)

    def chosen(self, e: Expr, lanes: Any = None) -> str:
        """A select: both arms, or only the chosen one where the other may read outside."""
        condition, a, b = e.args
        if e.attr == "rare":
            return self.rare(e, None)
        test = self.value(condition, None)
        if self.safe(a) and self.safe(b):
            return self.named(e, f"{test} ? {self.value(a, None)} : {self.value(b, None)}", None)
        return self.one_arm(e, test)

    def one_arm(self, e: Expr, test: str) -> str:
        """A select of which only the chosen arm may be computed."""
        _, a, b = e.args
        others = _outer_selects(b)
        for x in _outer_selects(a):  # powers of integers have 31, each in both arms of the next
            if x in others:
                self.value(x, None)
        name = self.fresh()
        self.line(f"{self.type_of(e, None)} {name};")
        for head, arm in ((f"if ({bare(test)})", a), ("else", b)):
            with self.block_of(head):
                self.line(f"{name} = {bare(self.value(arm, None))};")
        self.scopes[-1][e] = name
        return name

    def value(self, e: Expr, lanes: Any = None) -> str:
        if e.dtype == "bool" and e.op in ("and", "or") and not self.known(e):
            a, b = e.args
            if not self.safe(b):  # only if the first does not decide
                arms = (
                    (a, b, const(False, "bool")) if e.op == "and" else (a, const(True, "bool"), b)
                )
                name = self.value(make("select", arms, "bool"), None)
                self.scopes[-1].setdefault(e, name)
                return name
        return super().value(e, None)

    def scalar(self, e: Expr) -> str:
        if e.op == "load":
            return self.as_value(e.dtype, self.element(e.attr, e.args, False))
        return super().scalar(e)

    def index(self, e: Expr) -> str:
        return self.names[e] if e.op == "var" else super().index(e)

    # -- blocks and threads --------------------------------------------------------------------

    def bound(self, kind: str) -> list[tuple[str, For]]:
        """(axis, loop) of the loops that are bound to blocks or to threads, x first."""
        loops = self.nest.blocks if kind == "block" else self.nest.threads
        return [(a, loops[a]) for a in AXES if a in loops]

    def all_statements(self) -> list[Statement]:
        """All statements, outer ones before inner ones."""
        return list(walk(self.func.body))


def _outer_selects(e: Expr) -> dict[Expr, None]:
    """The selects that are computed with e, in no arm of another; not those of booleans."""
    found: dict[Expr, None] = {}
    seen, todo = {e}, [e]
    while todo:
        x = todo.pop()
        if x.op == "select":
            found[x] = None
        conditional = x.op == "select" or (x.dtype == "bool" and x.op in ("and", "or"))
        new = [a for a in (x.args[:1] if conditional else x.args) if a not in seen]
        seen.update(new)
        todo += new
    return found
