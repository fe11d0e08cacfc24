"""Adam whose rate is a formula of the step's number, which is a variable.

python integration/examples/train_adam.py
"""

from __future__ import annotations

from training import (
    accuracy,
    batches,
    classifier,
    dense,
    feeds,
    loss_of,
    parameters,
    program,
    schedule,
    unseen_images,
    with_adam,
)

from byparts_runtime import Store


def main() -> None:
    store = Store()
    weights = parameters(store)
    x, labels = feeds()
    loss = loss_of(dense(x, weights), labels)
    old, new = with_adam(store, loss, list(weights.values()))
    train = program(store, [x, labels], [loss, schedule(new[-1])], old, new)
    tests = unseen_images()
    classify = classifier(store, dense(tests, weights), tests, list(weights.values()))
    for epoch in range(10):
        for batch in batches(epoch):
            cost, rate = train(*batch)
        print(f"epoch {epoch}: loss {cost:.4f}, rate {rate:.5f}")
    print(f"held-out accuracy {accuracy(classify):.4f}")


if __name__ == "__main__":
    main()
