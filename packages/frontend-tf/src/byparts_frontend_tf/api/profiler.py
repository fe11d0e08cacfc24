"""Memory in use, and the contents of a graph: `memory_stats`, `tfprof`, devices."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64

_KIB = 1024


def _peak_bytes() -> Any:
    return np.int64(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB)


def _bytes(type: str) -> Kind:
    return Kind(type, host=_peak_bytes, shape=lambda inputs: (), dtype=int64, gradient=False)


_MOST, _NOW, _LIMIT = _bytes("MaxBytesInUse"), _bytes("BytesInUse"), _bytes("BytesLimit")


@symbol("contrib.memory_stats.MaxBytesInUse")
def max_bytes_in_use() -> Tensor:
    """The most memory that this process had, in bytes."""
    return _MOST(name="MaxBytesInUse")


@symbol("contrib.memory_stats.BytesInUse")
def bytes_in_use() -> Tensor:
    """The most memory that this process had, in bytes: what it has now is not known."""
    return _NOW(name="BytesInUse")


@symbol("contrib.memory_stats.BytesLimit")
def bytes_limit() -> Tensor:
    """The most memory that this process had, in bytes: there is no other limit."""
    return _LIMIT(name="BytesLimit")


TRAINABLE_VARS_PARAMS_STAT_OPTIONS: dict[str, Any] = {"select": ["params"]}
FLOAT_OPS_OPTIONS: dict[str, Any] = {"select": ["float_ops"]}


class Node:
    """A part of a graph, with how many parameters it has."""

    def __init__(self, name: str, parameters: int) -> None:
        self.name, self.total_parameters, self.total_float_ops = name, parameters, 0
        self.children: list[Node] = []


@symbol("contrib.tfprof.model_analyzer.print_model_analysis")
def print_model_analysis(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Optional[Mapping[str, Any]] = None,
) -> Node:
    """Print how many parameters the trainable variables have, and give it as a tree."""
    graph = graph or get_default_graph()
    variables = graph.get_collection("trainable_variables")
    total = Node("_TFProfRoot", 0)
    for v in variables:
        total.children.append(Node(v.op.name, int(v.get_shape().num_elements())))
        total.total_parameters += total.children[-1].total_parameters
    if "params" in (tfprof_options or TRAINABLE_VARS_PARAMS_STAT_OPTIONS).get("select", ()):
        print(f"_TFProfRoot (--/{_short(total.total_parameters)} params)")
        for v, node in zip(variables, total.children, strict=True):
            dims = "x".join(map(str, v.get_shape().as_list()))
            count = _short(node.total_parameters)
            print(f"  {node.name} ({dims}, {count}/{count} params)")
    return total


def _short(count: int) -> str:
    """A count as TensorFlow prints it: 1.23k, 4.56m."""
    for limit, letter in ((1e9, "b"), (1e6, "m"), (1e3, "k")):
        if count >= limit:
            return f"{count / limit:.2f}{letter}"
    return str(count)


@symbol("profiler.profile")
def profile(
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Optional[Mapping[str, Any]] = None,
) -> Node:
    """Analyze a model as `contrib.tfprof.model_analyzer.print_model_analysis` does."""
    return print_model_analysis(graph, run_meta, op_log, cmd, options)


class ProfileOptionBuilder:
    """Options of a profile: of these, the parameters are heeded."""

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """To count the parameters of trainable variables."""
        return dict(TRAINABLE_VARS_PARAMS_STAT_OPTIONS)

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """To count operations: they are not counted."""
        return dict(FLOAT_OPS_OPTIONS)


class LocalDevice(NamedTuple):
    """A device that computes, as TensorFlow describes it."""

    name: str
    device_type: str
    memory_limit: int
    physical_device_desc: str = ""


@symbol("python.client.device_lib.list_local_devices")
def list_local_devices(session_config: Any = None) -> list[LocalDevice]:
    """The processor; the backends that compute are in `Session.list_devices()`."""
    return [LocalDevice("/device:CPU:0", "CPU", 1 << 28)]


_ANALYZER = "contrib.tfprof.model_analyzer."
SYMBOLS = {
    f"{_ANALYZER}TRAINABLE_VARS_PARAMS_STAT_OPTIONS": "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    f"{_ANALYZER}FLOAT_OPS_OPTIONS": "FLOAT_OPS_OPTIONS",
    "profiler.ProfileOptionBuilder": "ProfileOptionBuilder",
}
