import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx

WIDTH = 16


def _sentences() -> tuple[list[list[int]], dict[str, int]]:
    """Sentences of a language in which each word tells the next."""
    random.seed(0)
    lines = []
    for _ in range(300):
        words = [random.randint(1, 9)]
        for _ in range(random.randint(2, 5)):
            words.append((words[-1] * 3 + 1) % 9 + 1)
        lines.append([str(w) for w in words])
    return mx.rnn.encode_sentences(lines, invalid_label=0, start_label=1)


def _network(cell: Any, words: int, layout: str = "NTC") -> Any:
    """sym_gen of a language model."""

    def sym_gen(length: int) -> tuple[Any, tuple[str], tuple[str]]:
        data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
        x = mx.sym.Embedding(data, input_dim=words, output_dim=8, name="embed")
        cell.reset()
        outputs, _ = cell.unroll(length, x, merge_outputs=True, layout=layout)
        y = mx.sym.Reshape(outputs, shape=(-1, WIDTH))
        y = mx.sym.FullyConnected(y, num_hidden=words, name="pred")
        y = mx.sym.SoftmaxOutput(y, mx.sym.Reshape(label, shape=(-1,)), name="softmax")
        return y, ("data",), ("softmax_label",)

    return sym_gen


def _trained(cell: Any, layout: str, epochs: int, **how: Any) -> tuple[Any, Any]:
    np.random.seed(0)
    mx.random.seed(0)
    sentences, words = _sentences()
    train = mx.rnn.BucketSentenceIter(sentences, 32, [4, 6], invalid_label=0, layout=layout)
    net = _network(cell, len(words) + 1, f"{layout}C")
    module = mx.mod.BucketingModule(net, default_bucket_key=train.default_bucket_key)
    given = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.02}, **how}
    metric = mx.metric.Perplexity(0)
    module.fit(train, eval_metric=metric, num_epoch=epochs, initializer=mx.init.Xavier(), **given)
    return module, train


def test_a_language_model_is_trained_in_buckets() -> None:
    """Two buckets share their weights; each word tells the next, so the perplexity nears 1."""
    module, train = _trained(mx.rnn.LSTMCell(WIDTH, prefix="lstm_"), "NT", 8)
    assert module.score(train, mx.metric.Perplexity(0))[0][1] < 1.5
    assert "lstm_i2h_weight" in module.get_params()[0]


