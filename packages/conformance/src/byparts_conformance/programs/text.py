"""Programs as text that can be read, kept in files and pasted into a test.

    variables 1, updates 1
    (%x: i64[2], %w: i64[2]) {
      %2: i64[2] = mul(%x, %w)  # demo.py:3
      return %2
    }
    i64[2] = 1 2
    i64[2] = 3 4

One line of numbers for each input, in order; floats as Python prints them, in full; one number
stands for as many as there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance.programs.program import Program
from byparts_graph_ir import FLOATS, FormatError, parse
from byparts_graph_ir.parts.hub import parts
from byparts_opset.dtypes import dtype_name, numpy_dtype, wide

Array = NDArray[Any]
_HEAD = re.compile(r"variables (\d+), updates (\d+)\n")
_LINE = re.compile(r"(\w+)\[([\d,]*)\] = ?(.*)")
_WHERE = re.compile(r"  # [^\n]*:\d+$", re.MULTILINE)


def text_of(program: Program) -> str:
    """The program as text, without where its nodes were made."""
    graph = _WHERE.sub("", str(program.graph))
    head = f"variables {program.variables}, updates {program.updates}"
    return "\n".join([head, graph, *map(_line, program.arrays)]) + "\n"


def program_of(text: str, ops: Mapping[str, Any] | None = None) -> Program:
    """The program of a text.

    Args:
        text: as `text_of` gives it.
        ops: names of ops; by default all that are installed.

    Raises:
        FormatError: it is not such a text.
    """
    head = _HEAD.match(text)
    end = text.rfind("\n}\n")
    if head is None or end < 0:
        raise FormatError("program: the text does not begin with `variables N, updates N`, a graph")
    graph = parse(text[head.end() : end + 2], parts.ops() if ops is None else ops)
    arrays = tuple([_array(line) for line in text[end + 3 :].splitlines() if line.strip()])
    if len(arrays) != len(graph.inputs):
        raise FormatError(f"program: {len(arrays)} arrays for {len(graph.inputs)} inputs")
    return Program(graph, arrays, int(head[1]), int(head[2]))


def as_test(program: Program, said: str, options: Mapping[str, Any]) -> str:
    """A test that fails as long as the program is wrong, to paste into a file of tests."""
    given = "".join([f", {name}={value!r}" for name, value in options.items()])
    name = f"test_program_{abs(program.seed)}"
    body = text_of(program).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return (
        f"def {name}() -> None:\n"
        f'    """{said[:80]}"""\n'
        f'    program = program_of("""{body}""")\n\n'
        f"    assert not trial(program{given})\n"
    )


def _line(a: Array) -> str:
    name = dtype_name(a.dtype)
    shown = wide(a).reshape(-1).tolist()
    numbers = [repr(float(x)) if name in FLOATS else str(int(x)) for x in shown]
    if len(set(numbers)) == 1:
        numbers = numbers[:1]
    return f"{name}[{','.join(map(str, a.shape))}] = {' '.join(numbers)}".rstrip()


def _array(line: str) -> Array:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise FormatError(f"program: {line[:60]!r} is no line of an array, as `f32[2] = 0.5 1.0`")
    name, shape = match[1], tuple([int(d) for d in match[2].split(",") if d])
    try:
        numbers: list[Any] = [float(x) if name in FLOATS else int(x) for x in match[3].split()]
        with np.errstate(all="ignore"):
            wide_numbers = np.array(numbers, np.float64 if name in FLOATS else np.int64)
            if len(numbers) == 1:
                wide_numbers = np.full(shape, numbers[0])
            return np.asarray(wide_numbers).astype(numpy_dtype(name)).reshape(shape)
    except (KeyError, ValueError) as error:
        raise FormatError(f"program: {line[:60]!r}: {error}") from error
