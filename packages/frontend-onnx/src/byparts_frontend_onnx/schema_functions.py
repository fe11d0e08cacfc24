"""Operators that their schemas define by other operators, as functions."""

from __future__ import annotations

from typing import Any

from onnx import AttributeProto, FunctionProto, TypeProto, defs, helper

from byparts_frontend_onnx.node import OnnxNode, dtype_of_item, shape_of
from byparts_frontend_onnx.tensors import THEIRS


def has_schema_function(op: str, domain: str, version: int) -> bool:
    """Whether the schema of an operator defines it by others."""
    schema = _schema(op, domain, version)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def schema_function(node: OnnxNode) -> FunctionProto | None:
    """The function that the schema of a node's operator gives, or `None`.

    Defaults of attributes are written into the node, for the function to read.
    """
    schema = _schema(node.proto.op_type, node.proto.domain, node.version)
    if schema is None:
        return None
    content = _content(schema, node)
    if content is None:
        return None
    for name, attribute in schema.attributes.items():
        default: AttributeProto = attribute.default_value
        if name not in node.attributes and default is not None and default.name:
            node.attributes[name] = default
    function = FunctionProto()
    function.ParseFromString(content)
    return function


def _schema(op: str, domain: str, version: int) -> Any:
    try:
        return defs.get_schema(op, version, "" if domain == "ai.onnx" else domain)
    except defs.SchemaError:
        return None


def _content(schema: Any, node: OnnxNode) -> bytes | None:
    if schema.has_context_dependent_function:
        types = [_type(item) for item in node.inputs]
        proto = node.proto.SerializeToString()
        versions = schema.context_dependent_function_opset_versions
        fitting = [v for v in versions if v <= node.version] or versions
        content = schema.get_context_dependent_function_with_opset_version(
            max(fitting), proto, types
        )
        return content or None
    if not schema.has_function:
        return None
    versions = schema.function_opset_versions
    fitting = [v for v in versions if v <= node.version] or versions
    body = schema.get_function_with_opset_version(max(fitting))
    return bytes(body) if isinstance(body, bytes) else bytes(body.SerializeToString())


def _type(item: Any) -> bytes:
    if item is None:
        return bytes(TypeProto().SerializeToString())
    dims = [d if isinstance(d, int) else None for d in shape_of(item)]
    kind = helper.make_tensor_type_proto(THEIRS[dtype_of_item(item)], dims)
    return bytes(kind.SerializeToString())
