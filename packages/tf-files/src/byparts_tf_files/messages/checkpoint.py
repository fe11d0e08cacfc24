"""Checkpoints: `tensor_bundle.proto`, `saved_tensor_slice.proto`, `checkpoint_state.proto`."""

from byparts_tf_files.enums import Enum
from byparts_tf_files.fields import many, one
from byparts_tf_files.message import Message
from byparts_tf_files.messages.tensor import (
    DataType,
    TensorProto,
    TensorShapeProto,
    TensorSliceProto,
    VersionDef,
)


class BundleHeaderProto(Message):
    Endianness = Enum("Endianness", LITTLE=0, BIG=1)
    LITTLE, BIG = 0, 1

    num_shards = one(1, "int32")
    endianness = one(2, Endianness)
    version = one(3, VersionDef)


class BundleEntryProto(Message):
    dtype = one(1, DataType)
    shape = one(2, TensorShapeProto)
    shard_id = one(3, "int32")
    offset = one(4, "int64")
    size = one(5, "int64")
    crc32c = one(6, "fixed32")
    slices = many(7, TensorSliceProto)


class SavedSliceMeta(Message):
    name = one(1, "string")
    shape = one(2, TensorShapeProto)
    type = one(3, DataType)
    slice = many(4, TensorSliceProto)


class SavedTensorSliceMeta(Message):
    tensor = many(1, SavedSliceMeta)
    versions = one(2, VersionDef)


class SavedSlice(Message):
    name = one(1, "string")
    slice = one(2, TensorSliceProto)
    data = one(3, TensorProto)


class SavedTensorSlices(Message):
    meta = one(1, SavedTensorSliceMeta)
    data = one(2, SavedSlice)


class CheckpointState(Message):
    model_checkpoint_path = one(1, "string")
    all_model_checkpoint_paths = many(2, "string")
    all_model_checkpoint_timestamps = many(3, "double")
    last_preserved_timestamp = one(4, "double")
