"""`python -m byparts_frontend_tf`: a program as it is, and what it sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import collections, inspect, sys, time
import numpy as np
import tensorflow as tf
import tensorflow.nn as nn
from tensorflow.python.framework import ops
from beside import three

def main(argv):
    with tf.Session() as sess:
        print([sess.run(nn.relu(three) * 2.0)], argv[1:], sys.argv[0] == __file__, __name__)
    print(nn is tf.nn, ops.convert_to_tensor is tf.convert_to_tensor)
    print(np.float(1), np.zeros(2, np.int).dtype, np.NaN, np.product([2, 3]), time.clock() >= 0)
    print(np.in1d([[1, 2]], [2]), isinstance({}, collections.Mapping), inspect.getargspec(main)[0])
    five, ragged = np.array([5]), np.array([[1], [1, 2]])
    print(ragged.dtype, ragged[1], "%d %.1f" % (five, five), int(five), five.tostring()[0], five.ptp())
    print(np.fromstring(b"AB", np.uint8), np.vstack(map(list, "ab"))[1], np.array(five, copy=False))
    try:
        float(np.zeros(2))
    except TypeError as error:
        print(error)

if __name__ == "__main__":
    main(sys.argv)
    sys.exit(3)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("import tensorflow as tf\nthree = tf.constant(3.0)\n")
    return subprocess.run(
        [sys.executable, "-m", "byparts_frontend_tf", *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


def test_a_program_runs_with_its_arguments(tmp_path: Path) -> None:
    """From any folder, with the modules beside it, its own name, its exit status; numbers and names are old."""
    done = run(tmp_path, str(tmp_path / "program.py"), "--rate=1")

    seen, same, *old = done.stdout.splitlines()
    assert (seen, same) == ("[6.0] ['--rate=1'] True __main__", "True True")
    assert old == [
        *("1.0 int64 nan 6 True", "[False  True] True ['argv']", "object [1, 2] 5 5.0 5 5 0"),
        *("[65 66] ['b'] [5]", "only size-1 arrays can be converted to Python scalars"),
    ]
    assert done.returncode == 3


def test_a_module_runs(tmp_path: Path) -> None:
    """`-m`, as Python has it."""
    done = run(tmp_path, "-m", "program", "x")

    assert done.stdout.startswith("[6.0] ['x'] True __main__\n")


def test_without_a_program_it_says_how() -> None:
    """Nothing to run is an error with the usage."""
    done = subprocess.run(
        [sys.executable, "-m", "byparts_frontend_tf"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1 and done.stderr.startswith("usage: python -m byparts_frontend_tf")


ABSL = """
from absl import app, flags, logging
import tensorflow as tf
import six

flags.DEFINE_float("rate", 0.5, "of learning")
tf.flags.DEFINE_string("folder", None, "of logs")
flags.mark_flag_as_required("folder")

def main(argv):
    logging.info("not shown")
    print(flags.FLAGS.rate, tf.flags.FLAGS.folder, flags.FLAGS is tf.flags.FLAGS, argv[1:])
    print([v for _, v in six.iteritems({"a": 1})], issubclass(app.UsageError, Exception))
    try:
        1 / 0
    except ZeroDivisionError:
        logging.exception("told")

if __name__ == "__main__":
    app.run(main)
"""


def test_flags_of_absl_are_those_of_tensorflow(tmp_path: Path) -> None:
    """One command line; `six` comes along, as with TensorFlow 1."""
    (tmp_path / "absl_program.py").write_text(ABSL)
    command = [sys.executable, "-m", "byparts_frontend_tf", "absl_program.py", "--rate=2", "x"]
    refused, done = (
        subprocess.run(more, capture_output=True, text=True, check=False, cwd=tmp_path)
        for more in (command, [*command, "--folder=logs"])
    )

    assert refused.returncode == 1 and "folder" in refused.stderr
    assert done.stdout == "2.0 logs True ['x']\n[1] True\n"
    assert "told" in done.stderr and "ZeroDivisionError" in done.stderr
    assert "not shown" not in done.stderr
