"""Random programs as TensorFlow 1 graphs of placeholders of unknown size, at six sizes each."""

from __future__ import annotations

import pytest

from tf_shapes import tf_campaign

BACKENDS = pytest.mark.parametrize("backends", [("numpy",), ("native", "numpy")], ids=" ".join)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflows on the way


@BACKENDS
def test_random_programs_of_unknown_sizes(backends: tuple[str, ...]) -> None:
    """The first size is built as it is; later ones are mostly those of a family."""
    report = tf_campaign(backends, 40 if backends == ("numpy",) else 4, 30_000)

    assert not report.failures, str(report)
    assert report.functions > report.kinds, str(report)
    assert report.served["compiled once"] > report.programs, str(report)


@pytest.mark.long
@BACKENDS
def test_a_hundred_programs_of_unknown_sizes(backends: tuple[str, ...]) -> None:
    report = tf_campaign(backends, 100 if backends == ("numpy",) else 15, 32_000)

    assert not report.failures, str(report)


@pytest.mark.long
@BACKENDS
def test_thousands_of_programs_at_unknown_sizes(backends: tuple[str, ...]) -> None:
    """Of 500 programs, of 60 in generated code, six sizes each."""
    report = tf_campaign(backends, 500 if backends == ("numpy",) else 60, 31_000)

    assert not report.failures, str(report)
