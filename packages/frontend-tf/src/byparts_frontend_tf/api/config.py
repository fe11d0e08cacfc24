"""Options of sessions and runs: fields that programs set; most of them need no heed here."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import symbol


class Fields:
    """A message with any fields: those never set are made when they are asked for.

    Attributes of the class are defaults.
    """

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        made = Fields()
        setattr(self, name, made)
        return made

    def CopyFrom(self, other: Any) -> None:  # noqa: N802  # a message's name
        """Take the fields of another one."""
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)

    def MergeFrom(self, other: Any) -> None:  # noqa: N802  # a message's name
        """Take the fields that another one has set."""
        self.__dict__.update(other.__dict__)

    def SerializeToString(self) -> bytes:  # noqa: N802  # a message's name
        """Nothing is kept of it in files."""
        return b""

    def __repr__(self) -> str:
        return "\n".join(f"{k}: {v}" for k, v in vars(self).items())


@symbol("GPUOptions")
class GPUOptions(Fields):
    """How a GPU is used."""

    allow_growth = False
    per_process_gpu_memory_fraction = 0.0
    visible_device_list = ""
    allocator_type = ""


@symbol("OptimizerOptions")
class OptimizerOptions(Fields):
    """How graphs are made faster: they always are."""

    L0, L1, OFF, ON_1, ON_2, DEFAULT = -1, 0, -1, 1, 2, 0
    opt_level = 0
    global_jit_level = 0


@symbol("GraphOptions")
class GraphOptions(Fields):
    """How graphs are treated."""


@symbol("ConfigProto")
class ConfigProto(Fields):
    """How a session works."""

    allow_soft_placement = False
    log_device_placement = False
    inter_op_parallelism_threads = 0
    intra_op_parallelism_threads = 0
    use_per_session_threads = False
    operation_timeout_in_ms = 0

    def __init__(self, **given: Any) -> None:
        self.gpu_options = GPUOptions()
        self.graph_options = GraphOptions()
        self.device_count: dict[str, int] = {}
        self.device_filters: list[str] = []
        super().__init__(**given)


@symbol("RunOptions")
class RunOptions(Fields):
    """How one run works."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3
    trace_level = 0
    timeout_in_ms = 0
    report_tensor_allocations_upon_oom = False


@symbol("RunMetadata")
class RunMetadata(Fields):
    """What is known of one run."""


SYMBOLS = {
    "protobuf.config_pb2.ConfigProto": "ConfigProto",
    "core.protobuf.config_pb2.ConfigProto": "ConfigProto",
    "core.protobuf.config_pb2.GPUOptions": "GPUOptions",
}
