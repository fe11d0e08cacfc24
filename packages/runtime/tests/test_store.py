"""Stores: variables by name, saved to files and loaded from them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from byparts_graph_ir import FormatError, GraphError, ShapeError, TensorType
from byparts_graph_ir.errors import PartError
from byparts_runtime import Store

pytest.importorskip("byparts_weights", reason="needs byparts-weights")


def test_names_are_unique() -> None:
    """T13: a second variable of one name is an error, not another handle."""
    store = Store()
    store.create("w", np.zeros(2, np.float32))

    with pytest.raises(GraphError, match=r"variable 'w' exists already, as f32\[2\]"):
        store.create("w", np.zeros(3, np.float32))
    with pytest.raises(GraphError, match="no variable 'v'; there are: w"):
        store["v"]
    assert ("w" in store, "v" in store, len(store)) == (True, False, 1)
    assert [v.name for v in store] == ["w"]


NAMES = ["file", "layer/w", "a.npy", "a", "v.bf16", "ünïcode"]


def test_a_store_comes_back_from_its_file(tmp_path: Path) -> None:
    """Every name and dtype, and numpy.load opens it too."""
    path = tmp_path / "step 7"  # no suffix is added
    one, two = (_store(fill) for fill in (3, 0))
    one.save(path)

    two.load(path)

    assert all((a.read() == b.read()).all() for a, b in zip(one, two, strict=True))
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["file"].tolist() == [3, 3]
    assert os.listdir(tmp_path) == ["step 7"]


def _store(fill: float) -> Store:
    pytest.importorskip("ml_dtypes")
    store = Store()
    for i, dtype in enumerate(
        ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool")
    ):
        name = NAMES[i] if i < len(NAMES) else dtype
        v = store.create(name, TensorType(dtype, (2,)))
        v.write(np.full(2, fill).astype(v.read().dtype))
    return store


def test_loading_is_all_or_nothing(tmp_path: Path) -> None:
    """A wrong type in the file leaves every variable as it was."""
    path = tmp_path / "x.npz"
    np.savez(path, a=np.ones(2, np.float32), b=np.ones(2, np.float64))
    store = Store()
    a = store.create("a", np.zeros(2, np.float32))
    store.create("b", np.zeros(2, np.float32))

    with pytest.raises(
        ShapeError, match=r"variable 'b' in .*x.npz: expected f32\[2\], got f64\[2\]"
    ):
        store.load(path)
    assert a.read().tolist() == [0, 0]


def test_loading_names_what_does_not_match(tmp_path: Path) -> None:
    """In the file alone, in the store alone; `only` takes some."""
    path = tmp_path / "x.npz"
    np.savez(path, a=np.ones(2, np.float32), c=np.ones(2, np.float32))
    store = Store()
    a = store.create("a", np.zeros(2, np.float32))
    store.create("b", np.zeros(2, np.float32))

    with pytest.raises(GraphError, match="not in the file: 'b'"):
        store.load(path)
    store.load(path, only=["a"])
    assert a.read().tolist() == [1, 1]
    with pytest.raises(GraphError, match="not in the store: 'zz'"):
        store.load(path, only=["zz"])
    with pytest.raises(GraphError, match="not in the store, but in the file: 'c'"):
        _only(store, "a").load(path)


def _only(store: Store, *names: str) -> Store:
    some = Store()
    for name in names:
        some.create(name, store[name].type)
    return some


def test_types_are_compared_before_arrays_are_read(tmp_path: Path) -> None:
    """Of a variable with another type nothing is read: here bools that are refused."""
    path = tmp_path / "x.npz"
    np.savez(path, w=np.array([1, 2, 3, 4], np.uint8).view(np.bool_))
    store = Store()
    store.create("w", np.zeros(4, np.float32))

    with pytest.raises(ShapeError, match=r"variable 'w' in .*: expected f32\[4\], got bool\[4\]"):
        store.load(path)


def test_a_damaged_file_leaves_the_variables(tmp_path: Path) -> None:
    """The archive's checksum finds a changed byte."""
    path = tmp_path / "x.npz"
    store = Store()
    a = store.create("a", np.arange(100, dtype=np.float32))
    store.save(path)
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(bytes(data))

    with pytest.raises(FormatError, match=r"no .npz of arrays"):
        store.load(path)
    assert a.read().tolist() == list(range(100))


def test_without_byparts_weights_files_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [m for m in sys.modules if m.partition(".")[0] == "byparts_weights"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "byparts_weights", None)

    for use in (Store().save, Store().load):
        with pytest.raises(PartError, match="files of arrays need byparts-weights: pip install"):
            use(tmp_path / "w.npz")
    assert os.listdir(tmp_path) == []
