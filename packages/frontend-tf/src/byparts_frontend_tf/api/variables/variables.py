"""`tf.Variable`, and the operations on the memory of variables.

The memory is the output of an operation `VariableV2`; `w/read` is an identity of it, made with the
variable.  A session keeps the value by that operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from byparts_frontend_tf.api.elementwise import second
from byparts_frontend_tf.api.identity import IDENTITY, identity
from byparts_frontend_tf.api.variables.creators import Created
from byparts_frontend_tf.api.variables.rows import Rows
from byparts_frontend_tf.api.variables.updates import Update, reference
from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.operators import Operators
from byparts_frontend_tf.graph.scopes import init_scope, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype
from byparts_tf_files.shape import Dims, TensorShape, as_dims, fits, shown

VARIABLE = Kind(
    "VariableV2",
    special=lambda lowering, op: None,
    shape=lambda inputs, dtype, shape: shape,
    dtype=lambda inputs, dtype, shape: dtype._as_ref,
)


def variable_op(shape: Any, dtype: DType, name: str = "Variable") -> Tensor:
    """The memory of a new variable."""
    op = VARIABLE.operation((), name, dtype=dtype.base_dtype, shape=as_dims(shape))
    op.outputs[0].variable = op
    return op.outputs[0]


def _assigned_shape(inputs: Any, *, validate_shape: bool) -> Dims:
    reference: Tensor = inputs[0]
    value: Tensor = inputs[1]
    if validate_shape and not fits(reference.dims, value.dims):
        raise ValueError(
            f"Shapes must be equal: cannot assign a value of shape {shown(value.dims)} to "
            f"variable {reference.op.name!r} of shape {shown(reference.dims)}"
        )
    return value.dims if value.dims is not None or not validate_shape else reference.dims


ASSIGN = Update("Assign", lambda value, validate_shape: value, old=False, shape=_assigned_shape)
ASSIGN_ADD = Update("AssignAdd", lambda old, value: old + value)
ASSIGN_SUB = Update("AssignSub", lambda old, value: old - value)


@symbol("Variable", "VariableV1", "python.ops.variable_scope.variable")
class Variable(Rows, Operators, metaclass=Created):
    """A tensor that a session remembers between runs.

    Args:
        initial_value: its first value, or a function that makes it.
        trainable: whether optimizers change it by default.
        collections: it is added to; by default that of global variables.
        validate_shape: whether its shape is that of the initial value.
        name: of its operation; by default Variable, Variable_1, ...
        dtype: to convert the initial value to.
        constraint: a function of the variable that optimizers apply after an update.

    Raises:
        ValueError: there is no initial value, or its shape is not known.
    """

    __array_priority__ = 100
    trainable, use_resource = True, False
    constraint: Any = None
    synchronization: Any = None
    aggregation: Any = None
    _save_slice_info: Any = None
    _cached_value: Any = None
    _initial_value: Tensor = None  # type: ignore[assignment]  # a layer of TinyFlow makes some without
    _initializer_op: Operation = None  # type: ignore[assignment]  # likewise
    _has_creators = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: Optional[bool] = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: Optional[str] = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: Optional[str] = None,
        constraint: Any = None,
        use_resource: Optional[bool] = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        self.trainable = trainable is None or bool(trainable)
        self.constraint, self.use_resource = constraint, bool(use_resource)
        self.synchronization, self.aggregation = synchronization, aggregation
        self._make(initial_value, name, None if dtype is None else as_dtype(dtype), validate_shape)
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if self.trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        get_default_graph().add_to_collections(keys, self)

    def _make(
        self, initial: Any, name: Optional[str], dtype: Optional[DType], validate: bool
    ) -> None:
        with init_scope(), name_scope(name, "Variable") as scope:
            if callable(initial) and not isinstance(initial, (Tensor, Variable)):
                with name_scope("Initializer"):
                    initial = convert_to_tensor(initial(), dtype, "initial_value")
            self._initial_value = convert_to_tensor(initial, dtype, "initial_value")
            dims = self._initial_value.dims
            if validate and (dims is None or None in dims):
                raise ValueError(
                    f"initial_value must have a shape specified: {self._initial_value}"
                )
            self._variable = variable_op(
                dims if validate else None, self._initial_value.dtype.base_dtype, scope
            )
            self._initializer_op = ASSIGN.operation(
                (self._variable, self._initial_value), "Assign", validate_shape=validate
            )
            self._initializer_op.initializes = self._variable.op
            self._snapshot: Tensor = IDENTITY(self._variable, name="read")
            self._snapshot.variable = self._variable.op
        self._variable.op.variable_object = self

    @staticmethod
    def from_proto(variable_def: Any, import_scope: Optional[str] = None) -> Variable:
        """The variable of a message, whose operations are in the default graph.

        Raises:
            KeyError: they are not.
        """
        graph, start = get_default_graph(), f"{import_scope}/" if import_scope else ""
        made = Variable.__new__(Variable)
        made._variable = graph.get_tensor_by_name(start + variable_def.variable_name)
        made._initializer_op = graph.get_operation_by_name(start + variable_def.initializer_name)
        made._snapshot = graph.get_tensor_by_name(start + variable_def.snapshot_name)
        made._initial_value = made._initializer_op.inputs[1]
        made._variable.variable = made._snapshot.variable = made._variable.op
        made._initializer_op.initializes = made._variable.op
        made.trainable, made.use_resource = variable_def.trainable, variable_def.is_resource
        made._variable.op.variable_object = made
        return made

    def to_proto(self, export_scope: Optional[str] = None) -> Any:
        """The message of its operations' names; `None` if it is not in the scope."""
        start = f"{export_scope}/" if export_scope else ""
        if not self.name.startswith(start):
            return None
        return upper.functions.variable_def(
            variable_name=self.name[len(start) :],
            initial_value_name=self._initial_value.name[len(start) :],
            initializer_name=self._initializer_op.name[len(start) :],
            snapshot_name=self._snapshot.name[len(start) :],
            trainable=self.trainable,
        )

    # What it is

    @property
    def name(self) -> str:
        """The name of its memory: "w:0"."""
        return self._variable.name

    @property
    def _shared_name(self) -> str:
        return self.op.name

    @property
    def op(self) -> Operation:
        """The operation of its memory."""
        return self._variable.op

    @property
    def dtype(self) -> DType:
        """The dtype of its memory: float32_ref; float32 if it is a resource."""
        dtype = self._variable.dtype
        return dtype.base_dtype if self.use_resource else dtype

    @property
    def shape(self) -> TensorShape:
        """Static shape of the variable."""
        return self._variable.shape

    def get_shape(self) -> TensorShape:
        """Static shape of the variable."""
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        """Add to what is known of its shape."""
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    @property
    def graph(self) -> Any:
        """The graph it is of."""
        return self._variable.graph

    @property
    def device(self) -> str:
        """The device it asks for."""
        return self._variable.device

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its first value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor:
        """The variable's first value."""
        return self._initial_value

    # Its value

    def value(self) -> Tensor:
        """The variable's value, read where the tensor is used."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """The variable's value, read after what the current control dependencies say."""
        return identity(self._variable, name="read")  # type: ignore[no-any-return]  # a tensor

    def initialized_value(self) -> Tensor:
        """The variable's value, or its initial value where it has none yet."""
        made: Tensor = _INITIALIZED(self._variable, self._initial_value, name="initialized_value")
        return made

    def eval(self, session: Any = None) -> Any:
        """The variable's value in a session."""
        return self._snapshot.eval(session=session)

    def load(self, value: Any, session: Any = None) -> None:
        """Give it a value in a session."""
        from byparts_frontend_tf.running.stack import session_for

        run_in = session_for(self.graph, session, "load a variable")
        run_in.run(self.initializer, {self.initializer.inputs[1]: value})

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: Optional[str] = None,
        read_value: bool = True,
    ) -> Any:
        """Give it a value; a tensor of it."""
        return assign(self, value, use_locking=use_locking, name=name)

    def assign_add(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: Optional[str] = None,
        read_value: bool = True,
    ) -> Any:
        """Add to its value; a tensor of the sum."""
        return assign_add(self, delta, use_locking, name)

    def assign_sub(
        self,
        delta: TensorLike,
        use_locking: bool = False,
        name: Optional[str] = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract from its value; a tensor of the difference."""
        return assign_sub(self, delta, use_locking, name)

    def count_up_to(self, limit: int) -> Tensor:
        """Read the variable and add one to it; at the limit an `OutOfRangeError`."""
        from byparts_frontend_tf.api.variables.counting import count_up_to  # few count

        return count_up_to(self, limit)

    def _ref(self) -> Tensor:
        return self._variable

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None) -> Tensor:
        return self._snapshot

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def experimental_ref(self) -> Any:
        """A key for sets and dicts."""
        return self

    ref = experimental_ref

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __bool__(self) -> bool:
        if self.use_resource:
            raise TypeError("Using a `tf.Tensor` as a Python `bool` is not allowed.")
        return True  # `if bias:` asks whether there is one

    def __repr__(self) -> str:
        shape = shown(self._variable.dims)
        return f"<tf.Variable {self.name!r} shape={shape} dtype={self.dtype.name}>"

    __hash__ = object.__hash__


@symbol("assign")
def assign(
    ref: Any,
    value: TensorLike,
    validate_shape: Optional[bool] = None,
    use_locking: Optional[bool] = None,
    name: Optional[str] = None,
) -> Any:
    """Give a variable a value; a tensor of it.

    Raises:
        ValueError: the shape is known to be another.
        TypeError: the dtype is another.
    """
    if "assign" in getattr(ref, "__dict__", ()):  # a slice of a variable
        return ref.assign(value, name=name)
    memory = reference(ref)
    value = _value_for(memory, value)
    return ASSIGN(memory, value, name=name, validate_shape=validate_shape is not False)


def _value_for(memory: Tensor, value: TensorLike, name: str = "value") -> Tensor:
    return second(value, memory.dtype.base_dtype, "Assign", name)


@symbol("assign_add")
def assign_add(
    ref: Any, value: TensorLike, use_locking: Any = None, name: Optional[str] = None
) -> Any:
    """Add to the value of a variable; a tensor of the sum."""
    memory = reference(ref)
    return ASSIGN_ADD(memory, _value_for(memory, value), name=name)


@symbol("assign_sub")
def assign_sub(
    ref: Any, value: TensorLike, use_locking: Any = None, name: Optional[str] = None
) -> Any:
    """Subtract from the value of a variable; a tensor of the difference."""
    memory = reference(ref)
    return ASSIGN_SUB(memory, _value_for(memory, value), name=name)


def _initialized(lowering: Any, op: Operation) -> Any:
    variable = op.inputs[0].variable
    if lowering.run.starts.has(variable):
        return lowering.variables.start(variable)
    return lowering.value(op.inputs[1], op)


_INITIALIZED = Kind(
    "InitializedValue",
    special=_initialized,
    shape=lambda inputs: inputs[1].dims,
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)
