"""Operations that train otherwise than they compute: dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_graph_ir import ArgumentError


class Dropout(Operation):
    """X, of which training sets a share to 0 and divides the rest by 1 - share.

    Args:
        name: for errors.
        argument: `rate`: the share, 0.5 by default.
        graph: whose `train()` and `eval()` say whether it drops.
    """

    any_array = True

    def __init__(self, name: str = "dropout", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name, argument, graph)
        self.rate = (argument or {}).get("rate", 0.5)
        if not 0 <= self.rate < 1:
            raise ArgumentError(f"{name}: rate {self.rate}; it is from 0 to below 1")

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        x = input_tensors.value
        self.mask: Any = 1.0
        if self.graph is not None and self.graph.train_state:
            kept = np.random.random(tuple(x.shape)) >= self.rate
            self.mask = self.xp.asarray((kept / (1.0 - self.rate)))
        self.output_tensor = Tensor.of(x * self.mask, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        self.input_tensors.add_grad(self.output_tensor.grad * self.mask)
