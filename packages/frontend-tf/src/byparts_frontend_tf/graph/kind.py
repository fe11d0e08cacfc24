"""Kinds of operations: what each type means.

    RELU = Kind("Relu", ops.relu, shape=like_first)          # values of graph-ir in and out
    y = RELU(x, name="relu")                                 # an operation of the default graph

A kind has one of three meanings:

- `meaning(*values, **attributes)` builds values of graph-ir.  It is called when a session first
  runs a fetch that needs the operation, so all its inputs have static types.  Inputs whose
  positions are in `values` come as NumPy arrays: numbers that decide shapes.
- `host(*arrays, **attributes)` computes arrays from arrays, at each run, beside the arena: strings,
  Python functions, queues, and results whose shapes depend on data.
- `special(lowering, op)` asks the lowering itself: variables, effects, control flow, gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.graph.allowed_dtypes import ALLOWED
from byparts_frontend_tf.graph.probe import probed
from byparts_tf_files.dtypes import DType
from byparts_tf_files.shape import Dims

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.operation import Operation, Tensor

ShapeRule = Callable[..., Any]  # (inputs, **attributes) -> Dims, or a list of them
DTypeRule = Callable[..., Any]  # (inputs, **attributes) -> DType, or a list of them

KINDS: dict[str, Kind] = {}  # by TensorFlow's name: what a file that names it means


class Kind:
    """A kind of operations: a type of TensorFlow, and what it means.

    Args:
        type: TensorFlow's name.
        meaning: builds values of graph-ir.
        host: computes arrays.
        special: lowers the operation by hand.
        values: positions of the inputs that `meaning` takes as numbers; negative: from the end.
            A range may go beyond the inputs.
        shape: says the shapes of the outputs when the operation is made; by default found by trying
            the meaning on sizes.
        dtype: a dtype, a list of them (one for each output), or a rule; by default that of the
            first input.
        gradient: whether a gradient passes from outputs to inputs of floating point.
        inside: as `meaning`, in the bodies of branches and loops of a kind that has only `host`.
        effect: whether `host` changes the world: it then comes after the checks that it waits for.
    """

    __slots__ = (
        *(
            "allowed",
            "dtype",
            "effect",
            "gradient",
            "host",
            "inside",
            "meaning",
            "shape",
            "special",
        ),
        *("type", "values"),
    )

    def __init__(
        self,
        type: str,
        meaning: Optional[Callable[..., Any]] = None,
        *,
        host: Optional[Callable[..., Any]] = None,
        special: Optional[Callable[..., Any]] = None,
        values: Sequence[int] = (),
        shape: Optional[ShapeRule] = None,
        dtype: DType | Sequence[DType] | DTypeRule | None = None,
        gradient: bool = True,
        inside: Optional[Callable[..., Any]] = None,
        effect: bool = False,
    ) -> None:
        self.type, self.meaning, self.host, self.special = type, meaning, host, special
        self.values, self.shape, self.dtype, self.gradient = values, shape, dtype, gradient
        self.inside, self.effect = inside, effect
        self.allowed = ALLOWED.get(type)
        KINDS.setdefault(type, self)

    def __call__(self, *inputs: Tensor, name: Optional[str] = None, **attributes: Any) -> Tensor:
        """The output of an operation that has one, made in the graph of the inputs."""
        (output,) = self.operation(inputs, name, **attributes).outputs
        return output

    def outputs(
        self, *inputs: Tensor, name: Optional[str] = None, **attributes: Any
    ) -> tuple[Tensor, ...]:
        """The outputs of an operation, made in the graph of the inputs."""
        return self.operation(inputs, name, **attributes).outputs

    def operation(
        self, inputs: Sequence[Tensor], name: Optional[str] = None, **attributes: Any
    ) -> Operation:
        """An operation of the graph of the inputs.

        Raises:
            TypeError: the first input is of a dtype that TensorFlow's operation does not take.
            ValueError: the graph is finalized, the inputs are of several, or shapes do not fit.
        """
        from byparts_frontend_tf.graph.stack import in_one_graph

        graph, inputs = in_one_graph(inputs)
        if self.allowed is not None and inputs:
            argument, names = self.allowed
            if (name_ := inputs[0].dtype.base_dtype.name) not in names:
                raise TypeError(
                    f"Value passed to parameter {argument!r} has DataType {name_} not in list of "
                    f"allowed values: {', '.join(names)}"
                )
        dtypes = self._dtypes(inputs, attributes)
        return graph.add(
            self, inputs, dtypes, self._shapes(inputs, attributes, dtypes), attributes, name
        )

    def numbers(self, inputs: int) -> set[int]:
        """Positions of the inputs, of so many, that `meaning` takes as numbers."""
        return {i + inputs if i < 0 else i for i in self.values if i < inputs}

    def _dtypes(self, inputs: Sequence[Tensor], attributes: dict[str, Any]) -> list[DType]:
        given = self.dtype
        if given is None:
            return [inputs[0].dtype.base_dtype]
        if callable(given) and not isinstance(given, DType):
            given = given(inputs, **attributes)
        return [given] if isinstance(given, DType) else list(given)

    def _shapes(
        self, inputs: Sequence[Tensor], attributes: dict[str, Any], dtypes: Sequence[DType]
    ) -> list[Dims]:
        if self.shape is None:
            return probed(self, inputs, attributes, len(dtypes))
        given = self.shape(inputs, **attributes)
        return list(given) if isinstance(given, list) else [given] * len(dtypes)

    def __repr__(self) -> str:
        return f"Kind({self.type!r})"

    @property
    def name(self) -> str:
        """TensorFlow's name of the type, as `op_def.name`."""
        return self.type

    @property
    def is_stateful(self) -> bool:
        """Whether runs may differ or change something, as `op_def.is_stateful`."""
        return self.effect or self.special is not None or self.type.startswith("Random")
