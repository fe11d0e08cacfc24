"""Variables, assignments, groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import byparts_tinyflow as tf
from byparts_frontend_tf.running.pure import pure_graph
from byparts_graph_ir import GraphError


def test_tf_st_1_assign_then_read() -> None:
    """TF-ST-1: what was assigned is there in the next run."""
    x = tf.Variable(tf.ones([2, 3]))
    session = tf.Session()
    session.run(tf.assign(x, tf.zeros([2, 3])))

    assert_array_equal(session.run(x), np.zeros((2, 3)))


def test_tf_st_2_group() -> None:
    """TF-ST-2: a group runs all its assignments and gives None."""
    x, y = tf.Variable(tf.ones([2])), tf.Variable(tf.ones([2]))
    session = tf.Session()

    assert (
        session.run(tf.group(tf.assign(x, tf.zeros([2])), tf.assign(y, tf.ones([2]) * 3))) is None
    )
    assert_array_equal(session.run(x), [0, 0])
    assert_array_equal(session.run(y), [3, 3])


def test_tf_st_3_initialize() -> None:
    """TF-ST-3: first values, of the variables made since the last call."""
    x, y = tf.Variable(tf.ones([2])), tf.Variable(tf.zeros([3]))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    assert_array_equal(session.run(x), [1, 1])
    assert_array_equal(session.run(y), [0, 0, 0])

    session.run(tf.assign(x, tf.zeros([2])))
    session.run(tf.initialize_all_variables())
    assert_array_equal(session.run(x), [0, 0])


def test_t1_updates_are_simultaneous() -> None:
    """T1: W0 = 2, W1 = 3, lr = 0.1, loss = W0 W1 gives 1.7 and 2.8; TinyFlow's order gave 2.83."""
    a, b = tf.Variable(tf.ones([]) * 2.0), tf.Variable(tf.ones([]) * 3.0)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(a * b))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    session.run(step)

    assert_allclose(session.run([a, b]), [1.7, 2.8], rtol=1e-6)


def test_nn_c_assign() -> None:
    """NNVM row: w = assign(w, w + 1); w2 = assign(w2, w + 1), twice: w0 + 2, then w0 + 3."""
    w, w2 = tf.Variable(tf.ones([])), tf.Variable(tf.zeros([]))
    new = tf.assign(w, w + 1)
    new2 = tf.assign(w2, new + 1)
    session = tf.Session()
    session.run(tf.initialize_all_variables())

    assert session.run(new2) == 3 and session.run(new2) == 4 and session.run(w) == 3


def test_nn_gr_4_reads_beside_an_assignment_see_the_old_value() -> None:
    """NNVM row, by construction: whoever reads the variable reads what it was before the run."""
    x = tf.Variable(tf.ones([]))
    before, after = x * 10, tf.assign(x, x + 1)
    session = tf.Session()
    session.run(tf.initialize_all_variables())

    assert session.run([before, after, x]) == [10, 2, 2]


def test_nn_gr_5_what_is_read_and_what_is_changed() -> None:
    """NNVM row: of an assignment's inputs, the weight and z are read only, the target is changed."""
    x, w = tf.Variable(tf.ones([2, 2]), name="x"), tf.Variable(tf.ones([2, 2]), name="w")
    z = tf.placeholder(tf.float32, [2, 2], name="z")
    step = pure_graph(tf.Session(), tf.assign(x, tf.matmul(x, w) + z), {z: [2, 2]})

    assert [v.name for v in step.variables] == ["x", "w"]
    assert [v.name for v in step.updates] == ["x"] and step.fed == (z,)
    assert str(step.graph).startswith("(%z: f32[2,2], %x: f32[2,2], %w: f32[2,2]) {")


def test_nn_sym_6_a_group_takes_any_values() -> None:
    """NNVM row: control dependencies on a list of symbols; here a group runs whatever it is given."""
    x = tf.Variable(tf.ones([2]))
    session = tf.Session()
    both = tf.group(tf.exp(tf.zeros([2])), tf.group(tf.assign(x, tf.zeros([2]))))

    assert session.run(both) is None
    assert_array_equal(session.run(x), [0, 0])


def test_fetching_a_variable_beside_its_update_gives_the_new_value() -> None:
    """As TinyFlow, which copied fetches out after all nodes had run."""
    x = tf.Variable(tf.ones([]))
    update = tf.group(tf.assign(x, x + 1))
    session = tf.Session()
    session.run(tf.initialize_all_variables())

    assert session.run([x, update]) == [2, None]


