"""Each defect of the original, mended; and what else a program may do wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_pytensor as pytensor
from byparts_frontend_pytensor import Graph, LongTensor, Tensor
from byparts_frontend_pytensor.model.linear import MLP, Linear
from byparts_frontend_pytensor.model.rnn import RNNLM
from byparts_frontend_pytensor.network.functions import cross_entropy_error, step_function
from byparts_frontend_pytensor.network.gradient import differences, numerical_gradient_check
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.optimizer import SGD
from byparts_frontend_pytensor.network.parameter import (
    Parameter,
    read_parameter,
    write_parameter,
)
from byparts_frontend_pytensor.network.trainer import Trainer
from byparts_graph_ir import ArgumentError, GraphError, ShapeError


def checked(graph: Graph, operation: Any, inputs: Any) -> float:
    """The largest error of the gradients of inputs and parameters, by half the squares of outputs."""
    square, stack = graph.get_operation("SquareLoss"), graph.get_operation("HStack")

    def loss() -> Any:
        graph.clear()
        outputs = operation.forward(list(inputs) if isinstance(inputs, list) else inputs)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        y = square.forward(stack.forward(list(outputs)))
        return square.loss(Tensor(np.ones(y.value.shape)))

    loss()
    graph.backward()
    known = [*graph.parameter.tensor_dict.values()]
    return max(float(np.abs(differences(t.value, loss) - t.grad).max()) for t in known)


def test_labels_may_be_floats() -> None:
    """Defect 1: a trainer's float labels are classes."""
    model = MLP(4, 3, 2)
    model.forward(Tensor([[1, 2, 3, 4]]))
    assert model.loss(Tensor([1.0])) == model.loss(LongTensor([1]))
    y = np.array([[0.25, 0.75]])
    assert cross_entropy_error(y, np.array([0.0])) == cross_entropy_error(y, np.array([0])) == 2


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_word_is_updated_once(times: int) -> None:
    """Defect 2: however often a word is used, it moves by lr times its gradient, others never."""
    graph = Graph()
    embedding, add = graph.get_operation("Embedding", [5, 3]), graph.get_operation("Add")
    before = graph.parameter.tensor_dict["embedding_0"].value.copy()
    add.forward([embedding.forward([LongTensor([2])]) for _ in range(times)]).grad = np.ones((1, 3))
    graph.backward()
    graph.optimizer.update()
    moved = before - graph.parameter.tensor_dict["embedding_0"].value
    np.testing.assert_allclose(moved, 0.01 * times * np.eye(5)[2][:, None] * np.ones(3), atol=1e-15)


def test_a_step_does_not_touch_the_matrix() -> None:
    """Defect 2: no gradient of the whole matrix is made; whoever reads it gets it, once."""
    model = RNNLM(50, 4, 4)
    model.forward([3, 7, 3])
    model.loss([7, 3, 1])
    model.backward()
    table = model.parameter.tensor_dict["embedding_0"]
    row = model.word_embedding.embedding_tensors[3].grad.copy()
    assert table._grad is None and len(model.parameter.temp_tensors) == 2
    np.testing.assert_array_equal(table.grad[3:4], row)
    np.testing.assert_array_equal(model.word_embedding.embedding_tensors[3].grad, row)
    before = table.value.copy()
    model.optimizer.update()
    np.testing.assert_allclose(before[3:4] - table.value[3:4], 0.01 * row)


def test_rows_of_an_earlier_step_are_forgotten() -> None:
    """The gradient of the matrix after a step has the rows of this step alone."""
    model = RNNLM(50, 4, 4)
    for words in ([3, 7], [5, 5]):
        model.forward(words)
        model.loss([1, 2])
        model.backward()
        grad = model.parameter.tensor_dict["embedding_0"].grad.copy()
        model.optimizer.update()
        assert {*np.nonzero(grad.any(1))[0]} == {*words}


