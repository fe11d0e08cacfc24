"""`tf.print`, and `tf.Print` of older programs: values shown when an operation runs."""

from __future__ import annotations

import os
import pprint
import re
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api import logging as tf_logging
from byparts_frontend_tf.api.debugging.shown import shown, shown_scalar
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import is_nested, map_structure
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

_PLACE = "\0{}\0"  # where the text of a tensor stands, by its number
_LEVELS = {level: (lambda text, at=level: tf_logging.log(at, text)) for level in (10, 20, 30, 40)}
_LOGGING = {
    tf_logging.debug: _LEVELS[10],
    tf_logging.info: _LEVELS[20],
    tf_logging.warning: _LEVELS[30],
    tf_logging.error: _LEVELS[40],
}


def formatted(array: Any, summarize: int, depth: int = 1) -> str:
    """The array in brackets, and of each axis only the first and last `summarize` (-1: all)."""
    array = np.asarray(array)
    if array.ndim == 0:
        text = shown_scalar(array[()])
        return f'"{text}"' if isinstance(array[()], bytes) else text
    if array.size == 0:
        return "[\n ...]" if len(array) else "[]"
    whole = summarize < 0 or len(array) <= 2 * summarize
    rows = array if whole else [*array[:summarize], *array[len(array) - summarize :]]
    parts = [formatted(row, summarize, depth + 1) for row in rows]
    if not whole:
        parts.insert(summarize, "...")
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    return f"[{between.join(parts)}]"


def _print(lowering: Any, op: Operation) -> None:
    template, summarize = op.attributes["template"], op.attributes["summarize"]
    stream = op.attributes["stream"]

    def show(*arrays: Any) -> None:
        text = template
        for i, array in enumerate(arrays):
            text = text.replace(_PLACE.format(i), formatted(array, summarize))
        if callable(stream):
            stream(text)
        elif isinstance(stream, str):
            with open(stream, "a", encoding="utf-8") as file:
                file.write(text)
        else:
            stream.write(text)
            stream.flush()

    lowering.afterwards(op, show, op.inputs)


PRINT = Kind("PrintV2", special=_print, shape=lambda inputs, **attributes: [], dtype=())


@symbol("print")
def print_(*inputs: Any, **given: Any) -> Operation:
    """An operation that prints tensors, and structures of them, in the order of the arguments.

    Args:
        inputs: tensors, strings, structures of tensors and Python's objects.
        given: `output_stream`: standard error, standard output, a function of `tf.logging`, or
            "file://path"; `summarize`: how many of an axis's first and last elements, -1 for all;
            `sep`: between inputs; `end`: behind them; `name`.

    Raises:
        ValueError: there is no such argument, or no such stream.
    """
    stream, name = given.pop("output_stream", sys.stderr), given.pop("name", None)
    summarize, separator = given.pop("summarize", 3), given.pop("sep", " ")
    end = given.pop("end", os.linesep)
    if given:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {given}")
    tensors: list[Any] = []
    parts = [_template(part, tensors, count(len(tensors))) for part in inputs]
    return PRINT.operation(
        tensors,
        name,
        template=separator.join(parts) + end,
        summarize=3 if summarize is None else summarize,
        stream=_stream(stream),
    )


def _template(part: Any, tensors: list[Any], numbers: Iterator[int]) -> str:
    """The text of an argument with places for its tensors, which are put into the list."""

    def place(leaf: Any) -> Any:
        if isinstance(leaf, SparseTensor):
            inner = [place(t) for t in (leaf.indices, leaf.values, leaf.dense_shape)]
            return "SparseTensor(indices={}, values={}, shape={})".format(*inner)
        if not isinstance(leaf, Tensor) and not hasattr(leaf, "_as_tensor"):
            return leaf
        tensors.append(leaf if isinstance(leaf, Tensor) else leaf._as_tensor(None, None))
        return _PLACE.format(next(numbers))

    if isinstance(part, str):
        return part
    leaf = place(part)
    if isinstance(leaf, str) and not isinstance(part, SparseTensor):
        return leaf
    made = map_structure(place, part) if is_nested(part) else leaf
    return re.sub(r"'\\x00(\d+)\\x00'", _PLACE.format(r"\1"), pprint.pformat(made)).replace(
        "\\x00", "\0"
    )


def _stream(given: Any) -> Any:
    if isinstance(given, str) and given.startswith("file://"):
        return given.removeprefix("file://")
    if given in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        return given
    if callable(given) and given in _LOGGING:
        return _LOGGING[given]
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{given}. Supported streams are "
        "sys.stdout, sys.stderr, tf.logging.info and its like, and file:// with a path"
    )


def _print_and_pass(lowering: Any, op: Operation) -> Optional[Value]:
    message, summarize = op.attributes["message"], op.attributes["summarize"]
    first_n, printed = op.attributes["first_n"], [0]

    def show(*arrays: Any) -> None:
        printed[0] += 1
        if first_n is None or first_n < 0 or printed[0] <= first_n:
            line = message + "".join([f"[{_inner(a, summarize)}]" for a in arrays])
            print(line, file=sys.stderr)

    lowering.afterwards(op, show, op.inputs[1:])
    (x,) = op.inputs[:1]
    if not x.dtype.own:  # a text has no place in the graph
        lowering.call(op, lambda text: text, [x], [x.dtype.as_numpy_dtype])
        return None
    return ops.identity(lowering.value(x, op))


def _inner(array: Any, summarize: int) -> str:
    text = shown(array, summarize)
    return text[1:-1] if np.ndim(array) == 1 else text


PASSED = Kind("Print", special=_print_and_pass, shape=like_first)


@symbol("Print")
def Print(  # noqa: N802  # TensorFlow's name
    input_: TensorLike,
    data: Any,
    message: Optional[str] = None,
    first_n: Optional[int] = None,
    summarize: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """The tensor; when it is computed, `message` and `data` are printed to standard error."""
    return PASSED(
        convert_to_tensor(input_),
        *[convert_to_tensor(d) for d in data],
        name=name,
        message=message or "",
        first_n=first_n,
        summarize=3 if summarize is None else summarize,
    )
