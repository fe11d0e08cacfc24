"""The peer `byparts_tf1` of the side-by-side benchmark: TensorFlow 1's API on generated code.

Programs as one writes them for TensorFlow 1: placeholders, variables, an optimizer, `session.run`
with a feed.  Beside `byparts_native`, the same steps without the API, it shows what that costs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

tf: Any = None  # imported by `setup`, when the harness has set the environment
np: Any = None
IMPORT = "import byparts_frontend_tf as tf; tf.Session"
_FILTERS = (2, 3, 1, 0)  # the harness has [out, in, h, w]; TensorFlow has [h, w, in, out]

Arrays = dict[str, Any]


def setup(threads: int) -> str:
    """Import; OpenBLAS takes its threads from the environment that the harness sets."""
    global tf, np
    tf, np = import_module("byparts_frontend_tf"), import_module("numpy")
    session = import_module("byparts_frontend_tf.running.session")
    session.defaults["wait"] = True  # steps on generated code are measured, from the first on
    return str(tf.__version__)


def build(workload: str, spec: Any, threads: int) -> Any:
    """The program of a workload.  KeyError: not one of these."""
    return Training(LOSSES[workload], spec)


class Training:
    """A graph, a session, and its feed."""

    def __init__(self, define: Callable[[Arrays, Arrays, Arrays], Any], spec: Any) -> None:
        feeds = {k: tf.placeholder(tf.float32, v.shape, name=k) for k, v in spec.inputs.items()}
        self._filters = {k for k, v in spec.params.items() if v.ndim == 4}
        self.weights = {
            k: tf.Variable(v.transpose(_FILTERS) if k in self._filters else v, name=k)
            for k, v in spec.params.items()
        }
        loss = define(feeds, self.weights, spec.hp)
        rate = spec.hp["lr"]
        adam = spec.hp["opt"] == "adam"
        self._fetches = [loss, _adam(rate, loss) if adam else _descent(rate, loss)]
        self._session = tf.Session()
        self._session.run(tf.global_variables_initializer())
        self._feed = {feeds[k]: v for k, v in spec.inputs.items()}

    def step(self) -> float:
        """One step; the loss before it."""
        return float(self._session.run(self._fetches, self._feed)[0])

    def params(self) -> Arrays:
        """The weights, as the harness has them."""
        values = self._session.run(self.weights)
        return {
            k: v.transpose(np.argsort(_FILTERS)) if k in self._filters else v
            for k, v in values.items()
        }


def _descent(rate: float, loss: Any) -> Any:
    return tf.train.GradientDescentOptimizer(rate).minimize(loss)


def _adam(rate: float, loss: Any) -> Any:
    """With the epsilon of the other peers: TensorFlow 1's stands behind the bias correction."""
    count = tf.Variable(0.0)
    epsilon = 1e-8 * tf.sqrt(1.0 - tf.pow(0.999, count + 1.0))
    with tf.control_dependencies([tf.train.AdamOptimizer(rate, epsilon=epsilon).minimize(loss)]):
        return tf.assign_add(count, 1.0).op


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over the batch."""
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits))


def w1(i: Arrays, p: Arrays, hp: Arrays) -> Any:
    """Softmax regression."""
    return cross_entropy(tf.matmul(i["x"], p["W"]) + p["b"], i["y"])


def w2(i: Arrays, p: Arrays, hp: Arrays) -> Any:
    """Three dense layers."""
    h = i["x"]
    for n in "01":
        h = tf.nn.relu(tf.matmul(h, p[f"W{n}"]) + p[f"b{n}"])
    return cross_entropy(tf.matmul(h, p["W2"]) + p["b2"], i["y"])


def w3(i: Arrays, p: Arrays, hp: Arrays) -> Any:
    """LeNet."""
    x, ones, twos = i["x"], [1, 1, 1, 1], [1, 1, 2, 2]
    for n in "12":
        x = tf.nn.conv2d(x, p[f"c{n}"], ones, "VALID", data_format="NCHW")
        x = tf.tanh(tf.nn.bias_add(x, p[f"cb{n}"], data_format="NCHW"))
        x = tf.nn.max_pool(x, twos, twos, "VALID", data_format="NCHW")
    hidden = tf.tanh(tf.matmul(tf.reshape(x, [-1, 800]), p["W1"]) + p["b1"])
    return cross_entropy(tf.matmul(hidden, p["W2"]) + p["b2"], i["y"])


def w5(i: Arrays, p: Arrays, hp: Arrays) -> Any:
    """An LSTM, unrolled."""
    h = c = tf.zeros([i["x"].get_shape()[1], hp["H"]])
    hs = []
    for x in tf.unstack(i["x"]):
        gates = tf.matmul(x, p["Wx"]) + p["b"] + tf.matmul(h, p["Wh"])
        a, f, g, o = tf.split(gates, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(a) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        hs.append(h)
    return tf.reduce_mean(tf.square(tf.stack(hs) - i["t"]))


LOSSES: dict[str, Callable[[Arrays, Arrays, Arrays], Any]] = {
    **{"w1": w1, "w2": w2},
    **{"w3": w3, "w5": w5},
}
