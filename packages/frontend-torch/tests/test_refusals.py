"""What is not imported, and how it is said."""

from __future__ import annotations

from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import pytest
import torch
from exporting import Function, exported, imported
from torch import nn
from torch_models import F

import byparts_opset as ops
from byparts_frontend_torch import Rules, UnsupportedOp, from_exported, rules
from byparts_graph_ir import GraphError, Value
from byparts_opset.evaluate import evaluate

X = torch.arange(12.0).reshape(4, 3) + 1


def refused(function: Any, *args: Any, match: str) -> None:
    with pytest.raises(GraphError, match=match):
        imported(Function(function), *args)


@pytest.mark.parametrize("given", [nn.Linear(2, 3), None, torch.fx.symbolic_trace(nn.ReLU())])
def test_what_was_not_exported_is_no_program(given: Any) -> None:
    with pytest.raises(TypeError, match="takes an ExportedProgram, got "):
        from_exported(given)


def test_every_op_without_a_rule_is_named_with_its_count_and_the_line_to_write() -> None:
    both = (
        r"2 ops have no rule in byparts_frontend_torch:\n"
        r'  1 x aten.geqrf.default, first at .*:\d+; add a rule with @rules.on\("aten.geqrf.default"\)\n'
        r'  2 x aten.igamma.default, first at .*:\d+; add a rule with @rules.on\("aten.igamma.default"\)'
    )
    refused(lambda x: torch.geqrf(x)[0].sum() + x.igamma(x) + (x + 1).igamma(x), X, match=both)


def test_a_refusal_says_where_the_model_asked_for_it() -> None:
    with pytest.raises(UnsupportedOp, match="along 3 axes") as caught:
        imported(nn.Conv3d(1, 2, 2), torch.zeros(1, 1, 4, 4, 4))

    notes = caught.value.__notes__ if hasattr(caught.value, "__notes__") else [str(caught.value)]
    assert any("importing aten.convolution.default, called at Conv3d" in note for note in notes)


def test_shapes_that_depend_on_data_are_refused() -> None:
    refused(lambda x: x[x > 0], X, match=r"a mask bool\[4,3\] picks .* depends on data")
    refused(lambda x: torch.nonzero(x), X, match=r"1 x aten.nonzero.default.* depends on data")
    refused(lambda x: x * x.sum().item(), X, match=r"_local_scalar_dense.* depends on data")


def test_control_flow_is_refused() -> None:
    refused(
        lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)),
        X,
        match="1 x higher_order.cond.*; control flow is not imported: choose with torch.where",
    )


def test_types_that_we_have_not_are_refused_by_name() -> None:
    refused(lambda x: x.abs(), X.to(torch.complex64), match="input 'args_0': torch.complex64 is")
    refused(lambda x: x.to(torch.complex64).abs(), X, match="torch.complex64 is none of our dtypes")
    refused(lambda x: x @ torch.ones(3, 2), X.to_sparse(), match="layout torch.sparse_coo: make it")
    complex_layer = nn.Linear(2, 3, dtype=torch.complex64)
    with pytest.raises(GraphError, match=r"weight 'weight': torch.complex64 is none"):
        imported(complex_layer, torch.zeros(1, 2, dtype=torch.complex64))


def test_complex_numbers_are_refused_by_what_to_do() -> None:
    refused(torch.fft.rfft, X, match="aten._fft_r2c.default.*; complex numbers are not imported")


def test_a_memory_format_changes_nothing() -> None:
    """It says where numbers stand, and not which; images stay NCHW."""
    image = torch.randn(1, 3, 5, 4)
    last = imported(
        nn.Conv2d(3, 2, 2).to(memory_format=torch.channels_last),
        image.to(memory_format=torch.channels_last),
    )

    assert last.graph == imported(nn.Conv2d(3, 2, 2), image).graph


def test_weights_without_data_are_refused() -> None:
    with pytest.raises(GraphError, match="weight 'weight' has no data: it is a Parameter on meta"):
        imported(nn.Linear(3, 2, device="meta"), X.to("meta"))


