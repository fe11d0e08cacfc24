"""TensorFlow 1 programs print here what TensorFlow 1.15.5 printed for them: `tf1/`.

Random numbers are NumPy's in all of them, so that the logs are comparable.  Two runs of TensorFlow
itself differ by less than 1e-5 (`tf1/record.py` refuses others).
"""

from __future__ import annotations

import pytest

from tf1.compare import differences
from tf1.places import names, recorded, run_here

IDIOMS = [name for name in names() if name.startswith("idioms/")]
PROGRAMS = [name for name in names() if name.startswith("programs/")]

# float32: a product is right to about 1e-6; steps of training multiply the error.
ONE_STEP, TRAINED = 1e-5, 2e-3


def check(name: str, tolerance: float) -> None:
    outcome = run_here(name)

    assert outcome.status == 0, outcome.errors[-3000:]
    assert not differences(recorded(name), outcome.output, tolerance)


@pytest.mark.parametrize("name", IDIOMS)
def test_idioms_print_what_tensorflow_printed(name: str) -> None:
    """Names, structures, orders, errors and numbers of small programs."""
    check(name, ONE_STEP)


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_train_as_in_tensorflow(name: str) -> None:
    """Whole programs: the losses of tens of steps, and what they print besides."""
    check(name, TRAINED)
