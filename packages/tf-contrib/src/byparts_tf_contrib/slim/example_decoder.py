"""`slim.tfexample_decoder`: from serialized Examples to the items that a program wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.image.decode import decode_image
from byparts_frontend_tf.api.map_fn import map_fn
from byparts_frontend_tf.api.math.binary import equal, logical_or
from byparts_frontend_tf.api.reshape import expand_dims, reshape
from byparts_frontend_tf.api.shape import size
from byparts_frontend_tf.api.sparse.dense import sparse_tensor_to_dense
from byparts_frontend_tf.api.sparse.reshape import sparse_reshape
from byparts_frontend_tf.api.stack import stack
from byparts_frontend_tf.api.transpose import transpose
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.slim.data import DataDecoder
from byparts_tf_files.dtypes import uint8
from byparts_tf_input.datasets.decoding import decode_raw
from byparts_tf_input.datasets.features import FixedLenFeature
from byparts_tf_input.datasets.parsing import parse_single_example

_PLACE = "contrib.slim.tfexample_decoder"
Parsed = Mapping[str, Any]  # key of an Example -> Tensor or SparseTensor


@symbol(f"{_PLACE}.ItemHandler")
class ItemHandler:
    """Makes an item of what stands under some keys of an Example.

    Args:
        keys: one, or several.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = list(keys) if isinstance(keys, (list, tuple)) else [keys]

    @property
    def keys(self) -> list[str]:
        """The keys."""
        return self._keys

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The item: what a class of this kind says."""
        raise NotImplementedError("say tensors_to_item in your class")


@symbol(f"{_PLACE}.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of the parsed keys."""

    def __init__(self, keys: Any, func: Callable[[Parsed], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The result of the function."""
        return self._func(keys_to_tensors)


@symbol(f"{_PLACE}.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes [n, 4] of four features, by default ymin, xmin, ymax, xmax behind a prefix."""

    def __init__(self, keys: Optional[Sequence[str]] = None, prefix: Optional[str] = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else list(keys)
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([f"{prefix or ''}{k}" for k in keys])

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The boxes."""
        found = [keys_to_tensors[k] for k in self.keys]
        sides = [t.values if isinstance(t, SparseTensor) else t for t in found]
        return transpose(concat([expand_dims(s, 0) for s in sides], 0))


@symbol(f"{_PLACE}.Tensor")
class Tensor(ItemHandler):
    """The values under a key, dense.

    Args:
        tensor_key: the key.
        shape_keys: keys whose values are the shape.
        shape: the shape, instead.
        default_value: where a sparse tensor has nothing.
    """

    def __init__(
        self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or ())
        super().__init__([tensor_key, *self._shape_keys])
        self._tensor_key, self._shape, self._default_value = tensor_key, shape, default_value

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The tensor."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            parts = [keys_to_tensors[k] for k in self._shape_keys]
            dense = [sparse_tensor_to_dense(p) if isinstance(p, SparseTensor) else p for p in parts]
            shape = reshape(stack(dense), [-1])
        if isinstance(tensor, SparseTensor):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else reshape(tensor, shape)


@symbol(f"{_PLACE}.LookupTensor")
class LookupTensor(Tensor):
    """The number that a table has for what stands under a key."""

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: Any = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The numbers."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


@symbol(f"{_PLACE}.SparseTensor")
class SparseItem(ItemHandler):
    """A sparse tensor of features with its indices, its values and its shape."""

    def __init__(
        self,
        indices_key: Optional[str] = None,
        values_key: Optional[str] = None,
        shape_key: Optional[str] = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._names = indices_key or "indices", values_key or "values"
        super().__init__([*self._names, *([shape_key] if shape_key else [])])
        self._shape_key, self._shape = shape_key, shape
        self._densify, self._default_value = densify, default_value

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The tensor, dense where that was asked for."""
        indices, values = [keys_to_tensors[k] for k in self._names]
        shape = keys_to_tensors[self._shape_key].values if self._shape_key else self._shape
        columns = expand_dims(indices.values, 1)
        made = SparseTensor(columns, values.values, cast(reshape(shape, [-1]), "int64"))
        return sparse_tensor_to_dense(made, self._default_value) if self._densify else made


@symbol(f"{_PLACE}.Image")
class Image(ItemHandler):
    """An image, decoded.

    Args:
        image_key: of its file, or of its elements where its format is "raw".
        format_key: of its format.
        shape: of the image, where it is known.
        channels: how many.
        dtype: of the image.
        repeated: whether the key has several images.
        dct_method: accepted.
    """

    def __init__(
        self,
        image_key: Optional[str] = None,
        format_key: Optional[str] = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated = repeated

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The image."""
        data, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        if self._repeated:
            return map_fn(lambda one: self._decoded(one, raw), data, dtype=self._dtype)
        return self._decoded(data, raw)

    def _decoded(self, data: Any, raw: Any) -> Any:
        def elements() -> Any:
            return decode_raw(data, self._dtype)

        def file() -> Any:
            return cast(decode_image(data, channels=self._channels), self._dtype)

        image = cond(raw, elements, file)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else reshape(image, self._shape)


@symbol(f"{_PLACE}.BackupHandler")
class BackupHandler(ItemHandler):
    """The item of a handler; where it is empty, that of another."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        super().__init__([*handler.keys, *backup.keys])
        self._handler, self._backup = handler, backup

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        empty = equal(size(item), 0)
        return cond(
            empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: identity(item)
        )


@symbol(f"{_PLACE}.TFExampleDecoder")
class TFExampleDecoder(DataDecoder):
    """Items of serialized Examples.

    Args:
        keys_to_features: key -> `FixedLenFeature` and its like.
        items_to_handlers: name of an item -> its handler.
    """

    def __init__(
        self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]
    ) -> None:
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self) -> list[str]:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Optional[Sequence[str]] = None) -> list[Any]:
        """The items of one serialized Example, by default all.

        Args:
            serialized_example: a string.
            items: their names.
        """
        example = parse_single_example(serialized_example, dict(self._keys_to_features))
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, FixedLenFeature):
                example[key] = reshape(example[key], feature.shape)
        found = [self._items_to_handlers[i] for i in items or self._items_to_handlers]
        return [h.tensors_to_item({k: example[k] for k in h.keys}) for h in found]
