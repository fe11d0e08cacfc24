"""TensorFlow's graph: operations in the order in which they were made, their names and scopes.

It only grows.  What a session made of a part of it stays true, so programs add operations between
runs and nothing is compiled again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.graph import upper
from byparts_frontend_tf.graph.collections import Collections
from byparts_frontend_tf.graph.default_graphs import default_graph
from byparts_frontend_tf.graph.device import Devices
from byparts_frontend_tf.graph.elements import Elements
from byparts_frontend_tf.graph.names import Names, check_op_name, check_scope_name
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.order import ControlDependencies
from byparts_graph_ir.model.where import where
from byparts_tf_files.dtypes import DType
from byparts_tf_files.shape import Dims

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.kind import Kind


class Graph(Elements):
    """A graph of operations.

    Attributes:
        seed: the graph's own random seed, or `None`.
        body: the branch or loop whose operations are being made, or `None`.
        kept: what other modules keep for this graph, by their own keys.
    """

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names = Names()
        self._scope = ""
        self._collections = Collections()
        self._control = ControlDependencies()
        self._devices = Devices()
        self._finalized = False
        self._changes = 0
        self._overrides: dict[str, str] = {}
        self.seed: Optional[int] = None
        self.body: Any = None
        self.kept: dict[Any, Any] = {}
        self._container = ""

    def add(
        self,
        kind: Kind,
        inputs: tuple[Tensor, ...],
        dtypes: Sequence[DType],
        shapes: Sequence[Dims],
        attributes: dict[str, Any],
        name: Optional[str] = None,
    ) -> Operation:
        """Make an operation.  O(inputs).

        Raises:
            RuntimeError: the graph is finalized.
            ValueError: the name is none.
        """
        self._check_not_finalized()
        op = Operation()
        op.kind, op.inputs, op.attributes, op.graph = kind, inputs, attributes, self
        op.name = self._op_name(kind.type if name is None else name)
        op.number, op.body, op.where = len(self._operations), self.body, where()
        op._control_inputs = self._control.of(op, inputs)
        op.outputs = tuple(
            [Tensor(op, i, d, s) for i, (d, s) in enumerate(zip(dtypes, shapes, strict=True))]
        )
        op._device = self._devices.current(op)  # a function of it may look at all of it
        for t in inputs:
            t._consumers.append(op)
        self._operations.append(op)
        self._by_name[op.name] = op
        if self._overrides and kind.type in self._overrides:
            op.gradient_type = self._overrides[kind.type]
        return op

    def _op_name(self, name: str) -> str:
        if not isinstance(name, str):
            raise TypeError(f"the name of an operation is a string, not {name!r}")
        if name.endswith("/"):  # the name of a scope: the operation is called so itself
            name = name[:-1]
            return name if name not in self._by_name else self._names.unique(name)
        check_op_name(name)
        return self.unique_name(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name in the current scope, with a number behind it if it is taken."""
        return self._names.unique(f"{self._scope}/{name}" if self._scope else name, mark_as_used)

    def take_name(self, name: str) -> None:
        """Say that a whole name is taken, so that names made from now on are others."""
        if not self._names.is_taken(name):
            self._names.unique(name)

    @contextmanager
    def name_scope(self, name: Optional[str]) -> Iterator[str]:
        """Operations made inside have names that begin with `name`; gives "name/".

        A name that ends in "/" enters that very scope again; `None` and "" are the root.
        """
        before = self._scope
        if name and not isinstance(name, str):
            raise ValueError(f"'name' must be a string: {name!r}")
        if not name:
            scope = ""
        elif name.endswith("/"):
            scope = name[:-1]
        else:
            check_scope_name(name, bool(before))
            scope = self.unique_name(name)
        self._scope = scope
        try:
            yield f"{scope}/" if scope else ""
        finally:
            self._scope = before

    def get_name_scope(self) -> str:
        """The current scope."""
        return self._scope

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Operations made inside run after these; `None` forgets those of enclosing blocks."""
        if control_inputs is None:
            body, self.body = self.body, None
            with self._control.cleared():
                try:
                    yield
                finally:
                    self.body = body
            return
        with self._control.after([self._operation_of(c) for c in control_inputs]):
            yield

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Operations made inside belong to no branch or loop, and wait for nothing."""
        with self.control_dependencies(None):
            yield

    def _operation_of(self, given: Any) -> Operation:
        given = getattr(given, "_as_graph_element", lambda: given)()
        values = getattr(given, "values", None)
        if not isinstance(given, (Operation, str)) and isinstance(values, Tensor):
            given = values  # IndexedSlices
        found = self.as_graph_element(given)
        return found if isinstance(found, Operation) else found.op

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Operations made inside ask for this device; the session computes them all."""
        with self._devices.entered(device_name_or_function):
            yield

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Operations made inside ask for the device of `op`."""
        with self._devices.entered(getattr(op, "device", None) or None):
            yield

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Accepted; a session has one container of variables."""
        before, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = before

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Operations of these types made inside have the gradient registered under these names."""
        before = self._overrides
        self._overrides = {**before, **op_type_map}
        try:
            yield
        finally:
            self._overrides = before

    def as_default(self) -> Any:
        """Operations made inside the block are of this graph."""
        return default_graph(self)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append `value` to a collection."""
        self._check_not_finalized()
        self._collections.add(name, value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Append `value` to each collection named, once."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: Optional[str] = None) -> list[Any]:
        """Members of a collection; with a scope, those with a name that begins so."""
        return self._collections.get(name, scope)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list of a collection itself."""
        return self._collections.reference(name)

    def clear_collection(self, name: Any) -> None:
        """Forget a collection."""
        self._check_not_finalized()
        self._collections.clear(name)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections that hold something."""
        return [x for x in self._collections.names if isinstance(x, str)]

    collections = property(get_all_collection_keys)

    def finalize(self) -> None:
        """Refuse further operations."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def finalized(self) -> bool:
        """Whether further operations are refused."""
        return self._finalized

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def changed(self) -> None:
        """Note that an operation was changed, so that nothing made of it before is used again."""
        self._changes += 1

    @property
    def changes(self) -> int:
        """Number of changes to operations that were there already."""
        return self._changes

    @property
    def version(self) -> int:
        """Number of operations."""
        return len(self._operations)

    @property
    def building_function(self) -> bool:
        """Whether the graph is a function's: never."""
        return False

    def as_graph_def(self, from_version: Optional[int] = None, add_shapes: bool = False) -> Any:
        """The graph as a message of TensorFlow's files."""
        return upper.functions.graph_def(self, add_shapes, from_version)

    def switch_to_thread_local(self) -> None:
        """Accepted: scopes of one graph are not meant for several threads at once."""
