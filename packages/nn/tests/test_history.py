"""What a training shows: lines, bars, a table, curves, files for TensorBoard."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from byparts_graph_ir.errors import PartError
from byparts_nn import SGD
from byparts_nn.events import EpochDone, StepDone, TrainingEnded, TrainingStarted
from byparts_nn.fit import fit
from byparts_nn.history import History, shown
from byparts_nn.linear import Linear
from byparts_nn.progress import logger

X, T = np.eye(6, 4, dtype="f4"), np.arange(6) % 2


def history_of(losses: list[float], **columns: list[float]) -> History:
    history = History()
    history.losses = losses
    values = {"epoch": list(range(1, len(losses) + 1)), "loss": losses, **columns}
    history.rows = [
        dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)
    ]
    history.reason = "all epochs are done"
    return history


def test_a_history_is_a_table(tmp_path: Path) -> None:
    """As text, as CSV, as HTML, by column."""
    history = history_of([2.0, 0.12345], accuracy=[0.5, 1.0])

    assert (
        str(history) == "epoch    loss  accuracy\n    1       2       0.5\n    2  0.1235         1"
    )
    assert history.to_csv(tmp_path / "h.csv") == "epoch,loss,accuracy\n1,2.0,0.5\n2,0.12345,1.0\n"
    assert (tmp_path / "h.csv").read_text() == history.to_csv()
    assert "<td>0.1235</td>" in history._repr_html_() and "<svg" in history._repr_html_()
    assert (len(history), history[-1]["accuracy"], history.column("loss")) == (
        2,
        1.0,
        [2.0, 0.12345],
    )
    assert repr(history) == "History(2 epochs, 2 steps: all epochs are done)"
    assert str(History()) == "no epoch is done" and History().to_csv() == "\n"


def test_a_training_that_went_on_may_have_more_columns() -> None:
    """Epochs before have an empty place, in each form."""
    history = history_of([2.0, 1.0])
    history.rows[1]["val_loss"] = 1.5

    assert history.to_csv() == "epoch,loss,val_loss\n1,2.0,\n2,1.0,1.5\n"
    assert str(history) == "epoch  loss  val_loss\n    1     2          \n    2     1       1.5"
    assert history._repr_html_().endswith(
        "<tr><td>1</td><td>2</td><td></td></tr><tr><td>2</td><td>1</td><td>1.5</td></tr>"
        "</tbody></table>"
    )
    assert str(history.column("val_loss")) == "[nan, 1.5]"
    assert "val_loss: 1.5 after epoch 2" in history.svg()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3.0, "3"),
        (12345.6, "12,346"),
        (0.00012346, "0.0001235"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_numbers_are_short(value: float, words: str) -> None:
    """Four digits, and thousands apart."""
    assert shown(value) == words


def places(svg: str) -> list[tuple[float, float]]:
    """The circles of a picture."""
    tree = ElementTree.fromstring(svg)
    circles = tree.iter("{http://www.w3.org/2000/svg}circle")
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in circles]


def test_curves_fall_where_the_loss_falls() -> None:
    """Points stand at their epochs; a loss that fell by far has a logarithmic scale."""
    plain = places(history_of([1.0, 0.75, 0.5]).svg())
    log = places(history_of([100.0, 10.0, 1.0]).svg())

    for (x0, y0), (x1, y1), (x2, y2) in (plain, log):
        assert x2 - x1 == pytest.approx(x1 - x0, abs=0.2) and y0 < y1 < y2
        assert y2 - y1 == pytest.approx(y1 - y0, abs=0.2)


def test_curves_of_odd_histories() -> None:
    """Nothing yet, NaN, a constant, thousands of steps: a picture that parses, of bounded size."""
    nan = history_of([1.0, math.nan, math.inf, 2.0], accuracy=[1.0, 1.0, 1.0, 1.0])
    long = history_of([1.0] * 3)
    long.losses = [1.0 + (i % 7) for i in range(30_000)]

    assert places(History().svg()) == []
    assert len(places(nan.svg())) == 2 + 4
    assert len(places(long.svg())) == 3 and len(long.svg()) < 20_000
    assert long.svg() == long._repr_svg_()


def test_lines_of_a_training() -> None:
    """A line for each epoch, and why it stopped."""
    lines: list[str] = []
    fit(Linear(4, 2), (X, T), optimizer=SGD(0.5), epochs=2, validate=(X, T), log=lines.append)
    log = logger(lines.append)
    assert log is not None
    log(TrainingEnded("enough", History()))

    assert lines[0].startswith("epoch 1/2: loss 0.") and ", val_loss 0." in lines[0]
    assert lines[0].endswith(" s") and ", rate 0.5, " in lines[0] and " samples/s, " in lines[0]
    assert lines[1].startswith("epoch 2/2: ") and lines[2] == "stopped: enough"


def started() -> TrainingStarted:
    return TrainingStarted(None, None, 3, 5, History())


def step(batch: int) -> StepDone:
    return StepDone(1, batch, batch, 0.5, 1e-3, 8, 1234.5, 80 << 20)


def shown_by(log: Any) -> None:
    """What `fit` tells in two steps of an epoch that was gone on with at its third batch."""
    history = history_of([0.25])
    for event in (started(), step(3), step(4), EpochDone(1, history[0], history, None, None)):
        log(event)
    log(TrainingEnded("all epochs are done", history))


def test_a_long_epoch_has_lines_within(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ten seconds."""
    times = iter([0.0, 5.0, 20.0, 20.0, 21.0])
    monkeypatch.setattr("byparts_nn.progress.time", SimpleNamespace(monotonic=lambda: next(times)))
    lines: list[str] = []
    shown_by(logger(lines.append))

    assert lines == [
        "epoch 1/3, batch 4: loss 0.5, rate 0.001, 1,234 samples/s, 80 MB",
        "epoch 1/3: loss 0.25",
    ]


