"""Programs in the ways in which people wrote them with MXNet 0.9 to 1.0."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import byparts_frontend_mxnet as mx
from programs import pixels


class Batch:
    """A batch of one's own, as examples had it: names beside arrays."""

    def __init__(self, data: dict[str, Any], label: dict[str, Any], key: Any = None) -> None:
        self.data = [mx.nd.array(x) for x in data.values()]
        self.label = [mx.nd.array(x) for x in label.values()]
        self.provide_data = [(n, x.shape) for n, x in data.items()]
        self.provide_label = [(n, x.shape) for n, x in label.items()]
        self.bucket_key, self.pad, self.index = key, 0, None


class Batches(mx.io.DataIter):
    """An iterator of one's own over such batches."""

    def __init__(self, batches: list[Batch], largest: int = 0) -> None:
        super().__init__(len(batches[0].data[0]))
        self.batches = batches
        self.provide_data = batches[largest].provide_data
        self.provide_label = batches[largest].provide_label
        self.default_bucket_key = batches[largest].bucket_key

    def __iter__(self) -> Iterator[Batch]:  # type: ignore[override]  # as programs do
        return iter(self.batches)


def test_matrix_factorization_learns_scores_of_users_and_items() -> None:
    """Embeddings, FeedForward, Adam and a metric that is a function."""
    draw = np.random.RandomState(0)
    mx.random.seed(0)
    users, items = draw.randint(0, 12, 800), draw.randint(0, 15, 800)
    scores = (draw.randn(12, 2)[users] * draw.randn(15, 2)[items]).sum(1)
    rows = [slice(i, i + 100) for i in range(0, 800, 100)]
    data = Batches(
        [Batch({"user": users[r], "item": items[r]}, {"score": scores[r]}) for r in rows]
    )
    user = mx.sym.Embedding(mx.sym.Variable("user"), input_dim=12, output_dim=4)
    item = mx.sym.Embedding(mx.sym.Variable("item"), input_dim=15, output_dim=4)
    pred = mx.sym.Flatten(mx.sym.sum_axis(data=user * item, axis=1))
    net = mx.sym.LinearRegressionOutput(data=pred, label=mx.sym.Variable("score"))

    def rmse(label: Any, pred: Any) -> Any:
        return np.sqrt(((label - pred.flatten()) ** 2).mean())

    how: Any = {"learning_rate": 0.05, "initializer": mx.init.Normal(0.5)}
    model = mx.model.FeedForward(net, mx.cpu(), num_epoch=25, optimizer="adam", **how)
    model.fit(data, eval_data=data, eval_metric=rmse)
    assert model.module.score(data, rmse)[0][1] < 0.2 * scores.std()


def test_an_autoencoder_is_trained_by_a_solver_of_its_own() -> None:
    """Arrays and gradients bound by hand; an updater that knows weights by their names."""
    mx.random.seed(0)
    hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=16, name="encoder")
    hidden = mx.sym.Activation(hidden, act_type="relu")
    net = mx.sym.FullyConnected(hidden, num_hidden=64, name="decoder")
    net = mx.sym.LinearRegressionOutput(net, name="out")
    shapes, _, _ = net.infer_shape(data=(50, 64))
    args = {n: mx.nd.empty(s) for n, s in zip(net.list_arguments(), shapes, strict=True)}
    inputs = [args["data"], args["out_label"]]
    weights = {n: x for n, x in args.items() if n.startswith(("encoder", "decoder"))}
    for name, x in weights.items():
        mx.init.Xavier()(name, x)
    grads = {n: mx.nd.empty(x.shape) for n, x in weights.items()}
    executor = net.bind(mx.cpu(), args=args, args_grad=grads, aux_states={})
    how: Any = {"learning_rate": 0.1, "momentum": 0.9, "rescale_grad": 1 / 50}
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", **how))
    output, losses, (x, _) = executor.outputs[0], [], pixels()
    for step in range(120):
        batch = mx.nd.array(x[step % 30 * 50 :][:50])
        for array in inputs:
            batch.copyto(array)
        executor.forward(is_train=True)
        losses.append(((output - batch) ** 2).asnumpy().mean())
        executor.backward()
        for name, gradient in grads.items():
            updater(name, gradient, weights[name])
    assert losses[-1] < 0.5 * losses[0]


