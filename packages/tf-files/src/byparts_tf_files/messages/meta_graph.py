"""Saved models: `meta_graph.proto`, `saver.proto`, `saved_model.proto`, `variable.proto`."""

from byparts_tf_files.enums import Enum
from byparts_tf_files.fields import many, mapped, one
from byparts_tf_files.message import Message
from byparts_tf_files.messages.graph import GraphDef, OpList
from byparts_tf_files.messages.tensor import DataType, TensorShapeProto


class AnyProto(Message):
    """`google.protobuf.Any`: a message of some class, in bytes."""

    type_url = one(1, "string")
    value = one(2, "bytes")


class SaverDef(Message):
    CheckpointFormatVersion = Enum("CheckpointFormatVersion", LEGACY=0, V1=1, V2=2)
    LEGACY, V1, V2 = 0, 1, 2

    filename_tensor_name = one(1, "string")
    save_tensor_name = one(2, "string")
    restore_op_name = one(3, "string")
    max_to_keep = one(4, "int32")
    sharded = one(5, "bool")
    keep_checkpoint_every_n_hours = one(6, "float")
    version = one(7, CheckpointFormatVersion)


class CollectionDef(Message):
    class NodeList(Message):
        value = many(1, "string")

    class BytesList(Message):
        value = many(1, "bytes")

    class Int64List(Message):
        value = many(1, "int64")

    class FloatList(Message):
        value = many(1, "float")

    class AnyList(Message):
        value = many(1, AnyProto)

    node_list = one(1, NodeList, oneof="kind")
    bytes_list = one(2, BytesList, oneof="kind")
    int64_list = one(3, Int64List, oneof="kind")
    float_list = one(4, FloatList, oneof="kind")
    any_list = one(5, AnyList, oneof="kind")


class TensorInfo(Message):
    class CooSparse(Message):
        values_tensor_name = one(1, "string")
        indices_tensor_name = one(2, "string")
        dense_shape_tensor_name = one(3, "string")

    name = one(1, "string", oneof="encoding")
    coo_sparse = one(4, CooSparse, oneof="encoding")
    dtype = one(2, DataType)
    tensor_shape = one(3, TensorShapeProto)


class SignatureDef(Message):
    inputs = mapped(1, "string", TensorInfo)
    outputs = mapped(2, "string", TensorInfo)
    method_name = one(3, "string")


class AssetFileDef(Message):
    tensor_info = one(1, TensorInfo)
    filename = one(2, "string")


class MetaGraphDef(Message):
    class MetaInfoDef(Message):
        meta_graph_version = one(1, "string")
        stripped_op_list = one(2, OpList)
        any_info = one(3, AnyProto)
        tags = many(4, "string")
        tensorflow_version = one(5, "string")
        tensorflow_git_version = one(6, "string")
        stripped_default_attrs = one(7, "bool")

    meta_info_def = one(1, MetaInfoDef)
    graph_def = one(2, GraphDef)
    saver_def = one(3, SaverDef)
    collection_def = mapped(4, "string", CollectionDef)
    signature_def = mapped(5, "string", SignatureDef)
    asset_file_def = many(6, AssetFileDef)


class SavedModel(Message):
    saved_model_schema_version = one(1, "int64")
    meta_graphs = many(2, MetaGraphDef)


class SaveSliceInfoDef(Message):
    full_name = one(1, "string")
    full_shape = many(2, "int64")
    var_offset = many(3, "int64")
    var_shape = many(4, "int64")


class VariableDef(Message):
    variable_name = one(1, "string")
    initial_value_name = one(6, "string")
    initializer_name = one(2, "string")
    snapshot_name = one(3, "string")
    save_slice_info_def = one(4, SaveSliceInfoDef)
    is_resource = one(5, "bool")
    trainable = one(7, "bool")


class QueueRunnerDef(Message):
    queue_name = one(1, "string")
    enqueue_op_name = many(2, "string")
    close_op_name = one(3, "string")
    cancel_op_name = one(4, "string")
    queue_closed_exception_types = many(5, "int32")