class Bar:
    """Stands for tqdm's bar and for rich's: writes down what is asked."""

    said: list[Any] = []  # noqa: RUF012 - emptied by each test

    def __init__(self, **options: Any) -> None:
        self.said.append(options)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: self.said.append((name, *args, *options.items()))


@pytest.mark.parametrize("library", ["tqdm", "rich"])
def test_bars_of_libraries(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """On a terminal tqdm shows an epoch, else rich does."""
    tqdm, rich = ModuleType("tqdm.auto"), ModuleType("rich.progress")
    tqdm.tqdm = rich.Progress = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm if library == "tqdm" else None)
    monkeypatch.setitem(sys.modules, "rich.progress", rich)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Bar, "said", [])
    shown_by(logger("auto"))

    words = "loss 0.5, rate 0.001, 1,234 samples/s, 80 MB"
    if library == "tqdm":
        assert Bar.said == [
            {"total": 5, "initial": 2, "desc": "epoch 1/3", "unit": "batch"},
            ("set_postfix_str", words, ("refresh", False)), ("update",),
            ("set_postfix_str", words, ("refresh", False)), ("update",),
            ("set_postfix_str", "loss 0.25"), ("close",),
        ]  # fmt: skip
    else:
        assert Bar.said[:3] == [{}, ("start",), ("add_task", f"epoch 1/3: {words}", ("total", 5))]
        assert Bar.said[-1] == ("stop",) and len(Bar.said) == 7


def test_plain_lines_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a library of bars is installed: a log file is no terminal."""
    tqdm = ModuleType("tqdm.auto")
    monkeypatch.setitem(sys.modules, "tqdm.auto", tqdm)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    shown_by(logger("auto"))

    assert capsys.readouterr().out == "epoch 1/3: loss 0.25\n"


def test_files_for_tensorboard(tmp_path: Path) -> None:
    """Losses of steps and columns of epochs, each at its step."""
    event_file = pytest.importorskip("byparts_tf_files.event_file")
    history = fit(
        Linear(4, 2), (X, T), batch=3, epochs=2, validate=(X, T), events=tmp_path / "e", log=None
    )
    (file,) = (tmp_path / "e").iterdir()
    found = [
        (value.tag, event.step, value.simple_value)
        for event in event_file.summary_iterator(file)
        for value in event.summary.value
    ]

    losses = [(step, value) for tag, step, value in found if tag == "step/loss"]
    assert losses == [(i + 1, np.float32(loss)) for i, loss in enumerate(history.losses)]
    assert ("epoch/val_loss", 4, np.float32(history[1]["val_loss"])) in found
    assert {tag for tag, _, _ in found} >= {"step/rate", "epoch/loss", "epoch/seconds"}


def test_a_part_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Event files need the part tf-files."""
    monkeypatch.setitem(sys.modules, "byparts_tf_files.event_file", None)

    with pytest.raises(PartError, match="pip install byparts-tf-files"):
        fit(Linear(4, 2), (X, T), events=tmp_path, log=None)
