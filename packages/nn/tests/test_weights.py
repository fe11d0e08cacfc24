"""Weights in files: ours come back exactly, PyTorch's are found by name and turned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, FormatError, GraphError
from byparts_nn import Adam
from byparts_nn.attention import MultiHeadAttention
from byparts_nn.convolution import Conv2d
from byparts_nn.dropout import Dropout
from byparts_nn.fit import fit
from byparts_nn.linear import Embedding, Linear
from byparts_nn.module import Module
from byparts_nn.normalize import BatchNorm, LayerNorm
from byparts_nn.parameter import seed
from byparts_nn.recurrent import GRU, LSTM, RNN, Bidirectional
from byparts_nn.sequential import Sequential
from byparts_nn.transformer import TransformerBlock
from byparts_nn.weights import arrays_of, cells_of, load, save
from byparts_weights import save as save_arrays

X = np.random.default_rng(0).standard_normal((8, 4)).astype("f4")
T = np.arange(8) % 2


def network(start: int = 0) -> Sequential:
    seed(start)
    return Sequential(Linear(None, 4), BatchNorm(), Dropout(0.5), Linear(4, 2))


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_a_model_and_its_optimizer_come_back(tmp_path: Path, ending: str) -> None:
    """Statistics, counters and the optimizer's state too; widths are those of the file."""
    path, optimizer, other = tmp_path / f"m.{ending}", Adam(), Adam(0.5)
    model = network()
    fit(model, (X, T), optimizer=optimizer, log=None)
    save(path, model, optimizer)
    fresh = network(1)
    report = load(path, fresh)

    assert [*report.matched] == [*model.cells()] and not report.missing
    assert np.array_equal(model(X).numpy(), fresh(X).numpy())
    other.follow(fresh)
    load(path, fresh, other)
    saved, loaded = (arrays_of(cells_of(m, o)) for m, o in ((model, optimizer), (fresh, other)))
    assert all(np.array_equal(saved[name], loaded[name]) for name in saved)


def test_arrays_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    """The first problem is an error, and no cell has got its value."""
    path, model = tmp_path / "m.npz", Sequential(Linear(4, 3), Linear(3, 2))
    save(path, model)
    other = Sequential(Linear(4, 3), Linear(3, 5))
    before = arrays_of(other.cells())

    with pytest.raises(
        GraphError, match=r"m.npz: 'layers.1.weight' is \[3,2\]; the model's is f32\[3,5\]"
    ):
        load(path, other)
    with pytest.raises(GraphError, match=r"strict=False\) takes what there is") as caught:
        load(path, Sequential(Linear(4, 3), ops.relu, Linear(3, 2)))
    assert "  missing: layers.2.weight\n" in str(caught.value)
    assert "  unexpected: layers.1.bias" in str(caught.value)
    after = arrays_of(other.cells())
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_part_of_a_file_is_loaded_when_asked(tmp_path: Path) -> None:
    """The report says what was left; beginnings of names may be changed."""
    path, model = tmp_path / "m.npz", Sequential(Linear(4, 3), Linear(3, 2))
    save(path, model)
    other = Sequential(Linear(4, 3))
    report = load(path, other, strict=False)

    assert report.unexpected == ["layers.1.weight", "layers.1.bias"]
    assert str(report).splitlines() == [
        "2 arrays loaded, 0 of them transposed",
        "  unexpected: layers.1.weight",
        "  unexpected: layers.1.bias",
    ]
    second = Linear(3, 2)
    load(path, second, rename={"layers.1.": ""}, strict=False)
    assert np.array_equal(second.weight.numpy(), model[1].weight.numpy())


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    """The message has the lines that convert the file."""
    path = tmp_path / "model.pt"
    path.write_bytes(b"cposix\nsystem\n(S'false'\ntR.")

    with pytest.raises(FormatError, match="is a pickle, which runs code") as caught:
        load(path, network())
    assert "save_file(torch.load(" in str(caught.value) and "model.safetensors" in str(caught.value)
    with pytest.raises(ArgumentError, match="layout='keras' is none of"):
        load(tmp_path / "m.npz", network(), layout="keras")


