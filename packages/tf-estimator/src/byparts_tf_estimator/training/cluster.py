"""`tf.train.ClusterSpec`, `Server` and `replica_device_setter`: accepted for one process.

Several processes do not train together here: a server of a cluster with more than one task says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, Optional

from byparts_frontend_tf.graph.device import canonical, merged
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import UnimplementedError
from byparts_tf_files.messages.config import ClusterDef, ConfigProto, ServerDef

_VARIABLES = ("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp")


@symbol("train.ClusterSpec")
class ClusterSpec:
    """Tasks by job: job -> addresses, as a list or by number; or a `ClusterDef`.

    Raises:
        TypeError: it is none of these.
    """

    def __init__(self, cluster: Any) -> None:
        self._jobs: dict[str, dict[int, str]] = {}
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_cluster_def()
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, Mapping):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )
        for job, tasks in cluster.items():
            if isinstance(tasks, Mapping):
                self._jobs[job] = {int(i): str(a) for i, a in tasks.items()}
            elif isinstance(tasks, (list, tuple)):
                self._jobs[job] = dict(enumerate(map(str, tasks)))
            else:
                raise TypeError(
                    f"The tasks for job '{job}' must be a list or a dictionary from integers to "
                    "strings."
                )

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def _job(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def num_tasks(self, job_name: str) -> int:
        """The number of tasks of a job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of the tasks of a job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task."""
        job = self._job(job_name)
        if task_index not in job:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}.")
        return job[task_index]

    def job_tasks(self, job_name: str) -> list[Optional[str]]:
        """The addresses of a job, `None` for numbers that are no task."""
        job = self._job(job_name)
        return [job.get(i) for i in range(max(job, default=-1) + 1)]

    def as_dict(self) -> dict[str, Any]:
        """Job -> addresses: a list where the numbers have no gaps."""
        return {
            name: [job[i] for i in sorted(job)] if sorted(job) == list(range(len(job))) else job
            for name, job in self._jobs.items()
        }

    def as_cluster_def(self) -> Any:
        """The jobs and their tasks, as a message."""
        made = ClusterDef()
        for name in sorted(self._jobs):
            job = made.job.add(name=name)
            for i, address in sorted(self._jobs[name].items()):
                job.tasks[i] = address
        return made

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]  # as TensorFlow's

    def __str__(self) -> str:
        inside = ", ".join([f"{k!r}: {v!r}" for k, v in sorted(self.as_dict().items())])
        return f"ClusterSpec({{{inside}}})"

    __repr__ = __str__


@symbol("train.Server", "distribute.Server")
class Server:
    """A server of one process: its sessions are those of this process.

    Args:
        server_or_cluster_def: a `ServerDef`, or a cluster as `ClusterSpec` takes it.
        job_name: of this task.
        task_index: of this task.
        protocol: accepted.
        config: accepted.
        start: accepted.

    Raises:
        UnimplementedError: the cluster has other tasks.
        ValueError: there is no such task.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: Optional[str] = None,
        task_index: Optional[int] = None,
        protocol: Optional[str] = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        given = server_or_cluster_def
        if isinstance(given, ServerDef):
            cluster = ClusterSpec(given.cluster)
            job_name = given.job_name if job_name is None else job_name
            task_index = given.task_index if task_index is None else task_index
        else:
            cluster = ClusterSpec(given)
        tasks = [(job, i) for job in cluster.jobs for i in cluster.task_indices(job)]
        if job_name is None and len(cluster.jobs) == 1:
            job_name = cluster.jobs[0]
        if task_index is None and len(tasks) == 1:
            task_index = tasks[0][1]
        if (job_name, task_index) not in tasks:
            raise ValueError(f"There is no task {task_index} in job {job_name!r}: {cluster}")
        if len(tasks) > 1:
            raise UnimplementedError(
                None,
                None,
                f"a cluster of {len(tasks)} tasks: programs here train in one process; run it "
                "without a cluster, or with one worker and no parameter server",
            )
        self._def = ServerDef(
            cluster=cluster.as_cluster_def(),
            job_name=job_name,
            task_index=task_index,
            protocol=protocol or "grpc",
            default_session_config=config or ConfigProto(),
        )

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server of this process alone."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    @property
    def server_def(self) -> Any:
        """The server's job, task and cluster, as a message."""
        return self._def

    @property
    def target(self) -> str:
        """The address that sessions are given."""
        address = self._def.cluster.job[0].tasks[self._def.task_index]
        return f"grpc://{address}"

    def start(self) -> None:
        """Do nothing: the server runs already."""

    def join(self) -> None:
        """Refused: it would wait for other processes, for ever.

        Raises:
            UnimplementedError: always.
        """
        raise UnimplementedError(
            None, None, "Server.join waits for workers of other processes: there are none here"
        )


@symbol("python.training.device_setter._RoundRobinStrategy")
class _RoundRobinStrategy:
    """Operations on parameter servers in turn."""

    def __init__(self, num_tasks: int) -> None:
        self._turns = cycle(range(num_tasks))

    def __call__(self, op: Any) -> int:
        return next(self._turns)


@symbol("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """An operation on the parameter server that has the least load.

    Args:
        num_tasks: of parameter servers.
        load_fn: says how much load an operation is.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._loads, self._load = [0.0] * num_tasks, load_fn

    def __call__(self, op: Any) -> int:
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load(op)
        return task


@symbol("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Any) -> float:
    """The bytes of the only output of an operation.

    Raises:
        ValueError: it has not one output, or its shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    size = output.get_shape().num_elements()
    if size is None:
        raise ValueError(f"Shape of {output.name} must be fully defined")
    return float(size * output.dtype.base_dtype.size)


@symbol("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Optional[Sequence[str]] = None,
    ps_strategy: Optional[Callable[[Any], int]] = None,
) -> Optional[Callable[[Any], str]]:
    """A function for `tf.device`: variables on parameter servers in turn, the rest on workers.

    Args:
        ps_tasks: how many parameter servers; 0: none, and the function is `None`.
        ps_device: their job.
        worker_device: of the rest.
        merge_devices: accepted.
        cluster: says how many parameter servers there are.
        ps_ops: types of operations that are on them.
        ps_strategy: says which one an operation is on.
    """
    if cluster is not None:
        jobs = ClusterSpec(cluster).as_dict()
        name = ps_device.partition("/job:")[2].partition("/")[0]
        if not jobs.get(name):
            return None
        ps_tasks = len(jobs[name])
    if ps_tasks == 0:
        return None
    kinds = _VARIABLES if ps_ops is None else tuple(ps_ops)
    choose = ps_strategy or _RoundRobinStrategy(ps_tasks)

    def device(op: Any) -> str:
        asked = op.device or ""
        if op.type in kinds and ps_device:
            if "/task:" in asked and "/job:" in asked:
                return str(asked)
            where = canonical(ps_device)
            if "/task:" not in where:
                where = merged(where, canonical(f"/task:{choose(op)}"))
            return merged(where, asked)
        return merged(canonical(worker_device or ""), asked)

    return device
