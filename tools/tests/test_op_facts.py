from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import byparts_opset
from byparts_graph_ir import Backend, Value
from byparts_opset import OPS
from op_facts import (
    called,
    function_gives,
    gradient_to,
    kernel_column,
    made_of,
    markdown,
    meaning,
    view_of,
    written_over,
)


def test_facts_are_read_off_the_ops() -> None:
    """Each column, on an op where it says something."""
    assert meaning(OPS["abs"]) == "y = |x|"
    assert made_of(OPS["add"]) == ""
    assert made_of(OPS["rsqrt"]) == "fill, sqrt, div"
    assert written_over(OPS["add"]) == "x or y"
    assert view_of(OPS["identity"]) == "x"
    assert gradient_to(OPS["select"]) == "x, y"
    assert gradient_to(OPS["floor"]) == ""


def test_what_a_function_gives_is_seen_by_calling_it() -> None:
    """Fewer values than the op has outputs, as many, or one for each weight."""
    assert function_gives(OPS["layer_norm"]) == "y alone: value, output 0 of 3"
    assert function_gives(OPS["batch_norm"]) == "tuple of 3"
    assert function_gives(OPS["adam"]) == "tuple of 3 tuples"
    assert function_gives(OPS["layer_norm_gradient"]) == ""


@pytest.mark.parametrize("name", OPS)
def test_a_function_of_one_value_gives_what_the_first_output_is(name: str) -> None:
    """On every sample: of its type; a function of several gives as many as the op has outputs."""
    function = getattr(byparts_opset, name, None)
    if not callable(function) or name in ("call", "scan"):  # whose results are those of a body
        return
    for sample in OPS[name].samples():
        if getattr(sample.op, "shape", ()) is None:  # a draw in the shape of an input: the op alone
            continue
        result = called(function, sample)
        flat = [result] if isinstance(result, Value) else _flat(result)
        types = sample.op.infer(*sample.types)
        assert [v.type for v in flat] == list(types[: len(flat)])
        assert len(flat) in (1, len(types))


def _flat(results: Sequence[Any]) -> list[Any]:
    return [v for r in results for v in (r if isinstance(r, tuple) else (r,))]


def test_kernel_column_tells_parts_from_nothing() -> None:
    """square is mul and mul; rsqrt needs a root that this backend has not got."""
    backend = Backend("small", lambda memory, offset, type: memory)
    backend.kernels.on(OPS["mul"])(
        lambda op, inputs, outputs: partial(np.multiply, *inputs, *outputs)
    )
    column = kernel_column(backend, {})

    assert column(OPS["mul"]) == "kernel"
    assert column(OPS["square"]) == "by parts"
    assert column(OPS["rsqrt"]) == "missing"
    assert kernel_column(backend, {OPS["mul"]: "why"})(OPS["mul"]) == "allocates: why"


def test_every_op_has_a_row() -> None:
    """And a heading for its module; bars inside a cell are escaped."""
    lines = markdown(OPS, {}).splitlines()

    assert len(OPS) == sum(line.startswith("| `") for line in lines)
    assert "## unary" in lines
    assert any(line.startswith(r"| `abs` | y = \|x\| |") for line in lines)
