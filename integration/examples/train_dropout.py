"""Dropout: the counter of the random stream is a variable, so a run can be repeated to the bit.

python integration/examples/train_dropout.py
"""

from __future__ import annotations

import numpy as np
from training import (
    accuracy,
    batches,
    classifier,
    dense,
    feeds,
    loss_of,
    parameters,
    program,
    unseen_images,
    variable,
    with_adam,
)

import byparts_opset as ops
from byparts_runtime import Store

RATE, KEY = 0.3, 7


def trained(epochs: int) -> tuple[Store, float]:
    """The variables after some epochs, and the accuracy, which nothing is dropped for."""
    store = Store()
    w = parameters(store)
    counter = variable(store, "counter", np.int64(0))
    x, labels = feeds()
    y = ops.relu(x @ w["w1"] + w["b1"])
    logits = ops.dropout(y, KEY, counter, RATE) @ w["w2"] + w["b2"]
    loss = loss_of(logits, labels)
    old, new = with_adam(store, loss, list(w.values()))
    new.append(ops.next_counter(counter, y))
    train = program(store, [x, labels], [loss], [*old, counter], new)
    tests = unseen_images()
    classify = classifier(store, dense(tests, w), tests, list(w.values()))
    for epoch in range(epochs):
        for batch in batches(epoch):
            (cost,) = train(*batch)
        print(f"epoch {epoch}: loss {cost:.4f}, {int(store['counter'])} numbers drawn")
    return store, accuracy(classify)


def main() -> None:
    first, score = trained(10)
    print(f"held-out accuracy {score:.4f}")
    second, _ = trained(10)
    same = all(np.array_equal(v.read(), second[v.name].read()) for v in first)
    print(f"the second run ended in the same bits: {same}")


if __name__ == "__main__":
    main()
