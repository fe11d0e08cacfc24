"""Names, order, updates, lines, open sizes, draws: what is around the ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import numpy as np
import pytest
import torch
from exporting import Function, exported, imported
from torch import nn
from torch_models import F, Gpt, models

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_frontend_torch import Imported, from_exported
from byparts_graph_ir import Graph, TensorType, dimension, dimension_names, specialize, verify
from byparts_opset.evaluate import evaluate


@dataclass
class Given:
    """What a model of others gives."""

    logits: Any
    past: Any


X = torch.arange(12.0).reshape(4, 3)


def evaluated(made: Imported, *inputs: Any) -> tuple[Any, ...]:
    return evaluate(made.graph, *(x.numpy() for x in inputs), *made.weights.values())


def operations(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


@pytest.mark.parametrize("name", models())
def test_imported_graphs_keep_the_rules_of_graphs(name: str) -> None:
    model, x = models()[name]

    verify(imported(model.eval(), x).graph)


def test_inputs_stand_before_weights() -> None:
    """Under the names of the arguments and of the state dict."""
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval()
    made = imported(model, X)

    assert made.inputs == ("input",)
    assert set(made.weights) == set(model.state_dict())
    assert [v.name for v in made.graph.inputs] == ["input", *made.weights]  # type: ignore[attr-defined]
    assert made.parameters == ("0.weight", "0.bias", "1.weight", "1.bias")


def test_masks_that_nothing_reads_are_no_weights() -> None:
    """The fused attention needs none; the other reads them, and they are in no state dict."""
    words = torch.zeros(1, 4, dtype=torch.long)
    fused, masked = (imported(Gpt(fused=f).eval(), words) for f in (True, False))

    masks = {"blocks.0.attention.mask", "blocks.1.attention.mask"}
    assert set(masked.weights) - set(fused.weights) == masks


def test_frozen_parameters_are_weights_and_not_trained() -> None:
    model = nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    made = imported(model, X)

    assert (list(made.weights), made.parameters) == (["weight", "bias"], ("weight",))


def test_weights_are_copies() -> None:
    """Training one does not change the other."""
    model = nn.Linear(3, 2)
    made = imported(model, X)
    made.weights["bias"][:] = 7

    assert not np.any(model.bias.detach().numpy() == 7)


def test_a_tensor_of_two_layers_is_one_weight() -> None:
    made = imported(Gpt().eval(), torch.zeros(1, 4, dtype=torch.long))

    assert made.tied == {"top.weight": "words.weight"}
    assert "top.weight" not in made.weights and "words.weight" in made.parameters


def test_weights_in_bfloat16_keep_their_bits() -> None:
    pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    model = nn.Linear(3, 2).bfloat16()
    weight = imported(model, X.bfloat16()).weights["weight"]

    np.testing.assert_array_equal(weight.astype("f4"), model.weight.detach().float().numpy())


def test_nested_inputs_are_flattened_and_constants_left_out() -> None:
    class Nested(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, *, scale: float, more: dict[str, Any]) -> Any:
            return {"y": x * scale + more["bias"], "none": None, "three": 3}

    given = {"scale": 2.0, "more": {"bias": X, "absent": None}}
    made = from_exported(torch.export.export(Nested(), (X,), given))

    assert made.inputs == ("x", "more_bias") and len(made.graph.outputs) == 1
    np.testing.assert_array_equal(evaluated(made, X, X)[0], (X * 3).numpy())


def test_outputs_have_the_names_of_their_keys_and_fields() -> None:
    """Of a dataclass, a dict in it, and a tuple in it."""
    torch.export.register_dataclass(Given, serialized_type_name="Given")
    made = imported(Function(lambda x: Given(x + 1, (x * 2, {"k": x * 3}))), X)

    assert made.outputs == ("logits", "past.0", "past.1.k")
    np.testing.assert_array_equal(evaluated(made, X)[2], (X * 3).numpy())


def test_a_buffer_that_is_written_is_an_update() -> None:
    """As a whole, in part, and by another name; the next call reads what this one wrote."""

    class Counting(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=torch.long))
            self.register_buffer("last", torch.zeros(2, 4, 3))

        def forward(self, x: Any) -> Any:
            self.calls += 1
            self.last[1] = self.last[0]
            self.last[0].copy_(x)
            return self.last.sum() * self.calls

    made, model = imported(Counting(), X), Counting()
    weights = dict(made.weights)
    for _ in range(2):
        y, *new = evaluate(made.graph, X.numpy(), *weights.values())
        weights |= zip(made.updates, new, strict=True)
        np.testing.assert_array_equal(y, model(X).numpy())

    assert set(made.updates) == {"calls", "last"}


def test_other_weights_come_by_name(tmp_path: Any) -> None:
    """Out of a file and out of arrays, in f16 too; a tied one by either name; no mask is asked for."""
    weights = pytest.importorskip("byparts_weights", reason="needs weights")
    pytest.importorskip("safetensors", reason="needs safetensors")
    words = torch.tensor([[1, 2, 3]])
    model, other = Gpt(fused=False).eval(), Gpt(fused=False).eval()
    state = {n: t.numpy() for n, t in other.state_dict().items()}
    del state["words.weight"]  # it is "top.weight", too
    weights.save(tmp_path / "model.safetensors", state)

    made = imported(model, words).with_weights(tmp_path / "model.safetensors")
    (y,) = evaluate(made.graph, words.numpy(), *made.weights.values())

    np.testing.assert_allclose(y, other(words).detach().numpy(), rtol=1e-5, atol=1e-5)
    half = {n: a.astype("f2") for n, a in state.items()}
    assert {a.dtype.name for a in made.with_weights(half).weights.values()} == {"float32"}


def test_weights_that_do_not_fit_are_named() -> None:
    made = imported(nn.Linear(3, 2), X)
    with pytest.raises(
        ValueError, match=r"weight is f32\[3, 2\], not f32\[2, 3\]; bias .* missing"
    ):
        made.with_weights({"weight": np.zeros((3, 2), "f4"), "more": np.zeros(1)})


def test_an_input_that_is_changed_in_place_is_an_update() -> None:
    made = imported(Function(lambda x: x.add_(1) * 2), X.clone())
    y, x = evaluated(made, X)

    assert made.updates == ("args_0",)
    np.testing.assert_array_equal(x, X.numpy() + 1)
    np.testing.assert_array_equal(y, X.numpy() * 2 + 2)


def test_outputs_may_be_inputs_and_come_twice() -> None:
    made = imported(Function(lambda x: (x, x + 1, x)), X)

    assert made.graph.outputs[0] is made.graph.outputs[2] is made.graph.inputs[0]


def test_tensors_written_in_the_model_are_constants() -> None:
    made = imported(Function(lambda x: x + torch.tensor([1.0, 2.0, 3.0])), X)

    assert operations(made.graph) == ["constant", "add"] and not made.weights


def test_nodes_carry_the_line_of_the_model_and_the_module_as_their_scope() -> None:
    """The line in this file, not the one in torch that it runs."""

    class Lines(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return torch.tanh(self.layer(x))

    lines = {n.where.rpartition("/")[2] for n in imported(Lines(), X).graph.nodes}
    first = Lines.forward.__code__.co_firstlineno

    line = f"test_from_exported.py:{first + 1}"
    assert lines == {line, f"{line} in layer"}


def test_nodes_of_torchs_own_modules_carry_their_name() -> None:
    made = imported(nn.Sequential(nn.Linear(3, 2), nn.Tanh()), X)

    assert [n.where for n in made.graph.nodes] == ["Linear in 0", "Linear in 0", "Tanh in 1"]


def test_what_we_have_as_one_op_stays_whole() -> None:
    """And torch's decompositions of a hundred nodes are not taken."""
    model = nn.Sequential(nn.LayerNorm(3), nn.GELU(), nn.Softmax(-1), nn.Linear(3, 2))

    whole = ["layer_norm", "gelu", "softmax", "matmul", "add"]
    assert operations(imported(model, X).graph) == whole


