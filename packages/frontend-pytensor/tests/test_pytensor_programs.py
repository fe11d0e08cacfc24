"""Programs of pytensor: its tests, its tutorials, own operations in three modes, array modules."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
from byparts_frontend_pytensor import Graph, LongTensor, Tensor
from byparts_frontend_pytensor.ctc.ctc import SoftmaxCTCLoss
from byparts_frontend_pytensor.ctc.embedding import LookupEmbedding, WordEmbedding
from byparts_frontend_pytensor.ctc.naive_ctc import SoftmaxNaiveCTCLoss
from byparts_frontend_pytensor.data.digit_dataset import digit_dataset
from byparts_frontend_pytensor.data.ptb import load_ptb
from byparts_frontend_pytensor.data.toy_sequence import generate_toy_sequence
from byparts_frontend_pytensor.model.linear import MLP, Linear
from byparts_frontend_pytensor.model.lstm import LSTMLM, LSTMClassifier
from byparts_frontend_pytensor.model.rnn import RNNLM, RNNClassifier
from byparts_frontend_pytensor.network.gradient import (
    gradient_generator,
    validate_variable_gradient,
)
from byparts_frontend_pytensor.network.modes import Step
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.parameter import Parameter
from byparts_frontend_pytensor.network.trainer import Trainer
from byparts_frontend_pytensor.ops.loss_ops import Loss
from byparts_frontend_pytensor.utils.vocabulary import Vocabulary, create_vocabulary
from byparts_graph_ir import ArgumentError, GraphError
from byparts_nn import ctc

WORDS, NEXT = [1, 2, 3, 2], [2, 3, 2, 4]


@pytest.mark.parametrize(
    ("model", "given", "target"),
    [
        (lambda: Linear(64, 10), Tensor(np.ones((1, 64)) / 3), LongTensor([3])),
        (lambda: MLP(9, 5, 10), Tensor(np.ones((1, 9)) / 3), LongTensor([3])),
        (lambda: RNNLM(5, 5, 10), WORDS, NEXT),
        (lambda: LSTMLM(5, 5, 4), WORDS, NEXT),
        (lambda: RNNClassifier(5, 5, 4), WORDS, 1),
        (lambda: LSTMClassifier(5, 5, 4), WORDS, 1),
    ],
)
def test_gradients_are_central_differences(model: Any, given: Any, target: Any) -> None:
    """The four tests of the original, to a thousandth of their tolerance."""
    for _, numeric, auto in gradient_generator(model(), given, target):
        assert np.abs(numeric - auto).sum() <= 1e-6


@pytest.mark.long
@pytest.mark.parametrize("model", [lambda: Linear(64, 10), lambda: MLP(64, 30, 10)])
def test_digits_are_learned(model: Any, capsys: Any) -> None:
    """The accuracy of the original after 10 epochs, 0.953, to what the order of rows changes."""
    np.random.seed(1)
    x, x_test, y, y_test = digit_dataset()
    trainer = Trainer(model())
    trainer.train(x, y.astype(float), x_test, y_test, 10)
    assert trainer.test(x_test, y_test) >= 0.93
    assert "epoch 9: loss" in capsys.readouterr().out


def test_words_are_learned() -> None:
    """A sentence is learned by heart, with the lines of the shipped text."""
    np.random.seed(0)
    sentences, vocabulary = load_ptb()
    model, line = RNNLM(vocabulary.vocab_size, 16, 16), sentences[0]
    losses = []
    for _ in range(30):
        model.forward(line[:-1])
        losses.append(model.loss(line[1:]) / len(line[1:]))
        model.backward()
        model.optimizer.update()
    assert losses[-1] < 0.5 * losses[0] and 2 ** losses[0] > 50
    assert vocabulary.convert(line)[0] == "shall"


def test_the_shipped_text_is_said(tmp_path: Any, capsys: Any) -> None:
    """Without a corpus a sentence says which text is read; a path reads one's own."""
    load_ptb()
    assert "four sonnets of Shakespeare" in capsys.readouterr().out
    (tmp_path / "mine.txt").write_text("a b a\n\nb a\n")
    assert load_ptb(tmp_path / "mine.txt")[0] == [[0, 1, 0], [1, 0]]
    assert capsys.readouterr().out == ""


class Snake(Operation):
    """Y = x + sin(a x)^2, as a program of pytensor writes it."""

    def __init__(self, name: str, argument: Any, graph: Any) -> None:
        super().__init__(name, argument, graph)
        self.a = graph.get_tensor(name + "_a", (argument["size"],))

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        self.output_tensor = Tensor(
            input_tensors.value + np.sin(input_tensors.value * self.a.value) ** 2
        )
        return self.output_tensor

    def backward(self) -> None:
        x, dy = self.input_tensors, self.output_tensor.grad
        slope = dy * np.sin(2 * x.value * self.a.value)
        x.grad += dy + slope * self.a.value
        self.a.grad += np.sum(slope * x.value, axis=0)


