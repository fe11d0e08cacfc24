from pathlib import Path
from typing import Any

import pytest

import byparts_frontend_mxnet as mx

SHAPE = (2, 3)
ONES: Any = mx.nd.ones(SHAPE)


def _store() -> Any:
    store = mx.kv.create("local")
    store.init(3, ONES * 2)
    return store


def _pulled(store: Any, key: Any = 3) -> float:
    out = mx.nd.zeros(SHAPE)
    store.pull(key, out=out)
    assert len(set(out.asnumpy().ravel())) == 1
    return float(out.asnumpy()[0, 0])


def test_pushed_arrays_are_added_up_and_take_the_place() -> None:
    """Without an updater the sum is the value."""
    store = _store()
    assert _pulled(store) == 2
    store.push(3, ONES * 8)
    assert _pulled(store) == 8
    store.push(3, [mx.nd.ones(SHAPE, mx.gpu(i)) for i in range(4)])
    assert _pulled(store) == 4


def test_an_updater_changes_values_by_what_is_pushed() -> None:
    """Called once for each key, in the order of its pushes."""
    store = _store()

    def update(key: int, received: Any, stored: Any) -> None:
        stored += received * key

    store._set_updater(update)
    for _ in range(2):
        store.push(3, mx.nd.ones(SHAPE), priority=-3)
    assert _pulled(store) == 8
    keys = [5, 7]
    store.init(keys, [ONES] * 2)
    store.push(keys, [[ONES] * 2] * 2)
    assert [_pulled(store, k) for k in keys] == [11, 15]


def test_what_is_pushed_is_what_the_array_was_then() -> None:
    """Writing to the array afterwards changes nothing."""
    store, x = _store(), mx.nd.ones(SHAPE)
    store.push(3, x)
    x[:] = 100
    assert _pulled(store) == 1


def test_an_optimizer_is_an_updater_with_states(tmp_path: Path) -> None:
    """The states are saved, and go on in another store."""
    file = str(tmp_path / "states")
    values = []
    for load in (False, True):
        store = _store()
        store.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.5, momentum=0.5))
        if load:
            store.load_optimizer_states(file)
        store.push(3, ONES)
        values.append(_pulled(store))
        store.save_optimizer_states(file)
    assert values == [1.5, 1.25]


def test_errors_come_where_the_value_is_needed() -> None:
    """An updater that fails fails the pull; the next one is as before."""
    store = _store()

    def fails(*_: Any) -> None:
        raise ValueError("no update")

    store._set_updater(fails)
    store.push(3, ONES)
    with pytest.raises(ValueError, match="no update"):
        _pulled(store)
    assert _pulled(store) == 2
    with pytest.raises(mx.MXNetError, match=r"call init\(4, value\) first"):
        store.push(4, ONES)
    with pytest.raises(mx.MXNetError, match="key 3 has a value already"):
        store.init(3, ONES)
    with pytest.raises(mx.MXNetError, match=r"the part byparts-distributed is not there"):
        mx.kv.create("dist_sync")
    assert (store.rank, store.num_workers, store.type) == (0, 1, "local")
