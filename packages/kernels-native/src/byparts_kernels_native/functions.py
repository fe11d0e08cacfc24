"""Ops that are written as functions of whole tensors; a run of which may raise an error."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Kernel, KernelFamily, Op, Refused, TensorType
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.digest import op_text
from byparts_kernels_native import code
from byparts_kernels_native.checked import Checked
from byparts_kernels_native.generated import Generated, generated
from byparts_kernels_native.symbolic import symbolic
from byparts_op_loops.extents import are_determined, names_of, sizes_between, variable_name
from byparts_op_loops.function import function
from byparts_op_loops.rules import Pairs, for_all_sizes, function_code, is_symbolic
from byparts_opset.dtypes import numpy_dtype
from byparts_tensor_ir.statement import Func

_SORTED = 256  # numbers moved for each element, which take longer than to sort


def named_or_whole(
    op: Op, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """The kernel of `whole`; of named dimensions a step of Python, where NumPy is as fast.

    Raises:
        Refused: as `whole`; or code of one size is much faster than NumPy.  A program then takes
            the op's kernel from the next backend that serves all sizes; a size that is called often
            is compiled for itself, with kernels of `whole`.
    """
    if not is_symbolic(op, types):
        return whole(op, types, constants)
    if isinstance(op, _DRAWS):
        return _drawn(op, types)
    if not isinstance(op, _OF_NUMPY):
        raise Refused(f"{type(op).__name__} has code for one size alone")
    return _at_each_size(op, types, constants)


def whole(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The kernel of an op of the table `function`.

    Raises:
        Refused: a dtype that its expressions do not have.
    """

    def compiled(key: bytes, func: Func, pairs: Pairs) -> Generated:
        return generated(key, lambda: (func, pairs), (type(op),))

    loops, plain, over, pairs = function_code(op, types, lambda o, t: function[o](o, t), compiled)

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        name = (over if inputs[:1] == outputs[:1] else plain).name
        if loops.indices is None:
            return code.call(name, [*inputs, *outputs, workspace or 0])
        return Checked(op, types, loops.indices, name, (*inputs, *outputs), workspace or 0)

    return Kernel(bind, plain.workspace_bytes, 0, pairs, loops.indices is None, plain.source)


def _drawn(op: Op, types: Sequence[TensorType]) -> KernelFamily:
    """Random draws for all sizes: the same bits as those of one size, for each block is counted.

    Raises:
        Refused: the type of the result does not say each of its sizes.
    """
    (y,) = op.infer(*types)
    if not are_determined(names_of(y), [y]):
        raise Refused(f"{op.name}: {y} does not say its sizes")
    key = f"{op_text(op)} of {', '.join(map(str, types))}".encode()
    sized_code = symbolic(key, lambda: (function[op](op, types).func, ()), (type(op),))

    def at(sized: Op, numbers: Sequence[TensorType]) -> Kernel:
        sizes = sizes_between([(y, sized.infer(*numbers)[0])])
        return sized_code.at({variable_name(name): n for name, n in sizes.items()})

    return KernelFamily(at, source=sized_code.function.source)


def top_k(
    op: ops.TopK, types: Sequence[TensorType], constants: frozenset[int]
) -> Kernel | KernelFamily:
    """Elements are put in their places one by one; where that moves too many, NumPy sorts.

    Raises:
        Refused: as `whole`.
    """
    if is_symbolic(op, types):
        return _at_each_size(op, types, constants)
    n, k = types[0].dims[-1], op.k
    moved = k * k * (1 + log(n / k)) if k else 0  # of numbers in random order
    return evaluated(op, types, constants) if moved > _SORTED * n else whole(op, types, constants)


def evaluated(op: Op, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """A step of Python: what the op itself computes of the arrays, copied to the outputs."""
    over = types[0] == op.infer(*types)[0]

    def run(inputs: Sequence[int], outputs: Sequence[int]) -> None:
        places = zip(inputs, types, strict=True)
        flat = [np.ctypeslib.as_array(_bytes(x, t)).view(numpy_dtype(t.dtype)) for x, t in places]
        arrays = [a.reshape(t.dims) for a, t in zip(flat, types, strict=True)]
        for y, result in zip(outputs, op.evaluate(*arrays), strict=True):
            ctypes.memmove(y, np.ascontiguousarray(result).ctypes.data, result.nbytes)

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        return partial(run, tuple(inputs), tuple(outputs))

    return Kernel(bind, inplace=((0, 0),) if over else ())


_DRAWS = (ops.Bernoulli, ops.RandomNormal, ops.RandomUniform, ops.TruncatedNormal)
_at_each_size = for_all_sizes(evaluated)
_OF_NUMPY = (  # which moves rows, or passes over all numbers once, about as fast as code of ours
    *(ops.ArgMax, ops.ArgMin, ops.CumSum, ops.Gather, ops.InRange, ops.OneHot),
    *(ops.Scatter, ops.ScatterAdd),
)


def _bytes(address: int, t: TensorType) -> ctypes.Array[ctypes.c_uint8]:
    """The bytes of a tensor, in place."""
    return (ctypes.c_uint8 * t.size_bytes).from_address(address)