def test_numerical_gradient_check_is_of_absolute_differences(capsys: Any) -> None:
    """Defect 3: errors of different signs do not hide each other; graph or model.graph will do."""

    class Wrong(Operation):
        def forward(self, x: Any) -> Any:
            self.register(x)
            self.output_tensor = Tensor(x.value * 2.0)
            return self.output_tensor

        def backward(self) -> None:
            self.input_tensors.grad += self.output_tensor.grad * 3.0

    class Model(Linear):
        def forward(self, x: Any) -> Any:
            self.wrong = Wrong("wrong", None, self)
            return self.softmaxloss.forward(self.wrong.forward(self.affine.forward(x)))

    np.random.seed(0)
    assert (
        numerical_gradient_check(Model(3, 2), Tensor([[0.1, 0.2, 0.3]]), [0])["affine_0_b"] > 0.001
    )
    assert "NOT MATCH" in capsys.readouterr().out
    assert max(numerical_gradient_check(Linear(3, 2), Tensor([[1, 2, 3]]), [0]).values()) < 1e-6
    assert "affine_0_W  match" in capsys.readouterr().out


def test_losses_and_relu_accumulate() -> None:
    """Defect 4: SquareLoss gives its input; gradients are added, and none is another's array."""
    graph = Graph()
    x, relu = Tensor([[1.0, -2.0]]), graph.get_operation("Relu")
    x.grad = np.ones((1, 2))
    loss = graph.get_operation("SquareLoss")
    y = relu.forward(x)
    np.testing.assert_array_equal(loss.forward(y).value, [[1, 0]])
    assert loss.loss(Tensor([[0.0, 0.0]])) == 0.5
    graph.backward()
    np.testing.assert_array_equal(x.grad, [[2, 1]])
    assert not np.shares_memory(x.grad, y.grad)


@pytest.mark.parametrize(
    ("kind", "shapes", "shape"),
    [
        ("HStack", [(2, 3), (2, 4)], (2, 7)),
        ("HStack", [(3,), (2,)], (5,)),
        ("VStack", [(2, 3), (1, 3)], (3, 3)),
        ("VStack", [(3,), (3,)], (2, 3)),
    ],
)
def test_stacks_are_differentiated(kind: str, shapes: Any, shape: Any) -> None:
    """Defect 5: HStack and VStack are on the tape, with parts of any size."""
    graph = Graph()
    inputs = [graph.get_tensor(f"x{i}", shape) for i, shape in enumerate(shapes)]
    stack = graph.get_operation(kind)
    assert stack.forward(inputs).value.shape == shape
    graph.clear()
    if len(shape) == 2:
        assert checked(graph, stack, inputs) < 1e-6


def test_an_operation_is_used_several_times() -> None:
    """Defect 6: each use has its own inputs, outputs and target."""
    graph = Graph()
    affine = graph.get_operation("Affine", [3, 3])
    loss = graph.get_operation("SoftmaxLoss")

    def both() -> Any:
        graph.clear()
        y = affine.forward(Tensor([[1.0, 2.0, 3.0]]))
        loss.forward(y)
        loss.forward(affine.forward(y))
        return loss.loss([0]) + loss.loss([2])

    both()
    graph.backward()
    assert np.abs(differences(affine.W.value, both) - affine.W.grad).max() < 1e-6


def test_layers_of_one_name_share_and_others_do_not() -> None:
    """Defect 7: two embeddings and two LSTM layers have parameters of their own."""
    graph = Graph()
    sizes = {"input_size": 3, "hidden_size": 3, "max_num_steps": 4}
    first, second = (graph.get_operation("LSTM", sizes) for _ in range(2))
    same = graph.get_operation("LSTM", sizes, "lstm_0")
    a, b = (graph.get_operation("Embedding", [5, 3]) for _ in range(2))
    gates = [layer.cells[0].forget_gate.U for layer in (first, second, same)]
    assert gates[0] is not gates[1] and gates[0] is gates[2]
    assert a.embedding_tensors[0] is not b.embedding_tensors[0]
    np.testing.assert_array_equal(first.cells[0].forget_gate.b.value, [1, 1, 1])


def test_gradients_have_the_dtype_of_values() -> None:
    """Defect 8: and `reshape` reshapes, and step_function runs."""
    model = Linear(2, 2, dtype=np.float32)
    x = Tensor([[1, 2]])
    model.forward(x)
    model.loss([1])
    model.backward()
    known = [x, *model.parameter.tensor_dict.values()]
    assert {t.value.dtype for t in known} == {t.grad.dtype for t in known} == {np.dtype("f4")}
    x.reshape((2, 1))
    assert x.value.shape == x.grad.shape == (2, 1)
    np.testing.assert_array_equal(step_function(np.array([-1.0, 2.0])), [0, 1])