def test_fused_weights_serve_the_cells_that_they_are_made_of(tmp_path: Path) -> None:
    """A checkpoint of a fused cell is read by its cells, and they predict the same."""
    fused = mx.rnn.FusedRNNCell(WIDTH // 2, 2, "lstm", bidirectional=True, dropout=0.1)
    prefix = str(tmp_path / "rnn")
    save = mx.rnn.do_rnn_checkpoint(fused, prefix)
    module, train = _trained(fused, "TN", 2, epoch_end_callback=save)
    cells = fused.unfuse()
    _, arg, aux = mx.rnn.load_rnn_checkpoint(cells, prefix, 2)
    sentences, words = _sentences()
    other = mx.rnn.BucketSentenceIter(sentences, 32, [6], invalid_label=0)
    again: Any = mx.mod.Module(*_network(cells, len(words) + 1)(6))
    again.bind(other.provide_data, other.provide_label, for_training=False)
    again.set_params(arg, aux)
    module.switch_bucket(6, train.provide_data, train.provide_label)
    data = next(other).data[0]
    again.forward(mx.io.DataBatch([data]))
    module._curr.forward(mx.io.DataBatch([mx.nd.transpose(data)]), is_train=False)
    by_cells = again.get_outputs()[0].asnumpy().reshape(32, 6, -1)
    by_op = module.get_outputs()[0].asnumpy().reshape(6, 32, -1)
    np.testing.assert_allclose(by_cells, by_op.transpose(1, 0, 2), atol=1e-5)


def test_cells_unroll_in_every_layout() -> None:
    """Steps as a list or in one symbol, merged or not; names are those of MXNet."""
    cell = mx.rnn.GRUCell(4, prefix="gru_")
    listed, states = cell.unroll(3, [mx.sym.Variable(f"x{i}") for i in range(3)])
    assert mx.sym.Group(listed).list_outputs() == [f"gru_t{i}_out_output" for i in range(3)]
    assert len(states) == 1 and cell.state_shape == [(0, 4)]
    merged, _ = cell.unroll(3, mx.sym.Variable("x"), layout="TNC", merge_outputs=True)
    assert merged.infer_shape(x=(3, 2, 5))[1] == [(3, 2, 4)]
    with pytest.raises(ValueError, match="2 inputs for 3 steps"):
        cell.unroll(3, [mx.sym.Variable("x"), mx.sym.Variable("y")])


def test_cells_around_cells() -> None:
    """Residual, dropout, zoneout, both ways; states stand one after the other."""
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.ResidualCell(mx.rnn.RNNCell(4, prefix="a_")))
    stack.add(mx.rnn.DropoutCell(0.5))
    stack.add(mx.rnn.ZoneoutCell(mx.rnn.LSTMCell(4, prefix="b_"), 0.3, 0.3))
    stack.add(mx.rnn.BidirectionalCell(mx.rnn.GRUCell(4, "l_"), mx.rnn.GRUCell(4, "r_")))
    assert len(stack.state_info) == 5
    net, _ = stack.unroll(2, mx.sym.Variable("x"), merge_outputs=True)
    executor = net.simple_bind(x=(3, 2, 4))
    executor.forward(is_train=True, x=mx.nd.ones((3, 2, 4)))
    executor.backward(mx.nd.ones((3, 2, 8)))
    assert executor.outputs[0].shape == (3, 2, 8)
    assert np.isfinite(executor.grad_dict["a_i2h_weight"].asnumpy()).all()


def test_weights_of_gates_are_unpacked_and_packed() -> None:
    """Packing is the inverse of unpacking."""
    cell = mx.rnn.LSTMCell(2, prefix="c_")
    whole = {"c_i2h_weight": mx.nd.array(np.arange(24).reshape(8, 3)), "other": mx.nd.ones((1,))}
    apart = cell.unpack_weights(whole)
    assert apart["c_i2h_f_weight"].asnumpy().tolist() == [[6, 7, 8], [9, 10, 11]]
    packed = cell.pack_weights(apart)
    assert (packed["c_i2h_weight"].asnumpy() == whole["c_i2h_weight"].asnumpy()).all()


def test_words_that_are_unknown_are_named() -> None:
    """With a vocabulary no word may be new."""
    rows, words = mx.rnn.encode_sentences([["a", "b"], ["a"]], start_label=1, invalid_label=0)
    assert (rows, words) == ([[1, 2], [1]], {"\n": 0, "a": 1, "b": 2})
    with pytest.raises(mx.MXNetError, match="'c' is not in the vocabulary"):
        mx.rnn.encode_sentences([["c"]], words)


def test_states_are_arguments_that_keep_their_values() -> None:
    """Shapes of states follow from the data, also backwards; a module sets and reads them."""
    cell = mx.rnn.LSTMCell(4, prefix="l_")
    begin = cell.begin_state(func=mx.sym.Variable)
    outputs, states = cell.unroll(2, mx.sym.Variable("data"), begin_state=begin)
    names = [s.name for s in begin]
    net = mx.sym.Group([outputs[-1], *states])
    module = mx.mod.Module(net, label_names=None, state_names=names)
    module.bind([("data", (5, 2, 3))], for_training=False)
    module.init_params(mx.init.Xavier())
    module.set_states(value=1)
    assert [s.shape for s in module.get_states()] == [(5, 4), (5, 4)]
    batch = mx.io.DataBatch([mx.nd.ones((5, 2, 3))])
    module.forward(batch)
    first = module.get_outputs()[0].asnumpy()
    module.set_states(module.get_outputs()[1:])
    module.forward(batch)
    assert (module.get_outputs()[0].asnumpy() != first).any()
