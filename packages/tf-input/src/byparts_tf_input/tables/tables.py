"""Tables: objects of the graph; what is in them a session keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.identity import group, no_op
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import get_collection, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, int64
from byparts_tf_files.shape import Dims
from byparts_tf_input.queues.kinds import kept_kind
from byparts_tf_input.tables.content import Content


def _content(name: str, op: Operation) -> Content:
    given = op.attributes
    kinds = given["key_dtype"].as_numpy_dtype, given["value_dtype"].as_numpy_dtype
    return Content(*kinds, given["value_shape"], given["mutable"])


_TABLES = {t: kept_kind(t, _content) for t in ("HashTableV2", "MutableHashTableV2")}


def _found_dims(inputs: Sequence[Tensor], *, value_shape: tuple[int, ...], **_: Any) -> Dims:
    keys = inputs[1].dims
    return None if keys is None else (*keys, *value_shape)


_FIND = Kind(
    "LookupTableFindV2",
    host=lambda table, keys, default, **_: table.find(keys, default),
    shape=_found_dims,
    dtype=lambda inputs, value_dtype, **_: value_dtype,
    gradient=False,
)
_SIZE = Kind(
    "LookupTableSizeV2",
    host=lambda table: table.size(),
    shape=lambda inputs: (),
    dtype=int64,
    gradient=False,
)
_EXPORT = Kind(
    "LookupTableExportV2",
    host=lambda table, **_: table.export(),
    shape=lambda inputs, value_shape, **_: [(None,), (None, *value_shape)],
    dtype=lambda inputs, key_dtype, value_dtype, **_: [key_dtype, value_dtype],
    gradient=False,
)


def _write(type: str, host: Any) -> Kind:
    return Kind(type, host=host, shape=lambda inputs: [], dtype=(), gradient=False, effect=True)


_INSERT = _write("LookupTableInsertV2", lambda table, keys, values: table.insert(keys, values))
_REMOVE = _write("LookupTableRemoveV2", lambda table, keys: table.remove(keys))


@symbol("contrib.lookup.LookupInterface")
class LookupInterface:
    """Attributes and calls that all tables have in common.

    Attributes:
        key_dtype: of keys.
        value_dtype: of values.
        resource_handle: the tensor that stands for the table.
    """

    key_dtype: DType
    value_dtype: DType
    resource_handle: Tensor
    initializer: Any
    _value_shape: tuple[int, ...] = ()
    _default_value: Tensor

    def _make(self, type: str, name: str, shared_name: Any, mutable: bool) -> None:
        self.resource_handle = _TABLES[type](
            name=name,
            key_dtype=self.key_dtype,
            value_dtype=self.value_dtype,
            value_shape=self._value_shape,
            mutable=mutable,
            shared_name=shared_name,
        )

    @property
    def table_ref(self) -> Tensor:
        """The tensor that stands for the table."""
        return self.resource_handle

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.resource_handle.op.name.rpartition("/")[2]

    @property
    def default_value(self) -> Tensor:
        """The value of keys that are not in the table."""
        return self._default_value

    def size(self, name: Optional[str] = None) -> Tensor:
        """The number of keys."""
        return _SIZE(self.resource_handle, name=name)

    def lookup(self, keys: Any, name: Optional[str] = None) -> Any:
        """The values of keys, as many; of a SparseTensor those of its values.

        Raises:
            TypeError: keys of another dtype.
        """
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values, name), keys.dense_shape)
        given = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self.key_dtype, "keys")
        if given.dtype.base_dtype is not self.key_dtype:
            raise TypeError(
                f"Signature mismatch. Keys must be dtype {self.key_dtype!r}, got {given.dtype!r}."
            )
        return _FIND(
            self.resource_handle,
            given,
            self._default_value,
            name=name or f"{self.name}_Lookup",
            value_dtype=self.value_dtype,
            value_shape=self._value_shape,
        )


@symbol("lookup.StaticHashTable", "contrib.lookup.HashTable", "lookup.HashTable")
class StaticHashTable(LookupInterface):
    """A table that is filled once, by its `initializer`.

    Args:
        initializer: says keys and values.
        default_value: of keys that are not there.
        shared_name: tables of one name are one table of a session.
        name: of the table.
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        shared_name: Optional[str] = None,
        name: Optional[str] = None,
    ) -> None:
        self.key_dtype, self.value_dtype = initializer.key_dtype, initializer.value_dtype
        with name_scope(name, "hash_table") as scope:
            self._make("HashTableV2", scope, shared_name, False)
            self._default_value = convert_to_tensor(default_value, self.value_dtype)
            self.initializer = initializer.initialize(self)

    @property
    def init(self) -> Operation:
        """The operation that fills it."""
        made: Operation = self.initializer
        return made


@symbol("contrib.lookup.MutableHashTable")
class MutableHashTable(LookupInterface):
    """A table that operations change.

    Args:
        key_dtype: of keys.
        value_dtype: of values.
        default_value: of keys that are not there; says the shape of values.
        shared_name: tables of one name are one table of a session.
        name: of the table.
        checkpoint: accepted; its content is not saved.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        shared_name: Optional[str] = None,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._default_value = convert_to_tensor(default_value, self.value_dtype, "default_value")
        self._value_shape = tuple([int(d or 0) for d in self._default_value.dims or ()])
        self._make("MutableHashTableV2", name, shared_name, True)

    def insert(self, keys: TensorLike, values: TensorLike, name: Optional[str] = None) -> Operation:
        """An operation that gives keys these values."""
        given = convert_to_tensor(keys, self.key_dtype), convert_to_tensor(values, self.value_dtype)
        inputs = self.resource_handle, *given
        return _INSERT.operation(inputs, name or f"{self.name}_lookup_table_insert")

    def remove(self, keys: TensorLike, name: Optional[str] = None) -> Operation:
        """An operation that forgets keys."""
        inputs = self.resource_handle, convert_to_tensor(keys, self.key_dtype)
        return _REMOVE.operation(inputs, name or f"{self.name}_lookup_table_remove")

    def export(self, name: Optional[str] = None) -> tuple[Tensor, ...]:
        """All keys and all values."""
        return _EXPORT.outputs(
            self.resource_handle,
            name=name,
            key_dtype=self.key_dtype,
            value_dtype=self.value_dtype,
            value_shape=self._value_shape,
        )


@symbol("contrib.lookup.MutableDenseHashTable")
class MutableDenseHashTable(MutableHashTable):
    """A `MutableHashTable` of which two keys are not for use.

    Args:
        key_dtype: of keys.
        value_dtype: of values.
        default_value: of keys that are not there.
        empty_key: accepted.
        deleted_key: accepted.
        initial_num_buckets: accepted.
        shared_name: tables of one name are one table of a session.
        name: of the table.
        checkpoint: accepted; its content is not saved.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any = None,
        initial_num_buckets: Any = None,
        shared_name: Optional[str] = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, shared_name, name, checkpoint)


@symbol("tables_initializer", "initializers.tables", "initialize_all_tables")
def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that fills all tables."""
    found = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else no_op(name)
