"""`tf.logging`, `tf.compat`, `tf.test`, versions, files beside a program, `tf.train.write_graph`."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.api import logging as tf_logging


@contextmanager
def _no_logger_set_up() -> Iterator[None]:
    """As it is in a program; pytest has set up one."""
    logger, root = logging.getLogger("tensorflow"), logging.getLogger()
    before = root.handlers, logger.handlers, logger.level
    root.handlers, logger.handlers = [], []
    tf_logging._logger.cache_clear()
    yield
    root.handlers, logger.handlers = before[:2]
    logger.setLevel(before[2])
    tf_logging._logger.cache_clear()


def test_messages_go_to_stderr_from_a_level_on(capsys: pytest.CaptureFixture[str]) -> None:
    """By default from WARN on."""
    with _no_logger_set_up():
        tf.logging.info("not shown")
        tf.logging.warn("shown %d", 1)
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("two")
        tf.logging.log(tf.logging.ERROR, "three")
        tf.logging.debug("not shown")
        tf.logging.fatal("the program goes on")
        tf.logging.flush()
        assert tf.logging.get_verbosity() == 20

    assert capsys.readouterr().err == (
        "WARNING:tensorflow:shown 1\nINFO:tensorflow:two\nERROR:tensorflow:three\n"
        "CRITICAL:tensorflow:the program goes on\n"
    )


def test_messages_that_are_said_seldom(capsys: pytest.CaptureFixture[str]) -> None:
    with _no_logger_set_up():
        for k in range(5):
            tf.logging.log_every_n(tf.logging.WARN, "every %d", 2, k)
            tf.logging.log_first_n(tf.logging.WARN, "first %d", 2, k)
            tf.logging.log_if(tf.logging.WARN, "if %d", k == 3, k)

    said = [line.rpartition(":")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == ["every 0", "first 0", "first 1", "every 2", "if 3", "every 4"]


def test_bytes_and_texts() -> None:
    assert tf.compat.as_bytes("é") == "é".encode() and tf.compat.as_bytes(b"a") == b"a"
    assert tf.compat.as_str(b"a") == tf.compat.as_text("a") == "a" == tf.compat.as_str_any(b"a")
    assert tf.compat.as_str_any(3) == "3" and tf.compat.path_to_str(Path("a")) == "a"
    assert isinstance(np.int64(1), tf.compat.integral_types) and tf.compat.as_str_any("é") == "é"
    for function in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            function(3)


def test_versions_and_files_beside_a_program() -> None:
    assert tf.VERSION == tf.__version__ == tf.version.VERSION and tf.__version__.startswith("1.15")
    assert tf.resource_loader.get_data_files_path() == str(Path(__file__).parent)
    assert tf.resource_loader.get_path_to_datafile("x") == str(Path(__file__).with_name("x"))
    assert tf.resource_loader.load_resource(Path(__file__).name).startswith(b'"""`tf.logging`')
    with pytest.raises(NotImplementedError, match="to compile operations against"):
        tf.sysconfig.get_include()


class Assertions(tf.test.TestCase):  # type: ignore[misc]  # found when it is used
    def test_arrays(self) -> None:
        self.assertAllEqual([1, 2], np.array([1, 2]))
        self.assertAllClose({"a": [1.0, [2.0]]}, {"a": [1.0 + 1e-9, [2.0]]})
        self.assertAllCloseAccordingToType(np.float16(1), np.float16(1.0005))
        self.assertNear(1.0, 1.1, 0.2)
        self.assertArrayNear([1.0], [1.1], 0.2)
        self.assertNDArrayNear(np.ones(2), np.ones(2) + 0.1, 0.2)
        self.assertNotAllClose([1.0], [2.0])
        self.assertNotAllEqual([1], [2])
        self.assertStartsWith("abc", "ab")
        self.assertProtoEquals('name: "a"', tf.NodeDef(name="a"))

    def test_what_differs(self) -> None:
        calls: list[tuple[Callable[[], object], str]] = [
            (lambda: self.assertAllEqual([1, 2], [1, 3]), "Arrays are not equal"),
            (lambda: self.assertAllEqual([1, 1], 1), "Tuples differ"),
            (lambda: self.assertAllClose([1.0], [1.1]), "Not equal to tolerance"),
            (lambda: self.assertAllClose({"a": 1}, {"b": 1}), "Items in the first set"),
            (lambda: self.assertNear(1.0, 1.3, 0.2), r"1.0 != 1.3 \+/- 0.2"),
            (lambda: self.assertProtoEquals('name: "b"', tf.NodeDef(name="a")), "!= name"),
        ]
        for call, message in calls:
            with pytest.raises(AssertionError, match=message):
                call()

    def test_errors(self) -> None:
        with self.assertRaisesOpError("No such file"):
            tf.gfile.GFile("/none/none").read()
        with self.assertRaisesWithPredicateMatch(ValueError, lambda e: "a" in str(e)):
            raise ValueError("a")
        bodies: list[tuple[Callable[[], object], str]] = [
            (lambda: int("a"), "with another message: invalid literal"),
            (lambda: int("1"), "ValueError not raised"),
        ]
        for body, message in bodies:
            with (
                pytest.raises(AssertionError, match=message),
                self.assertRaisesWithPredicateMatch(ValueError, "another"),
            ):
                body()

    def test_sessions(self) -> None:
        with self.test_session() as session:
            three = tf.constant(1) + 2
            assert session.run(three) == self.evaluate(three) == 3
            self.assertAllEqual(three, 3)
            self.assertShapeEqual(np.array(3), three)
        assert Path(self.get_temp_dir()).is_dir() and self.get_temp_dir() == self.get_temp_dir()


