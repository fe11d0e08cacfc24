"""Rules of backends whose code is generated: which ops have one, and how one op becomes loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

import byparts_opset as ops
from byparts_graph_ir import (
    Fused,
    Graph,
    Input,
    Kernel,
    KernelFamily,
    Node,
    Op,
    Refused,
    Table,
    TensorType,
)
from byparts_graph_ir.model.digest import op_text
from byparts_op_loops.extents import has_elements
from byparts_op_loops.function import Function, function
from byparts_op_loops.regions.axes import CONSTANTS, kinds, taken
from byparts_tensor_ir.expression import ExpressionError
from byparts_tensor_ir.statement import Func

Rule = Callable[[Op, Sequence[TensorType], frozenset[int]], Kernel]
Pairs = tuple[tuple[int, int], ...]  # (input, output) that may be one array
Code = TypeVar("Code")


class LoopKernels(Table[Any]):
    """Rules of a backend; beside them all ops of the table `function` have one.

    Whether an op is in that table loads its lowering, so it is asked when the op is met.

    Args:
        whole: the rule of those ops.
        symbolic: whether that rule takes named dimensions.
    """

    def __init__(self, whole: Callable[..., Any], *, symbolic: bool = False) -> None:
        super().__init__("kernel")
        self._whole, self._whole_symbolic = whole, symbolic

    def get(self, op: Op | type[Op]) -> Any:
        """The rule for an op, or `None`."""
        rule = super().get(op)
        if rule is None and function.get(op) is not None:
            kind = op if isinstance(op, type) else type(op)
            self._compiled.add(kind)
            if self._whole_symbolic:
                self._symbolic.add(kind)
            rule = self._rules[kind] = self._whole
        return rule

    def __iter__(self) -> Iterator[type[Op]]:
        for kind in function:
            self.get(kind)
        return super().__iter__()

    def add_regions(
        self,
        region: Callable[[Graph], Kernel],
        nothing: Callable[[Pairs], Kernel],
        constant: Rule,
        family: Callable[[Graph], KernelFamily] | None = None,
    ) -> None:
        """Give each op of regions a rule: one op is a region of one node.

        Args:
            region: the kernel of a region.
            nothing: the kernel of an op whose results have no elements; it gets the pairs that may
                be one array.
            constant: the rule for what depends on no element of an input.
            family: the kernels of a region whose types have named dimensions, if it takes such.
        """
        named = family is not None

        def alone(
            op: Op, types: Sequence[TensorType], constants: frozenset[int]
        ) -> Kernel | KernelFamily:
            inputs = tuple([Input(t) for t in types])
            node = Node(op, inputs)
            results = [v.type for v in node.outputs]
            if is_symbolic(op, types):
                if named and not all(map(has_elements, results)):
                    pairs = tuple([(i, o) for i, o in op.inplace if types[i] == results[o]])
                    return KernelFamily(lambda sized, numbers: nothing(pairs))
                if family is None or not taken(node):
                    raise Refused(f"{type(op).__name__} of named dimensions is not generated")
                return family(Graph.of(inputs, node.outputs))
            if not any(t.size for t in results):
                return nothing(tuple([(i, o) for i, o in op.inplace if types[i] == results[o]]))
            if not any(t.size for t in types):
                return constant(op, types, constants)
            if not taken(node):
                listed = ", ".join(map(str, types))
                raise Refused(f"{type(op).__name__} on ({listed}) is not generated")
            return region(Graph.of(inputs, node.outputs))

        self.compiles(*kinds(), symbolic=named)(alone)
        at_each_size = for_all_sizes(constant) if named else constant
        self.compiles(*CONSTANTS, ops.Range, ops.Eye, symbolic=named)(at_each_size)


def is_symbolic(op: Op, types: Sequence[TensorType]) -> bool:
    """Whether a dimension of its inputs, outputs or body, or a field of it, is no number yet."""
    if any(isinstance(getattr(op, name), str) for name in op.size_fields):
        return True
    inside = [v.type for v in op.graph.values] if isinstance(op, Fused) else op.infer(*types)
    return not all(t.static for t in (*types, *inside))


def for_all_sizes(rule: Rule) -> Callable[..., Kernel | KernelFamily]:
    """The rule, which compiles nothing, for named dimensions too: it is asked at each size."""

    def family(
        op: Op, types: Sequence[TensorType], constants: frozenset[int]
    ) -> Kernel | KernelFamily:
        if is_symbolic(op, types):
            return KernelFamily(lambda sized, numbers: rule(sized, numbers, constants))
        return rule(op, types, constants)

    return family


def stages_of(graph: Graph, few_columns: int = 0) -> str:
    """The text of the stages by which a region becomes loops, for `Kernel.stages`.

    Lowers the region again: a program whose code is on the disk has not done it.
    """
    from byparts_op_loops.regions.region import RegionLoops

    return str(RegionLoops(graph, few_columns))


def later(module: str, name: str) -> Callable[..., Any]:
    """A function whose module, which has an emitter or large tables, is imported when it is called.

    Rules of a backend that are named so cost nothing where their code is found on the disk.
    """

    def function(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    return function


def function_code(
    op: Op,
    types: Sequence[TensorType],
    loops: Callable[[Op, Sequence[TensorType]], Function],
    compiled: Callable[[bytes, Func, Pairs], Code],
) -> tuple[Function, Code, Code, Pairs]:
    """The code of an op of the table `function`.

    Args:
        op: what to compute.
        types: of its inputs.
        loops: the function of an op.
        compiled: the code of (key, function, pairs that may be one array).

    Returns:
        The function, its code, its code where input 0 and output 0 are one array, and the pairs
        that may be one array.

    Raises:
        Refused: a dtype that its expressions do not have.
    """
    results = op.infer(*types)
    about = f"{op_text(op)} of {', '.join(map(str, types))}"
    try:
        whole = loops(op, types)
        plain = over = compiled(about.encode(), whole.func, ())
        if whole.over is not None:
            over = compiled(f"{about} in place".encode(), whole.over, ((0, 0),))
    except ExpressionError as error:  # some are met when a sum is emitted
        takes, gives = (", ".join(map(str, kinds)) for kinds in (types, results))
        raise Refused(f"{type(op).__name__} on ({takes}) -> ({gives}): {error}") from error
    pairs = tuple([(i, o) for i, o in whole.inplace if types[i] == results[o]])
    return whole, plain, over, pairs
