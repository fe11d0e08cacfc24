"""Stops in the middle of an epoch, goes on in another process, and ends in the same bits.

python integration/examples/train_resume.py

With `--until STEP FILE` it trains until that step and saves; if FILE exists, it goes on from there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from training import Model, run

from byparts_runtime import Store

STOP, END = 33, 70


def train(steps: int, path: Path) -> None:
    """Train until `steps` are done in all, and save."""
    store = Store()
    model = Model(store)
    if path.exists():
        store.load(path)
        print(f"resumed at step {int(store['step'])}")
    run(model, store, steps)
    store.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--until", nargs=2, metavar=("STEP", "FILE"))
    given = parser.parse_args()
    if given.until:
        return train(int(given.until[0]), Path(given.until[1]))
    with TemporaryDirectory() as folder:
        whole, parts = Path(folder, "whole.npz"), Path(folder, "parts.npz")
        for steps, path in ((END, whole), (STOP, parts), (END, parts)):
            print(f"a process that trains until step {steps}", flush=True)
            subprocess.run([sys.executable, __file__, "--until", str(steps), str(path)], check=True)
        with np.load(whole) as one, np.load(parts) as other:
            same = one.files == other.files and all(
                one[name].tobytes() == other[name].tobytes() for name in one.files
            )
            print(f"{len(one.files)} variables, equal to the bit: {same}")
    return None


if __name__ == "__main__":
    main()
