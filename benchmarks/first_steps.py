"""Processor seconds of the TensorFlow 1 programs of the front-end's tests, from start to end.

    python benchmarks/first_steps.py [NAME ...] [--rounds 2]

Besides, `long`, four layers trained for 4,000 steps.  Each program is a process of its own,
compilers included, on the kernels of NumPy and on generated code: that starts on NumPy's and
changes (`wait=False`, as sessions do), or that is waited for (`wait=True`); each with an empty
cache and with a warm one.  The least of the rounds is printed; two at least, for a warm cache.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

PROGRAMS = Path(__file__).parent.parent / "packages/frontend-tf/tests/tf1"
RUN = """
import runpy, sys
from byparts_frontend_tf.running import session
session.defaults.update(backends={backends}, wait={wait})
runpy.run_module("byparts_frontend_tf", run_name="__main__", alter_sys=True)
"""
LONG = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [128, 256])
y = x
for i in range(4):
    w = tf.Variable(np.random.RandomState(i).randn(256, 256).astype("f4") / 16)
    y = tf.nn.softmax(tf.tanh(tf.matmul(y, w)) * tf.sigmoid(y)) + tf.nn.elu(y)
step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.square(y - 1)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    rows = np.random.RandomState(9).randn(128, 256).astype("f4")
    for _ in range(4000):
        session.run(step, {x: rows})
"""
NATIVE, NUMPY = ("native", "numpy"), ("numpy",)
NAMES = (  # twenty
    *("bert_pretrain", "char_rnn", "cnn_batch_norm", "dqn", "gan", "gpt2_sample"),
    *("linear_regression", "physics_informed", "policy_gradient", "seq2seq_attention", "vae"),
    *("word2vec", "optimizers", "static_and_raw_rnn", "layers_and_losses", "moving_averages"),
    *("gradients_and_clipping", "loops_and_tensor_arrays", "slim_layers", "image_and_arrays"),
)
WAYS = {  # backends, wait, whether the cache is emptied
    "numpy": (NUMPY, True, False),
    "native, cold": (NATIVE, False, True),
    "native, warm": (NATIVE, False, False),
    "waiting, cold": (NATIVE, True, True),
    "waiting, warm": (NATIVE, True, False),
}


def seconds(program: Path, way: str, cache: str) -> tuple[float, float]:
    """Processor and wall seconds of a process that runs a program, and of its compilers."""
    backends, wait, cold = WAYS[way]
    with TemporaryDirectory() as folder:
        variables = {"BYPARTS_CACHE": folder if cold else cache, "TMPDIR": folder}
        os.chmod(folder, 0o700)
        command = [sys.executable, "-W", "ignore", "-c", RUN.format(backends=backends, wait=wait)]
        before, start_s = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        done = subprocess.run(
            [*command, str(program)], cwd=folder, env={**os.environ, **variables},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        wall_s, after = perf_counter() - start_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program}, {way}: {done.stderr[-2000:]}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, wall_s


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["long", *NAMES])
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{'processor s (wall s)':24}", *[f"{way:>16}" for way in WAYS])
    files = {p.stem: p for p in _files()}
    with TemporaryDirectory() as cache:
        os.chmod(cache, 0o700)
        files["long"] = Path(cache) / "long.py"
        files["long"].write_text(LONG)
        for name in arguments.names:
            best = dict.fromkeys(WAYS, (float("inf"), float("inf")))
            for _ in range(arguments.rounds):
                for way in WAYS:
                    best[way] = min(best[way], seconds(files[name], way, cache))
            row = [f"{used:7.2f} ({wall:6.2f})" for used, wall in best.values()]
            print(f"{name:24}", *[f"{cell:>16}" for cell in row], flush=True)


def _files() -> list[Path]:
    return [*PROGRAMS.glob("programs/*.py"), *PROGRAMS.glob("idioms/*.py")]


if __name__ == "__main__":
    main()
