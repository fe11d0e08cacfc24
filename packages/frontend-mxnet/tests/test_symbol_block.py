from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_frontend_mxnet import autograd, gluon


def _net() -> Any:
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    return net


def test_a_net_its_symbol_and_a_module_of_its_files_agree(tmp_path: Path) -> None:
    """Blocks give symbols, symbols are blocks, and what is exported is bound."""
    net, x = _net(), mx.nd.array(np.arange(10).reshape(2, 5))
    expected = net(x).asnumpy()
    data = mx.sym.Variable("data")
    block = gluon.SymbolBlock(net(data), data, params=net.collect_params())
    np.testing.assert_allclose(block(x).asnumpy(), expected, rtol=1e-6)
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "net"))
    symbol, arg, aux = mx.model.load_checkpoint(str(tmp_path / "net"), 0)
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 5))], for_training=False)
    module.set_params(arg, aux)
    module.forward(mx.io.DataBatch([x]))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_symbol_is_trained_as_a_block(hybrid: bool) -> None:
    """Shapes are found at the first call; states follow, and weights have gradients."""
    data = mx.sym.Variable("data")
    symbol = mx.sym.FullyConnected(mx.sym.BatchNorm(data, name="bn"), num_hidden=2, name="fc")
    block: Any = gluon.SymbolBlock(symbol, data)
    block.initialize(mx.init.Zero())
    if hybrid:
        block.hybridize()
    with autograd.record():
        loss = block(mx.nd.array([[1.0], [3.0]])).sum()
    loss.backward()
    found = {n: p for n, p in block.collect_params().items()}
    np.testing.assert_allclose(found["bn_moving_mean"].data().asnumpy(), [0.2], rtol=1e-6)
    np.testing.assert_array_equal(found["fc_bias"].grad().asnumpy(), [2, 2])
