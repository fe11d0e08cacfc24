"""Node of a model, as its rule sees it: attributes, inputs, and questions about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray
from onnx import AttributeProto, NodeProto, defs, helper

from byparts_frontend_onnx.errors import Undetermined, UnsupportedOp
from byparts_frontend_onnx.sizes import Known, Size, Sizes
from byparts_graph_ir import Dimension, Value, dimension_names
from byparts_opset.dtypes import dtype_name

if TYPE_CHECKING:
    from byparts_frontend_onnx.walk import Walk

_MOST_ELEMENTS = 1 << 24  # of a table that a rule makes

Item = Union[Value, NDArray[Any], Sizes, list[Any], None]


class OnnxNode:
    """A node with its inputs.

    Attributes:
        op: its operator, with the domain if that is not the standard one.
        version: of the operator set of its domain.
        inputs: what stands at each of its inputs; `None` where one is left out.
        walk: the import that it is a part of.
        scope: name -> what a graph inside this node sees.
    """

    def __init__(
        self,
        walk: Walk,
        proto: NodeProto,
        version: int,
        inputs: Sequence[Item],
        scope: Mapping[str, Item],
        outer: Mapping[str, AttributeProto] | None = None,
    ) -> None:
        self.walk, self.proto, self.version, self.scope = walk, proto, version, scope
        self.op = operator_of(proto)
        self.inputs = list(inputs)
        self.attributes = dict(resolved(proto, outer or {}))
        if len(self.attributes) != len(proto.attribute) or any(
            a.ref_attr_name for a in proto.attribute
        ):
            self.proto = with_attributes(proto, self.attributes)
        self._values: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """The operator and the name that the file gives the node."""
        name = self.proto.name or (self.proto.output[0] if self.proto.output else "")
        return f"{self.op} {name!r}" if name else self.op

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, text as `str`; else its default in the schema, else `default`."""
        if name not in self._values:
            self._values[name] = self._attribute(name, default)
        return self._values[name]

    def _attribute(self, name: str, default: Any) -> Any:
        attribute = self.attributes.get(name)
        if attribute is None:
            attribute = _defaults(self.proto.op_type, self.proto.domain, self.version).get(name)
        if attribute is None:
            return default
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, list) and value and isinstance(value[0], bytes):
            return [v.decode("utf-8", "replace") for v in value]
        return value

    def wants(self, output: int) -> bool:
        """Whether anything is to come out there."""
        return output < len(self.proto.output) and bool(self.proto.output[output])

    def value(self, item: Item) -> Value:
        """An item as a value of the program."""
        return self.walk.value(item)

    def known(self, i: int) -> Known | None:
        """Input i as numbers or sizes.

        Raises:
            Undetermined: it depends on the data.
        """
        item = self.inputs[i] if i < len(self.inputs) else None
        if item is None or isinstance(item, (np.ndarray, Sizes)):
            return item
        return self.walk.known(item, f"{self.label}: {self.proto.input[i]!r}")

    def undetermined(self, what: str, *dims: Dimension) -> Undetermined:
        """The error where dimensions must be numbers."""
        names = sorted({n for d in dims for n in dimension_names(d)})
        return Undetermined(f"{self.label}: {what}", sizes=names)

    def refuse(self, what: str) -> UnsupportedOp:
        """The error for a use that the rule does not cover."""
        return UnsupportedOp(f"{self.label}: {what} is not imported")

    def limited(self, *sizes: int) -> None:
        """Refuse to make an array of these sizes when the model is read, if that is a large one."""
        if prod(max(s, 0) for s in sizes) > _MOST_ELEMENTS:
            raise self.refuse(f"a table of {' x '.join(map(str, sizes))} elements")

    def dims(
        self, x: Value, what: str = "the shape of its input", first: int = 0
    ) -> tuple[int, ...]:
        """The shape of a value, from an axis on, where it must be numbers.

        Raises:
            Undetermined: it has names.
        """
        shape = shape_of(x)[first:]
        if not all(isinstance(d, int) for d in shape):
            raise self.undetermined(f"{what} {shape}", *shape)
        return tuple(d for d in shape if isinstance(d, int))


def operator_of(proto: NodeProto) -> str:
    """Operator by the name that rules have: "Add", "com.microsoft:Gelu"."""
    standard = proto.domain in ("", "ai.onnx")
    return str(proto.op_type if standard else f"{proto.domain}:{proto.op_type}")


def resolved(
    proto: NodeProto, outer: Mapping[str, AttributeProto]
) -> list[tuple[str, AttributeProto]]:
    """The attributes of a node; those that stand for one of the function around it, as that."""
    own = []
    for a in proto.attribute:
        if not a.ref_attr_name:
            own.append((a.name, a))
        elif a.ref_attr_name in outer:
            own.append((a.name, outer[a.ref_attr_name]))
    return own


def with_attributes(proto: NodeProto, attributes: Mapping[str, AttributeProto]) -> NodeProto:
    """A node with these attributes alone, which stand for nothing outside of it."""
    made = NodeProto()
    made.CopyFrom(proto)
    del made.attribute[:]
    for name, attribute in attributes.items():
        copy = made.attribute.add()
        copy.CopyFrom(attribute)
        copy.name = name
    return made


def shape_of(x: Any) -> tuple[Dimension, ...]:
    """The shape of a value, an array or sizes.

    Raises:
        UnsupportedOp: not even its rank is known.
    """
    if isinstance(x, Sizes):
        return tuple(x.array.shape)
    shape = x.type.shape if isinstance(x, Value) else x.shape
    if shape is None:
        raise UnsupportedOp("a value of unknown rank")
    return tuple(shape)


def rank_of(x: Any) -> int:
    """The number of axes."""
    return len(shape_of(x))


def dtype_of_item(x: Any) -> str:
    """The dtype by our names."""
    if isinstance(x, Value):
        return x.type.dtype
    return x.dtype if isinstance(x, Sizes) else str(dtype_name(x.dtype))


def axis_in(axis: int, rank: int) -> int:
    """An axis from 0 on."""
    return int(axis) + rank if axis < 0 else int(axis)


def ints(known: Known) -> list[Size]:
    """The elements of a parameter, in order."""
    array = known.array if isinstance(known, Sizes) else known
    return [e if isinstance(e, str) else int(e) for e in np.atleast_1d(array).reshape(-1).tolist()]


@cache
def _defaults(op: str, domain: str, version: int) -> dict[str, AttributeProto]:
    """The attributes that the schema of an operator has defaults for."""
    if domain not in ("", "ai.onnx", "ai.onnx.ml"):
        return {}
    try:
        schema = defs.get_schema(op, version, "" if domain == "ai.onnx" else domain)
    except defs.SchemaError:
        return {}
    made = {}
    for name, attribute in schema.attributes.items():
        if attribute.default_value is not None and attribute.default_value.name:
            made[name] = attribute.default_value
    return made
