"""Where the workspace of launches begins and ends."""

from __future__ import annotations

from byparts_gpu_ir.launches import Launches
from byparts_tensor_ir.expression import const
from byparts_tensor_ir.statement import Buffer


def test_workspace_buffers_begin_at_multiples_of_256_bytes() -> None:
    a, b = Buffer("a", (const(3),), "f64"), Buffer("b", (const(2), const(5)), "i32")
    launches = Launches((), (a, b), ())

    assert launches.offsets() == {a: 0, b: 256}
    assert launches.workspace_bytes == 256 + 40


def test_no_workspace_is_no_bytes() -> None:
    assert Launches((), (), ()).workspace_bytes == 0
