"""Code of what one thread of a GPU does, for CUDA and for its emulation alike.

Both follow what stands here: which loops of neighbours become wide loads and stores, which arms of
a `select` are computed.  So the emulation runs what a GPU would run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, Union

from byparts_gpu_ir.wide import Wide, WideLoop, always_read, wide_access, with_wide_loops
from byparts_tensor_ir.access import is_safe, unrounded
from byparts_tensor_ir.emit.language import Language
from byparts_tensor_ir.emit.statements import Statements
from byparts_tensor_ir.emit.text import Text
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.expression import HALVES, Expr
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.lower import placed_identities
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
Grid = tuple[Union[int, str], Union[int, str], Union[int, str]]
_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const "
    "constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast return "
    "short signed sizeof static static_assert static_cast struct switch template this throw true "
    "try typedef typeid typename union unsigned using virtual void volatile while xor xor_eq"
)
KEYWORDS = tuple(_WORDS.split())  # of C++: no name of a buffer or a loop


class Machine(Protocol):
    """A way to run threads: a GPU, or loops of a CPU."""

    def element(self, buffer: Buffer, index: Sequence[Expr], writes: bool) -> str:
        """An element in memory, to read or to write."""

    def array_type(self, dtype: str) -> str:
        """The type of an array of lanes, before its name."""

    def wide_load(self, load: Expr, wide: Wide, array: str, loop: For) -> None:
        """Fill an array with the elements of all lanes, by wide instructions."""

    def wide_store(
        self, buffer: Buffer, index: tuple[Expr, ...], wide: Wide, array: str, loop: For
    ) -> None:
        """Store the elements of all lanes from an array, by wide instructions."""

    def barrier(self, s: Barrier) -> None:
        """Wait for the threads of the block."""

    def instruction(self, s: Instruction) -> None:
        """An action of a thread that is no store."""


class ThreadCode:
    """Lines of one thread.

    Attributes:
        func: the function, with the stores of identities and with few conditions.
        nest: the loops of blocks and threads, and what is inside.
        exchanged: buffers through which threads of a block speak to each other.
        read: the loads that the statement that is being written makes in any case.
    """

    def __init__(
        self, func: Func, language: Language, reserved: Sequence[str], machine: Machine
    ) -> None:
        self.outer = nest_of(func)
        # Loops stay whole: a GPU has no use for two.
        self.func = with_wide_loops(without_guards(placed_identities(func), cuts=False))
        self.nest, self.machine, self.language = nest_of(self.func), machine, language
        self.text, self.read = Text(reserved), set[Expr]()
        for b in (*self.func.params, *self.func.locals):
            self.text.give_name(b, b.name)
        for size in func.sizes:
            self.text.give_name(size, str(size))
        outputs = {b for s in self.all_statements() for b in written(s)}
        locals_ = [b for b in self.func.locals if b.scope == "shared"]
        self.exchanged = {*locals_, *[p for p in self.func.params if p in outputs]}
        self.values = Values(language, self.text)
        self.values.safe = self.safe
        self.values.element = lambda buffer, index: machine.element(buffer, index, False)
        self.statements = Statements(self.values)
        self.statements.element = lambda buffer, index: machine.element(buffer, index, True)
        self.statements.compute, self.statements.rounds = self.computed, self.rounds
        self.statements.forms |= {For: self.loop, WideLoop: self.wide_loop}
        self.statements.forms |= {Barrier: machine.barrier, Instruction: machine.instruction}

    def all_statements(self) -> list[Statement]:
        """All statements, outer ones before inner ones; of a wide loop the loop."""
        return [s for s in walk(self.func.body) if not isinstance(s, WideLoop)]

    def bound(self, kind: str) -> list[tuple[str, For]]:
        """(axis, loop) of the loops that are bound to blocks or to threads, x first."""
        loops = self.nest.blocks if kind == "block" else self.nest.threads
        return [(a, loops[a]) for a in AXES if a in loops]

    def safe(self, e: Expr) -> bool:
        """Whether e may be computed where it is not chosen: what it loads is there, or is known.

        What the statement reads whatever is chosen is there too.
        """
        return all(self.text.knows(x) or x in self.read or is_safe(x) for x in loads(e))

    @property
    def grid(self) -> Grid:
        """Number of blocks along x, y, z; the text of an expression of sizes."""
        x, y, z = [n if isinstance(n, int) else str(n) for n in self.outer.grid]
        return x, y, z

    # -- statements ----------------------------------------------------------------------------

    def loop(self, s: For) -> None:
        """A loop in which each round stands by itself."""
        self.statements.forget([s])
        with self.statements.rounds(s):
            self.statements.write(s.body)

    def wide_loop(self, s: WideLoop) -> None:
        """A loop whose statements are done one by one."""
        self.statements.begins(s.loop)
        self.lanes(s.loop.body, s.loop)

    @contextmanager
    def rounds(self, s: For) -> Iterator[None]:
        """The braces of a loop, and its variable."""
        end = self.values.index(s.extent + s.var.attr.low)
        name = self.text.give_name(s.var, s.name)
        form = self.language.statements["loop"]
        with self.text.block(form.format(name=name, low=s.var.attr.low, end=end)):
            yield
        self.text.taken.discard(name)

    def computed(self, values: Sequence[Expr]) -> list[str]:
        """The texts of values, of which `read` says what is loaded in any case."""
        self.read = {x for v in values for x in always_read(v, self.values.safe)}
        texts = [self.values.deep_value(v) for v in values]
        self.read = set()
        return texts

    # -- neighbours ----------------------------------------------------------------------------

    def lanes(self, body: Sequence[Statement], loop: For) -> None:
        """Write the statements one by one, each for all rounds of a vectorized loop."""
        for s in body:
            self.statements.begins(s)
            if isinstance(s, Store):
                self.lane_store(s, loop)
            elif isinstance(s, If):
                test = self.language.trim(self.values.value(s.condition))
                with self.text.block(f"if ({test})"):
                    self.lanes(s.body, loop)
            elif isinstance(s, For):
                self.statements.forget([s])
                with self.statements.rounds(s):
                    self.lanes(s.body, loop)

    def lane_store(self, s: Store, loop: For) -> None:
        """A store in all rounds, between wide loads and wide stores of what has them."""
        values, n = unrounded(s), loop.extent.attr
        held: dict[Expr, str] = {}
        for load in dict.fromkeys(x for v in values for x in always_read(v, self.values.safe)):
            wide = wide_access(load.attr, load.args, loop.var, n)
            if wide is not None and not self.text.knows(load):
                held[load] = self.lane_array(load.dtype, n)
                self.machine.wide_load(load, wide, held[load], loop)
        wides = [wide_access(t, s.index, loop.var, n) for t in s.targets]
        arrays = [
            self.lane_array(t.dtype, n) if wide else ""
            for t, wide in zip(s.targets, wides, strict=True)
        ]
        self.statements.forget([s])
        with self.statements.rounds(loop):
            self.one_lane(s, loop, held, arrays)
        for target, wide, array in zip(s.targets, wides, arrays, strict=True):
            if wide is not None:
                self.machine.wide_store(target, s.index, wide, array, loop)
        self.statements.forget([s])

    def one_lane(self, s: Store, loop: For, held: dict[Expr, str], arrays: Sequence[str]) -> None:
        """A round: from arrays where elements were loaded widely, into arrays or into memory."""
        lane = self.values.index(loop.var - loop.var.attr.low)
        for load, name in held.items():
            self.lane_value(load, f"{name}[{lane}]")
        texts = self.statements.compute(unrounded(s))
        for target, array, text in zip(s.targets, arrays, texts, strict=True):
            if array:
                stored = self.language.trim(self.values.stored(target.dtype, text))
                self.text.line(f"{array}[{lane}] = {stored};")
            else:
                self.statements.assign(target, s.index, text)

    def lane_value(self, load: Expr, element: str) -> None:
        """Make a loaded element known as the value of `load` in the current scope."""
        text = element
        if load.dtype in HALVES:
            value, text = self.values.of_memory(load, element), self.text.fresh()
            self.text.line(f"const {self.values.type_of(load)} {text} = {value};")
        self.text.remember(load, text)

    def lane_array(self, dtype: str, lanes: int) -> str:
        """A new array of a thread with an element for each lane."""
        name = self.text.fresh("v")
        self.text.line(f"{self.machine.array_type(dtype)} {name}[{lanes}];")
        return name