def test_attention_stays_whole_where_there_is_such_an_op() -> None:
    q = torch.zeros(2, 3, 4)
    made = imported(Function(lambda q: F.scaled_dot_product_attention(q, q, q)), q)

    if not hasattr(ops, "attention"):
        pytest.skip("needs an op for attention")
    assert operations(made.graph) == ["attention"]


@pytest.mark.parametrize("name", [n for n in models() if n != "GPT-2, masks"])
def test_a_size_that_is_left_open_is_a_symbol(name: str) -> None:
    """Exported for a batch of 2, run with 6; and words of another number."""
    model, x = models()[name]
    words = name.startswith("GPT")
    sizes = {0: torch.export.Dim("batch")} | ({1: torch.export.Dim("time", max=8)} if words else {})
    made = from_exported(exported(model.eval(), x, dynamic_shapes=(sizes,)))
    more = torch.cat([x, x.flip(0), x])[:, :5] if words else torch.cat([x, x.flip(0), x])

    kind = TensorType("i64" if words else "f32", tuple(more.shape))
    graph = specialize(made.graph, [kind] + [None] * len(made.weights))

    want = model(more)
    got = evaluate(graph, more.numpy(), *made.weights.values())[0]
    assert not made.graph.inputs[0].type.static and graph.outputs[0].type.static
    want = want[0] if isinstance(want, tuple) else want
    np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_a_size_may_be_a_number_of_the_computation() -> None:
    """The mean, written by hand, of rows whose number is open."""
    model = Function(lambda x: x.sum(0) / x.shape[0])
    open_rows = (({0: torch.export.Dim("n")},),)
    made = from_exported(exported(model, X, dynamic_shapes=open_rows))
    graph = specialize(made.graph, [TensorType("f32", (2, 3))])

    np.testing.assert_array_equal(evaluate(graph, X[:2].numpy())[0], X[:2].mean(0).numpy())


