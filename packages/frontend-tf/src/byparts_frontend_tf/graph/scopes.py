"""`name_scope`, `device`, `control_dependencies` and the like, on the default graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Optional

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.stack import get_default_graph


class name_scope:  # noqa: N801  # TensorFlow's name
    """Operations made inside have names that begin with `name`; gives "name/".

    Args:
        name: of the scope; with `None` it is `default_name`.
        default_name: numbered where it is taken.
        values: tensors whose graph is the default one inside.

    Raises:
        TypeError: there is neither name.
        ValueError: the values are of several graphs.
    """

    def __init__(
        self, name: Any = None, default_name: Optional[str] = None, values: Any = None
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name for name_scope must be a string, not {name!r}")
        if name is None and default_name is None and values is not None:
            raise ValueError(
                f"At least one of name ({name}) and default_name ({default_name}) must be provided."
            )
        self._name, self._default, self._values = name, default_name, values
        self._open: list[ExitStack] = []

    @property
    def name(self) -> Optional[str]:
        """The name asked for."""
        return self._default if self._name is None else self._name

    def __enter__(self) -> str:
        graph = graph_of_values(self._values)
        stack = ExitStack()
        if graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        scope = stack.enter_context(graph.name_scope(self.name))
        self._open.append(stack)
        return scope

    def __exit__(self, *raised: Any) -> None:
        self._open.pop().__exit__(*raised)


def graph_of_values(values: Any) -> Graph:
    """The graph of the first tensor among `values`, or the default one; of a function, its own.

    Raises:
        ValueError: they are of several.
    """
    found: Optional[Graph] = None
    if get_default_graph().building_function:
        return get_default_graph()
    for v in values or ():
        v = getattr(v, "_as_graph_element", lambda v=v: v)()
        if isinstance(v, (Tensor, Operation)):
            if found is not None and v.graph is not found:
                raise ValueError(f"{v} is not from the passed-in graph.")
            found = v.graph
    return found or get_default_graph()


def control_dependencies(control_inputs: Any) -> Any:
    """Operations made inside run after these; `None` forgets those of enclosing blocks."""
    return get_default_graph().control_dependencies(control_inputs)


def device(device_name_or_function: Any) -> Any:
    """Operations made inside ask for this device; the session computes them all."""
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Operations made inside ask for the device of `op`."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """Accepted; a session has one container of variables."""
    return get_default_graph().container(container_name)


def get_name_scope() -> str:
    """The name of the current name scope, without the slash."""
    return get_default_graph().get_name_scope()


@contextmanager
def init_scope() -> Iterator[None]:
    """Operations made inside belong to no branch or loop, and wait for nothing."""
    graph = get_default_graph()
    scope = graph.get_name_scope()
    with graph.name_scope(f"{scope}/" if scope else None), graph.outside():
        yield


def add_to_collection(name: Any, value: Any) -> None:
    """Append `value` to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append `value` to collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: Optional[str] = None) -> list[Any]:
    """Members of a collection of the default graph; in a scope, those whose name begins so."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The list of a collection itself."""
    return get_default_graph().get_collection_ref(key)


def set_random_seed(seed: Any) -> None:
    """The seed of the default graph, from which those of its random operations are made."""
    get_default_graph().seed = None if seed is None else int(seed)
