"""ONNX files of others, through `from_onnx` and NumPy kernels, against ONNX Runtime.

    python integration/onnx_files.py model.onnx --size batch=2 --size h=48     # needs onnxruntime

Inputs are random: floats around 0, integers below 200; `--value sr=16000` gives one by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from byparts_frontend_onnx import from_onnx
from byparts_runtime import build

_DTYPES = {"float": "f4", "double": "f8", "float16": "f2", "int64": "i8", "int32": "i4",
           "uint8": "u1", "int8": "i1", "bool": "?"}  # fmt: skip


def feed_of(session: Any, sizes: Mapping[str, int], values: Mapping[str, float]) -> dict[str, Any]:
    """Random inputs; sizes are 1 unless said, and one without a name is called "input_axis"."""
    rng, feed = np.random.default_rng(0), {}
    for given in session.get_inputs():
        dtype = np.dtype(_DTYPES[given.type.removeprefix("tensor(").removesuffix(")")])
        names = [d if isinstance(d, (int, str)) and d != "?" else f"{given.name}_{i}"
                 for i, d in enumerate(given.shape)]  # fmt: skip
        shape = [d if isinstance(d, int) else sizes.get(d, 1) for d in names]
        if given.name in values:
            feed[given.name] = np.full(shape, values[given.name], dtype)
        elif dtype.kind == "f":
            feed[given.name] = (rng.standard_normal(shape) / 2).astype(dtype)
        else:
            feed[given.name] = rng.integers(0, 200, shape).astype(dtype)
    return feed


def difference(path: Path, sizes: Mapping[str, int], values: Mapping[str, float]) -> float:
    """The largest difference of any output, relative to the largest number there (1 at least).

    Raises:
        AssertionError: an output has another shape or dtype.
    """
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feed = feed_of(session, sizes, values)
    expected = session.run(None, feed)
    imported = from_onnx(path, feed=feed)
    program = build(imported.graph, backends=("numpy",))
    made = program(*[feed[n] for n in imported.inputs], *imported.weights.values())
    worst = 0.0
    for got, want in zip(made, expected, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype), f"{got.shape} {want.shape}"
        if want.size:
            numbers = np.asarray(want, np.float64)
            error = np.abs(np.asarray(got, np.float64) - numbers).max()
            worst = max(worst, float(error / max(1.0, np.abs(numbers).max())))
    return worst


def main() -> None:
    """Print the difference of each file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--size", action="append", default=[], metavar="NAME=N")
    parser.add_argument("--value", action="append", default=[], metavar="INPUT=X")
    given = parser.parse_args()
    sizes = {name: int(n) for name, n in (s.split("=") for s in given.size)}
    values = {name: float(x) for name, x in (s.split("=") for s in given.value)}
    for path in given.files:
        print(f"{path.name}: {difference(path, sizes, values):.1e}")


if __name__ == "__main__":
    main()
