"""`Backend`, which a kernel part provides: a table of kernels and the memory space of their arrays.

The short way to write a kernel is a bound rule: a function that gets the op and the arrays of its
inputs and outputs, which have their memory, and returns a callable of no arguments that computes.
`return partial(np.tanh, x, y)` is a whole kernel.  The long way is a rule that compiles: see
`kernel.py`.  Backends of one space read the same memory, each through arrays of its own `view`.
"""

from __future__ import annotations

from functools import partial

from byparts_graph_ir.backend.kernel import (
    ALIGNMENT,
    Kernel,
    KernelFamily,
    Refused,
    Workspace,
    in_c,
)
from byparts_graph_ir.backend.space import HOST, Space
from byparts_graph_ir.backend.table import Table
from byparts_graph_ir.errors import BackendError, GraphError, MissingRule
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.model.digest import op_text
from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.op import Op
from byparts_graph_ir.model.types import SUB_BYTE, TensorType
from byparts_graph_ir.model.value import Node
from byparts_graph_ir.passes.pipeline import Pass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, NoReturn, TypeAlias

    from byparts_graph_ir.backend.kernel import Run
    from byparts_graph_ir.backend.region import Region

Array: TypeAlias = "Any"  # numpy.ndarray, torch.Tensor, a pointer: a backend's own business
# (op, inputs, outputs) -> run; with workspace=True, (op, inputs, outputs, workspace) -> run; of
# `compiles`, (op, types, constants) -> Kernel.
KernelRule: TypeAlias = "Callable[..., Any]"
FunctionalRule: TypeAlias = "Callable[..., Any]"

_MOST_KERNELS = 4096  # that a backend remembers


class CaptureRefused(GraphError):
    """Raised by a backend that cannot make one run of these; the message says which forbids it."""