def test_two_modules_play_against_each_other() -> None:
    """Gradients by the data of one are those of the outputs of the other."""
    mx.random.seed(0)
    how: Any = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.01, "beta1": 0.5}}
    fake = mx.sym.FullyConnected(mx.sym.Variable("rand"), num_hidden=2, name="g")
    maker = mx.mod.Module(fake, data_names=("rand",), label_names=None)
    maker.bind([("rand", (20, 3))])
    y = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="d")
    judge = mx.mod.Module(
        mx.sym.LogisticRegressionOutput(y, mx.sym.Variable("label"), name="loss"),
        label_names=("label",),
    )
    judge.bind([("data", (20, 2))], [("label", (20,))], inputs_need_grad=True)
    for module in (maker, judge):
        module.init_params(mx.init.Normal(0.02))
        module.init_optimizer(**how)
    real, label = mx.nd.full((20, 2), 3), mx.nd.zeros((20,))
    for _ in range(150):
        maker.forward(mx.io.DataBatch([mx.random.normal(0, 1, shape=(20, 3))]), is_train=True)
        outputs = maker.get_outputs()
        label[:] = 0
        judge.forward(mx.io.DataBatch(outputs, [label]), is_train=True)
        judge.backward()
        kept = [[g.copyto(g.context) for g in row] for row in judge._exec_group.grad_arrays]
        label[:] = 1
        judge.forward(mx.io.DataBatch([real], [label]), is_train=True)
        judge.backward()
        for row, before in zip(judge._exec_group.grad_arrays, kept, strict=True):
            row[0] += before[0]
        judge.update()
        judge.forward(mx.io.DataBatch(outputs, [label]), is_train=True)
        judge.backward()
        maker.backward(judge.get_input_grads())
        maker.update()
    assert maker.get_outputs()[0].asnumpy().mean() > 0.5  # on the way from 0 to 3


def test_an_lstm_is_unrolled_by_hand_with_states_as_data() -> None:
    """The example of 2016: variables shared by hand, one symbol for each length."""

    def unrolled(length: int) -> tuple[Any, Any, Any]:
        names = ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")
        w = {n: mx.sym.Variable(f"l0_{n}") for n in names}
        c, h = mx.sym.Variable("l0_init_c"), mx.sym.Variable("l0_init_h")
        embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=6, output_dim=4, name="embed")
        words = mx.sym.SliceChannel(embed, num_outputs=length, squeeze_axis=1)
        outputs = []
        for t in range(length):
            how = {"num_hidden": 4 * 8}
            i2h = mx.sym.FullyConnected(words[t], w["i2h_weight"], w["i2h_bias"], **how)
            h2h = mx.sym.FullyConnected(h, w["h2h_weight"], w["h2h_bias"], **how)
            parts = mx.sym.SliceChannel(i2h + h2h, num_outputs=4)
            i, f, o = (mx.sym.Activation(parts[k], act_type="sigmoid") for k in (0, 2, 3))
            c = f * c + i * mx.sym.Activation(parts[1], act_type="tanh")
            h = o * mx.sym.Activation(c, act_type="tanh")
            outputs.append(h)
        y = mx.sym.FullyConnected(mx.sym.Concat(*outputs, dim=0), num_hidden=6, name="pred")
        label = mx.sym.Reshape(
            mx.sym.transpose(mx.sym.Variable("softmax_label")), target_shape=(0,)
        )
        net = mx.sym.SoftmaxOutput(y, label, name="softmax")
        return net, ("data", "l0_init_c", "l0_init_h"), ("softmax_label",)

    def perplexity(label: Any, pred: Any) -> Any:
        chosen = label.T.reshape(-1).astype(int)
        return np.exp(-np.log(np.maximum(1e-10, pred[np.arange(len(pred)), chosen])).mean())

    mx.random.seed(0)
    zeros, batches = np.zeros((3, 8)), []
    for length in (3, 5, 3, 5):
        x = (np.arange(length) * 2 + np.arange(3)[:, None]) % 5 + 1
        arrays = {"data": x, "l0_init_c": zeros, "l0_init_h": zeros}
        batches.append(Batch(arrays, {"softmax_label": (x + 1) % 5 + 1}, length))
    data = Batches(batches, largest=1)
    model = mx.mod.BucketingModule(unrolled, default_bucket_key=data.default_bucket_key)
    metric, init = mx.metric.np(perplexity), mx.init.Xavier(factor_type="in", magnitude=2.34)
    how: Any = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.05}}
    model.fit(data, eval_metric=metric, num_epoch=20, initializer=init, **how)
    assert model.score(data, metric)[0][1] < 1.2


