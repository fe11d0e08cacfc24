"""Updates of weights by an optimizer: all weights of a network in one launch.

A block has a range of elements of one weight.  It finds out which by comparing its number, reads
the elements of the weight, its state and its gradient, computes, and writes over the old ones:

    if block < 12: read w0, m0, v0, dw0 ...        a tree of comparisons
    w, m, v = the op's own arithmetic               once, for all weights
    if block < 12: write w0, m0, v0 ...

So the code of a weight is some loads and stores.  A kernel has at most `MOST_POINTERS` parameters;
more weights, and those of another dtype, are another launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Graph, Input, Refused, TensorType
from byparts_graph_ir.model.frozen import replace
from byparts_kernels_cuda.builder import Builder, array
from byparts_kernels_cuda.products.contraction import has_kernels
from byparts_op_loops.elementwise import element
from byparts_op_loops.regions.axes import CONSTANTS, RESHAPES
from byparts_op_loops.regions.updates import Update
from byparts_tensor_ir.expression import Expr, const
from byparts_tensor_ir.statement import Buffer, Func

MOST_POINTERS = 500  # parameters of a kernel are 4096 bytes at most
_THREADS, _LANES = 256, 4  # of a block; elements of a thread


def update_launches(op: Update, types: Sequence[TensorType]) -> Launches:
    """Launches for the inputs of the op, then its outputs, which may be the same bytes.

    Args:
        op: one of `UPDATES`.
        types: of its inputs.

    Raises:
        Refused: a dtype that expressions do not have.
    """
    count, size = op.count, len(op.groups) * op.count
    inputs = [
        array(f"{name}{i}", (types[k * count + i].size,), types[i].dtype)
        for k, (name, _) in enumerate(op.groups)
        for i in range(count)
    ]
    scalars = tuple([array(name, (), "f32") for name, _ in op.scalars])
    outputs = [array(f"new_{b.name}", (types[i].size,), b.dtype) for i, b in enumerate(inputs)]
    outputs = outputs[: size - count]
    most = (MOST_POINTERS - len(scalars)) // (2 * len(op.groups) - 1)
    kernels = []
    for dtype in dict.fromkeys(t.dtype for t in types[:count]):
        mine = [i for i in range(count) if types[i].dtype == dtype and types[i].size]
        for first in range(0, len(mine), most):
            some = mine[first : first + most]
            arrays = [_Weight(inputs[i::count], outputs[i::count]) for i in some]
            kernels.append(_kernel(_update_of_one(op, dtype), arrays, scalars))
    return Launches((*inputs, *scalars, *outputs), (), tuple(kernels), tuple(op.inplace))


@dataclass(frozen=True)
class _Weight:
    """The arrays of one weight.

    Attributes:
        inputs: of each group: the weight, its state, its gradient.
        outputs: the new ones, of all groups but the gradient.
    """

    inputs: Sequence[Buffer]
    outputs: Sequence[Buffer]

    @property
    def size(self) -> int:
        """Elements of each array."""
        return int(self.inputs[0].shape[0].attr)


def _kernel(graph: Graph, weights: Sequence[_Weight], scalars: Sequence[Buffer]) -> Func:
    """Make the kernel that updates weights of one dtype, each as the graph says."""
    build = Builder()
    begins = [0, *accumulate(-(-w.size // (_THREADS * _LANES)) for w in weights)]
    dtype = weights[0].inputs[0].dtype
    held = [build.buffer("register", "held", (_LANES,), dtype) for _ in weights[0].inputs]
    new = held[: len(weights[0].outputs)]

    def read(weight: _Weight, first: Expr, lane: Expr) -> None:
        for b, own in zip(weight.inputs, held, strict=True):
            build.store(own, (lane,), b[first + lane])

    def write(weight: _Weight, first: Expr, lane: Expr) -> None:
        for b, own in zip(weight.outputs, new, strict=True):
            build.store(b, (first + lane,), own[lane])

    with build.grid(begins[-1], _THREADS) as (block, thread):
        ranges = _Ranges(build, block, thread, weights, begins)
        ranges.each(read)
        with build.unrolled(lane=_LANES) as (lane,):
            values = _computed(graph, [*[own[lane] for own in held], *[s[()] for s in scalars]])
            build.store_all(new, (lane,), values)
        ranges.each(write)
    arguments, results = (
        [b for w in weights for b in w.inputs],
        [b for w in weights for b in w.outputs],
    )
    return build.function("update", (*arguments, *scalars, *results), results)


def _update_of_one(op: Update, dtype: str) -> Graph:
    """The update of a weight of one element, in elementwise ops.

    Raises:
        Refused: a dtype that expressions do not have.
    """
    if not has_kernels(dtype):
        raise Refused(f"{op.name} of weights of {dtype}: no kernels of {dtype}")
    dtypes = [dtype] * len(op.groups) + ["f32"] * len(op.scalars)
    inputs = [Input(TensorType(t, ())) for t in dtypes]
    return Graph.of(inputs, replace(op, count=1).decompose(*inputs) or ())


Act = Callable[[_Weight, Expr, Expr], None]


class _Ranges:
    """Ranges of blocks per weight, and the elements of it that each thread has."""

    def __init__(
        self,
        build: Builder,
        block: Expr,
        thread: Expr,
        weights: Sequence[_Weight],
        begins: Sequence[int],
    ) -> None:
        self.build, self.block, self.thread = build, block, thread
        self.weights, self.begins = weights, begins

    def each(self, act: Act, lower: int = 0, upper: int = 0) -> None:
        """`act(weight, first, lane)` for the elements of a thread, in the blocks of the weight.

        Args:
            act: adds statements for one element, or for one access of neighbours.
            lower: the first weight that is asked for.
            upper: one past the last; 0 for all.
        """
        build, upper = self.build, upper or len(self.weights)
        if upper - lower == 1:
            self._elements(act, lower)
            return
        middle = (lower + upper) // 2
        with build.when(self.block < self.begins[middle]):
            self.each(act, lower, middle)
        with build.when(self.begins[middle] <= self.block):
            self.each(act, middle, upper)

    def _elements(self, act: Act, which: int) -> None:
        build, weight = self.build, self.weights[which]
        first = ((self.block - self.begins[which]) * _THREADS + self.thread) * _LANES
        with build.when(first + (_LANES - 1) < weight.size), build.lanes(_LANES) as lane:
            act(weight, first, lane)
        rest = weight.size % _LANES
        if rest:
            last = weight.size - rest
            with build.when(first.equal(last)), build.unrolled(lane=rest) as (lane,):
                act(weight, const(last), lane)


def _computed(graph: Graph, inputs: Sequence[Expr]) -> list[Expr]:
    """The outputs of a graph of elementwise ops, for one element."""
    known = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        (y,) = node.outputs
        if type(node.op) in CONSTANTS:
            (number,) = node.op.evaluate()
            known[y] = const(number.item(), y.type.dtype)
        elif type(node.op) in RESHAPES:
            known[y] = known[node.inputs[0]]
        else:
            known[y] = element[node.op](node.op, *[known[v] for v in node.inputs])
    return [known[y] for y in graph.outputs]
