"""`Kernels`: node -> its compiled kernel, and the backend that it is of.

A node goes to the first backend that takes it.  The runtime itself has kernels for copies between
two spaces, and for ops that say how their bodies run; these kernels bind `Bytes`, not arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, Any, Optional, Protocol

from byparts_graph_ir import (
    Backend,
    Copy,
    Fused,
    GraphError,
    Kernel,
    KernelFamily,
    MissingRule,
    Node,
    Op,
    Space,
    TensorType,
    Types,
    Value,
    add_note,
    has_effect,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_graph_ir.passes.sizes import is_sized
from byparts_runtime.memory.plan import Bytes

if TYPE_CHECKING:
    from byparts_graph_ir import Control
    from byparts_runtime.building.body import Body


class NodeKernel(Frozen):
    """The kernel of a node.

    Attributes:
        backend: the backend that compiled it.
        kernel: compiled for the op and the types of the node.
        constants: positions of its inputs that are the same at each run.
        bodies: those that the node runs, compiled, in the order in which they are bound.
        alignment: of arrays in the memory that it computes in, in bytes: no view begins elsewhere.
        family: of a node with named dimensions: its kernels for all sizes, of which `kernel` is
            none.
    """

    backend: Backend
    kernel: Kernel
    constants: tuple[int, ...] = ()
    bodies: tuple[Body, ...] = ()
    alignment: int = 1
    family: Optional[KernelFamily] = None

    def at(self, node: Node) -> NodeKernel:
        """The kernel of a node that is this one with numbers in the place of names.

        Raises:
            MissingRule: the backend refuses this size.
        """
        assert self.family is not None, "the node has a size"
        kernel = self.family.at(node.op, [v.type for v in node.inputs])
        return replace(self, kernel=kernel, family=None)

    @property
    def workspace_bytes(self) -> int:
        """Bytes for which a planner has to find room while the node runs."""
        return self.kernel.workspace_bytes

    @property
    def inplace(self) -> tuple[tuple[int, int], ...]:
        """Pairs (input, output) that the kernel may put into the same bytes."""
        return self.kernel.inplace


class BodyCompiler(Protocol):
    """Compiles ops that say how their bodies run."""

    def compiled(
        self, op: Op, types: Types, control: Control, constants: tuple[int, ...]
    ) -> NodeKernel:
        """The kernel of the op, whose bodies run as `control` says."""


class Kernels:
    """Node -> its kernel; compiled at the first question for an op and its types.

    Passes that order and compute again make nodes anew, so this is a function of the node.

    Args:
        backends: in the order in which they are asked.
        bodies: makes the compiler of ops with bodies for the memory space of this name.

    Attributes:
        alignments: by memory space, in bytes: what its backends need of arrays there.
    """

    def __init__(self, backends: Sequence[Backend], bodies: Callable[[str], BodyCompiler]) -> None:
        self.backends, self.bodies = tuple(backends), bodies
        self.spaces: dict[str, Space] = {b.space.name: b.space for b in backends}
        self._constants: frozenset[Value] = frozenset()
        self._of_node: dict[Node, NodeKernel] = {}
        self.alignments = alignments(backends)
        self._compiled: dict[tuple[int, Types, tuple[int, ...]], NodeKernel] = {}
        self._shared: dict[tuple[int, tuple[int, ...]], NodeKernel] = {}  # by kernel and constants
        self._ops: list[Op] = []  # kept alive: their ids are keys

    def __call__(self, node: Node) -> NodeKernel:
        """The kernel of a node.

        Raises:
            MissingRule: no backend takes it; says what each answered and what to install.
        """
        known = self._of_node.get(node)
        if known is None:
            known = self._of_node[node] = self._compiled_once(node)
        return known

    @property
    def constants(self) -> frozenset[Value]:
        """The inputs of the program that are the same at each run."""
        return self._constants

    @constants.setter
    def constants(self, values: frozenset[Value]) -> None:
        self._constants = values
        self._of_node.clear()  # what is constant is part of the question

    def use(self, node: Node, kernel: NodeKernel) -> None:
        """Let this be the kernel of a node, which is compiled already."""
        self._of_node[node] = kernel

    def _compiled_once(self, node: Node) -> NodeKernel:
        types = tuple([v.type for v in node.inputs])
        constants = tuple([i for i, v in enumerate(node.inputs) if self._is_constant(v)])
        key = (id(node.op), types, constants)
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compile(node, types, constants)
            if not isinstance(node.op, Copy):  # which reads bytes of any space at any place
                aligned = self.alignments[compiled.backend.space.name]
                compiled = replace(compiled, alignment=aligned)
            shared = compiled.kernel if compiled.family is None else compiled.family
            same = id(shared), compiled.constants  # one object for all that share it
            compiled = self._compiled[key] = self._shared.setdefault(same, compiled)
            self._ops.append(node.op)
        return compiled

    def space(self, node: Node) -> str:
        """The name of the memory space in which a node computes."""
        return self(node).backend.space.name

    def aligned(self, alignment: int) -> int:
        """Raise an alignment of values to a multiple of what each memory space needs."""
        needed = lcm(*self.alignments.values())
        return alignment if alignment % needed == 0 else lcm(alignment, needed)

    def _is_constant(self, v: Value) -> bool:
        return v in self.constants if v.node is None else is_constant(v.node)

    def _compile(self, node: Node, types: Types, constants: tuple[int, ...]) -> NodeKernel:
        if isinstance(node.op, Copy) and {node.op.space, node.op.source} <= self.spaces.keys():
            backend = runtime_backend(self.spaces[node.op.space])
            copy = partial(_copy_kernel, self.spaces[node.op.source], self.spaces[node.op.space])
            if is_sized(node):
                return NodeKernel(backend, copy(node.op, types))
            return NodeKernel(backend, Kernel(_unsized), family=KernelFamily(copy))
        refusals, sized = [], is_sized(node)
        for_each: Optional[NodeKernel] = None  # of a backend that has none for all sizes
        for backend in self.backends:
            if for_each is not None and backend.space.name != for_each.backend.space.name:
                continue  # to compile costs less than to copy back and forth at each run
            if not backend.supports(node.op):
                refusals.append(f"{backend.name}: has no kernel for it")
                continue
            family = None
            try:
                if sized:
                    kernel = backend.compile(node.op, types, frozenset(constants))
                else:
                    family = backend.family(node.op, types, frozenset(constants))
                    kernel = Kernel(_unsized, source=family.source)
            except MissingRule as error:
                refusals.append(f"{backend.name}: {error}")
                continue
            except Exception as error:
                add_note(error, f"while compiling {describe(node)} on {backend.name!r}")
                raise
            fixed = constants if backend.kernels.compiled(node.op) else ()
            compiled = NodeKernel(backend, kernel, fixed, family=family)
            if family is None or family.shared:
                return compiled
            if not (backend.slow_to_build or backend.kernels.symbolic(node.op)):
                return compiled  # it knows nothing of names, and is asked at each size
            refusals.append(f"{backend.name}: has no kernel for all sizes of it")
            if not isinstance(node.op, Fused):  # the parts of a region may have such kernels
                for_each = for_each or compiled
        if for_each is not None:
            return for_each
        if not sized and type(node.op).control is not Op.control:
            # its bodies are compiled for each size, and this stands for them
            return NodeKernel(runtime_backend(next(iter(self.spaces.values()))), Kernel(_unsized))
        control = node.op.control(*types)
        if control is None:
            raise _missing(node, refusals)
        return self._with_bodies(node, types, control, constants)

    def _with_bodies(
        self, node: Node, types: Types, control: Control, constants: tuple[int, ...]
    ) -> NodeKernel:
        """The kernel of a node with bodies, in the first space that has kernels for all of them."""
        answers: dict[str, MissingRule] = {}
        for space in self.spaces:
            try:
                return self.bodies(space).compiled(node.op, types, control, constants)
            except MissingRule as error:
                answers[space] = error
        if len(answers) == 1:
            raise next(iter(answers.values()))
        said = "; ".join(f"in {space}: {error}" for space, error in answers.items())
        raise MissingRule(
            f"{node.op.name}: its bodies run in one memory space, and none has kernels for all of "
            f"their nodes; {said}"
        )


def _unsized(*_: object) -> Run:
    raise GraphError("a kernel for all sizes is bound at one: take `NodeKernel.at`")


def alignments(backends: Sequence[Backend]) -> dict[str, int]:
    """By the name of a memory space, the alignment of arrays that suits all its backends, in bytes.

    Backends of one memory may each bring an object for it, with needs of its own.
    """
    by_space: dict[str, int] = {}
    for b in backends:
        by_space[b.space.name] = lcm(by_space.get(b.space.name, 1), b.space.alignment)
    return by_space


def is_constant(node: Node) -> bool:
    """Whether the node gives the same at each run."""
    return not node.inputs and not has_effect(node.op)


def runtime_backend(space: Space) -> Backend:
    """The backend that stands for the runtime: its kernels bind `Bytes` in the place of arrays."""
    return Backend("runtime", _bytes, space=space)


def _bytes(memory: Any, offset: int, type: object) -> Bytes:
    return Bytes(memory, offset)


def _copy_kernel(source: Space, target: Space, op: Op, types: Sequence[TensorType]) -> Kernel:
    return Kernel(partial(_bind_copy, source, target, types[0].size_bytes))


def _bind_copy(
    source: Space,
    target: Space,
    size_bytes: int,
    inputs: Sequence[Bytes],
    outputs: Sequence[Bytes],
    *_: object,
) -> Run:
    return partial(_copy, source, inputs[0], target, outputs[0], size_bytes)


def _copy(source: Space, x: Bytes, target: Space, y: Bytes, size_bytes: int) -> None:
    source.synchronize()
    target.write(y.memory, y.offset, source.read(x.memory, x.offset, size_bytes))


def describe(node: Node) -> str:
    """Op, types and line of a node, for errors."""
    inputs = ", ".join(str(v.type) for v in node.inputs)
    outputs = ", ".join(str(v.type) for v in node.outputs)
    origin = f", created at {node.where}" if node.where else ""
    return f"{node.op.name}: ({inputs}) -> ({outputs}){origin}"


def _missing(node: Node, refusals: Sequence[str]) -> MissingRule:
    from byparts_graph_ir.parts.install import install_command  # only for a message

    types = ", ".join(str(v.type) for v in node.inputs)
    name = type(node.op).__name__
    error = MissingRule(f"no kernel for {name} on ({types}); tried {'; '.join(refusals)}")
    if node.where:
        add_note(error, f"created at {node.where}")
    if type(node.op).decompose is not Op.decompose:
        how = install_command("byparts-optimize")
        return add_note(error, f"byparts-optimize decomposes it: {how}")
    how = install_command("byparts-kernels-numpy")
    add = f'add a backend that has it: {how}, backends=(..., "numpy")'
    return add_note(error, f"{add}; or write it with @kernels.on({name})")
