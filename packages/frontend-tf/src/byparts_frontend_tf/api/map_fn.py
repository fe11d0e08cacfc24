"""`map_fn`, `scan`, `foldl`, `foldr`: functions of the rows of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.strided_slice import getitem
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype


def _rows(elems: Any) -> tuple[list[Tensor], Any]:
    """The tensors, and how many rows they have."""
    tensors = [convert_to_tensor(e, name="elem") for e in flatten(elems)]
    first = tensors[0]
    if first.dims == ():
        raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
    count = None if first.dims is None else first.dims[0]
    return tensors, getitem(shape_of(first), 0) if count is None else count


def _arrays(tensors: list[Tensor], count: Any) -> list[TensorArray]:
    return [TensorArray(t.dtype, count, False, infer_shape=True).unstack(t) for t in tensors]


@symbol("map_fn")
def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Optional[str] = None,
) -> Any:
    """`fn` of each row of `elems`, stacked.

    Args:
        fn: takes a row, or the structure of rows; gives a tensor or a structure.
        elems: a tensor, or a structure of them with equally many rows.
        dtype: of what `fn` gives, in its structure, where that is not as `elems`.
        parallel_iterations: accepted.
        back_prop: accepted.
        swap_memory: accepted.
        infer_shape: whether all results have one shape.
        name: of the scope.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `elems` has no rows.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, "map", []):
        tensors, count = _rows(elems)
        arrays = _arrays(tensors, count)
        structure = elems if dtype is None else dtype
        kinds = [t.dtype for t in tensors] if dtype is None else flatten(dtype)
        made = [TensorArray(as_dtype(k), count, False, infer_shape=infer_shape) for k in kinds]

        def body(i: Any, *written: Any) -> Any:
            given = pack_sequence_as(elems, [a.read(i) for a in arrays])
            results = flatten(fn(given))
            if len(results) != len(written):
                raise ValueError(f"fn gives {len(results)} tensors where dtype says {len(written)}")
            return (i + 1, *[w.write(i, r) for w, r in zip(written, results, strict=True)])

        _, *last = while_loop(lambda i, *_: i < count, body, (0, *made))
        stacked = [a.stack() for a in last]
        known = tensors[0].dims
        for t in stacked:
            if known is not None and t.dims is not None:
                t.set_shape((known[0], *t.dims[1:]))
        return pack_sequence_as(structure, stacked)


@symbol("scan")
def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: Any = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Any:
    """The results of `fn(result so far, row)`, of each row, stacked.

    Raises:
        TypeError: `fn` cannot be called.
        ValueError: `elems` has no rows.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, "scan", []):
        tensors, count = _rows(elems)
        arrays = _arrays(tensors, count)
        begin = 0
        if initializer is None:
            structure, first = elems, [a.read(count - 1 if reverse else 0) for a in arrays]
            begin = 1
        else:
            structure = initializer
            first = [convert_to_tensor(v) for v in flatten(initializer)]
        made = [TensorArray(t.dtype, count, False, infer_shape=infer_shape) for t in first]
        if begin:
            made = [
                a.write(count - 1 if reverse else 0, t) for a, t in zip(made, first, strict=True)
            ]

        def body(i: Any, state: Any, written: Any) -> Any:
            at = count - 1 - i if reverse else i
            row = pack_sequence_as(elems, [a.read(at) for a in arrays])
            results = flatten(fn(pack_sequence_as(structure, state), row))
            news = [w.write(at, r) for w, r in zip(written, results, strict=True)]
            return i + 1, list(results), news

        _, _, last = while_loop(lambda i, *_: i < count, body, (begin, first, made))
        stacked = [a.stack() for a in last]
        known = tensors[0].dims
        for t in stacked:
            if known is not None and t.dims is not None:
                t.set_shape((known[0], *t.dims[1:]))
        return pack_sequence_as(structure, stacked)


def _fold(fn: Any, elems: Any, initializer: Any, name: Any, scope: str, reverse: bool) -> Any:
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, scope, []):
        tensors, count = _rows(elems)
        arrays = _arrays(tensors, count)
        begin, state = 0, initializer
        if initializer is None:
            state = pack_sequence_as(elems, [a.read(count - 1 if reverse else 0) for a in arrays])
            begin = 1

        def body(i: Any, so_far: Any) -> Any:
            at = count - 1 - i if reverse else i
            row = pack_sequence_as(elems, [a.read(at) for a in arrays])
            return i + 1, fn(so_far, row)

        first = map_structure(convert_to_tensor, state)
        return while_loop(lambda i, _: i < count, body, (begin, first))[1]


@symbol("foldl")
def foldl(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: Any = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Optional[str] = None,
) -> Any:
    """The last result of `fn(result so far, row)`, from the first row on."""
    return _fold(fn, elems, initializer, name, "foldl", False)


@symbol("foldr")
def foldr(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: Any = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Optional[str] = None,
) -> Any:
    """The last result of `fn(result so far, row)`, from the last row on."""
    return _fold(fn, elems, initializer, name, "foldr", True)
