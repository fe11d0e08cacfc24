"""Monitored sessions with their hooks, supervisors, and clusters of one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults


@pytest.fixture(autouse=True)
def _graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(defaults, "backends", ("numpy",))
    with tf.Graph().as_default():
        yield


def model() -> tuple[Any, Any, Any]:
    """A loss, its training step and the variable that counts steps."""
    w = tf.get_variable("w", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    loss = tf.square(w, name="loss")
    return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step), step


def events(folder: Path) -> list[tuple[int, str]]:
    """Step and content of the events in a folder."""
    (path,) = folder.glob("events*")
    found = []
    for e in tf.train.summary_iterator(str(path)):
        tags = ",".join([v.tag for v in e.summary.value])
        status = f"log {e.session_log.status}" if e.HasField("session_log") else ""
        found.append((e.step, tags or status or e.WhichOneof("what")))
    return found


def test_a_training_writes_what_tensorflow_writes(tmp_path: Path, caplog: Any) -> None:
    """Checkpoints, summaries, events and the log, all as recorded from TensorFlow."""
    loss, train, step = model()
    tf.summary.scalar("l", loss)
    tf.logging.set_verbosity(tf.logging.INFO)
    hooks = [
        tf.train.StopAtStepHook(num_steps=5),
        tf.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=2),
    ]
    logging.getLogger("tensorflow").addHandler(caplog.handler)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path),
        hooks=hooks,
        save_checkpoint_steps=2,
        save_summaries_steps=2,
        log_step_count_steps=2,
    ) as session:
        while not session.should_stop():
            session.run(train)
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            session.run(train)
    logging.getLogger("tensorflow").removeHandler(caplog.handler)
    tf.logging.set_verbosity(tf.logging.WARN)

    assert sorted(p.name for p in tmp_path.glob("*.index")) == [
        f"model.ckpt-{n}.index" for n in (0, 2, 4, 5)
    ]
    assert (tmp_path / "graph.pbtxt").exists()
    found = events(tmp_path)
    assert [e for e in found if e[1] == "log 3"] == [(n, "log 3") for n in (0, 2, 4)]
    assert [n for n, what in found if what == "l"] == [1, 3, 5]
    assert (3, "global_step/sec") in found
    lines = [r.getMessage().partition(" (")[0] for r in caplog.records]
    assert "loss = 1.0, step = 1" in lines
    assert f"Saving checkpoints for 4 into {tmp_path}/model.ckpt." in lines
    assert not tf.get_default_graph().finalized


def test_hooks_are_called_in_order() -> None:
    """Around runs; what they fetch and feed besides; conflicts."""
    said: list[Any] = []
    x = tf.placeholder_with_default(1.0, [])
    tf.train.get_or_create_global_step()

    class Watch(tf.train.SessionRunHook):  # type: ignore[misc]  # found when used
        """Notes what it is told."""

        def begin(self) -> None:
            said.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            said.append(session.run(x))

        def before_run(self, run_context: Any) -> Any:
            said.append(run_context.original_args.fetches)
            return tf.train.SessionRunArgs({"twice": twice}, feed_dict={x: 5.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            said.append(run_values.results)
            run_context.request_stop()

        def end(self, session: Any) -> None:
            said.append("end")

    y, twice = x + 1.0, 2.0 * x
    with tf.train.SingularMonitoredSession(hooks=[Watch()]) as session:
        assert session.raw_session().run(y) == 2.0
        with pytest.raises(RuntimeError, match="fed by a SessionRunHook and user"):
            session.run(y, {x: 2.0})
        assert session.run(y) == 6.0
        assert session.should_stop()
    assert said == ["begin", 1.0, y, y, {"twice": 10.0}, "end"]
    with pytest.raises(RuntimeError, match="Session is already closed"):
        session.run(y)


def test_other_hooks() -> None:
    """A loss that is no number, values at the end, feeds; arguments that do not fit."""
    loss, train, _ = model()
    x = tf.placeholder(tf.float32, [])
    final = tf.train.FinalOpsHook([loss])
    with tf.train.MonitoredSession(
        hooks=[final, tf.train.FeedFnHook(lambda: {x: 3.0}), tf.train.StopAtStepHook(last_step=1)]
    ) as session:
        assert session.run_step_fn(lambda step_context: step_context.run_with_hooks(x)) == 3.0
        session.run(train)
        assert session.should_stop()
    assert abs(final.final_ops_values[0] - 0.64) < 1e-6
    with (
        pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"),
        tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x)]) as session,
    ):
        session.run(train, {x: float("nan")})
    with pytest.raises(ValueError, match="One of num_steps or last_step must be specified"):
        tf.train.StopAtStepHook()
    with pytest.raises(ValueError, match="exactly one of every_n_iter and every_n_secs"):
        tf.train.LoggingTensorHook([loss])
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf.train.SummarySaverHook(save_steps=1)


def test_the_end_of_the_input_ends_the_block() -> None:
    """Queue runners are started; OutOfRangeError goes no further, others do, hooks' ends do not."""
    n = tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()
    total = tf.get_variable("total", initializer=0)
    add, seen = total.assign_add(n), []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            seen.append(session.run(add))
    assert seen == [0, 1, 3]
    tf.get_collection_ref(tf.GraphKeys.QUEUE_RUNNERS).clear()
    unfed = tf.placeholder(tf.int32, name="unfed")
    with (
        pytest.raises(
            tf.errors.InvalidArgumentError, match=r"You must feed a value for .* 'unfed'"
        ),
        tf.train.MonitoredSession(hooks=[tf.train.FinalOpsHook(unfed)]) as other,
    ):
        other.run(unfed)


