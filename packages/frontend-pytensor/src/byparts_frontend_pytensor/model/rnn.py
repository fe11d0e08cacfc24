"""Recurrent networks that read words: of which class a sentence is, and what the next word is."""

from __future__ import annotations

from typing import Any, ClassVar

from byparts_frontend_pytensor import *  # noqa: F403
from byparts_frontend_pytensor.network.graph import Graph
from byparts_frontend_pytensor.network.tensor import LongTensor, Tensor


class Reader(Graph):
    """Embedding and a recurrent layer, of 100 steps at most; options go to `Graph`.

    Args:
        vocab_size: the number of words, and of classes.
        input_size: the width of the embedding.
        hidden_size: the width of the recurrent state.
    """

    layer: ClassVar[str] = "RNN"

    def __init__(self, vocab_size: int, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(self.layer, **options)
        self.vocab_size = self.output_size = vocab_size
        self.word_dim = self.input_size = input_size
        self.hidden_size, self.max_num_steps, self.num_steps = hidden_size, 100, 0
        embed = {"vocab_size": vocab_size, "embed_size": input_size}
        self.word_embedding = self.get_operation("Embedding", embed)
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "max_num_steps": 100}
        self.rnn = self.get_operation(self.layer, sizes)
        self.affine = self.get_operation("Affine", [hidden_size, vocab_size], "Affine")
        self.softmaxLoss = self.get_operation("SoftmaxLoss")
        self.affines, self.softmaxLosses = [self.affine] * 100, [self.softmaxLoss] * 100

    def read(self, word_lst: Any) -> list[Tensor]:
        """The states after each word."""
        self.num_steps = min(len(word_lst), self.max_num_steps)
        words = [self.word_embedding.forward([LongTensor([word])]) for word in word_lst]
        states: list[Tensor] = self.rnn.forward(words)
        return states


class RNNClassifier(Reader):
    """The class of a sentence, from the last state."""

    def forward(self, word_lst: Any) -> Any:
        """The probabilities of the classes, [1, vocab_size], of a list of ids."""
        return self.softmaxLoss.forward(self.affine.forward(self.read(word_lst)[-1]))

    def loss(self, target_id: Any) -> Any:
        """The cross entropy in bits."""
        return self.softmaxLoss.loss(LongTensor([target_id]))


class RNNLM(Reader):
    """The next word after each word."""

    def forward(self, word_lst: Any) -> Any:
        """A list of probabilities, [1, vocab_size] after each word of a list of ids."""
        states = self.read(word_lst)
        return [self.softmaxLoss.forward(self.affine.forward(state)) for state in states]

    def loss(self, target_ids: Any) -> Any:
        """The cross entropy in bits, summed over the words."""
        return sum(
            [self.softmaxLoss.loss(LongTensor([target_ids[i]])) for i in range(self.num_steps)]
        )
