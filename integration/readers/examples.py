"""Serialized Examples as `tf.parse_example` reads them, beside the messages that they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_conformance.fuzz.mutations import changed_bytes
from byparts_conformance.fuzz.reader import Reader
from byparts_graph_ir import FormatError
from byparts_tf_files.messages.example import Example
from byparts_tf_input.datasets.example_bytes import in_example, values_of

_LISTS = {1: "bytes_list", 2: "float_list", 3: "int64_list"}


def example() -> Reader:
    """An Example with features of all kinds; where both readers take it, they find the same."""
    made = Example()
    feature = made.features.feature
    feature["a"].int64_list.value.extend([1, -2, 3**20])
    feature["b"].float_list.value.extend([0.5, -1.0])
    feature["c"].bytes_list.value.extend([b"xyz", b""])

    def read(data: bytes) -> Any:
        return data, {name: values_of(data, span) for name, span in in_example(data).items()}

    return Reader("example", [made.SerializeToString()], changed_bytes, read, _check)


def _check(found: Any) -> None:
    data, features = found
    try:
        message = Example.FromString(data).features.feature
    except FormatError:
        return  # it reads what is skipped here, too
    assert len(features) == len(message), (features, message)
    for name in message if all("\ufffd" not in n for n in features) else ():
        kind, values = features[name]
        assert message[name].WhichOneof("kind") == _LISTS.get(kind), (name, kind)
        if kind:
            wanted = np.array(list(getattr(message[name], _LISTS[kind]).value), values.dtype)
            assert values.tobytes() == wanted.tobytes() if kind > 1 else (values == wanted).all()
