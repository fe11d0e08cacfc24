"""Tensors and shapes: `types.proto`, `tensor_shape.proto`, `tensor.proto`, `versions.proto`."""

from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.enums import Enum
from byparts_tf_files.fields import many, one
from byparts_tf_files.message import Message

_RENAMED = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE", "float16": "DT_HALF"}
_NUMBERS = (*range(1, 24), *range(101, 124))


def _enum_name(number: int) -> str:
    plain = as_dtype(number % 100).name
    return _RENAMED.get(plain, f"DT_{plain.upper()}") + ("_REF" if number > 100 else "")


DataType = Enum("DataType", DT_INVALID=0, **{_enum_name(n): n for n in _NUMBERS})


class TensorShapeProto(Message):
    class Dim(Message):
        size = one(1, "int64")
        name = one(2, "string")

    dim = many(2, Dim)
    unknown_rank = one(3, "bool")


class ResourceHandleProto(Message):
    device = one(1, "string")
    container = one(2, "string")
    name = one(3, "string")
    hash_code = one(4, "uint64")
    maybe_type_name = one(5, "string")


class TensorProto(Message):
    dtype = one(1, DataType)
    tensor_shape = one(2, TensorShapeProto)
    version_number = one(3, "int32")
    tensor_content = one(4, "bytes")
    half_val = many(13, "int32")
    float_val = many(5, "float")
    double_val = many(6, "double")
    int_val = many(7, "int32")
    string_val = many(8, "bytes")
    scomplex_val = many(9, "float")
    int64_val = many(10, "int64")
    bool_val = many(11, "bool")
    dcomplex_val = many(12, "double")
    resource_handle_val = many(14, ResourceHandleProto)
    variant_val = many(15, lambda: VariantTensorDataProto)
    uint32_val = many(16, "uint32")
    uint64_val = many(17, "uint64")


class VariantTensorDataProto(Message):
    type_name = one(1, "string")
    metadata = one(2, "bytes")
    tensors = many(3, TensorProto)


class TensorSliceProto(Message):
    class Extent(Message):
        start = one(1, "int64")
        length = one(2, "int64", oneof="has_length")

    extent = many(1, Extent)


class VersionDef(Message):
    producer = one(1, "int32")
    min_consumer = one(2, "int32")
    bad_consumers = many(3, "int32")
