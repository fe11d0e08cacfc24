"""Columns of numbers, of what a model is fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.dense import NumericColumn, numeric_column
from byparts_tf_estimator.learn.estimator import plain


@symbol("contrib.learn.infer_real_valued_columns_from_input")
def infer_real_valued_columns_from_input(x: Any) -> list[NumericColumn]:
    """A numeric column for all numbers of an array, or one for each feature of a dict."""
    if isinstance(x, dict):
        return [_column(name, v) for name, v in sorted(x.items())]
    return [_column("", x)]


def _column(name: str, x: Any) -> NumericColumn:
    array = plain(x)
    return numeric_column(name, shape=[int(np.prod(array.shape[1:]))])


@symbol("contrib.learn.infer_real_valued_columns_from_input_fn")
def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[NumericColumn]:
    """Make columns as `infer_real_valued_columns_from_input`, of an input function's result."""
    with named("Graph")().as_default():
        features, _ = input_fn()
        given = features if isinstance(features, dict) else {"": features}
        dims = {name: t.get_shape().as_list()[1:] for name, t in sorted(given.items())}
    return [numeric_column(name, shape=[int(np.prod(d))]) for name, d in dims.items()]
