"""`tf.contrib.opt.ScipyOptimizerInterface`: losses and gradients for SciPy's minimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gradients import gradients
from byparts_frontend_tf.api.placeholder import placeholder
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.variables.variable_lists import trainable_variables
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol


@symbol("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """Variables as one vector, for a minimizer that is not in the graph.

    Args:
        loss: a number.
        var_list: what is changed; by default all trainable variables.
        equalities: tensors that are to be zero.
        inequalities: tensors that are to be positive or zero.
        var_to_bounds: variable -> (lower, upper), numbers or arrays.
        optimizer_kwargs: for the minimizer.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Any = None,
        equalities: Any = None,
        inequalities: Any = None,
        var_to_bounds: Any = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self.optimizer_kwargs = optimizer_kwargs
        self._loss = convert_to_tensor(loss)
        self._vars = list(trainable_variables() if var_list is None else var_list)
        dims = [tuple(v.get_shape().as_list()) for v in self._vars]
        ends = np.cumsum([int(np.prod(d)) for d in dims]).tolist()
        self._places = list(zip(self._vars, [0, *ends], ends, dims, strict=False))
        self._bounds = None if var_to_bounds is None else self._packed_bounds(var_to_bounds)
        self._start = self._packed(self._vars)
        self._functions = [self._with_gradient(self._loss)]
        self._constraints = [
            ("eq", self._with_gradient(convert_to_tensor(e))) for e in equalities or ()
        ] + [("ineq", self._with_gradient(convert_to_tensor(e))) for e in inequalities or ()]
        self._update_placeholders = [placeholder(v.dtype.base_dtype) for v in self._vars]
        self._var_updates = [
            v.assign(reshape(p, d))
            for v, p, d in zip(self._vars, self._update_placeholders, dims, strict=True)
        ]

    def _packed(self, tensors: Sequence[Any]) -> Any:
        flat = [reshape(t, [-1]) for t in tensors]
        return flat[0] if len(flat) == 1 else concat(flat, 0)

    def _with_gradient(self, tensor: Any) -> tuple[Any, Any]:
        slopes = gradients(tensor, self._vars)
        dense = [
            zeros_like(v) if g is None else convert_to_tensor(g)
            for g, v in zip(slopes, self._vars, strict=True)
        ]
        return tensor, self._packed(dense)

    def _packed_bounds(self, limits: Any) -> list[tuple[float, float]]:
        bounds: list[tuple[float, float]] = []
        for v, _, _, dims in self._places:
            lower, upper = limits.get(v, (-np.inf, np.inf))
            pairs = [np.broadcast_to(np.asarray(b), dims).reshape(-1) for b in (lower, upper)]
            bounds += list(zip(*pairs, strict=True))
        return bounds

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Any = None,
        step_callback: Optional[Callable[..., Any]] = None,
        loss_callback: Optional[Callable[..., Any]] = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimize the loss, and give the variables their values.

        Args:
            session: by default that of now.
            feed_dict: of all evaluations.
            fetches: what `loss_callback` is called with, after each evaluation of the loss.
            step_callback: called with the vector, after each step of the minimizer.
            loss_callback: see `fetches`.
            run_kwargs: for `session.run`.
        """
        session = session or get_default_session()
        feeds, extra = dict(feed_dict or {}), list(fetches or [])

        def evaluator(tensors: Sequence[Any], callback: Any = None) -> Callable[..., Any]:
            def evaluate(x: Any) -> Any:
                fed = {v: np.reshape(x[a:b], dims) for v, a, b, dims in self._places}
                results = session.run([*tensors, *extra], {**fed, **feeds}, **run_kwargs)
                if callback is not None:
                    callback(*results[len(tensors) :])
                return results[: len(tensors)]

            return evaluate

        best = self._minimize(
            initial_val=session.run(self._start, feeds, **run_kwargs),
            loss_grad_func=evaluator(self._functions[0], loss_callback),
            constraint_funcs=[(kind, evaluator(pair)) for kind, pair in self._constraints],
            packed_bounds=self._bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [best[a:b].reshape(dims) for _, a, b, dims in self._places]
        session.run(
            self._var_updates,
            dict(zip(self._update_placeholders, values, strict=True)),
            **run_kwargs,
        )

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        constraint_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass it: _minimize()")


@symbol("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """The minimizers of SciPy, which has to be installed; `method="L-BFGS-B"` by default."""

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        constraint_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        from scipy.optimize import minimize  # type: ignore[import-not-found, import-untyped, unused-ignore]  # heavy, and no dependency of this part

        def loss_and_gradient(x: Any) -> tuple[float, Any]:
            loss, gradient = loss_grad_func(x)
            return float(loss), gradient.astype("float64")  # as L-BFGS-B wants it

        if "bounds" in optimizer_kwargs:
            raise ValueError("Bounds must be set using the var_to_bounds argument")
        taken = {"jac", "callback", "constraints"} & set(optimizer_kwargs)
        if taken:
            raise ValueError(f"Optimizer keyword arg '{taken.pop()}' is set automatically")
        options = {"method": "L-BFGS-B", "bounds": packed_bounds, **optimizer_kwargs}
        constraints = [_constraint(kind, function) for kind, function in constraint_funcs]
        result = minimize(
            loss_and_gradient,
            np.asarray(initial_val, np.float64),
            jac=True,
            callback=step_callback,
            constraints=constraints,
            **options,
        )
        return result.x


def _constraint(kind: str, function: Callable[..., Any]) -> dict[str, Any]:
    return {
        "type": kind,
        "fun": lambda x: np.ravel(function(x)[0]).astype("float64"),
        "jac": lambda x: function(x)[1].astype("float64"),
    }
