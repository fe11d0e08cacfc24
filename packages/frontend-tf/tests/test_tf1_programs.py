"""TensorFlow 1 programs print here what TensorFlow 1.15.5 printed for them: `tf1/`.

Random numbers are NumPy's in all of them, so that the logs are comparable.  Two runs of TensorFlow
itself differ by less than 1e-5 (`tf1/record.py` does not record others).
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from tf1.compare import differences
from tf1.places import names, recorded, run_here

# What is not here yet, and why: `cd packages/frontend-tf/tests; python -m tf1.status NAME` says it anew.
WAITING: dict[str, str] = {}
NEEDS = {"idioms/scipy_optimizer": "scipy"}
# Half of the time of all idioms is the compiler's, for these, whose ops are in tests of their own.
LONG_IDIOMS = {
    "idioms/case_and_where",
    "idioms/embedding_and_partition",
    "idioms/gradients_and_clipping",
    "idioms/layers_and_losses",
    "idioms/loops_and_tensor_arrays",
    "idioms/optimizers",
    "idioms/slim_layers",
    "idioms/sparse_tensors",
    "idioms/static_and_raw_rnn",
}
IDIOMS = [
    pytest.param(name, marks=[pytest.mark.long] if name in LONG_IDIOMS else [])
    for name in names()
    if name.startswith("idioms/")
]
PROGRAMS = [name for name in names() if name.startswith("programs/")]

# float32: a product is right to about 1e-6; steps of training multiply the error.
ONE_STEP, TRAINED = 1e-5, 2e-3
# Two orders of the same sums (code from g++ and from LLVM) print accuracies of 236 and 235 of 300
# images and losses 5e-4 apart, TensorFlow 237: the last digits of such a log are rounding.
ROUNDING = {"programs/cnn_batch_norm": 1e-2}


def check(name: str, tolerance: float) -> None:
    if name in WAITING:
        pytest.skip(f"waits for: {WAITING[name]}")
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"needs {NEEDS[name]}")
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
    check(name, ROUNDING.get(name, TRAINED))


def test_a_wrong_log_is_seen() -> None:
    """Text and integers count as they stand; fractions by value, NumPy 2's as NumPy 1's."""
    log = "step 10 loss 0.5000 [1.  2.5] lr 1e-05"

    assert not differences(log, "step 10 loss 0.5001 [1. 2.5000001] lr 1.0000001e-05", 1e-3)
    assert not differences("1.5", "np.float32(1.5)", 0.0)
    assert len(differences(log, "step 11 loss 0.5000 [1. 2.5] lr 1e-05", 1.0)) == 1
    assert len(differences(log, log.replace("loss", "Loss"), 1.0)) == 1
    assert len(differences(log, log.replace("1e-05", "3e-05"), 1e-3)) == 1
    assert len(differences("a\nb", "a", 1.0)) == 1
