"""`tf.test`: test cases with TensorFlow's assertions."""

# ruff: noqa: N802, PT009, PT027, PT028 - the names and the style are those of unittest

from __future__ import annotations

import random
import re
import sys
import unittest
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from tempfile import mkdtemp
from typing import Any, NoReturn
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_tf.api.flags.flags import FLAGS
from byparts_frontend_tf.api.test.more_assertions import MoreAssertions
from byparts_frontend_tf.graph.scopes import set_random_seed
from byparts_frontend_tf.graph.stack import reset_default_graph
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import OpError
from byparts_tf_files.text_format import Parse

_SEED = 87654321
_HALF = ("float16", "bfloat16")


@symbol("test.TestCase")
class TestCase(MoreAssertions):
    """A test case; each test begins with an empty default graph."""

    __test__ = False  # pytest collects subclasses that say otherwise

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        cls.__test__ = True

    def setUp(self) -> None:
        """Empty the default graph, and seed what draws: each test draws the same."""
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        set_random_seed(_SEED)

    def get_temp_dir(self) -> str:
        """A folder for this test."""
        if not hasattr(self, "_temp_dir"):
            self._temp_dir = mkdtemp()
        return self._temp_dir

    @contextmanager
    def session(self, graph: Any = None, config: Any = None, **_: Any) -> Iterator[Any]:
        """A session on a graph, or on the default one, that closes at the end."""
        with Session(graph=graph, config=config) as session:
            yield session

    @contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, **_: Any) -> Iterator[Any]:
        """A session that is the same one, with its variables, in all of a test.

        Raises:
            ValueError: it is of another graph or configuration.
        """
        given = (graph, config)
        kept = self.__dict__.setdefault("_kept_session", [])
        if not kept:
            session = Session(graph=graph, config=config)
            self.addCleanup(session.close)
            kept.extend([session, given])
        if kept[1] != given:
            raise ValueError(
                "The graph or the config used to get the cached session is different than the "
                "one that was used to create the session. Maybe create a new session with "
                "self.session()"
            )
        with kept[0].graph.as_default(), kept[0].as_default():
            yield kept[0]

    def test_session(
        self, graph: Any = None, config: Any = None, **how: Any
    ) -> AbstractContextManager[Any]:
        """`session` of a graph, else `cached_session`; unittest takes it for a test: skipped."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if graph is None:
            return self.cached_session(None, config, **how)
        return self.session(graph, config, **how)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session, else in `cached_session`."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as kept:
            return kept.run(tensors)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The arrays have one shape and equal elements; NaN equals NaN."""
        np.testing.assert_array_equal(self._array(a), self._array(b), msg or "")
        self.assertEqual(self._array(a).shape, self._array(b).shape, msg)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The arrays differ."""
        self.assertFalse(np.array_equal(self._array(a), self._array(b)), msg)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """The arrays, or all in these structures, have one shape and differ by little."""
        if isinstance(a, Mapping):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
        elif isinstance(a, (list, tuple)) and _uneven(a):
            self.assertEqual(len(a), len(b), msg)
            for one, other in zip(a, b, strict=True):
                self.assertAllClose(one, other, rtol, atol, msg)
        else:
            left, right = self._array(a), self._array(b)
            self.assertEqual(left.shape, right.shape, msg)
            if {left.dtype.name, right.dtype.name} & {*_HALF}:
                left, right = left.astype(np.float32), right.astype(np.float32)
            np.testing.assert_allclose(left, right, rtol, atol, err_msg=msg or "")

    def assertNotAllClose(self, a: Any, b: Any, **how: Any) -> None:
        """The arrays differ by more than little."""
        with self.assertRaises(AssertionError):
            self.assertAllClose(a, b, **how)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        msg: str | None = None,
        **_: Any,
    ) -> None:
        """Compare as `assertAllClose` does, with wider bounds for half types."""
        if {self._array(a).dtype.name, self._array(b).dtype.name} & {*_HALF}:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by at most `err`."""
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}"
        )

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """The elements of two lists differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for one, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(one), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """The distance of two arrays is less than `err`."""
        distance = np.linalg.norm(self._array(ndarray1) - self._array(ndarray2))
        self.assertLess(distance, err, msg)

    def assertShapeEqual(self, np_array: NDArray[Any], tf_tensor: Any, msg: Any = None) -> None:
        """An array has the static shape of a tensor."""
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(), msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """A text begins with another."""
        self.assertTrue(actual.startswith(expected_start), msg)

    def assertProtoEquals(self, expected: Any, message: Any, msg: str | None = None) -> None:
        """A message is equal to another, or to the text of one."""
        if isinstance(expected, str):
            expected = Parse(expected, type(message)())
        self.assertEqual(expected, message, msg)

    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> AbstractContextManager[Any]:
        """The body raises an error whose message fits an expression, or that a function takes."""
        return _raises(self, exception_type, expected_err_re_or_predicate)

    def assertRaisesOpError(self, expected: Any) -> AbstractContextManager[Any]:
        """The body raises one of `tf.errors`."""
        return _raises(self, OpError, expected)

    def _array(self, given: Any) -> NDArray[Any]:
        if hasattr(given, "eval") and hasattr(given, "graph"):
            given = self.evaluate(given)
        return np.asarray(given)


@contextmanager
def _raises(case: TestCase, kind: Any, wanted: str | Callable[[Any], bool]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        good = wanted(error) if callable(wanted) else re.search(wanted, str(error))
        case.assertTrue(good, f"{type(error).__name__} with another message: {error}")
    else:
        case.fail(f"{getattr(kind, '__name__', kind)} not raised")


def _uneven(values: Any) -> bool:
    """Whether a list is none of numbers that make one array."""
    try:
        return np.asarray(values).dtype == object
    except ValueError:
        return True


@symbol("test.main")
def main(argv: list[str] | None = None) -> NoReturn:
    """Read the flags, run the tests of the program and exit."""
    left = FLAGS(sys.argv if argv is None else argv, known_only=True)
    unittest.main(argv=left)
    raise SystemExit(0)


@symbol("test.get_temp_dir")
def get_temp_dir() -> str:
    """A new folder."""
    return mkdtemp()


@symbol("test.is_gpu_available", "test.is_built_with_cuda", "test.is_built_with_gpu_support")
def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether tests may put operations on a GPU by `tf.device`: no, a session's config chooses."""
    return False


@symbol("test.gpu_device_name")
def gpu_device_name() -> str:
    """The name of a GPU for `tf.device`: "", there is none."""
    return ""


SYMBOLS = {"test.mock": "mock"}
__all__ = ["TestCase", "mock"]
