"""Training: what is learned, reported, stopped, saved and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, FormatError, GraphError, ShapeError
from byparts_graph_ir.errors import PartError
from byparts_nn import SGD, Adam, Average
from byparts_nn.calls import init
from byparts_nn.checkpoint import Progress, load_checkpoint, save_checkpoint
from byparts_nn.data import Data, digits
from byparts_nn.dropout import Dropout
from byparts_nn.evaluate import evaluate, predict
from byparts_nn.events import (
    CheckpointSaved,
    EpochDone,
    Event,
    StepDone,
    Stop,
    TrainingEnded,
    TrainingStarted,
    early_stopping,
)
from byparts_nn.fit import fit
from byparts_nn.history import History
from byparts_nn.linear import Linear
from byparts_nn.losses import cross_entropy, mse
from byparts_nn.metrics import accuracy, mean_absolute_error, perplexity
from byparts_nn.normalize import BatchNorm
from byparts_nn.parameter import seed
from byparts_nn.sequential import Sequential
from byparts_nn.step import Step
from byparts_nn.weights import arrays_of, cells_of
from byparts_weights import save as save_arrays

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((50, 6)).astype("f4")
T = (X.sum(1) > 0).astype("i8")


def network() -> Sequential:
    """A small network with all kinds of state: statistics, counters, open widths."""
    seed(3)
    return Sequential(Linear(None, 16), BatchNorm(), ops.relu, Dropout(0.3), Linear(None, 2))


def trained(epochs: int = 3, **options: Any) -> History:
    return fit(network(), (X, T), optimizer=Adam(1e-2), epochs=epochs, batch=8, log=None, **options)


def test_digits_are_learned() -> None:
    """Widths are found at the first step; the history says what was reached."""
    seed(0)
    rest, held = Data(digits()).split(0.2)
    model = Sequential(ops.flatten, Linear(None, 32), ops.relu, Linear(None, 10))
    data = rest.shuffle().batch(100)
    history = fit(
        model, data, optimizer=Adam(1e-2), epochs=4, validate=held, metrics=[accuracy], log=None
    )

    assert history[-1]["accuracy"] > 0.9
    assert [*history[0]][:4] == ["epoch", "loss", "val_loss", "accuracy"]
    assert len(history.losses) == 4 * (data.batches or 0)
    measured = evaluate(model, held, metrics={"right": accuracy})
    assert measured == {
        "loss": pytest.approx(history[-1]["val_loss"]),
        "right": pytest.approx(history[-1]["accuracy"]),
    }


def test_the_mean_of_an_epoch_is_over_samples() -> None:
    """A smaller last batch counts less."""
    history = trained(epochs=1)
    sizes = [8, 8, 8, 8, 8, 8, 2]

    expected = sum(n * loss for n, loss in zip(sizes, history.losses, strict=True)) / 50
    assert history[0]["loss"] == pytest.approx(expected, rel=1e-12)


def test_the_same_seed_gives_the_same_losses() -> None:
    """Another seed orders the data otherwise."""
    assert trained().losses == trained().losses
    assert trained().losses != trained(seed=1).losses


PROGRAM = """
import os, signal, sys
import test_fit as t
from byparts_nn.events import StepDone

def killed(event):
    if isinstance(event, StepDone):
        print(event.loss.hex(), flush=True)
        if event.step == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)

