"""The base of Keras's metrics: variables that batches are added to, and their result."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras import starts
from byparts_tf_keras.losses import same_rank, weighed
from byparts_tf_keras.state import get_session, snake, track_variable, unique_name


@symbol("keras.metrics.Metric")
class Metric:
    """A subclass makes variables by `add_weight`, and says `update_state` and `result`.

    Args:
        name: as training reports it.
        dtype: of the result.
    """

    def __init__(self, name: Optional[str] = None, dtype: Any = None, **kwargs: Any) -> None:
        self.name = name or unique_name(snake(type(self).__name__))
        self.dtype, self.stateful, self.built = tf.as_dtype(dtype or "float32"), True, True
        self._own: list[Any] = []

    def __call__(self, *arguments: Any, **kwargs: Any) -> Any:
        """The result with this batch."""
        update = self.updated(*arguments, **kwargs)
        with tf.control_dependencies([update]):
            result = tf.identity(self.result())
        result._metric_obj = self
        return result

    def updated(self, *arguments: Any, **kwargs: Any) -> Any:
        """An operation that adds a batch: all that `update_state` assigns."""
        graph = get_default_graph()
        before = len(graph.get_operations())
        update = self.update_state(*arguments, **kwargs)
        assigned = [
            op
            for op in graph.get_operations()[before:]
            if op.type.startswith(("Assign", "Scatter")) and not _is_first(op)
        ]
        return tf.group(*assigned, *([] if update is None else [getattr(update, "op", update)]))

    def add_weight(
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = None,
        synchronization: Any = None,
        initializer: Any = None,
        dtype: Any = None,
    ) -> Any:
        """A variable of the metric."""
        start, kind = starts.get(initializer or "zeros"), tf.as_dtype(dtype or self.dtype)
        dims = tf.TensorShape(shape).as_list()
        with tf.control_dependencies(None):
            weight = tf.Variable(
                lambda: start(dims, dtype=kind), name=name, trainable=False, dtype=kind
            )
        track_variable(weight)
        self._own.append(weight)
        return weight

    @property
    def variables(self) -> list[Any]:
        """The variables of the metric."""
        return list(self._own)

    weights = non_trainable_weights = variables
    updates: tuple[Any, ...] = ()

    def reset_states(self) -> None:
        """Begin anew."""
        session = get_session()
        session.run([v.initializer for v in self._own])

    def update_state(self, *arguments: Any, **kwargs: Any) -> Any:
        """Add a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Any:
        """The result of all batches."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {"name": self.name, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Make a metric with these arguments."""
        return cls(**config)


def _is_first(op: Operation) -> bool:
    return op.initializes is not None


class Reduce(Metric):
    """A sum, or a mean: total over count."""

    counts = True

    def __init__(self, name: Optional[str] = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total")
        if self.counts:
            self.count = self.add_weight("count")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """Add values, with their weights."""
        values = tf.cast(convert_to_tensor(values), self.dtype)
        count: Any = tf.cast(tf.size(values), self.dtype)
        if sample_weight is not None:
            ones = weighed(tf.ones_like(values), sample_weight)
            values, count = values * ones, tf.reduce_sum(ones)
        updates = [tf.assign_add(self.total, tf.reduce_sum(values)).op]
        if self.counts:
            updates.append(tf.assign_add(self.count, count).op)
        return tf.group(*updates)

    def result(self) -> Any:
        """The sum, or the mean."""
        if not self.counts:
            return tf.identity(self.total)
        return tf.div_no_nan(tf.identity(self.total), tf.identity(self.count))


@symbol("keras.metrics.Mean")
class Mean(Reduce):
    """The mean of values."""

    def __init__(self, name: Optional[str] = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)


@symbol("keras.metrics.Sum")
class Sum(Reduce):
    """The sum of values."""

    counts = False

    def __init__(self, name: Optional[str] = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of targets and predictions."""

    def __init__(
        self, fn: Any, name: Optional[str] = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name, dtype)
        self._fn, self._given = fn, kwargs

    def update_state(  # type: ignore[override]  # a metric of two
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Add a batch."""
        y_true = tf.cast(convert_to_tensor(y_true), self.dtype)
        y_pred = tf.cast(y_pred, self.dtype) if y_pred.dtype != self.dtype else y_pred
        values = self._fn(*same_rank(y_true, y_pred), **self._given)
        return super().update_state(values, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {**super().get_config(), **self._given}
