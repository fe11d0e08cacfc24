"""A store of arrays by key: what is pushed is added up and, by an updater, changes the value.

The engine orders pushes and pulls of a key; a push returns at once, and of those that may run the
highest priority runs first.  A pull waits for the pushes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from byparts_engine import Engine, Variable
from byparts_frontend_mxnet import optimizer as opt
from byparts_frontend_mxnet.errors import MXNetError, unknown

Updater = Callable[[Any, Any, Any], None]


class KVStore:
    """A store for the devices of one process; see `create`.

    Attributes:
        type: "local" or "device".
    """

    rank, num_workers = 0, 1

    def __init__(self, type: str) -> None:
        self.type = type
        self._engine, self._updater = Engine(), None  # type: Engine, Any
        self._values: dict[Any, Any] = {}
        self._order: dict[Any, Variable] = {}

    def init(self, key: Any, value: Any) -> None:
        """Give a key, or each of a list of keys, its first value.

        Raises:
            MXNetError: a key has one already.
        """
        for k, arrays in _pairs(key, value):
            if k in self._values:
                raise MXNetError(f"key {k!r} has a value already; push changes it")
            self._values[k], self._order[k] = arrays[0].copy(), self._engine.new_variable(str(k))

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Add up the arrays of a key, and give the sum to the updater; without one it is the value.

        Args:
            key: a key, or a list.
            value: an array, or a list of arrays to be added up; of each key.
            priority: the highest goes first.
        """
        for k, arrays in _pairs(key, value):
            ready = [x.copy() for x in arrays]  # what they are now
            merge = partial(self._merge, k, ready)
            self._engine.push(merge, writes=[self._known(k)], priority=priority)

    def _merge(self, key: Any, arrays: list[Any]) -> None:
        total, stored = arrays[0], self._values[key]
        for x in arrays[1:]:
            total = total + x.as_in_context(total.context)
        if self._updater is None:
            stored[:] = total
        else:
            self._updater(key, total, stored)

    def pull(self, key: Any, out: Any = None, priority: int = 0) -> None:
        """Write the value of a key to an array, or to each of a list; of each of a list of keys.

        Raises:
            Exception: what a push before it raised.
        """
        pairs = list(_pairs(key, out))
        for k, arrays in pairs:
            hand_out = partial(self._hand_out, k, arrays)
            self._engine.push(hand_out, writes=[self._known(k)], priority=priority)
        self._engine.wait_for(*[self._order[k] for k, _ in pairs])

    def _hand_out(self, key: Any, arrays: list[Any]) -> None:
        for x in arrays:
            self._values[key].copyto(x)

    def _known(self, key: Any) -> Variable:
        if key not in self._order:
            raise MXNetError(f"kvstore: {key!r} has no value yet; call init({key!r}, value) first")
        return self._order[key]

    def set_optimizer(self, optimizer: Any) -> None:
        """Let an optimizer change the values by the gradients that are pushed."""
        self._set_updater(opt.get_updater(optimizer))

    def _set_updater(self, updater: Updater) -> None:
        self.barrier()
        self._updater = updater

    def save_optimizer_states(self, fname: str) -> None:
        """Write the state of the optimizer to a file.

        Raises:
            MXNetError: there is no optimizer.
        """
        self._states().save(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Read the state of the optimizer."""
        self._states().load(fname, self._values)

    def _states(self) -> Any:
        self.barrier()
        if not isinstance(self._updater, opt.Updater):
            raise MXNetError("the store has no optimizer whose state it could keep: set_optimizer")
        return self._updater

    def barrier(self) -> None:
        """Wait until all that was pushed is done."""
        self._engine.wait_all()


def create(name: str = "local") -> KVStore:
    """A store: "local" or "device", which are alike here.

    Raises:
        MXNetError: "dist_..." stores need several machines.
    """
    if str(name).startswith("dist"):
        raise MXNetError(
            f"kv.create({name!r}): the part byparts-distributed is not there; use 'local'"
        )
    if name not in ("local", "device", "local_allreduce_cpu", "local_allreduce_device"):
        raise unknown("mx.kv.create", str(name), ("local", "device"))
    return KVStore(name)


def _pairs(key: Any, value: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Each key with its list of arrays; a key that comes twice has those of both."""
    if not isinstance(key, (list, tuple)):
        key, value = [key], [value]
    if value is None or len(key) != len(value):
        raise MXNetError(f"{len(key)} keys, and values {value!r:.60}; give as many")
    arrays: dict[Any, list[Any]] = {}
    for k, v in zip(key, value, strict=True):
        arrays.setdefault(k, []).extend(v if isinstance(v, (list, tuple)) else [v])
    return iter(arrays.items())