class Backend(Frozen):
    """Kernels, the memory space that they compute in, and how arrays are made of its bytes.

    Attributes:
        name: in `backends=(...)`.
        view: `(memory, offset, type) -> array`, contiguous, of static type.  `memory` is what
            `space.allocate` gives, or a `u8` array that this function gave (a workspace).
        kernels: `@kernels.on(Op)`, `@kernels.on(Op, workspace=True)`, `@kernels.compiles(Op)`.
        functions: functional rules `f(op, *inputs) -> output or tuple`; the adapter copies their
            results into place with `array[...] = result`.
        space: where the arrays live.
        around: a context for each run of a program, entered once around all its steps, and around
            compiling and binding; e.g. silences floating point warnings.
        passes: applied to a graph that this backend runs, after what no backend has was decomposed:
            for ops of its own that join several, e.g. matmul and add.  One that would replace what
            a backend named before this one runs is not applied.
        wants: the nodes it wants joined into `Fused` regions, for which `kernels` has a rule: the
            rule compiles `op.graph`, or refuses it, and then its nodes are joined into smaller
            ones.
        joins: `joins(a, b)` gives the region that two regions of such nodes make,
            `a.joined(b, summary)`, or `None` where they are better apart.  Node by node a region
            grows along what one makes and the other reads; then regions are asked about that read
            the same value, of more than one element, and do not read each other.  The answer may
            depend on nothing but the two.  Without `joins` all are joined that read each other,
            and no others.
        capture: `capture(runs, warm)` makes one run of several, e.g. a CUDA graph.  Called when the
            memory is in place, within `around`.  With `warm` it may run them before, without it
            they must not run: they write variables.  The result is best a partial of a C function.
            Raises CaptureRefused where something forbids it.
        stretches: whether `capture` takes any consecutive runs of this backend, and runs nothing:
            then it is called for each stretch of them in a program of several backends.  What it
            makes with `warm` may stop between two runs, where Ctrl-C was pressed.
        loops: whether the runs that such a `capture` gets may have instructions between them
            (`instruction.py`), so that loops and branches of its runs are one run.  It asks for
            Ctrl-C in a loop.
        copy: an array of its own kind that owns its memory, from a view.
        slow_to_build: whether building for it takes seconds, since a compiler runs: a program may
            then start without it (`build(..., wait=False)`).
        flushes: whether numbers below the smallest normal one may be taken for 0.
        sub_byte: whether the rule for an op takes dtypes of less than a byte (i4), too.  Without it
            none does: a rule for i8 would give numbers that i4 does not have.
        lacks: dtypes that its arrays cannot have.
    """

    name: str
    view: Callable[[Any, int, TensorType], Array]
    kernels: Table[KernelRule] = None  # type: ignore[assignment]  # an empty one of its own
    functions: Table[FunctionalRule] = None  # type: ignore[assignment]
    space: Space = HOST
    around: Callable[[], AbstractContextManager[object]] | None = None
    passes: tuple[Pass, ...] = ()
    wants: Callable[[Node], bool] | None = None
    joins: Callable[[Region, Region], Region | None] | None = None
    capture: Callable[[Sequence[Any], bool], Run] | None = None
    stretches: bool = False
    loops: bool = False
    copy: Callable[[Array], Array] | None = None
    sub_byte: Callable[[Op], bool] | None = None
    lacks: frozenset[str] = frozenset()
    flushes: bool = False
    slow_to_build: bool = False

    def __post_init__(self) -> None:
        for name, what in (("kernels", "kernel"), ("functions", "function")):
            if getattr(self, name) is None:
                object.__setattr__(self, name, Table(what))
        object.__setattr__(self, "_compiled", {})
        object.__setattr__(self, "_families", {})

    @classmethod
    def later(cls, name: str, load: Callable[[], Backend], **facts: Any) -> Backend:
        """A backend whose code is imported when more than these facts is asked for.

        A program that ends before it needs generated code imports none of the generator.

        Args:
            name: as of the backend that `load` makes.
            load: imports the code and makes the backend; what it raises is a `BackendError`.
            facts: fields, as of that backend, that programs ask for before they use it: `space` and
                `around`, if not those of the host, `wants`, `slow_to_build`.
        """
        late: Backend = object.__new__(_Late)
        vars(late).update({"name": name, "space": HOST, "around": None, **facts, "_load": load})
        return late

    def __reduce__(self) -> NoReturn:
        raise GraphError(
            f"Backend {self.name!r} cannot be pickled: its kernels are of this process; "
            "send its name, and build() with that there"
        )

    def supports(self, op: Op) -> bool:
        """Whether the backend has a rule for the op; the rule may still refuse the types."""
        return op in self.kernels or op in self.functions

    def compile(
        self, op: Op, types: Sequence[TensorType], constants: frozenset[int] = frozenset()
    ) -> Kernel:
        """The kernel for the op on inputs of these types.  Nothing is run.

        Made once for equal (op as it prints, types, constants), and shared by all programs.

        Args:
            op: of which the backend has a rule.
            types: of its inputs, static.
            constants: positions of the inputs that are the same at each run, and are in place when
                the kernel is bound.

        Raises:
            MissingRule: there is no rule, or it refuses these types; names op, types and the line
                to write.
        """
        types = tuple(types)
        if not self.kernels.compiled(op):
            constants = frozenset()  # a rule on arrays does not know of them
        known: dict[Any, Kernel] = self._compiled  # type: ignore[attr-defined]  # __post_init__
        key = (type(op), op_text(op), types, constants)  # the text: 0.0 == -0.0
        kernel = known.get(key)
        if kernel is None:
            kernel = self._kernel(op, types, constants)
            while len(known) >= _MOST_KERNELS:
                known.pop(next(iter(known)), None)
            known[key] = kernel
        return kernel

    def family(
        self, op: Op, types: Sequence[TensorType], constants: frozenset[int] = frozenset()
    ) -> KernelFamily:
        """The kernels for the op on inputs whose types have named dimensions.  Nothing is run.

        A rule on arrays serves all sizes.  A rule that compiles does so if it takes named
        dimensions and does not refuse these; else the family is not `shared`: its rule is asked
        again for each size, and a program prefers another backend that serves all.

        Raises:
            MissingRule: there is no rule, or its backend does not take these dtypes.
        """
        types = tuple(types)
        if not self.kernels.compiled(op):
            constants = frozenset()
        known: dict[Any, KernelFamily] = self._families  # type: ignore[attr-defined]
        key = (type(op), op_text(op), types, constants)
        family = known.get(key)
        if family is None:
            family = self._family(op, types, constants)
            while len(known) >= _MOST_KERNELS:
                known.pop(next(iter(known)), None)
            known[key] = family
        return family

    def _family(
        self, op: Op, types: tuple[TensorType, ...], constants: frozenset[int]
    ) -> KernelFamily:
        self._check_supported(op, types)
        if not self.kernels.compiled(op):
            return KernelFamily(self.compile)
        if self.kernels.symbolic(op):
            try:
                family = self.kernels[op](op, types, constants)
            except Refused:
                pass
            else:
                if isinstance(family, KernelFamily):
                    return family
                raise GraphError(
                    f"backend {self.name!r}: the rule that compiles {type(op).__name__} returned "
                    f"{family!r:.60} for types of named dimensions ({', '.join(map(str, types))}); "
                    "return a KernelFamily, or raise Refused(why)"
                )
        return KernelFamily(partial(self.compile, constants=constants), shared=False)

    def bind(self, node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> Run:
        """The step that computes `node` from and into these arrays, with memory of its own.

        For tests and trials: programs compile, plan and bind.  Bound rules take arrays of any
        strides here, those of `compiles` contiguous ones.

        Raises:
            MissingRule: as `compile`.
        """
        op, types = node.op, [v.type for v in node.inputs]
        self._check_supported(op, types)
        if not self.kernels.compiled(op):
            return self._bound(op, inputs, outputs, Workspace(self))
        kernel = self.compile(op, types)
        return kernel.bind(
            inputs,
            outputs,
            self._bytes(kernel.workspace_bytes),
            self._bytes(kernel.persistent_bytes),
        )

    def _kernel(self, op: Op, types: tuple[TensorType, ...], constants: frozenset[int]) -> Kernel:
        self._check_supported(op, types)
        if self.kernels.compiled(op):
            kernel: Kernel = self.kernels[op](op, types, constants)
            if not isinstance(kernel, Kernel):
                raise GraphError(
                    f"backend {self.name!r}: the rule that compiles {type(op).__name__} returned "
                    f"{kernel!r:.60}; return a Kernel, or raise Refused(why)"
                )
            return kernel
        return _adapted(self, op, types)

    def _bound(
        self, op: Op, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
    ) -> Run:
        """The run that a bound or a functional rule makes on these arrays."""
        rule = self.kernels.get(op)
        if rule is not None:
            more = (workspace,) if self.kernels.takes_workspace(op) else ()
            run: Run = rule(op, inputs, outputs, *more)
            return run
        function = self.functions[op]
        return partial(_call_and_copy, partial(function, op, *inputs), tuple(outputs))

    def _check_supported(self, op: Op, types: Sequence[TensorType]) -> None:
        name, inputs = type(op).__name__, ", ".join(map(str, types))
        if not self.supports(op):
            raise MissingRule(
                f"backend {self.name!r} has no kernel for {name} on ({inputs}); "
                f"add one with @kernels.on({name})"
            )
        results = op.infer(*types)
        dtypes = [t.dtype for t in (*types, *results)]
        absent = sorted(self.lacks.intersection(dtypes))
        narrow = SUB_BYTE.intersection(dtypes)
        if narrow and not (self.sub_byte is not None and self.sub_byte(op)):
            absent += sorted(narrow)
        if absent:
            gives = f"({inputs}) -> ({', '.join(map(str, results))})"
            one, other = absent[0], "i8" if absent[0] in SUB_BYTE else "i64"
            raise Refused(
                f"backend {self.name!r} has no kernel for {name} on {gives}: its arrays have no "
                f"{one} there; cast to {other} before, or add a backend that takes {one}"
            )

    def _bytes(self, size: int) -> Array:
        """New zeroed memory as a `u8` array; `None` for 0 bytes."""
        return self.view(self.space.allocate(size), 0, TensorType("u8", (size,))) if size else None


class _Late(Backend):
    """A backend of which some fields are known; to read another one makes it a `Backend`."""

    def __getattribute__(self, name: str) -> Any:
        known = object.__getattribute__(self, "__dict__")
        if name not in known and not name.startswith("__"):
            try:
                begin(self)
                known.update(vars(known["_load"]()))
                object.__setattr__(self, "__class__", Backend)
            except Exception as error:  # a build goes on with the next backend
                what = f"backend {known['name']!r} cannot be imported: {error}"
                raise BackendError(what, known["name"]) from error
            finally:
                end(self)
        return object.__getattribute__(self, name)


def _adapted(backend: Backend, op: Op, types: tuple[TensorType, ...]) -> Kernel:
    """The kernel of a rule on arrays.  O(1) binds; nothing is run.

    The rule is bound to memory that nothing reads or writes: once with all arrays apart, and with
    outputs in the bytes of inputs.  That shows whether the rule accepts the types, how many bytes
    of workspace it asks for, and whether a run in place is one call of C.
    """
    outputs = op.infer(*types)
    inplace = tuple([(i, o) for i, o in op.inplace if _fits(types, outputs, i, o)])
    starts, top = [], 0
    for type in (*types, *outputs):
        starts.append(top)
        top += -(-type.size_bytes // ALIGNMENT) * ALIGNMENT
    memory = backend.space.untouched(max(ALIGNMENT, top))
    arrays = [backend.view(memory, *at) for at in zip(starts, (*types, *outputs), strict=True)]
    xs, ys = arrays[: len(types)], arrays[len(types) :]
    workspace_bytes = persistent_bytes = 0
    are_in_c: list[bool] = []
    for over in ({}, *_choices(inplace)):
        asked = Workspace(backend)
        outs = [xs[over[o]] if o in over else y for o, y in enumerate(ys)]
        are_in_c.append(in_c(backend._bound(op, xs, outs, asked)))  # no run is kept: some are large
        workspace_bytes = max(workspace_bytes, asked.workspace_bytes)
        persistent_bytes = max(persistent_bytes, asked.persistent_bytes)

    def bind(
        inputs: Sequence[Array], outputs: Sequence[Array], workspace: Array, persistent: Array
    ) -> Run:
        return backend._bound(op, inputs, outputs, Workspace(backend, True, workspace, persistent))

    return Kernel(
        bind,
        workspace_bytes,
        persistent_bytes,
        inplace,
        all(are_in_c[1:] or are_in_c),
    )


def _fits(types: Sequence[TensorType], outputs: Sequence[TensorType], i: int, o: int) -> bool:
    return i < len(types) and o < len(outputs) and types[i] == outputs[o]


def _choices(inplace: Sequence[tuple[int, int]]) -> list[dict[int, int]]:
    """Choices of an input whose bytes an output gets; each pair is in one of them."""
    choices: list[dict[int, int]] = []
    for i, o in inplace:
        free = next((c for c in choices if o not in c and i not in c.values()), None)
        if free is None:
            choices.append({o: i})
        else:
            free[o] = i
    return choices


def _call_and_copy(function: Callable[[], Any], outputs: tuple[Array, ...]) -> None:
    """Call a functional rule and copy its results into the outputs."""
    results = function()
    for out, result in zip(
        outputs, results if isinstance(results, tuple) else (results,), strict=True
    ):
        out[...] = result
