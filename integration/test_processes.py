"""Programs in pools, data loaders and other workers: forked, and started anew."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import forked, forks_with_threads, needs_fork

import workers
from byparts_graph_ir import GraphError

pytestmark = forks_with_threads

LIMIT_S = 120  # a safety net, for workers that wait for ever


@pytest.fixture(params=["numpy", "torch"])
def backend(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(f"byparts_kernels_{request.param}", reason="a kernel part is not installed")
    if request.param == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    return str(request.param)


def expected(backend: str, count: int) -> list[float]:
    workers.start(backend)
    return [workers.run((backend, k)) for k in range(count)]


def close(given: list[float], wanted: list[float]) -> bool:
    """A worker may compute with other numbers of threads, and so in another order."""
    return np.allclose(given, wanted, rtol=1e-4, atol=1e-2)


@needs_fork
def test_a_pool_of_two_forked_workers_is_right_a_hundred_times(backend: str) -> None:
    """With the program of their parent, which has run in it."""
    wanted = expected(backend, 100)

    with get_context("fork").Pool(2) as pool:
        tasks = [(backend, k) for k in range(100)]
        given = pool.map_async(workers.run, tasks, chunksize=1).get(LIMIT_S)
    assert close(given, wanted), np.array(given) - wanted


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_started_build_from_graph_and_weights(method: str, backend: str) -> None:
    """The two are sent to each, once."""
    if method == "forkserver" and not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    wanted, sent = expected(backend, 8), (backend, workers.network(), workers.weights())

    with get_context(method).Pool(2, workers.start, sent) as pool:
        tasks = [(backend, k) for k in range(8)]
        given = pool.map_async(workers.run, tasks).get(LIMIT_S)
    assert close(given, wanted), np.array(given) - wanted


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_program_that_is_sent_to_a_started_worker_is_refused(method: str) -> None:
    """In the process that sends it."""
    if method == "forkserver" and not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    workers.start("numpy")
    context: Any = get_context(method)
    process = context.Process(target=print, args=(workers.programs["numpy"],))

    with pytest.raises(GraphError, match=r"Program cannot be pickled: .*send the graph"):
        process.start()


@pytest.mark.long
@needs_fork
def test_thirty_children_forked_while_threads_compute_are_right(backend: str) -> None:
    """With several threads of BLAS and of torch, which tests otherwise go without."""
    alone = {name: "2" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(workers.__file__)), backend],
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == ["right"] * workers.CHILDREN, done.stderr[-2000:]


@needs_fork
def test_a_data_loader_with_two_workers_is_right(backend: str) -> None:
    """Its dataset runs a program, and so does its parent meanwhile."""
    data = pytest.importorskip("torch.utils.data", reason="torch is not installed")
    wanted = expected(backend, 20)

    class Answers(data.Dataset):  # type: ignore[misc, name-defined]  # imported above
        def __len__(self) -> int:
            return 20

        def __getitem__(self, k: int) -> float:
            return workers.run((backend, k))

    options = {"num_workers": 2, "timeout": LIMIT_S, "multiprocessing_context": "fork"}
    given = []
    for batch in data.DataLoader(Answers(), batch_size=4, **options):
        assert close([workers.run((backend, 3))], [wanted[3]])
        given += batch.tolist()
    assert close(given, wanted)


@needs_fork
def test_a_session_of_tinyflow_trains_in_a_child() -> None:
    """And the parent's goes on from where it was."""
    tf = pytest.importorskip("byparts_tinyflow", reason="frontend-tf is not installed")
    v = tf.Variable(tf.zeros(shape=[3]), name="v")
    step = tf.assign(v, v + 1.0)
    session = tf.Session(backends=("numpy",))
    session.run(tf.initialize_all_variables())

    def train() -> list[Any]:
        return [session.run(step).tolist() for _ in range(2)]

    assert forked(train) == [[[1.0] * 3, [2.0] * 3]]
    assert session.run(step).tolist() == [1.0] * 3


def test_a_graph_and_weights_are_what_is_sent() -> None:
    sent = pickle.loads(pickle.dumps((workers.network(), workers.weights())))

    assert sent[0] == workers.network() and (sent[1]["w"] == workers.weights()["w"]).all()
