"""Step 2 of `build`: a kernel for each node, before anything is planned.

A node goes to the first backend that takes it.  Regions that no backend takes are parted; then what
depends on nothing is taken out of the program (`hoist.py`), since a kernel of a region may want its
constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Optional, Protocol, Union

from byparts_graph_ir import (
    Backend,
    Branches,
    Copy,
    Fused,
    Graph,
    Kernel,
    Loop,
    MissingRule,
    Node,
    Op,
    OptimizationBarrier,
    Space,
    Stage,
    TensorType,
    Value,
    add_note,
    has_effect,
    parted,
)
from byparts_graph_ir.lazy_dataclass import dataclass, replace
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.hoist import hoist
from byparts_runtime.building.lower import Lowered, fusing, legal
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.signature import Signature
from byparts_runtime.building.spaces import copying, with_copies


@dataclass(frozen=True)
class Chosen:
    """The kernel of a node, and of which backend it is.

    Attributes:
        backend: which.
        kernel: compiled for the op and the types of the node.
        constants: positions of its inputs that are the same at each run.
    """

    backend: Backend
    kernel: Kernel
    constants: tuple[int, ...] = ()

    @property
    def workspace_bytes(self) -> int:
        """What a planner has to find room for while the node runs."""
        return self.kernel.workspace_bytes

    @property
    def inplace(self) -> tuple[tuple[int, int], ...]:
        """Pairs (input, output) that the kernel may put into the same bytes."""
        return self.kernel.inplace


class BodyCompiler(Protocol):
    """What compiles an op that runs bodies; its kernels bind addresses (`Bytes`), no arrays."""

    @property
    def backend(self) -> Backend:
        """Stands for the runtime, where a backend is asked for."""

    def kernel(
        self,
        op: Op,
        types: tuple[TensorType, ...],
        control: Union[Branches, Loop],
        constants: Collection[int],
    ) -> Kernel:
        """The kernel of the op, whose bodies run as `control` says."""


class Kernels:
    """Node -> its kernel; compiled at the first question for an op and its types.

    Passes that order and compute again make nodes anew, so this is a function of the node.

    Attributes:
        backends: in the order in which they are asked.
        bodies: gives what compiles ops that none of them has and that say how their bodies run.
        constants: the inputs of the program that are the same at each run.
    """

    def __init__(self, backends: Sequence[Backend], bodies: Callable[[], BodyCompiler]) -> None:
        self.backends, self.bodies = tuple(backends), bodies
        self.spaces: dict[str, Space] = {b.space.name: b.space for b in backends}
        self.constants: frozenset[Value] = frozenset()
        self._known: dict[tuple[int, tuple[TensorType, ...], tuple[int, ...]], Chosen] = {}
        self._same: dict[tuple[int, tuple[int, ...]], Chosen] = {}  # by kernel and constants
        self._ops: list[Op] = []  # kept alive: their ids are keys

    def __call__(self, node: Node) -> Chosen:
        """The kernel of a node.

        Raises:
            MissingRule: no backend takes it; says what each answered and what to install.
        """
        types = tuple([v.type for v in node.inputs])
        constants = tuple([i for i, v in enumerate(node.inputs) if self._is_constant(v)])
        key = (id(node.op), types, constants)
        chosen = self._known.get(key)
        if chosen is None:
            chosen = self._chosen(node, types, constants)
            same = id(chosen.kernel), chosen.constants  # one object for all nodes that share it
            chosen = self._known[key] = self._same.setdefault(same, chosen)
            self._ops.append(node.op)
        return chosen

    def _is_constant(self, v: Value) -> bool:
        if v.node is None:
            return v in self.constants
        return is_constant(v.node)

    def _chosen(
        self, node: Node, types: tuple[TensorType, ...], constants: tuple[int, ...]
    ) -> Chosen:
        if isinstance(node.op, Copy) and {node.op.space, node.op.source} <= self.spaces.keys():
            return Chosen(*copying(node.op, types[0], self.spaces))
        refusals = []
        for backend in self.backends:
            if not backend.supports(node.op):
                refusals.append(f"{backend.name}: has no kernel for it")
                continue
            try:
                kernel = backend.compile(node.op, types, frozenset(constants))
            except MissingRule as error:
                refusals.append(f"{backend.name}: {error}")
                continue
            except Exception as error:
                add_note(error, f"while compiling {describe(node)} on {backend.name!r}")
                raise
            return Chosen(backend, kernel, constants if backend.kernels.compiled(node.op) else ())
        control = node.op.control(*types)
        if control is not None:
            compiler = self.bodies()
            kernel = compiler.kernel(node.op, types, control, constants)
            return Chosen(compiler.backend, kernel, constants)
        raise _missing(node, refusals)


@dataclass(frozen=True)
class Compiled:
    """The graph that runs, with a kernel for each node, and the constants that it reads.

    Attributes:
        graph: its last inputs are the outputs of `constants`, in order.
        constants: nodes that are run once, when the program is loaded.
    """

    graph: Graph
    signature: Signature
    kernels: Kernels
    constants: tuple[Node, ...]
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        names = Counter(self.kernels(node).backend.name for node in self.graph.nodes)
        where = ", ".join(f"{count} on {name}" for name, count in names.items())
        most = max((self.kernels(n).workspace_bytes for n in self.graph.nodes), default=0)
        kept = sum(self.kernels(n).kernel.persistent_bytes for n in self.graph.nodes)
        facts = f"largest workspace {most:,} bytes, persistent {kept:,} bytes"
        return f"compiled   {len(self.graph.nodes)} kernels ({where}); {facts}"


def compile_kernels(
    lowered: Lowered,
    parts: Parts,
    options: BuildOptions,
    fixed: Collection[int] = (),
    bodies: Optional[BodyCompiler] = None,
) -> Compiled:
    """Compile each node, part the regions that no backend takes, and take the constants out.

    Args:
        lowered: what step 1 gave.
        parts: with the backends.
        options: of the program, and of the bodies in it.
        fixed: positions of inputs that are the same at each run, beside the constants.
        bodies: compiles ops with bodies; by default a compiler of its own, once there is one.

    Raises:
        MissingRule: no backend takes a node.
    """
    compiler = partial(_body_compiler, parts, options) if bodies is None else lambda: bodies
    kernels, stages = Kernels(parts.backends, compiler), list(lowered.stages)
    with parts.context():
        graph = _without_barriers(_parted(lowered.graph, kernels, parts, stages), stages)
        start = perf_counter()
        graph, constants = hoist(graph)
        signature = replace(lowered.signature, constants=sum(len(n.outputs) for n in constants))
        given = [graph.inputs[i] for i in fixed]
        kernels.constants = frozenset((*signature.constant_values(graph), *given))
        stages.append(Stage("hoist", graph, perf_counter() - start))
        if parts.several:
            graph = with_copies(graph, constants, signature, kernels, parts, stages)
        for node in (*constants, *graph.nodes):
            kernels(node)  # now: what is missing is said before anything is planned
    return Compiled(graph, signature, kernels, constants, tuple(stages))


def _body_compiler(parts: Parts, options: BuildOptions) -> BodyCompiler:
    from byparts_runtime.building.bodies import Bodies  # not at the start of every program

    return Bodies(parts, options)


def is_constant(node: Node) -> bool:
    """Whether the node gives the same at each run."""
    return not node.inputs and not has_effect(node.op)


def describe(node: Node) -> str:
    """Op, types and line of a node, for errors."""
    inputs = ", ".join(str(v.type) for v in node.inputs)
    outputs = ", ".join(str(v.type) for v in node.outputs)
    made = f", created at {node.where}" if node.where else ""
    return f"{node.op.name}: ({inputs}) -> ({outputs}){made}"


def _parted(graph: Graph, kernels: Kernels, parts: Parts, stages: list[Stage]) -> Graph:
    """The graph with smaller regions in the place of those that no backend takes.

    The nodes of a refused region are legalized and fused again, in regions of at most half as many.
    """
    refused: set[Op] = set()
    while found := dict(_refused(graph.nodes, kernels)):
        start = perf_counter()
        refused |= found.keys()
        graph = parted(graph, lambda node: node.op in found)
        try:
            graph = legal(parts, graph, refused)
        except MissingRule as error:
            raise add_note(error, f"regions were refused: {next(iter(found.values()))}") from None
        for again in fusing(parts, refused):
            graph = again.run(graph)
        stages.append(Stage("part", graph, perf_counter() - start))
    return graph


def _refused(nodes: Iterable[Node], kernels: Kernels) -> Iterator[tuple[Op, str]]:
    """The regions that no backend takes, and what the backends said."""
    for node in nodes:
        if isinstance(node.op, Fused):
            try:
                kernels(node)
            except MissingRule as error:
                yield node.op, str(error).partition("; tried ")[2]


def _without_barriers(graph: Graph, stages: list[Stage]) -> Graph:
    """The graph in the same order, without barriers.

    A barrier keeps what is computed twice on purpose from being merged or joined with the first
    time; nothing after this does that.
    """
    if not any(isinstance(node.op, OptimizationBarrier) for node in graph.nodes):
        return graph
    start = perf_counter()
    graph = graph.rewrite(past_barrier)
    stages.append(Stage("barriers", graph, perf_counter() - start))
    return graph


def past_barrier(node: Node) -> Optional[tuple[Value, ...]]:
    """The value that a barrier passes on; no barrier stays as it is."""
    return node.inputs[:1] if isinstance(node.op, OptimizationBarrier) else None


def _missing(node: Node, refusals: Sequence[str]) -> MissingRule:
    from byparts_graph_ir.install import install_command  # only for a message

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
