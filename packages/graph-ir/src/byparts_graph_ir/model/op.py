"""The class that every op derives from."""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError
from byparts_graph_ir.model.frozen import Frozen
from byparts_graph_ir.model.op_name import snake_case
from byparts_graph_ir.model.op_signature import OpSignature
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.value import PLAIN_VALUES, Node, Types, Value, applied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, ClassVar

    from byparts_graph_ir.model.arithmetic import Operand
    from byparts_graph_ir.model.control import Control


class Op(Frozen):
    """The operation of a node.  The annotated names of a subclass are its fields, the attributes.

    Only `infer` is required.  What all backends must agree about is said here, as a constant or a
    method; what they may do differently stands in their tables.  A field may be a bool, int, float,
    str, bytes, None, TensorType, Graph (closed: it captures nothing), or a tuple of those.
    """

    name: ClassVar[str] = "op"  # in text and JSON; by default the class name in snake_case
    inplace: ClassVar[tuple[tuple[int, int], ...]] = ()  # (input, output): may be the same bytes
    ignores: ClassVar[tuple[int, ...]] = ()  # inputs whose type is read, but never their bytes
    effect: ClassVar[bool] = False  # of the op itself; ask `has_effect(op)`, which knows its bodies
    shape_fields: ClassVar[tuple[str, ...]] = ()  # fields that are shapes, and may name symbols
    size_fields: ClassVar[tuple[str, ...]] = ()  # that are numbers, or expressions of symbols
    cancels: ClassVar[bool] = False  # its terms may cancel: its error is relative to them
    zero_sign: ClassVar[bool] = True  # the sign of a result that is 0 is the same on all backends
    pattern: ClassVar[str] = (
        "opaque"  # elementwise broadcast injective reduction contraction opaque
    )

    # Subclasses write their own arity: `def infer(self, x: TensorType, w: TensorType) -> Types`.
    # (`*args: Any, **kwargs: Any` is how a signature says "any" to a type checker.)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)

    def infer(self, *types: Any, **_: Any) -> Types:
        """The types of the outputs, for inputs of known rank.

        Raises:
            ShapeError: the inputs do not fit, with the actual shapes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no shape rule: write `infer`")

    def infer_dtypes(self, *types: Any, **_: Any) -> tuple[str, ...]:
        """The dtypes of the outputs, whatever the shapes.  Default: one output, like input 0."""
        return (types[0].dtype,)

    def infer_unranked(self, *types: Any, **_: Any) -> Types:
        """The types of the outputs where the rank of some input is unknown."""
        return tuple(TensorType(dtype, None) for dtype in self.infer_dtypes(*types))

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        """Types of the inputs as far as both sides determine them: the shape rule backwards."""
        return inputs

    def evaluate(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The meaning, in NumPy: array in, tuple of arrays out.  The oracle of every backend."""
        raise NotImplementedError(f"{type(self).__name__} has no meaning yet: write `evaluate`")

    def domain(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The nearest arrays on which the op is defined, and all backends must agree: NumPy.

        Default: those given.  An index, for instance, is taken modulo the size of its axis.
        """
        return inputs

    def gradient(self, node: Node, *dys: Any, **_: Any) -> tuple[Value | None, ...]:
        """The gradient of each input, as ordinary nodes; `None` where there is none to take.

        `dys` has one value for each output (zeros where nothing flows).
        """
        raise NotImplementedError(f"{self.name} is not differentiable: it has no `gradient`")

    def decompose(self, *inputs: Any, **_: Any) -> tuple[Value, ...] | None:
        """The same in simpler ops, so that a backend with the primitive ones has everything.

        Gives new output values, or `None` where the op is primitive (for these input types).
        """
        return None

    def control(self, *types: Any, **_: Any) -> Control | None:
        """The control of the op's bodies, on static types; `None` where it has none to run.

        With this a runtime runs the op on any backend; the bodies given are on inputs of `types`.
        """
        return None

    def narrow(self, wanted: Sequence[int]) -> tuple[Op, tuple[int, ...], tuple[int, ...]] | None:
        """An op for those who read only some outputs; `None` where nothing can be left out.

        Gives the op, which of the inputs it takes, and which of the outputs it gives, at least
        those wanted.  Of an op with an effect, which keeps it, also at least one.
        """
        return None

    def covers(
        self, inputs: tuple[Value, ...], other: Op, given: tuple[Value, ...]
    ) -> tuple[int, ...] | None:
        """Outputs of this op on `inputs` that are all those of `other` on `given`; or `None`."""
        return None

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """A simpler equal form that static types allow, or `None`.  `specialize` applies it."""
        return None

    def views(self, *types: Any, **_: Any) -> tuple[tuple[int, int, int], ...]:
        """(input, output, offset_bytes): the output *is* those bytes of the input.  Static."""
        return ()

    def flops(self, *types: Any, **_: Any) -> int:
        """Floating point operations on static types; by default one for each output element."""
        return sum(t.size for t in self.infer(*types))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Ops of this class with inputs to try them on, for the conformance tests."""
        return iter(())

    def __call__(self, *inputs: Operand) -> Value:
        """Apply to values (numbers are lifted to the dtype of the first value); one output."""
        for v in inputs:
            if v.__class__ not in PLAIN_VALUES:
                outputs = applied(self, inputs)
                break
        else:
            outputs = Node(self, inputs).outputs  # type: ignore[arg-type]  # all are values
        if len(outputs) != 1:
            raise GraphError(f"{self.name} has {len(outputs)} outputs: use .outputs_of(...)")
        return outputs[0]

    def outputs_of(self, *inputs: Operand) -> tuple[Value, ...]:
        """Apply to values; all outputs."""
        return applied(self, inputs)

    __signature__ = OpSignature()


class Sample(Frozen):
    """A case to try an op on.

    `ranges` gives `[low, high)` for each input, from which elements are drawn uniformly; an input
    without one is drawn from `[-1, 1)` if it is a float and from `{0, 1}` otherwise.
    """

    op: Op
    types: Types
    ranges: tuple[tuple[float, float], ...] = ()
