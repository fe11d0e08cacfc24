"""Networks of affine layers: `Linear`, and `MLP` with a hidden layer."""

from __future__ import annotations

from typing import Any

from byparts_frontend_pytensor import *  # noqa: F403
from byparts_frontend_pytensor.network.graph import Graph


class Linear(Graph):
    """Affine and softmax; options go to `Graph`."""

    def __init__(self, input_size: int, output_size: int, **options: Any) -> None:
        super().__init__("linear", **options)
        self.affine = self.get_operation("Affine", [input_size, output_size])
        self.softmaxloss = self.get_operation("SoftmaxLoss")

    def forward(self, input_tensor: Any) -> Any:
        """The probabilities of the classes, [n, output_size]."""
        return self.softmaxloss.forward(self.affine.forward(input_tensor))

    def loss(self, target_tensor: Any) -> Any:
        """The cross entropy in bits."""
        return self.softmaxloss.loss(target_tensor)


class MLP(Graph):
    """Affine, sigmoid, affine and softmax; options go to `Graph`."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int, **options: Any) -> None:
        super().__init__("mlp", **options)
        self.affine1 = self.get_operation("Affine", [input_size, hidden_size])
        self.sigmoid = self.get_operation("Sigmoid")
        self.affine2 = self.get_operation("Affine", [hidden_size, output_size])
        self.softmaxloss = self.get_operation("SoftmaxLoss")

    def forward(self, input_tensor: Any) -> Any:
        """The probabilities of the classes, [n, output_size]."""
        hidden = self.sigmoid.forward(self.affine1.forward(input_tensor))
        return self.softmaxloss.forward(self.affine2.forward(hidden))

    def loss(self, target_tensor: Any) -> Any:
        """The cross entropy in bits."""
        return self.softmaxloss.loss(target_tensor)
