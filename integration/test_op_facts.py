from functools import partial

import numpy as np

from byparts_graph_ir import Backend
from byparts_opset import OPS
from op_facts import (
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
