"""Operations and tensors: what a graph is made of.

An operation is data: its kind (`kind.py`) says what it means, and a session asks for that when it
first runs a fetch that needs it.  So an operation costs some microseconds, whatever it computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Optional

from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.operators import Operators
from byparts_tf_files.dtypes import DType
from byparts_tf_files.shape import Dims, TensorShape, as_dims, merged, shown

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.graph import Graph
    from byparts_frontend_tf.graph.kind import Kind


class Operation:
    """An operation of a graph.

    Attributes:
        kind: what it means.
        inputs: the tensors it reads.
        control_inputs: operations that run before it.
        attributes: the arguments of its kind's meaning.
        outputs: the tensors it gives.
        number: how many operations of the graph are older.
        body: the branch or loop that it is created in, or `None`.
        where: the user's line that made it.
        initializes: of an operation that gives a variable its first value, the variable's.
        variable_object: of the operation of a variable, the `Variable`.
        gradient_type: the name of the program's own gradient, by `gradient_override_map`.
        own_gradient: the operations of that gradient, once they are made.
        taken_if: of what `switch` gives, the condition for this way.
    """

    __slots__ = (
        *("__dict__", "__weakref__", "_control_inputs", "_device", "attributes", "body", "graph"),
        *("inputs", "kind", "name", "number", "outputs", "where"),
    )

    kind: Kind
    name: str
    inputs: tuple[Tensor, ...]
    attributes: dict[str, Any]
    outputs: tuple[Tensor, ...]
    graph: Graph
    number: int
    body: Any
    where: str
    _control_inputs: tuple[Operation, ...]
    _device: str
    # Few operations have these: an operation that has not takes no memory for them.
    initializes: Optional[Operation] = None
    variable_object: Any = None
    gradient_type: Optional[str] = None
    own_gradient: Any = None
    taken_if: Optional[Tensor] = None

    @property
    def type(self) -> str:
        """TensorFlow's name of the kind: "MatMul"."""
        return self.kind.type

    @property
    def _inputs(self) -> list[Tensor]:
        return list(self.inputs)

    @property
    def _outputs(self) -> list[Tensor]:
        return list(self.outputs)

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that run before this one, whatever it reads."""
        return list(self._control_inputs)

    @property
    def device(self) -> str:
        """The device asked for, "" if none was; all of them are computed by the session."""
        return self._device

    @property
    def node_def(self) -> Any:
        """The operation as a message of TensorFlow's files."""
        return upper.functions.node_def(self)

    @property
    def op_def(self) -> Any:
        """The name of the kind, as TensorFlow's `OpDef` has it."""
        return self.kind

    @property
    def traceback(self) -> list[str]:
        """The user's line that made it."""
        return [self.where]

    def values(self) -> tuple[Tensor, ...]:
        """The tensors it gives."""
        return self.outputs

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow has it: a dtype, a number, bytes, a message, a list.

        Raises:
            ValueError: it has none of this name.
        """
        written = self.node_def.attr
        if name in written:
            return upper.functions.attribute_of(written[name])
        if name == "T":
            return (self.inputs or self.outputs)[0].dtype.base_dtype
        if name not in self.attributes:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return self.attributes[name]

    def colocation_groups(self) -> list[bytes]:
        """Operations that are to be on the same device."""
        return [f"loc:@{self.name}".encode()]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in `session`, by default the default one.

        Raises:
            ValueError: there is no session, or it is of another graph.
        """
        run_in = upper.functions.session_for(self.graph, session, "run operation")
        run_in.run(self, feed_dict)

    def _set_device(self, device: Any) -> None:
        self._device = device

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Any) -> None:
        self._control_inputs = tuple(dict.fromkeys((*self._control_inputs, *ops)))
        self.graph.changed()

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)


class OperatorNotAllowedInGraphError(TypeError):
    """Python asks a tensor for what only a run can tell."""


class Tensor(Operators):
    """An output of an operation.

    Attributes:
        op: makes it.
        value_index: which of its outputs it is.
        dims: what is known of its shape, as plain data.
        variable: the operation of the variable whose memory it is, or `None`: it is read by each
            of its consumers, after the writes that are ordered before these.
        complex_parts: of a complex tensor, its real and its imaginary part where they are known.
        static: the value that was found while the graph is built (`static.py`).
        assign: of a slice of a variable, writes the slice; other tensors have none.
    """

    __slots__ = ("__dict__", "__weakref__", "_consumers", "_dtype", "dims", "op", "value_index")

    op: Operation
    variable: Any = None
    complex_parts: Optional[tuple[Tensor, Tensor]] = None
    static: Any = None
    assign: Any

    def __init__(self, op: Operation, value_index: int, dtype: DType, dims: Dims = None) -> None:
        self.op, self.value_index, self._dtype, self.dims = op, value_index, dtype, dims
        self._consumers: list[Operation] = []

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""
        return self._dtype

    @property
    def graph(self) -> Graph:
        """The graph it is of."""
        return self.op.graph

    @property
    def name(self) -> str:
        """The name of its operation, and which output of it: "x:0"."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The device its operation asks for."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        """Static shape of the tensor."""
        return TensorShape(self.dims)

    OVERLOADABLE_OPERATORS = frozenset(n for n, v in vars(Operators).items() if callable(v))
    _shape_tuple = property(lambda self: self.dims)
    _shape = property(lambda self: TensorShape(self.dims))

    def set_shape(self, shape: Any) -> None:
        """Add to what is known of its shape.

        Raises:
            ValueError: it contradicts what is known.
        """
        self.dims = merged(self.dims, as_dims(shape))

    def _rank(self) -> Optional[int]:
        return None if self.dims is None else len(self.dims)

    def consumers(self) -> list[Operation]:
        """The operations that read it."""
        return list(dict.fromkeys(self._consumers))

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The tensor's value in `session`, by default the default one.

        Raises:
            ValueError: there is no session, or it is of another graph.
        """
        run_in = upper.functions.session_for(self.graph, session, "evaluate tensor")
        return run_in.run(self, feed_dict)

    def _as_node_def_input(self) -> str:
        return self.op.name if self.value_index == 0 else self.name

    def experimental_ref(self) -> Any:
        """A key for sets and dicts."""
        return self

    ref = experimental_ref

    def deref(self) -> Tensor:
        """Itself."""
        return self

    def __iter__(self) -> Iterator[Tensor]:
        raise OperatorNotAllowedInGraphError(
            "Tensor objects are only iterable when eager execution is enabled. To iterate over "
            "this tensor use tf.map_fn."
        )

    def __len__(self) -> NoReturn:
        raise TypeError(f"len is not well defined for symbolic Tensors. ({self.name})")

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` instead"
            " of `if t:` to test if a tensor is defined, and use TensorFlow ops such as tf.cond to"
            " execute subgraphs conditioned on the value of a tensor."
        )

    __nonzero__ = __bool__  # as Python 2 and programs that wrap tensors call it

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __str__(self) -> str:
        return f'Tensor("{self.name}"{self._described()}, dtype={self.dtype.name})'

    def _described(self) -> str:
        return "" if self.dims is None else f", shape={shown(self.dims)}"

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={shown(self.dims)} dtype={self.dtype.name}>"

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: object) -> Tensor:
        return self
