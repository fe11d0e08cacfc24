"""The stream that dropout and its like draw from, while a program is imported.

A draw is a function of a key and a counter.  Both become weights of the imported program, and the
counter after all draws is what the next run starts from, so a training step takes new numbers each
time and can be repeated exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Optional

import byparts_opset as ops
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_graph_ir import Input, TensorType, Value

KEY, COUNTER = "random.key", "random.counter"


class Stream:
    """A key, a counter, and how far it has come.

    Attributes:
        inputs: the key and the counter, as inputs of a graph.
        counter: the counter after the draws made so far.
    """

    def __init__(self) -> None:
        scalar = TensorType("i64", ())
        self.inputs = (Input(scalar, None, KEY, ""), Input(scalar, None, COUNTER, ""))
        self.counter: Value = self.inputs[1]

    @property
    def used(self) -> bool:
        """Whether something was drawn."""
        return self.counter is not self.inputs[1]


class _Current(threading.local):
    stream: Optional[Stream] = None


_current = _Current()


@contextmanager
def drawing_from(stream: Stream | None) -> Iterator[None]:
    """Rules called inside draw from `stream`.  Per thread."""
    before = _current.stream
    _current.stream = stream
    try:
        yield
    finally:
        _current.stream = before


def next_draw(like: Value) -> tuple[Value, Value]:
    """A key and a counter for a draw in the shape of `like`.

    Raises:
        UnsupportedOp: the program was imported without a seed.
    """
    stream = _current.stream
    if stream is None:
        raise UnsupportedOp(
            "random numbers are drawn: call model.eval() before the export, "
            "or from_exported(..., seed=0) to make key and counter weights of the program"
        )
    counter = stream.counter
    stream.counter = ops.next_counter(counter, like)
    return stream.inputs[0], counter
