"""`Operation`: forward and backward of one function of tensors.

    class Snake(Operation):
        def forward(self, x):
            self.register(x)
            self.output_tensor = Tensor(x.value + np.sin(x.value) ** 2)
            return self.output_tensor

        def backward(self):
            x, y = self.input_tensors, self.output_tensor
            x.grad += y.grad * (1 + np.sin(2 * x.value))

`forward` keeps on `self` what `backward` needs.  An instance may be used several times in a pass:
each use has the attributes that its `forward` left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dis import get_instructions
from functools import partial, wraps
from typing import Any, ClassVar

import numpy as np

from byparts_frontend_pytensor.network.functions import *  # noqa: F403
from byparts_frontend_pytensor.network.native import is_traced, run_native
from byparts_frontend_pytensor.network.parameter import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import *  # noqa: F403
from byparts_graph_ir import GraphError

OPERATIONS: dict[str, type[Operation]] = {}  # by the name of the class, for `get_operation`
_PACKAGE = __name__.split(".")[0]


class Operation:
    """Subclass with `forward(input_tensors)` and `backward()`.

    Args:
        name: of its parameters too, as in "affine_0_W".
        arguments: a dict of sizes and options.
        graph: whose tape it goes on; without one, call `backward` by hand.
    """

    # Whether it computes with any array module (`self.xp`), so that a recorded graph has the ops
    # that it is made of.  False: NumPy alone, and a recorded graph has it as one op.
    any_array: ClassVar[bool] = False
    is_loss: ClassVar[bool] = False  # whether it has a method `loss`
    input_tensors: Any = None
    output_tensor: Any = None
    _last_use: Use | None = None  # in this pass
    _waiting: Any = ()  # uses of a loss that have no target yet
    _inside = False  # one of its methods, so that a call of another is one by `super()`

    def __init__(
        self, name: str = "", arguments: Any = None, graph: Any = None, *, argument: Any = None
    ) -> None:
        self.name = name or type(self).__name__.lower()
        self.arguments, self.graph = arguments or argument, graph

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own, ours = cls.__dict__, cls.__module__.startswith(_PACKAGE)
        cls.is_loss = hasattr(cls, "loss")
        if "forward" in own and "any_array" not in own and not ours:
            cls.any_array = _is_empty(own.get("backward"))  # it is made of other operations
        for name, wrap in (("forward", _forward), ("backward", _backward), ("loss", _loss)):
            if name in own:
                setattr(cls, name, wrap(own[name]))
        known = OPERATIONS.get(cls.__name__)
        if known is None or not known.__module__.startswith(_PACKAGE):
            OPERATIONS[cls.__name__] = cls  # of pytensor's own names nobody takes one by accident

    @property
    def xp(self) -> Any:
        """The array module of the graph."""
        return np if self.graph is None else self.graph.parameter.xp

    def __call__(self, input_tensors: Any) -> Any:
        return self.forward(input_tensors)

    def register(self, input_tensors: Any) -> None:
        """Keep the inputs, and put this use on the graph's tape."""
        self.input_tensors = input_tensors
        if self.graph is not None:
            self.graph.register(self)

    def forward(self, input_tensors: Any) -> Any:
        """The outputs for these inputs; by itself this only registers, as programs of 2018 ask."""
        self.register(input_tensors)

    def backward(self) -> None:
        """Add to the gradients of the inputs, from those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} lacks backward(self)")

    def __getattr__(self, name: str) -> Any:
        if name in ("input_variables", "output_variable"):  # of 2018
            return getattr(self, name.replace("variable", "tensor"))
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


class Use:
    """A use of an operation in a pass: the element of the graph's tape.

    Attributes:
        op: the operation.
        state: its attributes as this use left them; `None` while no later use has changed them.
        has_target: whether a target was given, where the operation is a loss.
    """

    __slots__ = ("has_target", "op", "state")

    def __init__(self, op: Operation) -> None:
        self.op, self.has_target = op, not op.is_loss
        self.state: dict[str, Any] | None = None
        op._last_use = self
        if not self.has_target:
            op._waiting = op._waiting or deque()
            op._waiting.append(self)

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.op.name

    def run(self, method: Callable[..., Any], *inputs: Any) -> Any:
        """Call a method of the operation with the attributes of this use."""
        if self.state is None:
            return method(self.op, *inputs)
        live, self.op.__dict__ = self.op.__dict__, self.state
        try:
            return method(self.op, *inputs)
        finally:
            self.op.__dict__ = live

    def backward(self) -> None:
        """Run the operation's `backward` for this use."""
        if not self.has_target:
            raise GraphError(
                f"{self.op.name}: backward of a loss without a target; call loss(target) once "
                "after each forward, or graph.clear() to drop one that is not to be trained"
            )
        self.run(type(self.op).backward)


def _within(method: Callable[..., Any], self: Any, *inputs: Any) -> Any:
    self._inside = True
    try:
        return method(self, *inputs)
    finally:
        self._inside = False


def _forward(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def forward(self: Any, input_tensors: Any, *options: Any) -> Any:
        if self._inside:
            return method(self, input_tensors, *options)
        recorded = not self.any_array and (self.graph is None or self.graph.recording)
        if recorded and is_traced(input_tensors):
            self.output_tensor = run_native(self, input_tensors)
            return self.output_tensor
        if self._last_use is not None and self._last_use.state is None:
            self._last_use.state = self.__dict__.copy()
        return _within(method, self, input_tensors, *options)

    return forward


def _backward(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def backward(self: Any) -> Any:
        if self.input_tensors is None and self.output_tensor is None:
            raise GraphError(f"{self.name}: backward before forward; call forward(inputs) first")
        return method(self)

    return backward


def _loss(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def loss(self: Any, target: Any) -> Any:
        if self._inside:
            return method(self, target)
        if self.input_tensors is None:
            raise GraphError(f"{self.name}: loss before forward; call forward(inputs) first")
        if not self.any_array and is_traced(self.input_tensors):
            return run_native(self, self.input_tensors, target)
        if not (self._waiting and (self.graph.train_state or self.graph.recording)):
            return _within(method, self, target)
        use = self._waiting.popleft()  # targets come in the order of forwards
        use.has_target = True
        return use.run(partial(_within, method), target)

    return loss


def _is_empty(method: Any) -> bool:
    """Whether a method has nothing but a docstring, `pass` or `return`."""
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    return method is not None and {i.opname for i in get_instructions(method)} <= nothing
