"""Embedding: rows of a matrix, of which an optimizer changes those that were used."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import Tensor, whole
from byparts_frontend_pytensor.ops.formula import Formula
from byparts_graph_ir import ArgumentError, Value


class Embedding(Formula):
    """The row of a word, of a matrix [`vocab_size`, `embed_size`]; embeddings of one name share it.

    `trainable` in the argument is True by default.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.vocab_size, self.embed_dim = shape = self.sizes("vocab_size", "embed_size")
        self.trainable = self.arguments.get("trainable", True)
        self.embedding_tensors = self.graph.parameter.get_embedding(self.name, shape)
        self.embedding_tensors[0].table.trainable = self.trainable

    def forward(self, input_tensors: Any) -> Any:
        """The row of the id in a list of one `LongTensor`, as a tensor of shape (1, width).

        Several ids give several rows, copied.

        Raises:
            ArgumentError: an id is none of the vocabulary.
        """
        self.register(input_tensors)
        (ids,) = input_tensors if isinstance(input_tensors, (list, tuple)) else [input_tensors]
        numbers = whole(ids, self.name)
        if self.graph.recording and isinstance(numbers, Value):
            table = self.embedding_tensors[0].table.value
            return Tensor.of(self.xp.take(table, numbers, axis=0), self.xp)
        numbers = np.asarray(numbers).tolist()
        for number in numbers:
            if not 0 <= number < self.vocab_size:
                known = f"there are words 0 to {self.vocab_size - 1}"
                raise ArgumentError(f"{self.name}: word {number}; {known}")
        self.rows = [self.embedding_tensors[number] for number in numbers]
        if self.trainable:
            for row in self.rows:
                self.graph.parameter.add_temp_tensor(row)
        self.output_tensor = self.rows[0]
        if len(self.rows) > 1:
            joined = functions.concat([row.value for row in self.rows], 0, self.xp)
            self.output_tensor = Tensor.of(joined, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        """Add to the gradients of several rows; one row is the output itself."""
        for i, row in enumerate(self.rows if len(self.rows) > 1 else ()):
            row.add_grad(self.output_tensor.grad[i : i + 1] * 1)  # an array of its own