def test_scaffolds() -> None:
    """An `init_fn`, feeds for initialisers, what is missing said by name, one saver of two."""
    start = tf.placeholder(tf.float32, [])
    v = tf.Variable(start, name="v")
    scaffold = tf.train.Scaffold(
        init_feed_dict={start: 3.0}, init_fn=lambda _, session: v.load(5.0, session)
    )
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator) as session:
        assert session.run(v) == 5.0
    lacking = tf.train.Scaffold(init_op=tf.no_op(), copy_from_scaffold=tf.train.Scaffold())
    with pytest.raises(RuntimeError, match="Variables not initialized: v"):
        tf.train.MonitoredSession(tf.train.ChiefSessionCreator(lacking))
    tf.get_default_graph()._unsafe_unfinalize()
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    with pytest.raises(RuntimeError, match="More than one item in the collection"):
        tf.train.Scaffold().finalize()


def test_workers_are_refused() -> None:
    """They wait for another process."""
    with pytest.raises(tf.errors.UnimplementedError, match="use is_chief=True"):
        tf.train.MonitoredTrainingSession(is_chief=False)


def test_a_supervisor_serves_in_the_background(tmp_path: Path) -> None:
    """Loops, checkpoints, summaries; the next one goes on where it stopped."""
    _, train, step = model()
    loops: list[int] = []
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, summary_op=None)

    def count() -> None:
        loops.append(1)
        if len(loops) == 3:
            sv.request_stop()

    with sv.managed_session() as session:
        sv.loop(0, count)
        session.run(train)
        sv.wait_for_stop()
        assert (sv.should_stop(), len(loops) >= 3) == (True, True)
        sv.summary_computed(session, tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=1)]))
        sv.saver.save(session, sv.save_path, global_step=step)
    assert tf.train.latest_checkpoint(str(tmp_path)) == sv.save_path + "-1"
    assert (1, "t") in events(tmp_path)
    with tf.Graph().as_default():
        _, _, step = model()
        again = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, summary_writer=None)
        session = again.prepare_or_wait_for_session()
        assert session.run(step) == 1
        again.stop()
        assert again.should_stop()


def test_clusters_of_one() -> None:
    """Devices in turn, as TensorFlow shows them; several tasks are refused, with what to do."""
    cluster = tf.train.ClusterSpec({"worker": ["b:2", "c:3"], "ps": ["a:1"]})
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        total = a + b

    assert str(cluster) == "ClusterSpec({'ps': ['a:1'], 'worker': ['b:2', 'c:3']})"
    assert tf.train.ClusterSpec(cluster.as_cluster_def()) == cluster
    assert (cluster.num_tasks("worker"), cluster.task_address("worker", 1)) == (2, "c:3")
    assert (a.device, b.device, total.device) == ("/job:ps/task:0", "/job:ps/task:1", "/job:worker")
    server = tf.train.Server.create_local_server()
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 3.0
    with pytest.raises(tf.errors.UnimplementedError, match="in one process"):
        tf.train.Server(cluster, job_name="worker", task_index=0)
    with pytest.raises(tf.errors.UnimplementedError, match="use the optimizer itself"):
        tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)


def test_one_replica_trains() -> None:
    """`SyncReplicasOptimizer` of one is its optimizer."""
    w = tf.get_variable("w", initializer=1.0)
    step = tf.train.get_or_create_global_step()
    sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 1)
    train = sync.minimize(w * w, global_step=step)
    with tf.train.MonitoredSession(hooks=[sync.make_session_run_hook(True)]) as session:
        session.run(train)
        assert session.run([w, step]) == [0.0, 1]


def test_contrib_trains_until_a_hook_stops_it() -> None:
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        hooks = [tf.train.StopAtStepHook(3)]
        last = tf.contrib.training.train(
            tf.assign_add(step, 1),
            None,
            hooks=hooks,
            save_summaries_steps=None,
            save_checkpoint_secs=None,
        )

        assert last == 3
        with pytest.raises(ValueError, match="logdir cannot be None"):
            tf.contrib.training.train(step, None)


def test_hooks_are_called_around_the_runs_of_a_session_of_others() -> None:
    """As programs run evaluations beside a training session."""
    inside = import_module("byparts_frontend_tf.python.training.monitored_session")
    seen: list[Any] = []

    class Doubling(tf.train.SessionRunHook):  # type: ignore[misc]  # found when it is used
        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(doubled)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_values.results)

    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.random_normal([]) * 0 + 3
        doubled = x * 2
        hooked = inside._HookedSession(session, [Doubling()])

        assert (hooked.run(x), hooked.run([]), seen) == (3, [], [6, 6])
        assert hooked.graph is graph
        assert not x.op.op_def.is_stateful
        assert all(op.op_def.is_stateful for op in graph.get_operations() if "Random" in op.type)


def test_variables_go_to_the_server_with_the_least_load() -> None:
    training = tf.contrib.training
    strategy = training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn)
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)):
            made = [tf.Variable(tf.zeros([n])) for n in (5, 1, 2, 3)]

        assert [v.device[-1] for v in made] == ["0", "1", "1", "1"]
        with pytest.raises(ValueError, match="fully defined"):
            training.byte_size_load_fn(tf.placeholder(tf.float32, [None]).op)
