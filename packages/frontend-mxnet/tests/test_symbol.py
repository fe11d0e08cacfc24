import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from programs import mlp

ADDED: Any = ([(2, 3), (2, 3)], [(2, 3)], [])


def test_missing_inputs_become_variables_named_after_the_op() -> None:
    """The slide's network: weights, biases and the label are made."""
    with mx.name.NameManager():
        net = mx.sym.FullyConnected(data=mx.sym.Variable("data"), num_hidden=128)
        net = mx.sym.SoftmaxOutput(data=net)
    names = ["data", "fullyconnected0_weight", "fullyconnected0_bias", "softmaxoutput0_label"]
    assert net.list_arguments() == names
    assert net.list_outputs() == ["softmaxoutput0_output"]


def test_shapes_of_weights_and_labels_follow_from_the_data() -> None:
    """FullyConnected tells its weights, an output layer its label."""
    arguments, outputs, aux = mlp(8).infer_shape(data=(5, 64))
    assert arguments == [(5, 64), (8, 64), (8,), (10, 8), (10,), (5,)]
    assert (outputs, aux) == ([(5, 10)], [])


def test_one_operand_tells_the_other_its_shape() -> None:
    """Operands of elementwise ops have one shape, also seen backwards."""
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    assert (a + b).infer_shape(a=(2, 3)) == ADDED
    assert (a + b).infer_shape(b=(2, 3)) == ADDED


def test_unknown_shapes_are_none_in_full_and_empty_in_part() -> None:
    """A label alone tells nothing of the weights."""
    net = mlp()
    assert net.infer_shape(softmax_label=(5,)) == (None, None, None)
    assert net.infer_shape_partial(softmax_label=(5,))[0][-1] == (5,)


def test_auxiliary_states_are_no_arguments() -> None:
    """Moving means are listed apart, with shapes."""
    net = mx.sym.BatchNorm(mx.sym.Variable("x"), name="bn")
    assert net.list_arguments() == ["x", "bn_gamma", "bn_beta"]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.infer_shape(x=(2, 3, 4, 4))[2] == [(3,), (3,)]


def test_types_follow_from_given_ones_and_casts() -> None:
    """A cast says the dtype from there on."""
    net = mx.sym.Cast(mx.sym.Variable("x"), dtype="float64") + mx.sym.Variable("y")
    assert net.infer_type(x=np.float32) == ([np.float32, np.float32], [np.float64], [])


def test_composing_replaces_variables_and_changes_neither_symbol() -> None:
    """net(data=other) reads other in the place of data."""
    first = mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc1", num_hidden=4)
    other = mx.sym.FullyConnected(mx.sym.Variable("data2"), name="fc2", num_hidden=4)
    names = ["data2", "fc2_weight", "fc2_bias", "fc1_weight", "fc1_bias"]
    assert first(data=other, name="both").list_arguments() == names
    assert first.list_arguments() == ["data", "fc1_weight", "fc1_bias"]
    with pytest.raises(mx.MXNetError, match="has no 'dat'; close names: data"):
        first(dat=other)


def test_internals_are_outputs_by_name() -> None:
    """get_internals()[name] cuts the network there."""
    cut = mlp(8).get_internals()["fc1_output"]
    assert cut.infer_shape(data=(2, 64))[1] == [(2, 8)]
    assert mx.sym.Group([cut, cut + 1]).list_outputs()[0] == "fc1_output"
    with pytest.raises(mx.MXNetError, match="has no 'fc1_ouput'; close names: fc1_output"):
        mlp().get_internals()["fc1_ouput"]


def test_json_and_pickle_give_the_same_network(tmp_path: Path) -> None:
    """Texts of parameters and attributes are read back as they were."""
    weight = mx.sym.Variable("w", shape=(4, 3, 2, 2), lr_mult=0.5, init=mx.init.One())
    net = mx.sym.Convolution(mx.sym.Variable("x"), weight, kernel=(2, 2), num_filter=4)
    net.save(str(tmp_path / "net.json"))
    again = mx.sym.load(str(tmp_path / "net.json"))
    assert again.tojson() == net.tojson() == pickle.loads(pickle.dumps(net)).tojson()
    assert again.infer_shape(x=(1, 3, 5, 5)) == net.infer_shape(x=(1, 3, 5, 5))
    assert again.attr_dict()["w"]["__lr_mult__"] == "0.5"


def test_json_of_older_versions_is_read() -> None:
    """Versions before 1.0 say `param` and `attr`, and two numbers for an input."""
    text = """{"nodes": [{"op": "null", "param": {}, "name": "x", "inputs": []},
        {"op": "Activation", "param": {"act_type": "tanh"}, "name": "t", "inputs": [[0, 0]],
         "attr": {"__mood__": "calm"}}], "arg_nodes": [0], "heads": [[1, 0]]}"""
    net = mx.sym.load_json(text)
    assert net.attr("__mood__") == "calm"
    assert net.eval(x=mx.nd.zeros((1,)))[0].asscalar() == 0
    with pytest.raises(mx.MXNetError, match=r"no symbol in JSON: KeyError\('nodes'\)"):
        mx.sym.load_json("{}")


def test_blocks_give_names_and_attributes() -> None:
    """Prefixes and attributes of the `with` blocks around."""
    x = mx.sym.Variable("x")
    with mx.AttrScope(ctx_group="dev1"), mx.name.Prefix("net_"):
        y = mx.sym.Activation(x, act_type="relu", name="a")
    assert (y.name, y.attr("ctx_group")) == ("net_a", "dev1")
    assert "Op:Activation, Name=net_a, Inputs: x" in y.debug_str()