def test_parameters_are_written_without_pickles(tmp_path: Path) -> None:
    """Defect 9: any path, arrays by name; a pickle is refused."""
    model, path = RNNLM(5, 4, 3), tmp_path / "weights"
    write_parameter(model.parameter, path)
    parameter = read_parameter(path)
    for name, tensor in model.parameter.tensor_dict.items():
        np.testing.assert_array_equal(parameter.tensor_dict[name].value, tensor.value)
    assert len(parameter.get_embedding("embedding_0", (5, 4))) == 5
    np.save(tmp_path / "old.npy", np.array({"a": 1}), allow_pickle=True)
    with pytest.raises(ArgumentError, match="pickles, which are never loaded"):
        read_parameter(tmp_path / "old.npy")


@pytest.mark.parametrize("kind", ["RawRNNCell", "RNNCell", "RawLSTMCell", "LSTMCell"])
def test_cells_take_batches_and_add(kind: str) -> None:
    """Defect 10: gradients of states are added, for any batch."""
    graph = Graph()
    cell = graph.get_operation(kind, {"input_size": 3, "hidden_size": 2})
    states = [graph.get_tensor(f"s{i}", (4, 2)) for i in range(cell.states)]
    assert checked(graph, cell, [*states, graph.get_tensor("x", (4, 3))]) < 1e-6


WRONG: list[tuple[str, Any, Any, Any, type[Exception], str]] = [
    ("Affine", [3, 2], Tensor([[1.0, 2.0]]), None, ShapeError, r"\(1, 2\); it takes \(n, 3\)"),
    ("Affine", None, None, None, ArgumentError, "argument None; make it with graph.get_operation"),
    ("Afine", None, None, None, GraphError, "no Operation is called 'Afine'; did you mean Affine"),
    (
        "Add",
        None,
        [Tensor([1.0]), Tensor([1, 2])],
        None,
        ShapeError,
        r"\(1,\) and \(2,\); it takes",
    ),
    ("Matmul", None, [Tensor([[1.0]]), Tensor([[1.0], [2]])], None, ShapeError, "takes .m, k. and"),
    ("Embedding", [5, 2], [LongTensor([5])], None, ArgumentError, "word 5; there are words 0 to 4"),
    ("Embedding", [5, 2], [Tensor([1.5])], None, ArgumentError, "1.5 is no integer"),
    (
        "SoftmaxLoss",
        None,
        Tensor([[1.0, 2.0]]),
        [2],
        ArgumentError,
        "label 2; there are classes 0 to 1",
    ),
    ("SoftmaxLoss", None, Tensor([[1.0, 2.0]]), [0.5], ArgumentError, "labels: 0.5 is no integer"),
    ("SoftmaxLoss", None, Tensor([[1.0, 2.0]]), [0, 1], ShapeError, "one label for each row"),
    ("SquareLoss", None, Tensor([[1.0]]), Tensor([1.0]), ShapeError, r"\(1,\) for an input of"),
]


@pytest.mark.parametrize(("kind", "argument", "given", "target", "error", "match"), WRONG)
def test_mistakes_are_said(
    kind: str, argument: Any, given: Any, target: Any, error: type[Exception], match: str
) -> None:
    """What was wrong, with its numbers."""

    def run() -> None:
        operation = Graph().get_operation(kind, argument)
        operation.forward(given)
        operation.loss(target)

    with pytest.raises(error, match=match):
        run()


def test_what_comes_too_early_is_said() -> None:
    """Backward and loss before forward, a loss without target, an empty tape, a second shape."""
    graph = Graph("g")
    loss = graph.get_operation("SoftmaxLoss")
    with pytest.raises(GraphError, match="softmaxloss_0: backward before forward"):
        loss.backward()
    with pytest.raises(GraphError, match="loss before forward"):
        loss.loss([1])
    with pytest.raises(GraphError, match="'g': backward with nothing on the tape; call forward"):
        graph.backward()
    loss.forward(Tensor([[1.0, 2.0]]))
    with pytest.raises(GraphError, match="a loss without a target"):
        graph.backward()
    graph.clear()
    graph.eval()
    loss.forward(Tensor([[1.0, 2.0]]))
    assert loss.loss([0]) > 1
    with pytest.raises(GraphError, match=r"eval state: call train\(\)"):
        graph.backward()
    graph.get_tensor("w", (2, 3))
    with pytest.raises(ShapeError, match=r"'w' has shape \(2, 3\), and was asked for with \(3,\)"):
        graph.get_tensor("w", (3,))
    with pytest.raises(ShapeError, match=r"a gradient of shape \(2,\)"):
        Tensor([1.0]).grad = np.ones(2)
    with pytest.raises(ArgumentError, match="lr is 0"):
        SGD(graph.parameter, lr=0)


