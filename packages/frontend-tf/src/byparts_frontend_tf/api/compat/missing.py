"""Names of TensorFlow that are refused here, for good reasons: each says what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from byparts_tf_files.errors import UnimplementedError

_EAGER = "eager execution is not here: build a graph, and run it in a tf.Session"
_QUANTIZE = (
    "graphs are not rewritten for integers here: train with float32, and leave this line out"
)
TREES = "trees are not here: use tf.estimator.DNNClassifier or a library of trees"
_MISSING = {
    **{
        f"contrib.eager.{name}": _EAGER
        for name in (
            *("Iterator", "implicit_gradients", "implicit_value_and_gradients", "Network"),
            *("gradients_function", "value_and_gradients_function", "GradientTape", "Checkpoint"),
            *("make_template", "Saver", "metrics", "defun", "save_network_checkpoint"),
            *("restore_network_checkpoint", "restore_variables_on_create"),
        )
    },
    **{
        f"contrib.eager.python.tfe.{name}": _EAGER
        for name in ("num_gpus", "value_and_gradients_function")
    },
    "GradientTape": _EAGER,
    **{
        f"contrib.quantize.{name}": _QUANTIZE
        for name in (
            *("create_training_graph", "create_eval_graph"),
            *("experimental_create_training_graph", "experimental_create_eval_graph"),
        )
    },
    **{
        f"contrib.tensor_forest.python.tensor_forest.{name}": TREES
        for name in ("ForestHParams", "RandomForestGraphs")
    },
    **{
        f"contrib.tensor_forest.client.random_forest.{name}": TREES
        for name in ("TensorForestEstimator",)
    },
}


def refusing(name: str, advice: str) -> Callable[..., NoReturn]:
    """Make a function in the place of `tf.NAME` that raises UnimplementedError with the advice."""

    def refuse(*given: Any, **named: Any) -> NoReturn:
        raise UnimplementedError(None, None, f"tf.{name}: {advice}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


def __getattr__(name: str) -> Callable[..., NoReturn]:
    symbol = name.replace("__", ".")
    if symbol not in _MISSING:
        raise AttributeError(name)
    return refusing(symbol, _MISSING[symbol])


SYMBOLS = {name: name.replace(".", "__") for name in _MISSING}