t.trained(checkpoint=sys.argv[1], checkpoint_steps=4, callbacks=[killed])
"""


def test_a_killed_training_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """After kill -9 in the middle of an epoch the losses are those of a training left alone."""
    path = tmp_path / "run.safetensors"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    command = [sys.executable, "-c", PROGRAM, str(path), "10"]
    child = subprocess.run(command, capture_output=True, text=True, env=environment)
    whole = trained()

    assert child.returncode == -signal.SIGKILL, child.stderr
    assert [float.fromhex(line) for line in child.stdout.split()] == whole.losses[:10]
    steps: list[int] = []
    rest = trained(
        checkpoint=path,
        resume=True,
        callbacks=[lambda e: steps.append(e.step) if isinstance(e, StepDone) else None],
    )
    assert steps == list(range(9, 22)), "it goes on after step 8, the last that was saved"
    assert rest.losses == whole.losses
    assert rest.column("loss") == whole.column("loss")


def test_every_step_can_be_the_last(tmp_path: Path) -> None:
    """A training that stops after any step goes on as if it had not, also at a small batch."""
    whole = trained(epochs=2)
    for last in (1, 6, 7, 13):
        path = tmp_path / f"{last}.npz"
        trained(epochs=2, checkpoint=path, checkpoint_steps=1, callbacks=[stop_after(last)])
        rest = trained(epochs=2, checkpoint=path, resume=True)
        assert rest.losses == whole.losses, last


def stop_after(step: int) -> Any:
    def stop(event: Event) -> Stop | None:
        return Stop("enough") if isinstance(event, StepDone) and event.step == step else None

    return stop


def test_a_training_that_goes_on_compiles_what_the_first_one_did(tmp_path: Path) -> None:
    """Also where its first batch is the small one at the end of an epoch: the same two programs."""

    def programs(**options: Any) -> list[str]:
        step = Step(
            network(), Adam(1e-2), cross_entropy, clip=None, accumulate=1, average=None,
            guarded=False, options={},
        )  # fmt: skip
        for size in options["rehearsed"]:
            step.rehearse((X[:size], T[:size]))
        for size in options["sizes"]:
            step((X[:size], T[:size]), 1)
        return [type(program).__name__ for program in step._update.programs]

    first = programs(rehearsed=[], sizes=[8, 8, 2])
    assert programs(rehearsed=[8], sizes=[2, 8]) == first == ["Program", "SymbolicProgram"]


def test_a_checkpoint_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    """Whoever means to go on, or to start anew, says so."""
    path = tmp_path / "run.npz"
    trained(epochs=1, checkpoint=path)
    saved = path.read_bytes()

    with pytest.raises(GraphError, match="exists: resume=True goes on from it, resume=False"):
        trained(epochs=1, checkpoint=path)
    assert path.read_bytes() == saved
    assert len(trained(epochs=1, checkpoint=path, resume=True).rows) == 1
    trained(epochs=2, checkpoint=path, resume=False)
    assert path.read_bytes() != saved


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_a_damaged_checkpoint_is_refused_by_name(tmp_path: Path, ending: str) -> None:
    """The file stays, and so does the model."""
    path = tmp_path / f"run.{ending}"
    trained(epochs=1, checkpoint=path)
    bad = bytearray(path.read_bytes())
    bad[-300] ^= 0x10
    path.write_bytes(bad)
    model, optimizer = network(), Adam(1e-2)
    optimizer.follow(init(model, X))
    before = arrays_of(cells_of(model, optimizer))

    with pytest.raises(FormatError, match=rf"run\.{ending}"):
        load_checkpoint(str(path), cells_of(model, optimizer), History(), {})
    after = arrays_of(cells_of(model, optimizer))
    assert all(np.array_equal(before[name], after[name]) for name in before)
    how: Any = {"batch": 8, "log": None, "checkpoint": path, "resume": True}
    with pytest.raises(FormatError, match=rf"run\.{ending}"):
        fit(model, (X, T), optimizer=optimizer, **how)
    after = arrays_of(cells_of(model, optimizer))
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert path.read_bytes() == bad


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_no_changed_byte_changes_what_is_loaded(tmp_path: Path, ending: str) -> None:
    """A bit that flips anywhere is refused, or decides nothing, as the time in an archive."""
    path = tmp_path / f"run.{ending}"
    model = Linear(3, 2)
    cells = cells_of(model)
    history = history_of_two_steps()
    save_checkpoint(str(path), cells, Progress(1, 2, 3.0, 4, 5.0), history, {"batch": 8})
    good, saved = path.read_bytes(), arrays_of(cells)
    refused = 0
    for place in range(0, len(good), 3):
        bad = bytearray(good)
        bad[place] ^= 1 << place % 8
        path.write_bytes(bad)
        loaded = History()
        try:
            progress = load_checkpoint(str(path), cells, loaded, {"batch": 8})
        except GraphError:
            refused += 1
            continue
        assert vars(progress) == vars(Progress(1, 2, 3.0, 4, 5.0))
        assert (loaded.rows, loaded.losses) == (history.rows, history.losses)
        assert all(np.array_equal(a, saved[name]) for name, a in arrays_of(cells).items())
    assert refused > 0.5 * len(good) / 3


def test_a_file_made_to_look_like_a_checkpoint_is_refused(tmp_path: Path) -> None:
    """A right checksum in front of something else is no `KeyError` somewhere inside."""
    path, text = tmp_path / "run.npz", b'{"progress": {"epochs": 3}}'
    state = f"{zlib.crc32(text):08x}".encode() + text
    save_arrays(path, {"fit.state": np.frombuffer(state, np.uint8), "fit.losses": np.zeros(1)})

    with pytest.raises(
        FormatError, match=r"run\.npz: 'fit.state' is nothing that fit writes: TypeError"
    ):
        load_checkpoint(str(path), {}, History(), {})


def history_of_two_steps() -> History:
    history = History()
    history.losses, history.rows = [0.5, 0.25], [{"epoch": 1, "loss": 0.375}]
    return history


def test_a_checkpoint_of_other_data_or_another_model_is_refused(tmp_path: Path) -> None:
    """The message says what differs."""
    path = tmp_path / "run.npz"
    trained(epochs=1, checkpoint=path)

    with pytest.raises(GraphError, match="made with seed=0, and this call has seed=5"):
        trained(epochs=2, checkpoint=path, resume=True, seed=5)
    other = Sequential(Linear(6, 16), Linear(16, 2))
    with pytest.raises(GraphError, match="another model or optimizer; in one of both alone: "):
        fit(other, (X, T), optimizer=Adam(1e-2), batch=8, log=None, checkpoint=path, resume=True)
    wider = Sequential(Linear(6, 17), BatchNorm(17), ops.relu, Dropout(0.3), Linear(17, 2))
    with pytest.raises(
        GraphError, match=r"'layers.0.weight' is \[6,16\]; the model's is f32\[6,17\]"
    ):
        fit(wider, (X, T), optimizer=Adam(1e-2), batch=8, log=None, checkpoint=path, resume=True)
    np.savez(path, w=np.ones(2))
    with pytest.raises(FormatError, match=r"run\.npz is no checkpoint of a training"):
        trained(checkpoint=path, resume=True)


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of files")
def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    """A write that fails is an error, and the file of the epoch before is whole."""
    import resource

    path = tmp_path / "run.npz"
    trained(epochs=1, checkpoint=path)
    saved, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            trained(epochs=2, checkpoint=path, resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert path.read_bytes() == saved and os.listdir(tmp_path) == ["run.npz"]
    assert trained(epochs=2, checkpoint=path, resume=True).losses == trained(epochs=2).losses


def test_callbacks_are_told_in_order(tmp_path: Path) -> None:
    """Each event has its facts, and `Stop` ends the training after it."""
    told: list[Any] = []
    history = trained(epochs=2, checkpoint=tmp_path / "a.npz", callbacks=[lambda e: told.append(e)])

    kinds = [type(e) for e in told]
    epoch = [*[StepDone] * 7, EpochDone, CheckpointSaved]
    assert kinds == [TrainingStarted, *epoch, *epoch, TrainingEnded]
    assert (told[0].steps, told[0].epochs) == (7, 2)
    last = told[7]
    assert (last.epoch, last.batch, last.step, last.samples) == (1, 7, 7, 2)
    assert last.rate == pytest.approx(0.01) and last.loss == history.losses[6]
    assert told[8].row is history[0] and told[-1].reason == "all epochs are done"


def test_a_callback_stops_the_training() -> None:
    """The reason stands in the history."""
    history = trained(callbacks=[stop_after(3)])

    assert len(history.losses) == 3 and history.reason == "enough"


def test_a_callback_that_returns_something_else_is_named() -> None:
    """A `True` is not taken for an answer."""

    def wrong(event: Event) -> Any:
        return True

    with pytest.raises(
        ArgumentError, match="callback wrong returned True; it returns None, or Stop"
    ):
        trained(callbacks=[wrong])


def test_early_stopping_follows_from_the_history(tmp_path: Path) -> None:
    """A training that stopped is not gone on with after a restart."""
    path = tmp_path / "a.npz"
    options: dict[str, Any] = {"validate": (X, 1 - T), "callbacks": [early_stopping(patience=2)]}
    history = trained(epochs=9, checkpoint=path, **options)
    again = trained(epochs=9, checkpoint=path, resume=True, **options)

    assert len(history) == 3
    assert history.reason.startswith("val_loss has not improved on ")
    assert history.reason.endswith(" for 2 epochs")
    assert again.reason == history.reason and again.losses == history.losses


def test_early_stopping_of_a_metric() -> None:
    """`larger_is_better` and `least_change` say what an improvement is."""
    history = History()
    history.rows = [{"epoch": i + 1, "accuracy": a} for i, a in enumerate([0.5, 0.52, 0.53])]
    event = EpochDone(3, history[-1], history, None, None)

    assert early_stopping("accuracy", patience=2, larger_is_better=True)(event) is None
    stop = early_stopping("accuracy", patience=2, least_change=0.1, larger_is_better=True)(event)
    assert stop == Stop("accuracy has not improved on 0.5 for 2 epochs")
    with pytest.raises(GraphError, match="no column 'val_loss'; there are epoch, accuracy"):
        early_stopping()(event)


def test_other_losses_and_metrics() -> None:
    """Any function of prediction and target is a loss; a `Mean` is changed at the end."""
    target = (X @ np.ones((6, 1), "f4")).astype("f4")
    model = Linear(6, 1)
    history = fit(
        model, (X, target), loss=mse, optimizer=SGD(0.1), epochs=20, validate=(X, target),
        metrics=[mean_absolute_error], log=None,
    )  # fmt: skip
    letters = evaluate(network(), (X, T), metrics=[perplexity], batch=20)

    assert history[-1]["mean_absolute_error"] < 0.05
    assert np.abs(predict(model, X, batch=16) - target).max() < 0.2
    assert letters["perplexity"] == pytest.approx(np.exp(letters["loss"]), rel=1e-5)


def test_padding_does_not_count_in_metrics() -> None:
    """Labels below 0 are padding."""
    prediction = np.array([[0.0, 9.0], [9.0, 0.0]], "f4")

    assert accuracy(prediction, np.array([1, -1])) == 1.0
    assert accuracy(prediction, np.array([-1, -1])) == 0.0
    assert perplexity(prediction, np.array([1, -1])) == pytest.approx(np.log1p(np.exp(-9)))


def test_gradients_are_clipped() -> None:
    """A step is no longer than the clipped gradient times the rate."""

    def moved(**options: Any) -> float:
        model = Linear(6, 2)
        seed(1)
        before = model.weight.numpy().copy()
        how: Any = {"optimizer": SGD(1.0), "batch": 50, "log": None}
        fit(model, (X * np.float32(100), T), **how, **options)
        return float(np.linalg.norm(model.weight.numpy() - before))

    assert moved() > 1 and moved(clip=0.1) <= 0.1


def test_several_batches_make_one_update() -> None:
    """With two batches of 25 an update is that of one batch of 50."""

    def weight(**options: Any) -> Any:
        seed(1)
        model = Linear(6, 2)
        fit(model, (X, T), optimizer=SGD(1.0), epochs=2, log=None, **options)
        return model.weight.numpy()

    np.testing.assert_allclose(
        weight(batch=25, accumulate=2), weight(batch=50), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("nan", [None, "stop"])
def test_all_state_is_in_a_checkpoint(tmp_path: Path, nan: str | None) -> None:
    """Sums of gradients and means of weights too: a training between two updates goes on exactly."""

    def run(**options: Any) -> tuple[list[float], Any]:
        model = network()
        average = Average(model, 0.5)
        how: Any = {"optimizer": Adam(1e-2), "epochs": 2, "batch": 8, "log": None, "nan": nan}
        history = fit(model, (X, T), average=average, accumulate=3, clip=1.0, **how, **options)
        return history.losses, arrays_of(average.cells())

    path = tmp_path / "run.npz"
    losses, means = run()
    run(checkpoint=path, checkpoint_steps=1, callbacks=[stop_after(8)])
    again, same = run(checkpoint=path, resume=True)

    assert again == losses
    assert means.keys() == same.keys() and all(np.array_equal(means[k], same[k]) for k in means)


def test_several_inputs() -> None:
    """All elements of a batch but the last are arguments of the model."""

    class Sum(Sequential):
        def __call__(self, x: Any, y: Any = 0) -> Any:
            return super().__call__(x + y)

    history = fit(Sum(Linear(6, 2)), (X, X, T), epochs=1, log=None)

    assert len(history.losses) == 2


def test_memory_is_bounded_by_a_budget() -> None:
    """`budget_bytes` reaches the build of the step: one that cannot be kept is refused there."""
    with pytest.raises(GraphError, match="budget"):
        trained(budget_bytes=64)
    assert trained(epochs=1, budget_bytes=1 << 24).losses == trained(epochs=1).losses


def test_one_metric_needs_no_list() -> None:
    """A function alone is called by its name."""
    assert "accuracy" in trained(epochs=1, validate=(X, T), metrics=accuracy)[0]


def test_inputs_of_another_dtype_are_named() -> None:
    """The note says how arrays of f64 and of bytes become what layers take."""
    with pytest.raises(ShapeError, match="dtypes differ") as caught:
        fit(network(), (X.astype("f8"), T), log=None)
    assert "inputs of a batch are float64[32, 6]; x.astype('float32')" in str(notes(caught.value))


def notes(error: BaseException) -> object:
    return getattr(error, "__notes__", error)


def test_a_model_without_parameters_to_train_is_named() -> None:
    """A frozen model would run its epochs and learn nothing."""
    model = network()
    model.freeze()

    with pytest.raises(GraphError, match=r"no parameter to train: unfreeze\(\) some"):
        fit(model, (X, T), log=None)


def test_a_loss_that_is_no_number_is_said_once() -> None:
    """Without `nan="stop"` the training goes on, and warns of the first step."""
    with pytest.warns(RuntimeWarning, match='loss of step 1 is nan; fit.nan="stop"') as caught:
        history = fit(network(), (X * np.float32("nan"), T), batch=25, log=None)

    assert len(caught) == 1 and len(history.losses) == 2


def test_an_error_leaves_no_thread() -> None:
    """Workers of the data end also while somebody holds the error."""

    def fail(event: Event) -> None:
        if isinstance(event, StepDone):
            raise KeyError("key")

    data = Data((X, T)).batch(8).prefetch(3, threads=2)
    with pytest.raises(KeyError, match="key") as caught:
        fit(network(), data, log=None, callbacks=[fail])

    assert caught.value is not None
    assert not [t for t in threading.enumerate() if t.name.startswith("byparts-engine")]


def nothing() -> Any:
    return iter(())


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"epochs": 0}, ArgumentError, "epochs=0: give a whole number"),
        ({"accumulate": 0.5}, ArgumentError, "accumulate=0.5: give a whole number"),
        ({"nan": "raise"}, ArgumentError, "nan='raise': give \"stop\""),
        ({"log": 3}, ArgumentError, 'log=3: give "auto", None'),
        ({"processes": 4}, PartError, "processes=4 needs the part 'distributed'"),
        ({"metrics": [accuracy]}, ArgumentError, "give validate="),
        ({"metrics": ["accuracy"], "validate": (X, T)}, ArgumentError, "'accuracy' is no function"),
        ({"checkpoint_steps": 4}, ArgumentError, "checkpoint_steps=4, resume=None: give the file"),
        ({"resume": True}, ArgumentError, "resume=True: give the file, checkpoint="),
        ({"checkpoint": "."}, ArgumentError, r"checkpoint='\.': is a folder"),
        ({"checkpoint": "no/run.npz"}, ArgumentError, "the folder no is not there"),
        ({"optimizer": "adam"}, ArgumentError, "optimizer='adam' is no Optimizer; give an object"),
        ({"optimizer": Adam}, ArgumentError, r"Adam'> is no Optimizer; give an object, as Adam\("),
        ({"loss": "mse"}, ArgumentError, "loss='mse', callbacks=.*: give a function"),
        ({"callbacks": print}, ArgumentError, "a list of functions of an event"),
        ({"seed": "a"}, ArgumentError, "seed='a': give a whole number"),
    ],
)
def test_mistakes_are_named(options: Any, error: type[Exception], words: str) -> None:
    """Each error has the actual values and what to do."""
    with pytest.raises(error, match=words):
        fit(network(), (X, T), **{"log": None, **options})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (Data({"x": X, "t": T}), r"dictionary of 'x', 't'; name its columns"),
        (Data(X), "it has one array alone: map it to a tuple"),
        (Data(nothing), "an epoch has no batch"),
    ],
)
def test_batches_that_do_not_fit_are_named(data: Data, words: str) -> None:
    """The error says how to make pairs."""
    with pytest.raises(GraphError, match=words):
        fit(network(), data, log=None)
