import numpy as np
from numeric import call, check_gradient

import byparts_opset as ops

X = np.array([0.0, -0.0, 1.5, -np.inf], np.float32)


def test_zeros_have_a_sign() -> None:
    """`x < 0` would not see it."""
    np.testing.assert_array_equal(call(ops.signbit, X), [False, True, False, True])
    made = call(ops.copysign, np.array([2, -3, 4, 5], np.float32), X)
    np.testing.assert_array_equal(made, [2, -3, 4, -5])


def test_gradient_of_copysign_is_that_of_torch() -> None:
    """Turned where the sign changes; 0 at 0, where the size has no slope."""
    x, y = np.array([1.0, -2.0, 3.0, -4.0]), np.array([1.0, 1.0, -1.0, -1.0])

    check_gradient(ops.CopySign(), x, y, unranked=True)


def test_the_next_number_is_exactly_that() -> None:
    """In each dtype its own: an f16 computed in f32 would round back."""
    one = call(ops.nextafter, np.ones(2, np.float16), np.array([2, 0], np.float16))

    np.testing.assert_array_equal(one, np.array([1 + 2**-10, 1 - 2**-11], np.float16))
