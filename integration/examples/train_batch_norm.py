"""Batch norm: one program trains on the batch's statistics, one evaluates on the running ones.

python integration/examples/train_batch_norm.py
"""

from __future__ import annotations

import numpy as np
from training import Model, accuracy, run

from byparts_runtime import Store


def main() -> None:
    store = Store()
    model = Model(store, rate=0.0)
    for epoch in range(10):
        run(model, store, 14 * (epoch + 1))
        mean, variance = (np.asarray(store[name]).mean() for name in ("mean", "variance"))
        print(f"  running mean {mean:+.4f}, variance {variance:.4f} of a channel, on average")
    print(f"held-out accuracy {accuracy(model.classify):.4f}")


if __name__ == "__main__":
    main()