def test_draws_without_a_seed_are_refused() -> None:
    refused(lambda x: F.dropout(x), X, match=r"model.eval\(\) before the export, or from_exported")


def test_quotients_by_an_open_size_are_refused() -> None:
    sizes = {0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO}
    model = Function(lambda x: torch.zeros(9 * x.shape[0] // x.shape[1]) + x.sum())
    with pytest.raises(UnsupportedOp, match=r"one number has the open shape \(None,\)"):
        from_exported(exported(model, X, dynamic_shapes=((sizes,),)))


def test_an_op_with_an_effect_is_named() -> None:
    """And not the token that torch keeps its order by."""

    def function(x: Any) -> Any:
        torch.ops.aten._print("here")
        return x + 1

    refused(function, X, match=r"1 x aten._print.default, first at .*:\d+; it has an effect")


def test_what_torch_cannot_decompose_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first line of what torch says."""
    program = exported(Function(lambda x: x + 1), X)
    failing = RuntimeError("no such thing\n" + "and more\n" * 50)
    monkeypatch.setattr(type(program), "run_decompositions", _raises(failing))

    with pytest.raises(
        UnsupportedOp, match="torch cannot decompose this program: RuntimeError: no"
    ):
        from_exported(program)


def _raises(error: Exception) -> Any:
    def function(*given: Any) -> Any:
        raise error

    return function


def test_a_rule_that_fails_is_named() -> None:
    mine = Rules(rules)
    mine.on("byparts_test.snake.default")(lambda x: x)

    with pytest.raises(
        GraphError, match=r"snake.default: its rule .* does not take this call: Typ"
    ):
        imported(Function(lambda x: snake(x, 2.0)), X, rules=mine)


def test_what_no_grad_writes_to_is_refused_where_it_is_read_later() -> None:
    """Torch's gradient goes on to x as if nothing had been written."""

    def function(x: Any) -> Any:
        x = x * 1
        with torch.no_grad():
            x.add_(1)
        return x * x

    refused(function, X, match=r"'mul' is written to in place under no_grad, and read at .*:\d+")


def test_an_output_that_a_rule_cannot_give_is_refused_where_it_is_used() -> None:
    refused(
        lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
        torch.zeros(1, 1, 4, 4),
        match="max_pool2d_with_indices.default: output 1 is not imported",
    )


def _snake(x: torch.Tensor, a: float) -> torch.Tensor:
    return x + torch.sin(a * x) ** 2 / a


snake: Any = torch.library.custom_op("byparts_test::snake", _snake, mutates_args=())
snake.register_fake(lambda x, a: torch.empty_like(x))


def test_a_rule_of_a_stranger_is_used() -> None:
    """Over a table of one's own, which leaves that of all as it was."""
    mine = Rules(rules)

    @mine.on("byparts_test.snake.default")
    def _rule(x: Value, a: float) -> Value:
        return x + ops.sin(x * a) ** 2 / a

    made = imported(Function(lambda x: snake(x, 2.0)), X, rules=mine)
    want = snake(X, 2.0).numpy()
    assert abs(evaluate(made.graph, X.numpy())[0] - want).max() < 1e-6
    assert "byparts_test.snake.default" not in rules


def test_a_rule_that_gives_another_type_than_torch_is_named() -> None:
    mine = Rules(rules)
    mine.on("byparts_test.snake.default")(lambda x, a: x[0])

    with pytest.raises(
        GraphError, match=r"output is f32\[4,3\] in torch, and the rule .* f32\[3\]"
    ):
        imported(Function(lambda x: snake(x, 2.0)), X, rules=mine)


def test_a_rule_that_refuses_has_torch_decompose_the_op() -> None:
    mine = Rules(rules)

    @mine.on("aten.linear.default")
    def _rule(x: Value, weight: Value, bias: Value | None = None) -> Value:
        raise UnsupportedOp("not today")

    made = imported(nn.Linear(3, 2), X, rules=mine)
    assert [n.op.name for n in made.graph.nodes] == ["transpose", "matmul", "add"]
