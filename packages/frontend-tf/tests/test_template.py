"""make_template: variables of the first call are those of all."""

from typing import Any

import pytest

import byparts_frontend_tf as tf


@pytest.fixture(autouse=True)
def _graph() -> object:
    with tf.Graph().as_default() as graph:
        yield graph


def test_calls_share_variables() -> None:
    """Two calls make one variable, two templates of one name make two."""

    def scale(x: object, by: float) -> object:
        return x * tf.get_variable("w", initializer=by)

    first = tf.make_template("scale", scale, by=2.0)
    other = tf.make_template("scale", scale, by=3.0)
    results = [first(1.0), first(10.0), other(1.0)]

    assert [v.op.name for v in tf.global_variables()] == ["scale/w", "scale_1/w"]
    assert [v.op.name for v in other.trainable_variables] == ["scale_1/w"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(results) == [2.0, 20.0, 3.0]


def test_a_later_call_may_not_make_what_is_trained() -> None:
    """`tf.Variable` in a template is a mistake, and said to be one."""
    wrong = tf.make_template("wrong", lambda: tf.Variable(1.0))
    wrong()

    with pytest.raises(ValueError, match="created when calling a template after the first"):
        wrong()


def test_a_counter_stops_at_its_limit() -> None:
    """It gives its values, then an error, and stays at the limit."""
    count = tf.Variable(0, trainable=False)
    step = count.count_up_to(2)

    with tf.Session() as session:
        session.run(count.initializer)

        assert [session.run(step), session.run(step)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
            session.run(step)
        assert session.run(count) == 2


def test_a_creator_is_called_in_place_of_a_variable() -> None:
    """The innermost first; it may change arguments."""
    said: list[str] = []

    def creator(name: str) -> Any:
        def create(next_creator: Any, **given: Any) -> Any:
            said.append(f"{name} {given['name']}")
            return next_creator(**{**given, "trainable": False})

        return create

    with tf.Graph().as_default():
        with tf.variable_creator_scope(creator("outer")), tf.variable_creator_scope(creator("in")):
            v = tf.get_variable("v", [2])
            w = tf.Variable(1.0, name="w")
        tf.Variable(1.0)

        assert said == ["in v", "outer v", "in w", "outer w"]
        assert not v.trainable and not w.trainable and len(tf.trainable_variables()) == 1