class Margin(Loss):
    """A loss of one's own: the sum of (x - t)^4 / 4."""

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        self.output_tensor = Tensor(input_tensors.value)
        return self.output_tensor

    def loss(self, target_tensor: Any) -> Any:
        self.target_tensor = target_tensor
        return np.sum((self.input_tensors.value - target_tensor.value) ** 4) / 4

    def backward(self) -> None:
        self.input_tensors.grad += (self.input_tensors.value - self.target_tensor.value) ** 3


class Twice(Operation):
    """An operation that is made of others."""

    def __init__(self, name: str, argument: Any, graph: Any) -> None:
        super().__init__(name, argument, graph)
        self.snake = graph.get_operation("Snake", argument, name + "_snake")

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        return self.snake.forward(self.snake.forward(input_tensors))

    def backward(self) -> None:
        return


class Mixed(Graph):
    """Operations of one's own between those of pytensor."""

    def __init__(self, loss: str) -> None:
        super().__init__("mixed")
        self.first = self.get_operation("Affine", {"input_size": 4, "hidden_size": 6})
        self.snake = self.get_operation("Snake", {"size": 6})
        self.twice = self.get_operation("Twice", {"size": 6})
        self.last = self.get_operation("Affine", {"input_size": 6, "hidden_size": 3})
        self.loss_op = self.get_operation(loss)

    def forward(self, input_tensors: Any) -> Any:
        hidden = self.twice.forward(self.snake.forward(self.first.forward(input_tensors)))
        return self.loss_op.forward(self.last.forward(hidden))

    def loss(self, target_tensor: Any) -> Any:
        return self.loss_op.loss(target_tensor)


def curve(mode: str, make: Any, rows: Any) -> tuple[list[float], Step]:
    """The losses of a few steps."""
    np.random.seed(0)
    model = make()
    step, losses = Step(model, mode), []
    for given, target in rows:
        losses.append(step(given, target))
        model.optimizer.update()
    return losses, step


rng = np.random.default_rng(0)
ROWS = [(Tensor(rng.random((2, 4))), LongTensor(rng.integers(0, 3, 2))) for _ in range(6)]
SQUARES = [(x, Tensor(rng.random((2, 3)))) for x, _ in ROWS]


@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda: Mixed("SoftmaxLoss"), ROWS),
        (lambda: Mixed("SquareLoss"), SQUARES),
        (lambda: Mixed("Margin"), SQUARES),
        (lambda: RNNLM(6, 4, 3), [(WORDS, NEXT), (NEXT, WORDS)]),
        (lambda: LSTMLM(6, 4, 3), [(WORDS, NEXT), (NEXT, WORDS)]),
    ],
)
def test_three_modes_learn_alike(make: Any, rows: Any) -> None:
    """Eager, recorded and compiled: the same losses."""
    eager, _ = curve("eager", make, rows)
    recorded, _ = curve("recorded", make, rows)
    compiled, _ = curve("compiled", make, rows)
    np.testing.assert_allclose(recorded, eager, rtol=1e-12)
    np.testing.assert_allclose(compiled, eager, rtol=1e-12)
    assert len({*np.round(eager, 6)}) == len(eager)


def test_an_own_operation_is_an_op_of_the_program() -> None:
    """One op forward and one backward for each use, planned with the others in one arena."""
    _, step = curve("compiled", lambda: Mixed("SoftmaxLoss"), ROWS[:1])
    (program,) = step.compiled.programs
    counts = Counter(node.op.name for node in program.graph.nodes)
    assert counts["custom_forward"] == counts["custom_backward"] == 3
    assert counts["matmul"] == 5 and program.plan is not None
    assert "title='Snake'" in str(program.graph)


def test_several_outputs_are_refused_when_recorded() -> None:
    """An op of a recorded graph has one output."""

    class Pair(Snake):
        def forward(self, input_tensors: Any) -> Any:
            return [super().forward(input_tensors)] * 2

    class Model(Mixed):
        def forward(self, input_tensors: Any) -> Any:
            pair = Pair("pair", {"size": 6}, self).forward(self.first.forward(input_tensors))
            return self.loss_op.forward(self.last.forward(pair[0]))

    with pytest.raises(GraphError, match="forward of Pair gives a list"):
        curve("recorded", lambda: Model("SoftmaxLoss"), ROWS[:1])
    with pytest.raises(ArgumentError, match="mode is 'fast'"):
        Step(Mixed("SoftmaxLoss"), "fast")


