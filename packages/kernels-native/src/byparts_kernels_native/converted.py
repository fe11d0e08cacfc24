"""Kernels of f32 for ops on halves: inputs are converted first, and outputs last.

An op is computed in f32 anyway, and rounded once; where it takes many operations an element, copies
of what it reads and writes cost little time.  They stand in the workspace, those of constants where
what is kept of them does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Kernel, KernelFamily, Op, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import walk
from byparts_kernels_native.regions import region_family
from byparts_op_loops.rules import is_symbolic
from byparts_tensor_ir.expression import HALVES

Rule = Callable[[Op, Sequence[TensorType], frozenset[int]], Any]


def in_f32(rule: Rule) -> Callable[..., Kernel | KernelFamily]:
    """The rule, for halves too, given one for f32."""

    def made(
        op: Op, types: Sequence[TensorType], constants: frozenset[int]
    ) -> Kernel | KernelFamily:
        if not any(t.dtype in HALVES for t in types):
            plain: Kernel | KernelFamily = rule(op, types, constants)
            return plain
        if is_symbolic(op, types):
            return _family(op, types, constants, rule)
        return _Converted(op, types, constants, rule).kernel()

    return made


def _family(
    op: Op, types: Sequence[TensorType], constants: frozenset[int], rule: Rule
) -> KernelFamily:
    """The kernels for all sizes, where those of f32 and the copies are for all sizes.

    Raises:
        Refused: the rule gives f32 no kernels for all sizes.
    """
    inner = rule(op, list(map(_wide, types)), constants)
    if not isinstance(inner, KernelFamily):
        raise Refused(f"{op.name} of halves for all sizes")
    for dtype in {t.dtype for t in (*types, *op.infer(*types)) if t.dtype in HALVES}:
        _casts(dtype, "f32"), _casts("f32", dtype)  # compiled with the rest

    def at(sized: Op, numbers: Sequence[TensorType]) -> Kernel:
        return _Converted(sized, numbers, constants, lambda o, t, _: inner.at(o, t)).kernel()

    return KernelFamily(at, source=inner.source)


class _Converted:
    """The places of copies, and the kernels that make them."""

    def __init__(
        self, op: Op, types: Sequence[TensorType], constants: frozenset[int], rule: Rule
    ) -> None:
        self.inner = rule(op, list(map(_wide, types)), constants)
        self.workspace_bytes = _whole(self.inner.workspace_bytes)
        self.persistent_bytes = _whole(self.inner.persistent_bytes)
        self.kept: dict[int, int] = {}  # constant input -> where it stands in the persistent memory
        self.inputs: dict[int, int] = {}  # other input -> where it stands in the workspace
        self.outputs: dict[int, int] = {}
        self.types, self.results = types, op.infer(*types)
        for i, t in enumerate(types):
            if t.dtype in HALVES and i in constants:
                self.kept[i] = self.persistent_bytes
                self.persistent_bytes += _whole(4 * t.size)
            elif t.dtype in HALVES and i not in op.ignores:
                self.inputs[i] = self._place(t)
        for o, t in enumerate(self.results):
            if t.dtype in HALVES:
                self.outputs[o] = self._place(t)

    def _place(self, t: TensorType) -> int:
        at = self.workspace_bytes
        self.workspace_bytes += _whole(4 * t.size)
        return at

    def kernel(self) -> Kernel:
        """The kernel."""
        wide = {i: _cast(self.types[i], "f32") for i in (*self.kept, *self.inputs)}
        narrow = {o: _cast(_wide(self.results[o]), self.results[o].dtype) for o in self.outputs}

        def bind(inputs: Sequence[int], outputs: Sequence[int], space: Any, kept: Any) -> Run:
            reads, writes = list(inputs), list(outputs)
            for i, at in self.kept.items():
                reads[i] = (kept or 0) + at
                wide[i].bind([inputs[i]], [reads[i]], None, None)()
            first, last = [], []
            for i, at in self.inputs.items():
                reads[i] = (space or 0) + at
                first.append(wide[i].bind([inputs[i]], [reads[i]], None, None))
            for o, at in self.outputs.items():
                writes[o] = (space or 0) + at
                last.append(narrow[o].bind([writes[o]], [outputs[o]], None, None))
            run = self.inner.bind(reads, writes, space, kept)
            return walk.captured([*first, run, *last], False)

        code = "\n".join({k.source: None for k in (self.inner, *wide.values(), *narrow.values())})
        return Kernel(bind, self.workspace_bytes, self.persistent_bytes, (), True, code)


def _wide(t: TensorType) -> TensorType:
    return TensorType("f32", t.shape) if t.dtype in HALVES else t


def _cast(t: TensorType, dtype: str) -> Kernel:
    """Make a kernel that casts as many elements as `t` has, in one row, to `dtype`."""
    return _casts(t.dtype, dtype).at(ops.Cast(dtype), [TensorType(t.dtype, (t.size,))])


def _casts(source: str, dtype: str) -> KernelFamily:
    """The kernels that cast a row of any length: one function serves all copies."""
    x = Input(TensorType(source, ("n",)))
    return region_family(Graph.of([x], [ops.cast(x, dtype)]))


def _whole(bytes: int) -> int:
    """Whole lines."""
    return -(-bytes // 64) * 64
