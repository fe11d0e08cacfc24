"""Synchronization and aggregation of variables of replicas, and classes that programs ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.variables.creators import Created
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import TensorShape


@symbol("VariableSynchronization")
class VariableSynchronization(Enum):
    """Times at which the copies of a variable become equal: accepted, there is one copy."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@symbol("VariableAggregation")
class VariableAggregation(Enum):
    """Ways to combine the updates of copies of a variable: accepted, there is one copy."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


class _UsesResource(Created):
    def __instancecheck__(self, given: Any) -> bool:
        return isinstance(given, Variable) and given.use_resource


@symbol("python.ops.resource_variable_ops.ResourceVariable")
class ResourceVariable(Variable, metaclass=_UsesResource):
    """A variable with `use_resource`, and the class of all that have it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "use_resource": True})


@symbol("python.ops.variables.PartitionedVariable")
class PartitionedVariable:
    """Variables that are one along axis 0.

    Args:
        name: of the whole.
        shape: of the whole.
        dtype: of all.
        variable_list: the parts.
        partitions: how many there are along each axis.
    """

    def __init__(
        self, name: str, shape: Any, dtype: Any, variable_list: Sequence[Any], partitions: Any
    ) -> None:
        self.name, self.dtype, self._parts = name, dtype, list(variable_list)
        self.shape = TensorShape(shape)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def get_shape(self) -> TensorShape:
        """Shape of the whole variable."""
        return self.shape

    def as_tensor(self) -> Tensor:
        """The whole."""
        return concat(self._parts, 0)

    def _as_tensor(self, dtype: Any = None, name: Any = None) -> Tensor:
        return self.as_tensor()
