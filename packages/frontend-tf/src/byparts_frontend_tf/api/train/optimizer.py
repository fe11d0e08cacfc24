"""`tf.train.Optimizer`: gradients of a loss, and operations that change variables by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.gradients import gradients
from byparts_frontend_tf.api.identity import group, identity
from byparts_frontend_tf.api.train.slots import (
    create_slot,
    create_slot_with_initializer,
    create_zeros_slot,
)
from byparts_frontend_tf.api.variables.scatter import totals
from byparts_frontend_tf.api.variables.variables import Variable, assign, assign_add
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import (
    control_dependencies,
    get_collection,
    get_collection_ref,
    init_scope,
    name_scope,
)
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


@symbol("train.Optimizer")
class Optimizer:
    """The base class: a subclass says how one variable changes (`_apply_dense`).

    Args:
        use_locking: accepted: a run changes variables as a whole.
        name: of the scope of the updates, and of slots.

    Raises:
        ValueError: there is no name.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool = False, name: str = "") -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[tuple[str, Any], Any] = {}

    def get_name(self) -> str:
        """The name it was given."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: Optional[str] = None,
        grad_loss: Any = None,
    ) -> Any:
        """An operation that takes one step down `loss`.

        Args:
            loss: a tensor.
            global_step: a variable that is then one more.
            var_list: what to change; by default all trainable variables.
            gate_gradients: accepted: all gradients are computed before any variable is written.
            aggregation_method: accepted.
            colocate_gradients_with_ops: accepted.
            name: of the operation.
            grad_loss: the gradient with respect to `loss`; 1 by default.

        Raises:
            ValueError: no gradient reaches any of the variables.
        """
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(g is None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """The gradient of `loss` with respect to each variable, or `None`, with the variable.

        Raises:
            ValueError: there is no variable.
        """
        if callable(loss) and not isinstance(loss, Tensor):
            loss = loss()
        if var_list is None:
            var_list = get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = list(_flat(var_list))
        if not variables:
            raise ValueError("No variables to optimize.")
        found = gradients(loss, variables, grad_loss)
        return list(zip(found, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """An operation that changes the variables by these gradients.

        Raises:
            ValueError: there is no variable, or no gradient.
        """
        pairs = [(_gradient(g), v) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        wanted = [v for g, v in pairs if g is not None]
        if not wanted:
            raise ValueError(f"No gradients provided for any variable: {[v for _, v in pairs]}.")
        with init_scope():
            self._create_slots(wanted)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs if g is not None]
            if global_step is None:
                made = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    made = assign_add(global_step, 1, name=scope)
        if isinstance(made, Tensor):
            made = made.op
        train = get_collection_ref(GraphKeys.TRAIN_OP)
        if made not in train:
            train.append(made)
        return made

    def _update(self, gradient: Any, variable: Any) -> Any:
        with name_scope(f"update_{variable.op.name}"):
            if isinstance(gradient, IndexedSlices):
                update = self._apply_sparse_duplicate_indices(gradient, variable)
            else:
                update = self._apply_dense(gradient, variable)
            constraint = getattr(variable, "constraint", None)
            if constraint is None:
                return update
            with control_dependencies([update]):
                return assign(variable, constraint(identity(variable._ref())))

    # What a subclass says

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Make the variables that are needed for each of these."""

    def _prepare(self) -> None:
        """Make tensors of the rates."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        """An operation that changes one variable."""
        if type(self)._resource_apply_dense is not Optimizer._resource_apply_dense:
            return self._resource_apply_dense(grad, var)
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """Sum the rows of equal indices at the first of them, then apply as `_apply_sparse`."""
        summed = _ONCE(grad.values, grad.indices, var._ref(), name="Once")
        return self._apply_sparse(IndexedSlices(summed, grad.indices, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """An operation that changes rows of a variable; by default as by a dense gradient."""
        if type(self)._resource_apply_sparse is not Optimizer._resource_apply_sparse:
            return self._resource_apply_sparse(grad.values, var, grad.indices)
        return self._apply_dense(convert_to_tensor(grad), var)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """An operation that has run when all updates have."""
        return group(*update_ops, name=name_scope)

    # Slots

    def variables(self) -> list[Any]:
        """The optimizer's variables: slots and others."""
        own = [v for slots in self._slots.values() for v in slots.values()]
        own += list(self._non_slot_dict.values())
        return sorted(own, key=lambda v: str(v.op.name))

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable, or `None`."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of its slots."""
        return sorted(self._slots)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        slots = self._slot_dict(slot_name)
        if _key(var) not in slots:
            slots[_key(var)] = make()
        return slots[_key(var)]

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        def make() -> Any:
            return create_slot_with_initializer(var, initializer, shape, dtype, op_name)

        return self._slot(var, slot_name, make)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        key = name, get_default_graph()
        if key not in self._non_slot_dict:
            self._non_slot_dict[key] = Variable(initial_value, name=name, trainable=False)
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot_dict.get((name, graph or get_default_graph()))

    def _non_slot_variables(self) -> Any:
        return self._non_slot_dict.values()

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    def _assert_valid_dtypes(self, tensors: Any) -> None:
        """Accepted."""


def _key(variable: Any) -> Any:
    """Key of a variable in `_slots`, which programs look into and sort."""
    return (variable.op.graph, variable.op.name) if hasattr(variable, "op") else variable


def _flat(variables: Any) -> Any:
    for v in variables if isinstance(variables, (list, tuple)) else [variables]:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        else:
            yield v


def _gradient(given: Any) -> Any:
    if given is None or isinstance(given, IndexedSlices):
        return given
    return convert_to_tensor(given)


def _once(values: Value, indices: Value, like: Value) -> Value:
    """The sum of the values at equal indices, at the first of them; 0 at the others."""
    n = indices.type.size
    flat = ops.reshape(indices, [n])
    same = ops.equal(ops.expand_dims(flat, 1), ops.expand_dims(flat, 0))
    earlier = ops.logical_and(same, ops.constant(np.tri(n, k=-1, dtype=bool)))
    first = ops.logical_not(ops.any(earlier, 1))
    kept = ops.reshape(first, [n, *[1] * (len(values.type.dims) - 1)])
    summed = totals(flat, values, like)
    return ops.select(kept, summed, 0.0 * summed)


_ONCE = Kind("SumEqualIndices", _once, gradient=False, shape=lambda inputs: inputs[0].dims)
