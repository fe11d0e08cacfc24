"""TensorFlow's session, by TinyFlow's rules.

All of a run reads variables as they were before it; a variable is written once a run, and fetched
beside its assignment it has the new value.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variable_lists import variables_of
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.running import session
from byparts_frontend_tf.running.needed import needed
from byparts_frontend_tf.running.pure import pure_graph
from byparts_graph_ir import infer_inputs
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_tf_files.errors import raises_graph_errors
from byparts_tf_files.shape import as_dims, shown
from byparts_tinyflow.state import Variable


class Session(session.Session):
    """Runs programs and owns the values of their variables; two sessions share nothing.

    Args:
        config: words; "gpu" asks for a GPU, and warns and takes the CPU where none works.
        backends: names or backends, best first; by default what `config` says.
    """

    written_once = True

    @raises_graph_errors
    def __init__(self, config: str = "cpu", *, backends: Optional[Sequence[Any]] = None) -> None:
        super().__init__(backends=_backends(config) if backends is None else tuple(backends))
        self.config = config

    @raises_graph_errors
    def run(self, fetch: Any, feed_dict: Optional[Mapping[Any, Any]] = None) -> Any:  # type: ignore[override]  # as TinyFlow calls it
        """The values of `fetch`, in its own structure.

        Raises:
            GraphError: a missing feed, an uninitialised variable, or a failure while running, with
                the line that made the operation; all variables are then as they were.
        """
        return super().run(fetch, feed_dict)


def _backends(config: str) -> tuple[Any, ...]:
    if not isinstance(config, str):
        raise TypeError(f"Session: config is {config!r:.60}; give words, such as 'cpu'")
    cpu = parts.backend("numpy")
    if "gpu" in config:
        try:
            return parts.backend("cuda"), cpu
        except (PartError, RuntimeError) as error:
            why = str(error).splitlines()[0]
            warnings.warn(f"config={config!r}: {why}; running on the CPU", stacklevel=4)
    return (cpu,)


@raises_graph_errors
def infer_variable_shapes(
    net: Tensor, feed_dict: Mapping[Any, Sequence[int]]
) -> Iterator[tuple[Variable, str, list[int]]]:
    """Each variable of `net` in depth-first order, with its name and shape.

    Args:
        net: what is computed.
        feed_dict: the shape of each placeholder.

    Raises:
        ShapeError: the shapes fed do not determine those of all variables.
    """
    net = convert_to_tensor(net)
    unfed = [t for op in needed([net], feed_dict) if op.type == "Placeholder" for t in op.outputs]
    shapes = {t: t.dims for t in unfed} | dict(feed_dict)
    pure = pure_graph(session.Session(graph=net.graph), net, shapes)
    types = dict(zip(pure.variables, infer_inputs(pure.graph)[len(pure.fed) :], strict=True))
    rows = [(v, v.op.name, types[v.op]) for v in variables_of(net)]
    for _, name, kind in rows:
        if not kind.static:
            fed = ", ".join(f"{t.op.name}: {shown(as_dims(s))}" for t, s in feed_dict.items())
            rest = "; not fed: " + ", ".join([t.op.name for t in unfed]) if unfed else ""
            told = f"not sufficient information in feed_dict ({fed})"
            raise ValueError(f"{told}: variable {name!r} is {kind}{rest}")
    return iter([(v, name, list(kind.dims)) for v, name, kind in rows])
