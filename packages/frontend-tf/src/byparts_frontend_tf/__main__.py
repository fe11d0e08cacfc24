"""`python -m byparts_frontend_tf program.py arguments…` runs a TensorFlow 1 program as it is.

`import tensorflow` gives this part, in the program and in the modules it imports;
`google.protobuf.text_format` takes its messages, and `absl.flags` are its flags.  The program is
run as `python program.py arguments…` would: `-m module` and its arguments work too.  NumPy writes
numbers as it did then: `[0.5]`, and not `[np.float32(0.5)]`; names that Python and NumPy had then,
such as `np.float`, are there (`old_names.py`).
"""

from __future__ import annotations

import os
import runpy
import sys

import numpy as np

from byparts_frontend_tf.absl_modules import install_absl
from byparts_frontend_tf.old_names import put_back
from byparts_frontend_tf.symbols import install_as
from byparts_tf_files.protobuf_modules import install_protobuf

_USAGE = (
    "usage: python -m byparts_frontend_tf program.py [argument ...], or -m module [argument ...]"
)


def main(arguments: list[str]) -> None:
    """Run the program or module that the first arguments name; the rest are its own.

    Raises:
        SystemExit: the program leaves so, or nothing is named.
    """
    named = arguments[1:] if arguments[:1] == ["-m"] else arguments
    if not named:
        raise SystemExit(_USAGE)
    install_as("tensorflow")
    install_protobuf()
    install_absl()
    put_back()
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        np.set_printoptions(legacy="1.25")
    sys.argv = named
    if named is not arguments:
        sys.path[0] = os.getcwd()
        runpy.run_module(named[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(named[0]))
        runpy.run_path(named[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
