"""`tf.test.compute_gradient`: gradients beside differences, in the default session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.gradients import gradients
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import TensorShape

Pair = tuple[Any, Any]


@symbol("test.compute_gradient")
def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Optional[dict[Any, Any]] = None,
) -> Any:
    """The derivatives of y by x, [numbers of x, numbers of y]: by `tf.gradients`, by differences.

    Args:
        x: a tensor, or several.
        x_shape: its shape, or theirs.
        y: a tensor.
        y_shape: its shape.
        x_init_value: where it is differentiated; by default at random.
        delta: of the differences.
        init_targets: operations to run first.
        extra_feed_dict: for the runs.

    Returns:
        The two arrays; for several x a list of them.
    """
    xs = list(x) if isinstance(x, (list, tuple)) else [x]
    shapes = list(x_shape) if isinstance(x, (list, tuple)) else [x_shape]
    starts = x_init_value if isinstance(x, (list, tuple)) and x_init_value else [x_init_value]
    starts = [*starts, *[None] * (len(xs) - len(starts))]
    session = get_default_session()
    if init_targets is not None:
        session.run(init_targets)
    at = {t: _start(t, s, v) for t, s, v in zip(xs, shapes, starts, strict=True)}
    feeds = {**(extra_feed_dict or {}), **at}
    found = [(_by_gradients(session, t, y, y_shape, feeds), _by_differences(session, t, y, feeds,
              delta)) for t in xs]  # fmt: skip
    return found if isinstance(x, (list, tuple)) else found[0]


@symbol("test.compute_gradient_error")
def compute_gradient_error(*given: Any, **named: Any) -> float:
    """The largest difference between the two arrays of `compute_gradient`."""
    found = compute_gradient(*given, **named)
    pairs: Sequence[Pair] = found if isinstance(found, list) else [found]
    return max(float(np.fabs(a - b).max()) if a.size else 0.0 for a, b in pairs)


def _start(x: Any, shape: Any, given: Any) -> Any:
    kind = x.dtype.base_dtype.as_numpy_dtype
    if given is not None:
        return np.asarray(given, kind)
    return np.asarray(np.random.random_sample(_numbers(shape)), kind)


def _by_gradients(session: Any, x: Any, y: Any, y_shape: Any, feeds: dict[Any, Any]) -> Any:
    """A column for each number of y."""
    dims = _numbers(y_shape)
    chosen = constant(np.zeros(dims), y.dtype.base_dtype)
    (dx,) = gradients(y, x, chosen)
    size, columns = int(np.prod(dims)), []
    for i in range(size):
        one = np.zeros(size)
        one[i] = 1
        columns.append(_dense(session.run(dx, {**feeds, chosen: one.reshape(dims)}), feeds[x]))
    return np.stack(columns, 1) if columns else np.zeros((feeds[x].size, 0))


def _numbers(shape: Any) -> list[int]:
    return [int(d) for d in TensorShape(shape).as_list() if d is not None]


def _dense(gradient: Any, x: Any) -> Any:
    if not hasattr(gradient, "indices"):
        return np.asarray(gradient).ravel()
    dense = np.zeros_like(x)
    np.add.at(dense, gradient.indices, gradient.values)
    return dense.ravel()


def _by_differences(session: Any, x: Any, y: Any, feeds: dict[Any, Any], delta: float) -> Any:
    """A row for each number of x."""
    rows = []
    for i in range(feeds[x].size):
        sides = []
        for step in (delta, -delta):
            moved = feeds[x].copy()
            moved.reshape(-1)[i] += step
            sides.append(np.asarray(session.run(y, {**feeds, x: moved})).ravel())
        rows.append((sides[0] - sides[1]) / (2 * delta))
    return np.stack(rows) if rows else np.zeros((0, 0))
