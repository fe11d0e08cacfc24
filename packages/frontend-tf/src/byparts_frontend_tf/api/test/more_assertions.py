"""Assertions of `tf.test.TestCase` that are absl's, old names of unittest's, and of bounds."""

# ruff: noqa: N802, N815, PT009 - the names and the style are those of unittest

from __future__ import annotations

import unittest
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.device import canonical
from byparts_tf_files.dtypes import as_dtype


class MoreAssertions(unittest.TestCase):
    """A test case; `_array(given)` is the array of what is compared."""

    __test__ = False
    assertItemsEqual = unittest.TestCase.assertCountEqual
    assertEquals = unittest.TestCase.assertEqual
    assertNotEquals = unittest.TestCase.assertNotEqual
    assertAlmostEquals = unittest.TestCase.assertAlmostEqual
    assertNotAlmostEquals = unittest.TestCase.assertNotAlmostEqual
    assertRaisesRegexp = unittest.TestCase.assertRaisesRegex
    assertRegexpMatches = unittest.TestCase.assertRegex
    assertNotRegexpMatches = unittest.TestCase.assertNotRegex
    assert_ = unittest.TestCase.assertTrue

    def _array(self, given: Any) -> Any:
        return np.asarray(given)

    def assertEmpty(self, container: Collection[Any], msg: str | None = None) -> None:
        """Nothing is in it."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Collection[Any], msg: str | None = None) -> None:
        """Something is in it."""
        self.assertGreater(len(container), 0, msg)

    def assertLen(self, container: Collection[Any], expected_len: int, msg: Any = None) -> None:
        """Fail unless the container has `expected_len` elements."""
        self.assertEqual(len(container), expected_len, msg)

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: str | None = None) -> None:
        """minv <= value <= maxv."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value!r} is not in [{minv!r}, {maxv!r}]")

    def assertSameElements(
        self, expected: Iterable[Any], actual: Iterable[Any], msg: Any = None
    ) -> None:
        """The sets are equal."""
        self.assertEqual(set(expected), set(actual), msg)

    def assertContainsSubset(
        self, expected: Iterable[Any], actual: Iterable[Any], msg: Any = None
    ) -> None:
        """The first set is in the second."""
        self.assertEqual(set(expected) - set(actual), set(), msg)

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Any,
        actual_seq: Any,
        places: Any = None,
        msg: Any = None,
        delta: Any = None,
    ) -> None:
        """The sequences have one length, and nearly the same numbers."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for one, other in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(one, other, places, msg, delta)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater."""
        self.assertTrue((self._array(a) > comparison_target).all(), f"{a} > {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Every element is less."""
        self.assertTrue((self._array(a) < comparison_target).all(), f"{a} < {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is greater or equal."""
        self.assertTrue((self._array(a) >= comparison_target).all(), f"{a} >= {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Every element is less or equal."""
        self.assertTrue((self._array(a) <= comparison_target).all(), f"{a} <= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element is between the bounds."""
        (self.assertAllGreater if open_lower_bound else self.assertAllGreaterEqual)(
            target, lower_bound
        )
        (self.assertAllLess if open_upper_bound else self.assertAllLessEqual)(target, upper_bound)

    def assertAllInSet(self, target: Any, expected_set: Iterable[Any]) -> None:
        """Every element is in the set."""
        self.assertContainsSubset(self._array(target).ravel().tolist(), expected_set)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The array or tensor is of a dtype."""
        self.assertEqual(as_dtype(target.dtype).base_dtype, as_dtype(expected_dtype))

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two names are those of one device."""
        self.assertEqual(canonical(_device(device1)), canonical(_device(device2)), msg)


def _device(given: Any) -> str:
    return given.to_string() if hasattr(given, "to_string") else str(given or "")
