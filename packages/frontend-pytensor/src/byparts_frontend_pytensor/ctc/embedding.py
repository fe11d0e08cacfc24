"""Embeddings of the branch ctc, which take word ids rather than tensors."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.parameter import Parameter
from byparts_frontend_pytensor.ops.array_ops import HStack, VStack


class WordEmbedding:
    """The row of a word, a tensor of shape (1, word_dim), of a matrix of `parameter`."""

    def __init__(self, vocab_size: int, word_dim: int, parameter: Parameter) -> None:
        self.vocab_size, self.word_dim, self.parameter = vocab_size, word_dim, parameter
        self.embedding_tensors = parameter.get_embedding("embedding", (vocab_size, word_dim))

    def forward(self, word_id: int, trainable: bool = True) -> Any:
        """The row; an optimizer changes it if it is trainable."""
        row = self.embedding_tensors[word_id]
        if trainable:
            self.parameter.add_temp_tensor(row)
        return row

    def backward(self) -> None:
        """Do nothing: the row is the matrix's own."""

    backword = backward  # as the original spells it


class LookupEmbedding:
    """Rows of a list of words, one above the other (axis 0) or side by side (axis 1)."""

    def __init__(self, word_embedding: WordEmbedding, axis: int = 0) -> None:
        self.word_embedding, self.axis = word_embedding, axis
        self.stack: Any = HStack() if axis else VStack()

    def forward(self, x: Any, trainable: bool = True) -> Any:
        """The rows of a word id, or of a list of them."""
        words = [x] if isinstance(x, int) else x
        return self.stack.forward([self.word_embedding.forward(word, trainable) for word in words])

    def backward(self) -> None:
        """Add to the gradients of the rows."""
        self.stack.backward()
