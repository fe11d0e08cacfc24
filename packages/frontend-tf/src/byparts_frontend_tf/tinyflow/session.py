"""A session: variables that live between runs, and the programs that were run before.

with tf.Session() as session:
    loss, _ = session.run([cross_entropy, train_step], feed_dict={x: images, y: labels})
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_tf.tinyflow.program import Step, make_step
from byparts_frontend_tf.tinyflow.random import RUNS
from byparts_frontend_tf.tinyflow.state import Variable
from byparts_graph_ir import ArgumentError, GraphError, ShapeError, TensorType, Value, compatible
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_opset.dtypes import dtype_name, numpy_dtype
from byparts_runtime import Executor, Variable as Stored

KEPT = 64  # sets of fetches whose step is remembered


class Session:
    """Runs programs and owns the values of their variables; two sessions share nothing.

    Args:
        config: words; "gpu" asks for a GPU, and warns and takes the CPU where none works.
        backends: names or backend objects, best first; by default what `config` says.
    """

    def __init__(self, config: str = "cpu", *, backends: Optional[tuple[Any, ...]] = None) -> None:
        self.config = config
        self._backends = _backends(config) if backends is None else backends
        self.executor = Executor(backends=self._backends)
        self._variables: dict[Variable, Stored] = {}
        self._steps: OrderedDict[tuple[Any, ...], Step] = OrderedDict()
        self._closed = False

    def run(self, fetch: Any, feed_dict: Optional[Mapping[Any, Any]] = None) -> Any:
        """The values of `fetch`, in its own structure.

        Args:
            fetch: a value, or lists, tuples and dicts of fetches, nested as you like.
            feed_dict: values for placeholders, or for any other value of the graph.

        Returns:
            NumPy arrays of your own (0-d ones as NumPy scalars), and `None` for groups.

        Raises:
            GraphError: a missing feed, an uninitialised variable, or a failure while running, with
                the line that made the node; all variables are then as they were.
        """
        if self._closed:
            raise GraphError("the session is closed; make another")
        leaves: list[Value] = []
        rebuild = _flatten(fetch, leaves)
        feeds = {_key(k): v for k, v in (feed_dict or {}).items()}
        step = self._step(leaves, tuple(feeds))
        results = self._run(step, [_array(k, feeds[k]) for k in step.fed])
        return rebuild(iter(None if i is None else results[i][()] for i in step.fetched))

    def variable(self, variable: Variable) -> NDArray[Any]:
        """A copy of a variable's value, without running anything."""
        value: NDArray[Any] = self._stored(variable).read()
        return value

    def close(self) -> None:
        """Let go of all variables and programs."""
        self._closed = True
        self._variables.clear()
        self._steps.clear()
        self.executor.clear()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _step(self, leaves: list[Value], fed: tuple[Value, ...]) -> Step:
        changed = {v: s.type for v, s in self._variables.items() if not compatible(v.type, s.type)}
        key = (tuple(leaves), fed, tuple(changed.items()))
        step = self._steps.get(key)
        if step is None:
            step = self._steps[key] = make_step(leaves, fed, changed)
            if len(self._steps) > KEPT:
                self._steps.popitem(last=False)
        self._steps.move_to_end(key)
        return step

    def _run(self, step: Step, arrays: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        read = tuple(self._stored(v) for v in step.variables)
        types = (*(_type(a) for a in arrays), *(s.type for s in read))
        written = tuple(
            self._target(v, t) for v, t in zip(step.updates, step.update_types(types), strict=True)
        )
        bound = dict(zip(step.states, read, strict=True))  # names of TinyFlow need not be unique
        results = self.executor(step.graph, *arrays, variables=bound, updates=written)
        self._variables.update(zip(step.updates, written, strict=True))
        return results

    def _stored(self, variable: Variable) -> Stored:
        if variable is RUNS and variable not in self._variables:
            self._variables[variable] = self._new(variable, np.zeros((), "int64"))
        stored = self._variables.get(variable)
        if stored is None:
            raise GraphError(
                f"variable {variable.name!r}, made at {variable.where}, is not initialised in this "
                f"session; run tf.initialize_all_variables() or assign it first"
            )
        return stored

    def _target(self, variable: Variable, kind: TensorType) -> Stored:
        """Where the new value goes: the same memory, or new memory where the type is new."""
        stored = self._variables.get(variable)
        return stored if stored and stored.type == kind else self._new(variable, kind)

    def _new(self, variable: Variable, value: Any) -> Stored:
        """Where the value of a variable is kept: where programs run."""
        first = self._backends[0]
        backend = parts.backend(first) if isinstance(first, str) else first
        return Stored(variable.name, value, space=backend.space)


def _backends(config: str) -> tuple[Any, ...]:
    if not isinstance(config, str):
        raise ArgumentError(f"Session: config is {config!r:.60}; give words, such as 'cpu'")
    if "gpu" in config:
        try:
            return (parts.backend("cuda"), "numpy")
        except PartError as error:
            reason = str(error).splitlines()[0]
        except RuntimeError as error:
            reason = str(error)
        warnings.warn(f"config={config!r}: {reason}; running on the CPU", stacklevel=3)
    return ("numpy",)


def _flatten(fetch: Any, leaves: list[Value]) -> Any:
    """Append the values in `fetch` to `leaves`; the function given puts results in their place."""
    if isinstance(fetch, Value):
        leaves.append(fetch)
        return next
    if isinstance(fetch, Mapping):
        inner = {k: _flatten(v, leaves) for k, v in fetch.items()}
        return lambda results: {k: f(results) for k, f in inner.items()}
    if isinstance(fetch, (list, tuple)):
        items = [_flatten(v, leaves) for v in fetch]
        make = getattr(type(fetch), "_make", type(fetch))  # named tuples
        return lambda results: make([f(results) for f in items])
    raise GraphError(f"cannot fetch {fetch!r}: a value, or a list, tuple or dict of values")


def _key(key: Any) -> Value:
    if not isinstance(key, Value):
        raise GraphError(f"feed_dict: the key {key!r} is no placeholder nor another value")
    return key


def _array(key: Value, value: Any) -> NDArray[Any]:
    """What is fed, in the dtype of the placeholder, as TinyFlow converted everything to float32."""
    try:
        array = np.asarray(value)
        if array.dtype == object:
            raise TypeError("that is no array of numbers")
        return np.ascontiguousarray(array, numpy_dtype(key.type.dtype)).reshape(array.shape)
    except (TypeError, ValueError) as error:
        kind = type(value).__name__
        raise ShapeError(
            f"feed_dict: {getattr(key, 'name', '')!r} of type {key.type} is fed a {kind}: {error}"
        ) from error


def _type(array: NDArray[Any]) -> TensorType:
    return TensorType(dtype_name(array.dtype), array.shape)