def test_two_assignments_in_one_run_are_refused() -> None:
    """Which one wins would depend on the order of nodes."""
    x = tf.Variable(tf.ones([]), name="w")
    both = tf.group(tf.assign(x, tf.zeros([])), tf.assign(x, tf.ones([])))
    with pytest.raises(GraphError, match="variable 'w' is assigned twice in one run"):
        tf.Session().run(both)


def test_nn_sym_4_only_variables_can_be_assigned() -> None:
    """NNVM row: the target of an assignment is a variable."""
    with pytest.raises(GraphError, match=r"Mutation target can only be Variable, .*'Exp:0'"):
        tf.assign(tf.exp(tf.ones([2])), tf.ones([2]))


def test_an_assignment_may_change_the_shape() -> None:
    """Variables take the shape of what they are given; programs are built anew for it."""
    x = tf.Variable(tf.ones([2]))
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    total, longer = tf.reduce_sum(x), tf.assign(x, tf.ones([5]) * 2)

    assert session.run(total) == 2
    session.run(longer)
    assert session.run(total) == 10


def test_sessions_share_nothing() -> None:
    """Two sessions, two values; one that never saw the variable says so."""
    x = tf.Variable(tf.ones([]), name="w")
    one, two = tf.Session(), tf.Session()
    one.run(tf.initialize_all_variables())
    with pytest.raises(
        GraphError, match=r"uninitialized value w\n.*created at .*test_state.py:\d+"
    ):
        two.run(x)
    two.run(tf.assign(x, tf.ones([]) * 5))

    assert (one.run(x), two.run(x)) == (1, 5)


def test_t13_names_are_not_identity() -> None:
    """T13, N11: two variables of one name are two."""
    a, b = tf.Variable(tf.ones([]), name="w"), tf.Variable(tf.zeros([]), name="w")
    session = tf.Session()
    session.run(tf.initialize_all_variables())

    assert session.run([a, b]) == [1, 0]


def test_a_failed_run_leaves_variables_as_they_were() -> None:
    """Also when the update itself had been computed."""
    x, y = tf.Variable(tf.ones([3])), tf.placeholder(tf.float32)
    session = tf.Session()
    session.run(tf.initialize_all_variables())
    update = tf.assign(x, x * 2)
    bad = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(tf.ones([1, 3]), y)
    with pytest.raises(GraphError, match="7"):
        session.run([update, bad], {y: np.array([7.0])})
    with pytest.raises(GraphError, match="broadcast"):
        session.run([update, x + y], {y: np.ones(2)})

    assert_array_equal(session.run(x), [1, 1, 1])


def test_variable_needs_a_value() -> None:
    """An array is wrapped first."""
    with pytest.raises(TypeError, match=r"wrap it, as in Variable\(tf.zeros"):
        tf.Variable(np.zeros(3))  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_numbers() -> None:
    """Streams depend on the seed, on which draw it is and on the run, and on nothing else."""

    def draw(seed: int) -> Any:
        tf.reset_default_graph()
        tf.set_random_seed(seed)
        x, y = tf.normal([1000]), tf.normal([1000], stdev=2.0)
        session = tf.Session()
        return session.run([x, y]), session.run([x, y])

    (x1, y1), (x2, _) = draw(7)
    (again, _), _ = draw(7)

    assert_array_equal(x1, again)
    assert (
        not np.allclose(x1, y1 / 2)
        and not np.allclose(x1, x2)
        and not np.allclose(x1, draw(8)[0][0])
    )
    assert abs(x1.mean()) < 0.1 and abs(y1.std() - 2) < 0.15


def test_programs_without_a_seed_repeat() -> None:
    """Two programs that are built alike draw alike, as the examples are compared."""

    def draw() -> Any:
        tf.reset_default_graph()
        return tf.Session().run([tf.normal([3]), tf.normal([3])])

    (x, y), again = draw(), draw()

    assert_array_equal([x, y], again)
    assert not np.allclose(x, y)


def test_a_variable_may_be_read_in_a_run_that_assigns_it_first() -> None:
    """One without a first value, as layers make."""
    w = tf.Variable(name="w")
    session = tf.Session()

    assert session.run([tf.assign(w, tf.ones([2]) * 3), w])[1].tolist() == [3, 3]
    assert session.run(w + 1).tolist() == [4, 4]
