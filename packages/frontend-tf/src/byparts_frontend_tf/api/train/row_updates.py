"""Optimizers whose sparse update is their dense one, on the rows that a sparse gradient names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.scatter import on_rows
from byparts_frontend_tf.api.variables.updates import Update
from byparts_frontend_tf.graph.composites import IndexedSlices
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_graph_ir import Value


class Rule:
    """Rule by which a variable and its slots change by a gradient.

    Args:
        type: TensorFlow's name of the dense operation without "Apply".
        change: takes the old values, then the rates, then the gradient; gives the new values.
        references: how many variables it changes.
    """

    def __init__(self, type: str, change: Callable[..., Any], references: int = 1) -> None:
        def on_some_rows(*given: Value, **attributes: Any) -> tuple[Value, ...]:
            old, (*rates, gradient, indices) = given[:references], given[references:]

            def of_rows(*rows: Value) -> Any:
                return change(*rows[:-1], *rates, rows[-1], **attributes)

            return on_rows(of_rows, old, indices, gradient)

        self._dense = Update(f"Apply{type}", change, references)
        self._sparse = Update(f"SparseApply{type}", on_some_rows, references)

    def operation(
        self, variables: Sequence[Any], rates: Sequence[Tensor], gradient: Any, **attributes: Any
    ) -> Any:
        """The operation that changes the variables by a gradient, dense or sparse."""
        inputs = [*[v._ref() for v in variables], *rates]
        if isinstance(gradient, IndexedSlices):
            both = gradient.values, gradient.indices
            return self._sparse.operation((*inputs, *both), **attributes)
        return self._dense.operation((*inputs, gradient), **attributes)


class RuleOptimizer(Optimizer):
    """An optimizer that is a rule, slots and rates.

    A subclass sets `_rates` (name -> number, tensor or function) and `_attributes` in its
    constructor.

    Attributes:
        rule: how variables change.
        slots: names of the slots that the rule changes beside a variable, in its order.
    """

    rule: Rule
    slots: Sequence[str] = ()

    def __init__(
        self,
        rates: Mapping[str, Any],
        use_locking: bool,
        name: str,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        self._rates, self._attributes = dict(rates), dict(attributes or {})
        self._tensors: list[Tensor] = []

    def _prepare(self) -> None:
        self._tensors = [
            convert_to_tensor(self._call_if_callable(rate), name=name)
            for name, rate in self._rates.items()
        ]

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._changed(grad, var)

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        return self._changed(grad, var)

    def _changed(self, gradient: Any, var: Any) -> Any:
        variables = [var, *[self.get_slot(var, slot) for slot in self.slots]]
        rates = [cast(rate, var.dtype.base_dtype) for rate in self._tensors]
        return self.rule.operation(variables, rates, gradient, **self._attributes)
