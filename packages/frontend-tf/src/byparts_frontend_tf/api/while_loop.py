"""`tf.while_loop`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.graph.body import STATE, Body
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    pack_sequence_as,
)
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.loops import lower_while
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType
from byparts_tf_files.shape import Dims, TensorShape, as_dims, shown


def _loop_dtypes(inputs: Sequence[Tensor], states: Sequence[Tensor], **_: Any) -> list[DType]:
    return [t.dtype.base_dtype for t in states]


def _loop_shapes(inputs: Sequence[Tensor], states: Sequence[Tensor], **_: Any) -> list[Dims]:
    return [t.dims for t in states]


WHILE = Kind(
    "While",
    special=lower_while,
    shape=_loop_shapes,
    dtype=_loop_dtypes,
)


@symbol("while_loop")
def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: Any = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: Optional[str] = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`body` of the loop variables as long as `cond` of them holds; their last values.

    Args:
        cond: takes the loop variables, gives a bool tensor.
        body: takes them, gives new ones of the same structure, dtypes and shapes.
        loop_vars: a list or tuple of tensors, TensorArrays, nested structures.
        shape_invariants: shapes that hold in all rounds, where they are less than the first ones.
        parallel_iterations: accepted.
        back_prop: accepted.
        swap_memory: accepted.
        name: of the scope.
        maximum_iterations: the most rounds.
        return_same_structure: whether a single variable stays in its list.

    Raises:
        TypeError: `cond` or `body` cannot be called; dtypes or structures differ.
        ValueError: there is no variable; a shape does not hold; other structures.
    """
    if not callable(cond) or not callable(body):
        raise TypeError("cond and body must be callable.")
    if isinstance(loop_vars, (list, tuple)) and not loop_vars:
        raise ValueError("No loop variables provided")
    if not isinstance(loop_vars, (list, tuple, dict)):
        loop_vars = [loop_vars]
    with name_scope(name, "while", []):
        loop = _Loop(loop_vars, shape_invariants)
        most = None
        if maximum_iterations is not None:
            most = convert_to_tensor(maximum_iterations, name="maximum_iterations")
        results = loop.traced(cond, body, most)
    packed = pack_sequence_as(loop.structure, results)
    if not return_same_structure and isinstance(packed, (list, tuple)) and len(results) == 1:
        return packed[0]
    return packed


