"""Saves after each epoch, and keeps the best; a fresh store loads it.

python integration/examples/train_checkpoint.py [FOLDER]

A name that ends in .safetensors is written in that format, where the library is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from training import Model, accuracy, run

from byparts_runtime import Store


def best(folder: Path) -> tuple[Path, float]:
    """Train for some epochs; the checkpoint with the best accuracy."""
    store = Store()
    model = Model(store)
    path, most = folder / "best.npz", -1.0
    for epoch in range(8):
        run(model, store, 14 * (epoch + 1))
        score = accuracy(model.classify)
        if score > most:
            most = score
            store.save(path)  # whole or not at all: a kill leaves the one before
            print(f"  accuracy {score:.4f}, saved: {path.stat().st_size} bytes")
    return path, most


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path, most = best(folder)
        again = Store()
        model = Model(again)
        again.load(path)
        print(f"loaded: step {int(again['step'])}, accuracy {accuracy(model.classify):.4f}")
        print(f"the same as when it was saved: {accuracy(model.classify) == most}")


if __name__ == "__main__":
    main()
