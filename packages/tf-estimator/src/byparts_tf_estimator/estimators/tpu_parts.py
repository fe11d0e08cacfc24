"""Optimizers for TPUs, and what of TPUs is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.api.variables.scope_defaults import VariableScope
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, bfloat16, float32
from byparts_tf_files.errors import UnimplementedError

ADVICE = "there are no TPUs here: give use_tpu=False, which runs the same program on this machine"


@symbol("tpu.CrossShardOptimizer", "contrib.tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """An optimizer whose gradients are those of all parts of a TPU: here, of the only one.

    Args:
        opt: the optimizer.
        reduction: accepted.
        name: of it.
        group_assignment: accepted.
    """

    def __init__(
        self,
        opt: Any,
        reduction: Any = None,
        name: str = "CrossShardOptimizer",
        group_assignment: Any = None,
    ) -> None:
        super().__init__(False, name)
        self._opt = opt

    def compute_gradients(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `compute_gradients`."""
        return self._opt.compute_gradients(*given, **named)

    def apply_gradients(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `apply_gradients`."""
        return self._opt.apply_gradients(*given, **named)

    def get_slot(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `get_slot`."""
        return self._opt.get_slot(*given, **named)

    def get_slot_names(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `get_slot_names`."""
        return self._opt.get_slot_names(*given, **named)

    def variables(self) -> Any:
        """Call the optimizer's `variables`."""
        return self._opt.variables()


@symbol(
    "distribute.cluster_resolver.TPUClusterResolver",
    "contrib.cluster_resolver.TPUClusterResolver",
)
class TPUClusterResolver:
    """Refused.

    Raises:
        UnimplementedError: always.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        raise UnimplementedError(None, None, f"TPUClusterResolver: {ADVICE}")


@symbol("contrib.tpu.bfloat16_scope", "tpu.bfloat16_scope")
@contextmanager
def bfloat16_scope() -> Iterator[VariableScope]:
    """Variables made inside are of float32, and are read as bfloat16 where that is asked for."""

    def getter(make: Callable[..., Any], *given: Any, **named: Any) -> Any:
        as_bfloat16 = as_dtype(named["dtype"]).base_dtype is bfloat16
        found = make(*given, **{**named, "dtype": float32} if as_bfloat16 else named)
        return cast(found, bfloat16) if as_bfloat16 else found

    with variable_scope("", custom_getter=getter) as scope:
        yield scope


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*given: Any, **named: Any) -> NoReturn:
        raise UnimplementedError(None, None, f"{name}: {ADVICE}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


initialize_system = _refused("tpu.initialize_system")
shutdown_system = _refused("tpu.shutdown_system")
rewrite = _refused("tpu.rewrite")
TPUStrategy = _refused("distribute.experimental.TPUStrategy")
SYMBOLS = {
    "distribute.experimental.TPUStrategy": "TPUStrategy",
    "contrib.distribute.TPUStrategy": "TPUStrategy",
    "tpu.experimental.initialize_tpu_system": "initialize_system",
    "contrib.distribute.initialize_tpu_system": "initialize_system",
    **{
        f"{prefix}tpu.{name}": name
        for prefix in ("", "contrib.")
        for name in ("initialize_system", "shutdown_system", "rewrite")
    },
}