class _Loop:
    """The states of a loop, and its two functions, called once."""

    def __init__(self, loop_vars: Any, shape_invariants: Any) -> None:
        self.structure = loop_vars
        self._given = [
            v if hasattr(v, "_array_flow") else convert_to_tensor(v) for v in flatten(loop_vars)
        ]
        self._first = [_value(v) for v in self._given]
        self._dims = self._invariants(shape_invariants)
        self._body = Body(get_default_graph(), "while")
        with self._body.entered():
            self.states = [
                STATE(name="Merge", dtype=t.dtype.base_dtype, dims=d)
                for t, d in zip(self._first, self._dims, strict=True)
            ]
            self._inside = [_as(v, s) for v, s in zip(self._given, self.states, strict=True)]

    def _invariants(self, given: Any) -> list[Dims]:
        if given is None:
            return [t.dims for t in self._first]
        shapes = _flat_shapes(given)
        if len(shapes) != len(self._first):
            raise ValueError(
                f"{len(shapes)} shape_invariants for {len(self._first)} loop variables"
            )
        for t, dims in zip(self._first, shapes, strict=True):
            if not _holds(t.dims, dims):
                raise ValueError(
                    f"The shape invariant specified for {t.name} is not compatible with the "
                    "initial shape of the loop variable. It enters the loop with shape "
                    f"{shown(t.dims)}, but the specified shape invariant is {shown(dims)}."
                )
        return shapes

    def traced(self, cond: Any, body: Any, most: Optional[Tensor]) -> list[Any]:
        """The results of the loop."""
        with self._body.entered():
            test = convert_to_tensor(self._called(cond))
            made = self._called(body)
            leaves = flatten(self._packed(made))
            news = [_value(v, s.dtype) for v, s in zip(leaves, self.states, strict=True)]
        self._check(news, leaves)
        targets = [test, *news]
        captured, waited_for = self._body.captured(targets)
        inputs = (*self._first, *captured, *([] if most is None else [most]))
        op = WHILE.operation(
            inputs,
            "While",
            states=self.states,
            cond=test,
            news=news,
            body=self._body,
            maximum_iterations=most,
            elements=[_element(v) for v in leaves],
        )
        op._control_inputs = tuple(dict.fromkeys((*op._control_inputs, *waited_for)))
        return [_as(v, out) for v, out in zip(leaves, op.outputs, strict=True)]

    def _called(self, function: Any) -> Any:
        packed = pack_sequence_as(self.structure, self._inside)
        return function(**packed) if isinstance(packed, dict) else function(*packed)

    def _packed(self, made: Any) -> Any:
        structure = self.structure
        if not is_nested(made) or (
            isinstance(structure, (list, tuple)) and len(structure) == 1 and not _is_one(made)
        ):
            made = [made]
        if isinstance(made, (list, tuple)) and isinstance(structure, (list, tuple)):
            assert_same_structure(list(structure), list(made), check_types=False)
        else:
            assert_same_structure(structure, made, check_types=False)
        return made

    def _check(self, news: Sequence[Tensor], leaves: Sequence[Any]) -> None:
        for state, new, dims, leaf in zip(self.states, news, self._dims, leaves, strict=True):
            if new.dtype.base_dtype is not state.dtype.base_dtype:
                raise TypeError(
                    f"A loop variable of dtype {state.dtype.name} becomes {new.dtype.name}: {new}"
                )
            if not hasattr(leaf, "_array_flow") and not _holds(new.dims, dims):
                raise ValueError(
                    f"The shape for {state.name} is not an invariant for the loop. It enters the "
                    f"loop with shape {shown(dims)}, but has shape {shown(new.dims)} after one "
                    "iteration. Provide shape invariants using either the `shape_invariants` "
                    "argument of tf.while_loop or set_shape() on the loop variables."
                )


def _is_one(made: Any) -> bool:
    return isinstance(made, (list, tuple)) and len(made) == 1


def _value(given: Any, dtype: Optional[DType] = None) -> Tensor:
    """A tensor for a loop variable: its own, or the flow of an array."""
    if hasattr(given, "_array_flow"):
        flow: Tensor = given._array_flow()
        return flow
    wanted = None if dtype is None or hasattr(given, "dtype") else dtype
    made = convert_to_tensor(given, wanted)
    return identity(made) if made.variable is not None else made


def _as(given: Any, tensor: Tensor) -> Any:
    """The tensor, or an array with it as its flow."""
    return given._with_flow(tensor) if hasattr(given, "_with_flow") else tensor


def _element(given: Any) -> Optional[tuple[int, ...]]:
    dims = getattr(given, "_element_dims", None)
    return None if dims is None or None in dims else dims


def _flat_shapes(given: Any) -> list[Dims]:
    """Shapes in a structure: lists of numbers are none here, TensorShapes are."""
    if isinstance(given, TensorShape):
        return [given._dims]
    if isinstance(given, dict):
        return [d for k in sorted(given) for d in _flat_shapes(given[k])]
    if isinstance(given, (list, tuple)):
        return [d for v in given for d in _flat_shapes(v)]
    return [as_dims(given)]


def _holds(dims: Dims, invariant: Dims) -> bool:
    """Whether all tensors of a shape are of the invariant."""
    if invariant is None:
        return True
    if dims is None or len(dims) != len(invariant):
        return False
    return all(b is None or a == b for a, b in zip(dims, invariant, strict=True))
