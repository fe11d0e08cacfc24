"""Fetches of a run: tensors, operations, names, nested in lists, tuples and dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.running.known import Literal, Slot
from byparts_frontend_tf.symbols import symbol

Build = Callable[[Sequence[Any]], Any]  # the results of all leaves -> the result of a fetch


class Fetches:
    """The leaves of a fetch, and how their results are put in their places.

    Args:
        graph: of the session.
        fetches: what `run` was given.

    Attributes:
        leaves: tensors and operations, each once.

    Raises:
        TypeError: something in it cannot be fetched.
        ValueError: it is of another graph, or a name of nothing.
    """

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self._graph = graph
        self._places: dict[Any, int] = {}
        self.build: Build = self._of(fetches)
        self.leaves: tuple[Any, ...] = tuple(self._places)

    def _of(self, fetch: Any) -> Build:
        if fetch is None:
            raise TypeError(f"Fetch argument None has invalid type {type(None)!r}")
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        parts = composite(fetch)
        if parts is not None:
            make, tensors = parts
            inner = [self._leaf(t) if t is not None else _nothing for t in tensors]
            return lambda results: make(*[f(results) for f in inner])
        for kind, function in _registered:
            if isinstance(fetch, kind):
                return self._converted(*function(fetch))
        return self._leaf(fetch)

    def _converted(self, fetches: Sequence[Any], contract: Callable[[Any], Any]) -> Build:
        inner = self._sequence(fetches)
        return lambda results: contract(inner(results))

    def _mapping(self, fetch: Mapping[Any, Any]) -> Build:
        inner = {k: self._of(v) for k, v in fetch.items()}
        make: Any = type(fetch)
        if make is dict or not isinstance(fetch, dict):
            return lambda results: {k: f(results) for k, f in inner.items()}
        return lambda results: make((k, f(results)) for k, f in inner.items())

    def _sequence(self, fetch: Any) -> Build:
        inner = [self._of(v) for v in fetch]
        make: Any = getattr(type(fetch), "_make", None)
        if make is not None:
            return lambda results: make([f(results) for f in inner])
        if isinstance(fetch, tuple):
            return lambda results: tuple([f(results) for f in inner])
        return lambda results: [f(results) for f in inner]

    def _leaf(self, fetch: Any) -> Build:
        try:
            found = self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or "
                f"Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        place = self._places.setdefault(found, len(self._places))
        return lambda results: results[place]


def _nothing(results: Sequence[Any]) -> None:
    return None


def composite(fetch: Any) -> Optional[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Function that rebuilds a composite from the values of its tensors, and these tensors."""
    parts = getattr(fetch, "_fetched_as", None)
    return None if parts is None else parts()


_registered: list[tuple[type, Callable[[Any], Any]]] = []


@symbol("python.client.session.register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Optional[Callable[[Any, Any], Any]] = None,
    feed_function_for_partial_run: Optional[Callable[[Any], Any]] = None,
) -> None:
    """Let sessions run objects of a class.

    Args:
        tensor_type: the class.
        fetch_function: an object -> the fetches it stands for, and a function of their values.
        feed_function: accepted; an object is fed if `_as_graph_element` gives its tensor.
        feed_function_for_partial_run: accepted.

    Raises:
        ValueError: the class, or one that it is of, is registered.
    """
    for kind, _ in _registered:
        if issubclass(tensor_type, kind):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _registered.insert(0, (tensor_type, fetch_function))


def key_of(fetches: Any) -> Any:
    """Key that tells fetches from others: hashable, and quick to make."""
    if isinstance(fetches, list):
        return "list", *[key_of(f) if isinstance(f, (list, tuple, dict)) else f for f in fetches]
    if isinstance(fetches, tuple):
        return type(fetches), *[
            key_of(f) if isinstance(f, (list, tuple, dict)) else f for f in fetches
        ]
    if isinstance(fetches, Mapping):
        return type(fetches), *[(k, key_of(v)) for k, v in fetches.items()]
    return fetches


def memory_of(tensor: Tensor, known: Mapping[Tensor, Any]) -> Optional[Operation]:
    """The variable whose memory a tensor is, also through identities.

    `None` of any other tensor, of one that is fed, and of a resource, which is read at once.
    """
    while not isinstance(known.get(tensor), (Slot, Literal)):
        if tensor.variable is not None:
            variable = tensor.variable.variable_object
            return None if getattr(variable, "use_resource", False) else tensor.variable
        if tensor.op.type not in ("Identity", "StopGradient"):
            return None
        tensor = tensor.op.inputs[0]
    return None
