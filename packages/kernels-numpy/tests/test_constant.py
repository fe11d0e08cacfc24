import math

import numpy as np
import pytest
from bound import kernel
from numeric import ops_of

from byparts_graph_ir import Sample
from byparts_opset.constant import Fill
from byparts_opset.identity import Identity, Print

SAMPLES = [s for op in ops_of("constant") for s in op.samples()]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_constants_fill_their_arrays(sample: Sample) -> None:
    """Bit for bit."""
    np.testing.assert_array_equal(sample.op.evaluate()[0], kernel(sample.op)[0], strict=True)


def test_fills_keep_signs_and_nan() -> None:
    """-0.0, nan, and the dtype NumPy has not got."""
    assert math.copysign(1, kernel(Fill(-0.0))[0]) == -1
    assert np.isnan(kernel(Fill(math.nan, "f16", (2,)))[0]).all()
    assert kernel(Fill(0.5, "bf16", (2,)))[0].tolist() == [0.5, 0.5]


def test_what_passes_on_is_copied_where_it_is_no_view(capsys: pytest.CaptureFixture[str]) -> None:
    """The planner makes views of them; without one they still work."""
    x = np.arange(3.0)

    np.testing.assert_array_equal(x, kernel(Identity(), x)[0])
    np.testing.assert_array_equal(x, kernel(Print("x"), x)[0])
    assert capsys.readouterr().out == "x [0. 1. 2.]\n"
