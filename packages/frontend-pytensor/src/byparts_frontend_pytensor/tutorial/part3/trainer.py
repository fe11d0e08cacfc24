"""The trainer of part 3: sentences rather than rows, and perplexity."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network import trainer
from byparts_frontend_pytensor.network.trainer import *  # noqa: F403


class Trainer(trainer.Trainer):
    """SGD with lr 0.01, one sentence a step: a list of word ids, and of those that come next."""

    def train(
        self,
        x_train: Any,
        y_train: Any,
        x_test: Any = None,
        y_test: Any = None,
        epoch: int = 40,
        iteration: int = 10,
    ) -> None:
        """Show sentences; print bits a word every `iteration` of them, and 2^bits each epoch."""
        for number in range(epoch):
            self.graph.train()
            losses, words = [], []
            for x, y in zip(x_train, y_train, strict=True):
                losses.append(self.learn(x, y))
                words.append(len(x))
                if len(losses) % iteration == 0:
                    bits = sum(losses[-iteration:]) / sum(words[-iteration:])
                    print(f"epoch {number}, sentence {len(losses)}: {bits:.3f} bits a word")
            print(f"epoch {number}: perplexity {2 ** (sum(losses) / sum(words)):.2f}")
