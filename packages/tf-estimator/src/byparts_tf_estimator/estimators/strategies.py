"""`tf.distribute` with the one device that there is: a scope changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import UnimplementedError

_current: list[Any] = []


class OneDevice:
    """A strategy of one device.  What several devices would share out is done once.

    Args:
        devices: at most one.

    Raises:
        UnimplementedError: there are several.
    """

    def __init__(self, devices: Any = None, **given: Any) -> None:
        count = 1 if devices is None or isinstance(devices, str) else len(devices)
        for name in ("num_gpus", "num_gpus_per_worker"):
            count = max(count, int(given.get(name) or 0))
        if count > 1:
            raise UnimplementedError(
                None,
                None,
                f"{type(self).__name__} on {count} devices: a program runs on one device here; "
                "give one device, or none",
            )
        self.extended = self

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    @contextmanager
    def scope(self) -> Iterator[Any]:
        """Open a scope for variables that devices share; with one device it changes nothing."""
        _current.append(self)
        try:
            yield self
        finally:
            _current.pop()

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function, and return its result."""
        return fn(*args, **(kwargs or {}))

    run = experimental_run_v2

    def call_for_each_replica(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function, and return its result."""
        return fn(*args, **kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: Optional[int] = None) -> Any:
        """The value."""
        return value

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """The data set."""
        return dataset

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of the one device."""
        return (value,)

    unwrap = experimental_local_results

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator of the data set."""
        return dataset.make_initializable_iterator()

    def configure(self, *given: Any, **named: Any) -> None:
        """Accepted."""

    def update_config_proto(self, config_proto: Any) -> Any:
        """The config."""
        return config_proto


@symbol("distribute.MirroredStrategy", "contrib.distribute.MirroredStrategy")
class MirroredStrategy(OneDevice):
    """A strategy of several copies that are kept equal; here of one device."""


@symbol("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(OneDevice):
    """A strategy of one device."""


@symbol("contrib.distribute.CollectiveAllReduceStrategy")
class CollectiveAllReduceStrategy(OneDevice):
    """A strategy of several machines; here of one device."""


@symbol("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(OneDevice):
    """A strategy of several machines; here of one device."""


@symbol(
    "distribute.experimental.ParameterServerStrategy", "contrib.distribute.ParameterServerStrategy"
)
class ParameterServerStrategy(OneDevice):
    """A strategy of servers of variables; here of one device."""


@symbol("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(OneDevice):
    """A strategy of variables in one place; here of one device."""


_DEFAULT = OneDeviceStrategy()


@symbol("distribute.get_strategy", "contrib.distribute.get_distribution_strategy")
def get_strategy() -> OneDevice:
    """The strategy whose scope is open, or that of one device."""
    return _current[-1] if _current else _DEFAULT


@symbol("distribute.has_strategy", "contrib.distribute.has_distribution_strategy")
def has_strategy() -> bool:
    """Whether the scope of a strategy is open."""
    return bool(_current)


@symbol("distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether the scope of a strategy is open."""
    return bool(_current)


class ReplicaContext:
    """The place of a program among the replicas of a strategy: it is the only one."""

    replica_id_in_sync_group, num_replicas_in_sync = 0, 1

    @property
    def strategy(self) -> OneDevice:
        """The strategy whose scope is open, or that of one device."""
        return get_strategy()

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """The result of `merge_fn` for the strategy and the arguments."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The value: it is that of all replicas."""
        return value


@symbol("distribute.get_replica_context", "contrib.distribute.get_replica_context")
def get_replica_context() -> Optional[ReplicaContext]:
    """The place among replicas; `None` in the scope of a strategy, which is of all of them."""
    return None if _current else ReplicaContext()