def test_a_graph_as_a_file(tmp_path: Path) -> None:
    """As text and as bytes: one graph."""
    with tf.Graph().as_default() as graph:
        tf.concat([tf.placeholder(tf.float32, [None, 2]), tf.zeros([1, 2])], 0, name="y")
    text = tf.train.write_graph(graph, tmp_path / "new", "g.pbtxt")
    data = tf.train.write_graph(graph.as_graph_def(), str(tmp_path), "g.pb", as_text=False)
    from byparts_tf_files.text_format import Parse

    found = tf.GraphDef.FromString(Path(data).read_bytes())
    assert found == Parse(Path(text).read_text(), tf.GraphDef()) == graph.as_graph_def()
    assert [n.name for n in found.node][-1] == "y"
    shapes = graph.as_graph_def(add_shapes=True).node[0].attr["_output_shapes"].list.shape
    assert [d.size for d in shapes[0].dim] == [-1, 2]


def test_bits_are_kept_whatever_they_are_called() -> None:
    """An axis of parts where the new dtype is smaller; joined where it is larger."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, -2.0])
        parts = tf.bitcast(x, tf.uint8)
        joined = tf.bitcast(parts, tf.float32)

        assert parts.shape.as_list() == [2, 4] and joined.shape.as_list() == [2]
        assert session.run(tf.bitcast(x, tf.int32)).tolist() == [0x3F800000, -0x40000000]
        assert session.run(tf.bitcast(tf.constant(1.0), tf.int32)).shape == ()
        assert session.run(joined).tolist() == [1.0, -2.0]
        with pytest.raises(ValueError, match="does not end with 4"):
            tf.bitcast(tf.zeros([3], tf.uint8), tf.float32)


class OneSession(tf.test.TestCase):  # type: ignore[misc]  # found when it is used
    def test_blocks_see_the_variables_of_those_before(self) -> None:
        with self.test_session() as session:
            v = tf.Variable(tf.random_normal([2]))
            session.run(v.initializer)
        with self.cached_session() as again:
            assert again is session
            self.assertLen(again.run(v), 2)
        with pytest.raises(ValueError, match="different"):
            self.cached_session(config=tf.ConfigProto()).__enter__()


def test_gradients_are_held_beside_differences() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant([[1.0, -2.0]], tf.float64)
        y = tf.stack([tf.sin(x[0, 0]) * x[0, 1], x[0, 0] ** 2, x[0, 1] * 3])
        start = np.array([[0.5, 2.0]])
        by_gradients, by_differences = tf.test.compute_gradient(x, [1, 2], y, [3], start)
        wrong = y + tf.stop_gradient(x[0, 1])

        wanted = [[2 * np.cos(0.5), 1.0, 0.0], [np.sin(0.5), 0.0, 3.0]]
        np.testing.assert_allclose(by_gradients, wanted, 1e-6)
        np.testing.assert_allclose(by_differences, wanted, 1e-5)
        assert tf.test.compute_gradient_error(x, [1, 2], wrong, [3], start) > 0.99


def test_a_device_is_the_sum_of_its_parts() -> None:
    spec = tf.DeviceSpec(job="ps", device_type="gpu", device_index=1)
    spec.merge_from(tf.DeviceSpec.from_string("/task:3/cpu:0"))
    deal = tf.contrib.framework.VariableDeviceChooser(num_tasks=2)

    assert spec.to_string() == "/job:ps/task:3/device:CPU:0"
    assert [deal(None)[8:14] for _ in range(3)] == ["task:0", "task:1", "task:0"]


def test_what_is_deprecated_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    def of_either(a: int | None = None, b: int = 0) -> int:
        return b if a is None else a

    f = tf.contrib.framework.deprecated_args("2019-01-01", "Use b.", "a")(of_either)
    assert [f(b=1), f(2), f(3)] == [1, 2, 3]
    said = caplog.text
    assert said.count("argument a is deprecated and will be removed after 2019-01-01.") == 1


def test_the_debugger_is_imported_and_refused() -> None:
    """Programs offer it by a flag."""
    debug = tf.python.debug

    assert debug.has_inf_or_nan(None, [1.0, np.nan])
    assert not debug.has_inf_or_nan(None, [b"text"])
    with pytest.raises(NotImplementedError, match="LocalCLIDebugWrapperSession: there is no"):
        debug.LocalCLIDebugWrapperSession(tf.Session())