class Counting:
    """NumPy, counting the functions that are asked for."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(np, name)


@pytest.mark.parametrize("model", [RNNLM, LSTMLM])
def test_an_array_module_is_one_argument(model: Any) -> None:
    """The same losses with a module in NumPy's place, and with arrays that never change."""
    losses, modules = [], (np, Counting(), bp)
    for xp in modules:
        np.random.seed(0)
        network = model(6, 4, 3, xp=xp)
        for _ in range(3):
            network.forward(WORDS)
            losses.append(float(network.loss(NEXT)))
            network.backward()
            network.optimizer.update()
    np.testing.assert_allclose(losses, losses[:3] * 3, rtol=1e-6)
    assert modules[1].calls["tanh"] and modules[1].calls["exp"]


def test_torch_is_an_array_module() -> None:
    """Inputs of NumPy become tensors of torch, of the dtype of the parameters."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    losses = []
    for xp in (np, torch):
        np.random.seed(0)
        model = MLP(4, 3, 2, xp=xp)
        for _ in range(3):
            model.forward(Tensor([[1, 2, 3, 4]]))
            losses.append(float(model.loss([1])))
            model.backward()
            model.optimizer.update()
    np.testing.assert_allclose(losses[3:], losses[:3])


@pytest.mark.parametrize("kind", [SoftmaxCTCLoss, SoftmaxNaiveCTCLoss])
@pytest.mark.parametrize(("frames", "labels"), [(3, [1]), (4, [1, 1, 2]), (6, [3, 1, 1])])
def test_ctc_is_that_of_nn(kind: Any, frames: int, labels: list[int]) -> None:
    """The loss of another implementation, gradients by differences, exactly enough frames."""
    np.random.seed(0)
    frames_in = [Tensor(np.random.random(4)) for _ in range(frames)]
    loss = kind()
    loss.forward(frames_in)
    value = loss.loss(labels)
    loss.backward()
    logits = bp.asarray(np.stack([x.value for x in frames_in])[None])
    np.testing.assert_allclose(value, np.asarray(ctc(logits, bp.asarray(np.array([labels])))))
    assert validate_variable_gradient(loss, frames_in, labels, frames_in[1]) < 1e-6
    assert len(loss.lattice) == frames and len(loss.lattice[0]) == 2 * len(labels) + 1


def test_ctc_in_a_graph_and_too_few_frames() -> None:
    """A list of affine outputs is its input; a label too long for the frames is said."""
    graph = Graph()
    affine, loss = graph.get_operation("Affine", [3, 4]), graph.get_operation("SoftmaxCTCLoss")
    loss.forward([affine.forward(Tensor([[1.0, t, 2.0]])) for t in range(3)])
    assert loss.loss([2, 1]) > 0
    graph.backward()
    assert affine.W.has_grad
    loss.forward([Tensor([1.0, 2.0])] * 2)
    with pytest.raises(ArgumentError, match=r"labels \[1, 1\] for 2 frames .* need 3 frames"):
        loss.loss([1, 1])


def test_embeddings_of_the_branch() -> None:
    """Ids rather than tensors; the gradient of a word that occurs twice."""
    parameter = Parameter()
    lookup = LookupEmbedding(WordEmbedding(5, 3, parameter))
    lookup.forward([1, 2, 1]).grad = np.ones((3, 3))
    lookup.backward()
    np.testing.assert_array_equal(parameter.tensor_dict["embedding"].grad.sum(1), [0, 6, 3, 0, 0])
    assert LookupEmbedding(WordEmbedding(5, 3, parameter), 1).forward([1, 2]).value.shape == (1, 6)


def test_a_vocabulary_is_sorted() -> None:
    """Key words, then by frequency, without stop words, up to the size."""
    vocabulary = create_vocabulary([["b", "a", "a"], ["c", "a", "b"]], ["<UNK>"])
    assert vocabulary.words == ["<UNK>", "a", "b", "c"] and vocabulary.vocab_size == 4
    assert vocabulary.convert([["a", "z"], ["c"]]) == [[1, 0], [3]]
    assert vocabulary.convert([[1, 3]]) == [["a", "c"]] and vocabulary.get_word(9) == "<UNK>"
    small = Vocabulary(1)
    small.set_stop_words(["a"])
    small.update_words(["a", "a", "b", "b", "c"])
    small.sort()
    assert small.words == ["b"] and small.get_id("c") == -1 and small.get_ids(["c", "b"]) == [0]


def test_a_toy_sequence() -> None:
    """Y is near 2 x1 + 3 x2."""
    x, y = generate_toy_sequence(50)
    assert x[0].shape == (1, 2) and y[0].shape == (1, 1)
    errors = [float(b[0, 0] - a[0] @ [2, 3]) for a, b in zip(x, y, strict=True)]
    assert math.sqrt(np.mean(np.square(errors))) < 0.2