def test_a_text_network_adds_up_gradients_and_clips_them() -> None:
    """Convolutions over words by an executor whose gradients are added and set to 0 by hand."""
    mx.random.seed(0)
    draw = np.random.RandomState(0)
    x, pooled = draw.randint(1, 20, (40, 6)), []
    y = (x == 7).any(1).astype(float)
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=20, output_dim=4, name="embed")
    image = mx.sym.Reshape(words, shape=(-1, 1, 6, 4))
    for width in (1, 2):
        conv = mx.sym.Convolution(image, kernel=(width, 4), num_filter=8, name=f"conv{width}")
        relu = mx.sym.Activation(conv, act_type="relu")
        pooled.append(mx.sym.Pooling(relu, pool_type="max", kernel=(7 - width, 1), stride=(1, 1)))
    h = mx.sym.Dropout(mx.sym.Flatten(mx.sym.Concat(*pooled, dim=1)), p=0.1)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(h, num_hidden=2, name="out"), name="softmax")
    executor = net.simple_bind(mx.cpu(), grad_req="add", data=(40, 6))
    weights = [n for n in executor.arg_dict if n not in ("data", "softmax_label")]
    for name in weights:
        mx.init.Uniform(0.3)(name, executor.arg_dict[name])
    updater = mx.optimizer.get_updater(mx.optimizer.create("rmsprop", learning_rate=0.01))
    for _ in range(60):
        executor.forward(is_train=True, data=mx.nd.array(x), softmax_label=mx.nd.array(y))
        executor.backward()
        norm = sum(float(mx.nd.norm(executor.grad_dict[n]).asscalar()) ** 2 for n in weights)
        for i, name in enumerate(weights):
            gradient = executor.grad_dict[name]
            gradient *= min(1.0, 5.0 / (norm**0.5 + 1e-6))
            updater(i, gradient, executor.arg_dict[name])
            gradient[:] = 0
    executor.forward(is_train=False)
    assert (executor.outputs[0].asnumpy().argmax(1) == y).mean() > 0.95


def test_an_image_is_changed_by_the_gradient_of_a_loss() -> None:
    """Weights stay; the data has the gradient, and a schedule the rate."""
    data = mx.sym.Variable("data")
    features = mx.sym.Convolution(data, kernel=(3, 3), num_filter=2, no_bias=True, name="conv")
    loss = mx.sym.MakeLoss(mx.sym.sum(mx.sym.square(features - mx.sym.Variable("style"))))
    executor = loss.simple_bind(grad_req={"data": "write"}, data=(1, 1, 6, 6), style=(1, 2, 4, 4))
    executor.arg_dict["conv_weight"][:] = np.random.RandomState(0).randn(2, 1, 3, 3)
    executor.arg_dict["style"][:] = 1
    schedule = mx.lr_scheduler.FactorScheduler(step=50, factor=0.9)
    optimizer = mx.optimizer.SGD(learning_rate=0.005, momentum=0.9, lr_scheduler=schedule)
    state, losses = optimizer.create_state(0, executor.arg_dict["data"]), []
    for _ in range(80):
        executor.forward(is_train=True)
        executor.backward()
        optimizer.update(0, executor.arg_dict["data"], executor.grad_dict["data"], state)
        losses.append(executor.outputs[0].asscalar())
    assert losses[-1] < 0.1 * losses[0]
