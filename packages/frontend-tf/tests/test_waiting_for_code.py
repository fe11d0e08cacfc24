"""Sessions begin on kernels that need no compiler."""

from __future__ import annotations

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.running.session import defaults
from byparts_frontend_tf.running.tree import ProgramStep
from byparts_graph_ir import Backend
from byparts_kernels_numpy import make
from byparts_runtime import Program
from byparts_runtime.run import change


def _compiled(numpy: Backend) -> Backend:
    """The kernels of NumPy as those of a backend with a compiler."""
    return Backend(
        "compiled",
        numpy.view,
        numpy.kernels,
        numpy.functions,
        around=numpy.around,
        slow_to_build=True,
    )


@pytest.mark.parametrize("wait", [False, True])
def test_a_session_changes_to_generated_code(wait: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its fourth run here; variables go on counting."""
    monkeypatch.setattr(change, "_COMPILER_S", 0.0)
    monkeypatch.setattr(change, "_COMPILER_S_PER_NODE", 0.0)
    monkeypatch.setitem(defaults, "wait", wait)
    count = tf.Variable([1.0, 2.0])
    add = tf.assign_add(count, [1.0, 1.0])

    with tf.Session(backends=(_compiled(make()), "numpy")) as session:
        session.run(tf.global_variables_initializer())
        seen = [(session.run(add)[0], _backends(session)) for _ in range(5)]

    assert [value for value, _ in seen] == [2, 3, 4, 5, 6]
    changed = [{"compiled"}] * 2
    assert [names for _, names in seen] == [{"compiled"} if wait else {"numpy"}] * 3 + changed


def _backends(session: tf.Session) -> set[str]:
    """The backends that run the last plan of a session."""
    step = next(iter(list(session._plans.values())[-1].first.values()))
    assert isinstance(step, ProgramStep) and isinstance(step.program, Program)
    return {step.backend for step in step.program.steps}
