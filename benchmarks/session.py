"""What TensorFlow 1's API costs: a run of a session, a graph of many operations, deep gradients.

    python benchmarks/session.py        # CPU time, so that a busy machine changes little

A run is held against a call of the very program that it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults
from byparts_frontend_tf.running.tree import ProgramStep

defaults["wait"] = True  # the kernels of long programs are measured, from the first run on

OPERATIONS, STEPS = 20_000, 1_000


def shortest(call: Callable[[], object], count: int = 500, rounds: int = 20) -> float:
    """The shortest mean time of `count` calls, in seconds."""

    def mean() -> float:
        begun = process_time()
        for _ in range(count):
            call()
        return (process_time() - begun) / count

    return min(mean() for _ in range(rounds))


def session_run() -> tuple[float, float]:
    """A run with one small feed and one fetch, and its program alone, in seconds."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        y = x * 2.0 + 1.0
        feed = {x: np.ones(4, "float32")}
        session.run(y, feed)
        (plan,) = session._plans.values()
        (step,) = plan.first.values()
        assert isinstance(step, ProgramStep), "the graph is one program"
        return shortest(lambda: session.run(y, feed)), shortest(lambda: step.program(feed[x]))


def building() -> float:
    """A graph of `OPERATIONS` operations, in seconds."""
    with tf.Graph().as_default() as graph:
        begun = process_time()
        y = x = tf.placeholder(tf.float32, [8, 8])
        while len(graph.get_operations()) < OPERATIONS:
            y = tf.tanh(y * 1.01 + x)
        return process_time() - begun


def deep_gradients() -> tuple[float, float, float]:
    """`tf.gradients` through `STEPS` steps, its first run and a later one, in seconds."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8, 16])
        w = tf.Variable(np.eye(16, dtype="float32"))
        h = x
        for _ in range(STEPS):
            h = tf.tanh(tf.matmul(h, w))
        session.run(w.initializer)
        feed = {x: np.ones([8, 16], "float32")}
        times = [process_time()]
        gradient = tf.gradients(tf.reduce_sum(h), w)[0]
        times.append(process_time())
        for _ in range(2):
            session.run(gradient, feed)
            times.append(process_time())
        first, second, third = np.diff(times)
        return float(first), float(second), float(third)


def main() -> None:
    """Print what was measured."""
    run, program = session_run()
    print(f"session.run {run * 1e6:.1f} us, its program {program * 1e6:.1f} us")
    print(f"{OPERATIONS} operations {building():.2f} s")
    made, first, later = deep_gradients()
    print(
        f"gradients through {STEPS} steps {made:.2f} s, their first run {first:.2f} s, "
        f"a later one {later * 1e3:.2f} ms"
    )


if __name__ == "__main__":
    main()