def test_operators_are_those_of_arrays() -> None:
    """Symbols and numbers on either side, compared and computed."""
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    x: Any = mx.nd.array([1.0, 4.0])
    y: Any = mx.nd.array([2.0, 3.0])
    net = (2 / a - b * 3) ** 2 + (1 - a) % 5 + (a > b) * 10 - (-b)
    (z,) = net.eval(a=x, b=y)
    expected = (2 / x - y * 3) ** 2 + (1 - x) % 5 + (x > y) * 10 - (-y)
    np.testing.assert_allclose(z.asnumpy(), expected.asnumpy(), rtol=1e-6)


def test_errors_say_what_is_meant_and_what_to_do() -> None:
    """Wrong ops, parameters, outputs and shapes, with their names and numbers."""
    x = mx.sym.Variable("x")
    with pytest.raises(
        mx.MXNetError, match=r"mx\.sym has no 'FullyConnectd'; close names: FullyCo"
    ):
        mx.sym.FullyConnectd(x)
    with pytest.raises(mx.MXNetError, match="has no 'num_hiden'; close names: num_hidden"):
        mx.sym.FullyConnected(x, num_hiden=3)
    with pytest.raises(mx.MXNetError, match=r"input 'data' is .*; give a symbol of one output"):
        mx.sym.Activation(mx.sym.split(x, num_outputs=2))
    with pytest.raises(mx.MXNetError, match=r"fc2_weight has shape \(3, 3\), and with data of"):
        mlp().infer_shape(data=(4, 64), fc2_weight=(3, 3))
    with pytest.raises(mx.MXNetError, match="whose shapes are inferred, has no 'dat'"):
        mlp().infer_shape(dat=(4, 64))


def test_a_network_prints_as_a_table_and_as_dot(capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers of parameters without labels; edges say shapes."""
    mx.viz.print_summary(mlp(8), shape={"data": (1, 64)})
    assert "Total params: 610" in capsys.readouterr().out
    assert (
        '"fc1" -> "relu1" [label="1x8"]'
        in mx.viz.plot_network(mlp(8), shape={"data": (1, 64)}).source
    )


def test_functions_of_two_take_numbers_on_either_side() -> None:
    """maximum, minimum, power of symbols and numbers."""
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    arrays = {"x": mx.nd.array([1, 3]), "y": mx.nd.array([2, 2])}
    nets = [mx.sym.maximum(x, y), mx.sym.minimum(x, 2), mx.sym.pow(2, x), mx.sym.power(x, 2)]
    values = [mx.sym.Group([n, x, y]).eval(**arrays)[0].asnumpy().tolist() for n in nets]
    assert values == [[2, 3], [1, 2], [2, 8], [1, 9]]


def test_ctc_loss_of_two_steps_is_that_of_its_paths() -> None:
    """Uniform scores over 3 classes: of 9 paths 3 give the label "1"."""
    net = mx.sym.contrib.ctc_loss(mx.sym.Variable("x"), mx.sym.Variable("label"))
    (loss,) = net.eval(x=mx.nd.zeros((2, 1, 3)), label=mx.nd.array([[1, 0]]))
    np.testing.assert_allclose(loss.asnumpy(), [np.log(3)], rtol=1e-6)


def test_updates_of_optimizers_are_ops() -> None:
    """As in loops by hand: the weight is an output, momentum changes in place."""
    weight, grad, mom = mx.nd.array([1.0]), mx.nd.array([2.0]), mx.nd.array([4.0])
    mx.nd.sgd_mom_update(weight, grad, mom, lr=0.5, momentum=0.5, out=weight)
    assert (weight.asscalar(), mom.asscalar()) == (2, 1)
    mx.nd.sgd_update(weight, grad, lr=0.5, wd=0.5, out=weight)
    assert weight.asscalar() == 0.5
    mean, var = mx.nd.zeros((1,)), mx.nd.zeros((1,))
    mx.nd.adam_update(weight, grad, mean, var, lr=0.1, out=weight)
    assert mean.asscalar() > 0 and weight.asscalar() < 0.5


def test_images_are_cropped_to_others() -> None:
    """At an offset or in the middle."""
    x, like = mx.nd.array(np.arange(16).reshape(1, 1, 4, 4)), mx.nd.zeros((1, 1, 2, 2))
    names = mx.sym.Variable("x"), mx.sym.Variable("y")
    (there,) = mx.sym.Crop(*names, offset=(2, 1)).eval(x=x, y=like)
    (middle,) = mx.sym.Crop(*names, center_crop=True).eval(x=x, y=like)
    assert there.asnumpy().ravel().tolist() == [9, 10, 13, 14]
    assert middle.asnumpy().ravel().tolist() == [5, 6, 9, 10]


def test_namespaces_have_the_names_of_modules() -> None:
    """Imports of modules by their longer and shorter names give the same."""
    base, ndarray = (import_module(f"byparts_frontend_mxnet.{n}") for n in ("base", "ndarray"))
    assert base.MXNetError is mx.MXNetError
    assert ndarray.NDArray is mx.nd.NDArray
    loss = mx.contrib.nd.ctc_loss(mx.nd.zeros((2, 1, 3)), mx.nd.array([[1, 0]]))
    np.testing.assert_allclose(loss.asnumpy(), [np.log(3)], rtol=1e-6)
    assert mx.contrib.sym.CTCLoss(mx.sym.Variable("x"), name="c").list_outputs() == ["c_output"]
