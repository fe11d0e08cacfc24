"""Attributes that only our kinds have, as a text inside a `NodeDef`: `_byparts`.

TensorFlow has no such operation, or has some of the attributes as inputs.  The text is JSON; what
JSON has no word for is an object of one key that says what it is.  Nothing of it is ever executed.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from byparts_frontend_tf.api.cond import Branch
from byparts_frontend_tf.api.strided_slice import Part
from byparts_frontend_tf.graph.body import Body
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import named
from byparts_tf_files.dtypes import DType, as_dtype, string
from byparts_tf_files.messages.tensor import TensorProto
from byparts_tf_files.tensors import array_of, make_tensor_proto

ATTRIBUTE = "_byparts"
_FEATURES = ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "SparseFeature")
_PLAIN = (bool, int, float, str, type(None))


class NoTextError(TypeError):
    """An attribute that no file can hold: a Python function."""


class Writer:
    """Attributes as text; bodies get numbers."""

    def __init__(self) -> None:
        self._bodies: dict[Body, int] = {}

    def text(self, op: Operation) -> str:
        """JSON text of what our reader needs to know of an operation.

        Raises:
            NoTextError: an attribute is a Python function.
        """
        around = []
        body = op.body
        while body is not None:
            around.append([self._number(body), body.what])
            body = body.outer
        attributes = {name: self._one(value) for name, value in op.attributes.items()}
        return json.dumps({"attributes": attributes, "bodies": around})

    def _number(self, body: Body) -> int:
        return self._bodies.setdefault(body, len(self._bodies))

    def _one(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if isinstance(value, list):
            return [self._one(v) for v in value]
        if type(value).__name__ in _FEATURES and isinstance(value, tuple):
            return {"feature": [type(value).__name__, *map(self._one, value)]}
        for kind, word, written in self._words():
            if isinstance(value, kind):
                return {word: written(value)}
        if value is Ellipsis:
            return {"ellipsis": 0}
        raise NoTextError(f"{value!r:.80} cannot stand in a file")

    def _words(self) -> list[tuple[Any, str, Callable[[Any], Any]]]:
        return [
            (tuple, "tuple", lambda v: [self._one(e) for e in v]),
            (dict, "dict", lambda v: [[self._one(k), self._one(e)] for k, e in v.items()]),
            (slice, "slice", lambda v: [self._one(e) for e in (v.start, v.stop, v.step)]),
            (DType, "dtype", lambda v: v.name),
            (bytes, "bytes", lambda v: b64encode(v).decode()),
            ((np.ndarray, np.generic), "array", _array_text),
            (Tensor, "tensor", lambda v: v.name),
            (Operation, "op", lambda v: v.name),
            (Part, "part", lambda v: v.position),
            (Body, "body", self._number),
            (Branch, "branch", lambda v: [self._number(v.body), self._one(v.results)]),
        ]


def _array_text(array: Any) -> str:
    kind = as_dtype(array.dtype)
    proto = make_tensor_proto(array, string if kind is string else None)
    return b64encode(proto.SerializeToString()).decode()


class Reader:
    """Attributes from text.

    Args:
        graph: the bodies are of.
        tensor: gives a tensor of a name in the file.
        operation: gives an operation of a name in the file.
    """

    def __init__(
        self, graph: Graph, tensor: Callable[[str], Tensor], operation: Callable[[str], Operation]
    ) -> None:
        self._graph, self._tensor, self._operation = graph, tensor, operation
        self._bodies: dict[int, Body] = {}

    def read(self, text: bytes) -> tuple[dict[str, Any], Any]:
        """The attributes of an operation and the body that it is in.

        Raises:
            ValueError: the text is damaged.
        """
        try:
            given = json.loads(text)
            bodies = [self._body(number, what) for number, what in given["bodies"]]
            for inner, outer in pairwise(bodies):
                inner.outer = outer
            attributes = {name: self._one(v) for name, v in given["attributes"].items()}
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ValueError(f"attribute {ATTRIBUTE} is damaged: {text[:80]!r}") from error
        return attributes, bodies[0] if bodies else None

    def _body(self, number: int, what: str = "cond") -> Body:
        made = self._bodies.get(number)
        if made is None:
            made = self._bodies[number] = Body(self._graph, what)
        return made

    def _one(self, given: Any) -> Any:
        if type(given) in _PLAIN:
            return given
        if isinstance(given, list):
            return [self._one(v) for v in given]
        ((word, value),) = given.items()
        return self._words()[word](value)

    def _feature(self, given: list[Any]) -> Any:
        if given[0] not in _FEATURES:
            raise ValueError(f"attribute {ATTRIBUTE} is damaged: no feature is a {given[0]!r:.40}")
        return named(given[0])(*[self._one(v) for v in given[1:]])

    def _words(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "tuple": lambda v: tuple([self._one(e) for e in v]),
            "feature": self._feature,
            "dict": lambda v: {self._one(k): self._one(e) for k, e in v},
            "slice": lambda v: slice(*[self._one(e) for e in v]),
            "ellipsis": lambda v: Ellipsis,
            "dtype": as_dtype,
            "bytes": b64decode,
            "array": lambda v: array_of(TensorProto.FromString(b64decode(v))),
            "tensor": self._tensor,
            "op": self._operation,
            "part": Part,
            "body": self._body,
            "branch": lambda v: Branch.of(self._body(v[0]), self._one(v[1])),
        }