@pytest.mark.parametrize(
    ("function", "first", "doubled"),
    [
        (lambda x: torch.cat([x, x[:1]]).reshape(-1, 2), "(min(n,1)*4+n*4)//2", False),
        (lambda x: x[:, 1:].reshape(-1) * (2 * x.shape[0] + 1), "3*n", False),
        (lambda x: torch.zeros(2 * x.shape[0] + 1) + x.sum(), "2*n+1", False),
        (lambda x: torch.zeros(x.shape[0] ** 2) + x.sum(), "n*n", False),
        (lambda x: x.reshape(x.shape[0] // 2, 8), "n", True),
    ],
)
def test_sizes_may_be_expressions(function: Any, first: str, doubled: bool) -> None:
    """Of an open size; the program computes what torch does when the size is known."""
    n = torch.export.Dim("n", min=2, max=64)
    x, more = torch.randn(4, 4), torch.randn(6, 4)
    sizes = (({0: 2 * n if doubled else n},),)
    made = from_exported(exported(Function(function), x, dynamic_shapes=sizes))
    graph = specialize(made.graph, [TensorType("f32", (6, 4))])

    (name,) = dimension_names((made.graph.inputs[0].type.shape or ())[0])
    said = made.graph.outputs[0].type.shape or ()
    assert said[0] == dimension(first, {"n": name})
    np.testing.assert_allclose(evaluate(graph, more.numpy())[0], function(more), rtol=1e-6)


def test_no_gradient_passes_no_grad() -> None:
    """Torch forgets it when it decomposes; detached tensors likewise."""

    def function(x: Any) -> Any:
        with torch.no_grad():
            scale = x * 2
        return scale * x + x.detach()

    made = imported(Function(function), X)
    (x,) = made.graph.inputs
    dx = Graph.of([x], gradients(made.graph.outputs[0], x))

    np.testing.assert_array_equal(evaluate(dx, X.numpy())[0], 2 * X.numpy())


def test_no_grad_may_hold_ops_in_place() -> None:
    """The export is not functional yet there."""

    def function(x: Any) -> Any:
        mask = torch.ones(4, 3)
        with torch.no_grad():
            scale = x.clone()
            scale.mul_(2)[0] = 1.0
            mask[1] = x[0]
        return scale * x * mask

    made = imported(Function(function), X)
    (x,) = made.graph.inputs
    dx = Graph.of([x], gradients(made.graph.outputs[0], x))

    np.testing.assert_array_equal(evaluated(made, X)[0], function(X).numpy())
    want = 2 * X.numpy()
    want[0] = 1
    want[1] *= X.numpy()[0]
    np.testing.assert_array_equal(evaluate(dx, X.numpy())[0], want)


def test_a_row_of_padding_gets_no_gradient() -> None:
    words = torch.tensor([[1, 0], [2, 1]])
    made = imported(nn.Embedding(3, 2, padding_idx=0), words)
    weight = made.values["weight"]
    dw = Graph.of(made.graph.inputs, gradients(ops.sum(made.graph.outputs[0]), weight))

    got = evaluate(dw, words.numpy(), *made.weights.values())[0]
    np.testing.assert_array_equal(got, [[0, 0], [2, 2], [1, 1]])


def test_dropout_draws_from_a_stream_that_is_a_weight() -> None:
    """The counter goes on, so the next step drops others; the expected value stays."""
    made = imported(nn.Dropout(0.25), torch.ones(50, 40), seed=3)
    weights = dict(made.weights)
    first, counter = evaluate(made.graph, np.ones((50, 40), "f4"), *weights.values())
    weights["random.counter"] = counter
    second, _ = evaluate(made.graph, np.ones((50, 40), "f4"), *weights.values())

    assert made.updates == ("random.counter",) and counter == 2000 and weights["random.key"] == 3
    assert np.any(first != second) and set(np.unique(first)) == {0, np.float32(1 / 0.75)}
    assert abs(first.mean() - 1) < 0.05


def test_draws_are_normal_and_uniform() -> None:
    made = imported(
        Function(lambda x: (torch.randn(60, 50), torch.rand_like(x), x + torch.randn_like(x))),
        torch.zeros(60, 50),
        seed=0,
    )
    normal, uniform, added, counter = evaluated(made, torch.zeros(60, 50))

    assert counter == 9000 and np.any(normal != added)
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.05


def test_a_seed_that_nothing_draws_from_adds_nothing() -> None:
    assert imported(nn.Dropout().eval(), X, seed=0).weights == {}