def test_late_products_are_not_noticed() -> None:
    """Rows of a large matrix: values, gradients and changes in between are as row by row."""
    graph = Graph()
    affine = graph.get_operation("Affine", [300, 300])
    xs = [Tensor(np.random.random((1, 300))) for _ in range(3)]
    ys = [affine.forward(x) for x in xs]
    assert ys[0]._value is None
    before = affine.W.value.copy()
    affine.W.value *= 2
    np.testing.assert_allclose(ys[1].value, xs[1].value @ before + affine.b.value)
    for y in ys:
        y.grad = y.value * 1
    graph.backward()
    np.testing.assert_allclose(xs[2].grad, ys[2].grad @ affine.W.value.T)
    expected = sum(x.value.T @ y.value for x, y in zip(xs, ys, strict=True))
    np.testing.assert_allclose(affine.W.grad, expected)
    kept = affine.W.grad
    graph.optimizer.update()
    affine.forward(xs[0]).grad = ys[0].value
    graph.backward()
    np.testing.assert_allclose(kept, expected)


def test_a_gradient_that_nobody_reads_is_subtracted() -> None:
    """An update block by block is the update by the gradient, also over two passes."""
    values = []
    for reads in (True, False):
        np.random.seed(0)
        model = RNNLM(300, 5, 300)
        for target in (3, 4):
            model.forward([1, 2])
            model.loss([2, target])
            model.backward()
            if reads:
                assert all(t.grad.any() for t in model.parameter.tensor_dict.values())
        model.optimizer.step()
        grad = model.affine.W.grad.copy()
        model.optimizer.zero_grad()
        assert grad.any() and not model.affine.W.grad.any()
        values.append(model.affine.W.value)
    np.testing.assert_allclose(values[0], values[1], atol=1e-15)


def test_a_frozen_embedding_stays() -> None:
    """`trainable: False`: neither the matrix nor its rows."""
    graph = Graph()
    embedding = graph.get_operation(
        "Embedding", {"vocab_size": 3, "embed_size": 2, "trainable": False}
    )
    before = embedding.embedding_tensors[0].table.value.copy()
    embedding.forward([LongTensor([1])]).grad = np.ones((1, 2))
    graph.backward()
    graph.optimizer.update()
    np.testing.assert_array_equal(embedding.embedding_tensors[0].table.value, before)


def test_names_of_2018_and_of_programs() -> None:
    """Older names, star imports and the text of a tensor."""
    assert pytensor.Variable is Tensor and pytensor.LongVariable is LongTensor
    parameter = Parameter()
    assert parameter.get_variable("w", (2,)) is parameter.variable_dict["w"]
    assert (
        str(Tensor([1.0], "hello")) == "Tensor {name: hello}\n- value    : [1.]\n- gradient : [0.]"
    )
    names: dict[str, Any] = {}
    exec("from byparts_frontend_pytensor.network.trainer import *", names)
    exec("from byparts_frontend_pytensor.test.common import *", names)
    wanted = {"np", "unittest", "Graph", "Tensor", "SGD", "Parameter", "SoftmaxLoss", "Trainer"}
    assert wanted | {"gradient_generator", "Operation", "softmax", "RawLSTMCell"} <= {*names}


def test_a_trainer_needs_no_test_rows(capsys: Any) -> None:
    """Rows to test with are optional, as its signature says."""
    Trainer(Linear(2, 2)).train(np.ones((3, 2)), np.array([0.0, 1.0, 1.0]), epoch=2)
    assert "epoch 1: loss" in capsys.readouterr().out


def test_a_trainer_prints_perplexity(capsys: Any) -> None:
    """An eleventh defect: sentences are learned too, and 2^bits a word is printed."""
    np.random.seed(0)
    Trainer(RNNLM(6, 4, 4)).train([[1, 2, 3]] * 20, [[2, 3, 4]] * 20, epoch=3)
    told = [float(text) for text in re.findall(r"perplexity ([0-9.]+)", capsys.readouterr().out)]
    assert len(told) == 3 and told[0] > told[1] > told[2] > 1
