"""`tf.contrib.predictor`: a saved model as a function of arrays."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.saved_model.signatures import signatures
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.symbols import named, symbol


@symbol("contrib.predictor.Predictor", "contrib.predictor.predictor.Predictor")
class Predictor:
    """A function of arrays by name: it gives arrays by name.

    Attributes:
        graph: its graph.
        session: its session.
        feed_tensors: name -> what is fed.
        fetch_tensors: name -> what is fetched.
    """

    def __init__(self, session: Session, feeds: dict[str, Any], fetches: dict[str, Any]) -> None:
        self._session, self._feeds, self._fetches = session, feeds, fetches

    @property
    def graph(self) -> Any:
        """The graph of the session."""
        return self._session.graph

    @property
    def session(self) -> Session:
        """The session that computes predictions."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """Name -> what is fed."""
        return self._feeds

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """Name -> what is fetched."""
        return self._fetches

    def __call__(self, input_dict: dict[str, Any]) -> Any:
        """The fetched arrays, for these arrays by name.

        Raises:
            ValueError: a name is none that is fed.
        """
        unknown = [name for name in input_dict if name not in self._feeds]
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {set(unknown)}\nexpected: {set(self._feeds)}"
            )
        feeds = {self._feeds[name]: value for name, value in input_dict.items()}
        return self._session.run(self._fetches, feed_dict=feeds)


@symbol("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: Any,
    signature_def_key: Optional[str] = None,
    signature_def: Any = None,
    input_names: Optional[dict[str, str]] = None,
    output_names: Optional[dict[str, str]] = None,
    tags: Optional[str] = None,
    graph: Optional[Graph] = None,
    config: Any = None,
) -> Predictor:
    """A saved model as a function.

    Args:
        export_dir: its folder.
        signature_def_key: which of its signatures; by default "serving_default".
        signature_def: instead of a key.
        input_names: name -> name of a tensor, instead of a signature.
        output_names: likewise.
        tags: of the graph, with commas; by default "serve".
        graph: where it is built; by default a new one.
        config: of the session.

    Raises:
        ValueError: it has no such signature; only one of the names is given.
    """
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or neither.")
    graph = graph or Graph()
    with graph.as_default():
        session = Session(graph=graph, config=config)
        wanted = tags.split(",") if tags else ["serve"]
        model = named("saved_model.loader.load")(session, wanted, export_dir)
    if input_names is None or output_names is None:
        found = signature_def or _signature(model, signature_def_key)
        input_names = {name: info.name for name, info in found.inputs.items()}
        output_names = {name: info.name for name, info in found.outputs.items()}
    feeds = {name: graph.get_tensor_by_name(t) for name, t in input_names.items()}
    fetches = {name: graph.get_tensor_by_name(t) for name, t in output_names.items()}
    return Predictor(session, feeds, fetches)


def _signature(model: Any, key: Optional[str]) -> Any:
    name = key or signatures.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if name not in model.signature_def:
        raise ValueError(
            f"Got signature_def_key {name!r}. Available signatures are {list(model.signature_def)}"
        )
    return model.signature_def[name]
