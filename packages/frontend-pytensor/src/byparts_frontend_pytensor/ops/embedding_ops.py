"""Embedding: rows of a matrix, of which an optimizer changes those that were used."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor, whole
from byparts_graph_ir import ArgumentError, Value


class Embedding(Operation):
    """The row of a word.

    Args:
        name: of the matrix; embeddings of one name share it.
        argument: `vocab_size`, `embed_size`; `trainable`, which is True by default.
        graph: which has the matrix.
    """

    any_array = True

    def __init__(self, name: str = "embedding", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.vocab_size, self.embed_dim = argument["vocab_size"], argument["embed_size"]
        self.trainable = argument.get("trainable", True)
        shape = (self.vocab_size, self.embed_dim)
        self.embedding_tensors = graph.parameter.get_embedding(name, shape)
        if not self.trainable:
            self.embedding_tensors.table.trainable = False

    def forward(self, input_tensors: Any) -> Tensor:
        """The row of the id in a list of one `LongTensor`, as a tensor of shape (1, width).

        Several ids give several rows, copied.

        Raises:
            ArgumentError: an id is none of the vocabulary.
        """
        self.register(input_tensors)
        (ids,) = input_tensors if isinstance(input_tensors, (list, tuple)) else [input_tensors]
        numbers = whole(ids, self.name)
        self.rows: list[Any] = []
        if isinstance(numbers, Value):
            table = self.embedding_tensors.table.value
            self.output_tensor = Tensor.of(self.xp.take(table, numbers, axis=0), self.xp)
            return self.output_tensor
        for number in numbers:
            if not 0 <= number < self.vocab_size:
                raise ArgumentError(
                    f"{self.name}: word {number}; there are words 0 to {self.vocab_size - 1}"
                )
        rows = [self.embedding_tensors[number] for number in numbers]
        if self.trainable:
            for row in rows:
                self.graph.parameter.add_temp_tensor(row)
        if len(rows) == 1:
            self.output_tensor = rows[0]
            return self.output_tensor
        self.rows = rows
        joined = (getattr(self.xp, "concat", None) or self.xp.concatenate)([r.value for r in rows])
        self.output_tensor = Tensor.of(joined, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        """Add to the gradients of several rows; one row is the output itself."""
        for i, row in enumerate(self.rows):
            row.add_grad(self.output_tensor.grad[i : i + 1] * 1)  # an array of its own