def test_names_and_layouts_of_pytorch(tmp_path: Path) -> None:
    """[out, in] is turned, indices of Sequential are found, what decides nothing is left out."""
    random = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        "0.weight": random.random((4, 4), np.float32),
        "0.bias": random.random(4),
        "1.weight": np.ones(4, "f4"),
        "1.bias": np.zeros(4, "f4"),
        "1.running_mean": np.full(4, 0.5, "f4"),
        "1.running_var": np.ones(4, "f4"),
        "1.num_batches_tracked": np.array(7),
        "3.weight": random.random((2, 4), np.float32),
        "3.bias": np.zeros(2, "f4"),
    }
    save_arrays(tmp_path / "torch.npz", arrays)
    model = network()
    report = load(tmp_path / "torch.npz", model)

    assert report.transposed == ["layers.0.weight", "layers.3.weight"]
    assert report.converted == {"layers.0.bias": "float64"}
    assert np.array_equal(model[0].weight.numpy(), arrays["0.weight"].T)
    assert "  layers.3.weight = 3.weight, transposed" in str(report).splitlines()
    save_arrays(tmp_path / "less.npz", {k: a for k, a in arrays.items() if k != "3.weight"})
    with pytest.raises(GraphError, match=r"missing: layers\.3\.weight"):
        load(tmp_path / "less.npz", model)


class Ours(Module):
    """One of each layer whose names or layouts differ."""

    def __init__(self) -> None:
        self.table, self.conv = Embedding(7, 8), Conv2d(1, 2, 3)
        self.rnn, self.gru = RNN(8, 8), GRU(8, 8)
        self.both = Bidirectional(LSTM(8, 4), LSTM(8, 4, reverse=True))
        self.attend, self.norm = MultiHeadAttention(8, 2), LayerNorm(8)
        self.block = TransformerBlock(8, 2, hidden=16, activation=ops.relu)
        self.last = Linear(8, 3)

    def __call__(self, letters: Any, image: Any) -> Any:
        x = self.gru(self.rnn(self.table(letters)))
        x = self.block(self.norm(self.attend(self.both(x))))
        return self.last(x), self.conv(image)


def test_a_model_of_pytorch_gives_the_same_numbers(tmp_path: Path) -> None:
    """Embedding, convolution, recurrent layers, attention, a transformer's block, norms."""
    torch = pytest.importorskip("torch", exc_type=ImportError)
    torch.manual_seed(0)
    layers = torch.nn.ModuleDict(
        {
            "table": torch.nn.Embedding(7, 8),
            "conv": torch.nn.Conv2d(1, 2, 3),
            "rnn": torch.nn.RNN(8, 8, batch_first=True),
            "gru": torch.nn.GRU(8, 8, batch_first=True),
            "both": torch.nn.LSTM(8, 4, batch_first=True, bidirectional=True),
            "attend": torch.nn.MultiheadAttention(8, 2, batch_first=True),
            "norm": torch.nn.LayerNorm(8),
            "block": torch.nn.TransformerEncoderLayer(
                8, 2, 16, dropout=0.0, batch_first=True, norm_first=True
            ),
            "last": torch.nn.Linear(8, 3),
        }
    )
    save_arrays(tmp_path / "m.safetensors", {k: v.numpy() for k, v in layers.state_dict().items()})
    letters = np.random.default_rng(0).integers(0, 7, (2, 5))
    image = np.random.default_rng(1).random((2, 1, 6, 6), np.float32)
    with torch.no_grad():
        x = layers["table"](torch.tensor(letters))
        for name in ("rnn", "gru", "both"):
            x = layers[name](x)[0]
        x = layers["attend"](x, x, x)[0]
        expected = layers["last"](layers["block"](layers["norm"](x)))
        pixels = layers["conv"](torch.tensor(image))
    model = Ours()
    report = load(tmp_path / "m.safetensors", model)
    y, z = model(letters, image)

    assert report.missing == report.unexpected == []
    np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(z.numpy(), pixels.numpy(), rtol=1e-5, atol=1e-6)


def test_no_pickle_is_written(tmp_path: Path) -> None:
    """Nor a file that looks like one, which `load` would refuse."""
    with pytest.raises(ArgumentError, match=r"model\.pt ends as a pickle does"):
        save(tmp_path / "model.pt", Linear(2, 3))
    assert not list(tmp_path.iterdir())
