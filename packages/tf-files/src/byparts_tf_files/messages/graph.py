"""Graphs: `graph.proto`, `node_def.proto`, `attr_value.proto`, `function.proto`, `op_def.proto`."""

from byparts_tf_files.fields import many, mapped, one
from byparts_tf_files.message import Message
from byparts_tf_files.messages.tensor import (
    DataType,
    TensorProto,
    TensorShapeProto,
    VersionDef,
)


class AttrValue(Message):
    class ListValue(Message):
        s = many(2, "bytes")
        i = many(3, "int64")
        f = many(4, "float")
        b = many(5, "bool")
        type = many(6, DataType)
        shape = many(7, TensorShapeProto)
        tensor = many(8, TensorProto)
        func = many(9, lambda: NameAttrList)

    s = one(2, "bytes", oneof="value")
    i = one(3, "int64", oneof="value")
    f = one(4, "float", oneof="value")
    b = one(5, "bool", oneof="value")
    type = one(6, DataType, oneof="value")
    shape = one(7, TensorShapeProto, oneof="value")
    tensor = one(8, TensorProto, oneof="value")
    list = one(1, ListValue, oneof="value")
    func = one(10, lambda: NameAttrList, oneof="value")
    placeholder = one(9, "string", oneof="value")


class NameAttrList(Message):
    name = one(1, "string")
    attr = mapped(2, "string", AttrValue)


class NodeDef(Message):
    class ExperimentalDebugInfo(Message):
        original_node_names = many(1, "string")
        original_func_names = many(2, "string")

    name = one(1, "string")
    op = one(2, "string")
    input = many(3, "string")
    device = one(4, "string")
    attr = mapped(5, "string", AttrValue)
    experimental_debug_info = one(6, ExperimentalDebugInfo)


class OpDef(Message):
    class ArgDef(Message):
        name = one(1, "string")
        description = one(2, "string")
        type = one(3, DataType)
        type_attr = one(4, "string")
        number_attr = one(5, "string")
        type_list_attr = one(6, "string")
        is_ref = one(16, "bool")

    class AttrDef(Message):
        name = one(1, "string")
        type = one(2, "string")
        default_value = one(3, AttrValue)
        description = one(4, "string")
        has_minimum = one(5, "bool")
        minimum = one(6, "int64")
        allowed_values = one(7, AttrValue)

    name = one(1, "string")
    input_arg = many(2, ArgDef)
    output_arg = many(3, ArgDef)
    control_output = many(20, "string")
    attr = many(4, AttrDef)
    deprecation = one(8, lambda: OpDeprecation)
    summary = one(5, "string")
    description = one(6, "string")
    is_commutative = one(18, "bool")
    is_aggregate = one(16, "bool")
    is_stateful = one(17, "bool")
    allows_uninitialized_input = one(19, "bool")


class OpDeprecation(Message):
    version = one(1, "int32")
    explanation = one(2, "string")


class OpList(Message):
    op = many(1, OpDef)


class FunctionDef(Message):
    class ArgAttrs(Message):
        attr = mapped(1, "string", AttrValue)

    signature = one(1, OpDef)
    attr = mapped(5, "string", AttrValue)
    arg_attr = mapped(7, "uint32", ArgAttrs)
    node_def = many(3, NodeDef)
    ret = mapped(4, "string", "string")
    control_ret = mapped(6, "string", "string")


class GradientDef(Message):
    function_name = one(1, "string")
    gradient_func = one(2, "string")


class FunctionDefLibrary(Message):
    function = many(1, FunctionDef)
    gradient = many(2, GradientDef)


class GraphDef(Message):
    node = many(1, NodeDef)
    versions = one(4, VersionDef)
    version = one(3, "int32")
    library = one(2, FunctionDefLibrary)
