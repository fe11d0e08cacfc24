"""State of Keras beside the graph: its session, the learning phase, counts of names."""

from __future__ import annotations

import re
from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.running.stack import get_default_session
from byparts_frontend_tf.symbols import symbol

_COUNTS = "counts of layers' names"  # those of `api/layers/layer.py`: one count for both
_PHASE = "the learning phase of Keras"
_VARIABLES = "variables of Keras"
_settings: dict[str, Any] = {"floatx": "float32", "epsilon": 1e-7, "format": "channels_last"}
_global: dict[str, Any] = {"session": None, "manual": False}


@symbol("keras.backend.backend")
def backend() -> str:
    """The name of what computes."""
    return "tensorflow"


@symbol("keras.backend.floatx")
def floatx() -> str:
    """The dtype of new weights, by its name."""
    return str(_settings["floatx"])


@symbol("keras.backend.set_floatx")
def set_floatx(value: str) -> None:
    """Set the dtype of new weights.

    Raises:
        ValueError: it is none of float16, float32, float64.
    """
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _settings["floatx"] = value


@symbol("keras.backend.epsilon")
def epsilon() -> float:
    """A small number that is added where 0 would do harm."""
    return float(_settings["epsilon"])


@symbol("keras.backend.set_epsilon")
def set_epsilon(value: float) -> None:
    """Set the small number."""
    _settings["epsilon"] = value


@symbol("keras.backend.image_data_format")
def image_data_format() -> str:
    """The place of the channels of images: channels_last, or channels_first."""
    return str(_settings["format"])


@symbol("keras.backend.set_image_data_format")
def set_image_data_format(data_format: str) -> None:
    """Set where channels are.

    Raises:
        ValueError: it is none of the two.
    """
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _settings["format"] = data_format


def layout(data_format: Optional[str]) -> str:
    """The given place of channels, or the default one.

    Raises:
        ValueError: it is none of the two.
    """
    place = image_data_format() if data_format is None else data_format.lower()
    if place not in ("channels_last", "channels_first"):
        raise ValueError(
            "The `data_format` argument must be one of channels_first, channels_last. "
            f"Received: {data_format}"
        )
    return place


# Names


def _counts() -> dict[Any, int]:
    counts: dict[Any, int] = get_default_graph().kept.setdefault(_COUNTS, {})
    return counts


def unique_name(base: str, zero_based: bool = True) -> str:
    """`base`, `base_1`, ...: how often the name was asked for in this graph."""
    counts = _counts()
    counts[base] = counts.get(base, 0) + 1
    number = counts[base] - zero_based
    return f"{base}_{number}" if number else base


@symbol("keras.backend.get_uid")
def get_uid(prefix: str = "") -> int:
    """The number of times that this prefix was asked for in this graph, this time included."""
    counts, key = _counts(), ("uid", prefix)
    counts[key] = counts.get(key, 0) + 1
    return counts[key]


@symbol("keras.backend.reset_uids")
def reset_uids() -> None:
    """Begin all names of layers anew."""
    _counts().clear()


def snake(name: str) -> str:
    """Keras's name for a class: MyLayer is my_layer."""
    apart = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", apart).lower()
    return f"private{words}" if words.startswith("_") else words


# Sessions


@symbol("keras.backend.get_session")
def get_session(op_input_list: Any = ()) -> Any:
    """The default session, or one that Keras keeps; variables of Keras have values in it."""
    session, graph = get_default_session(), get_default_graph()
    if session is None:
        session = _global["session"]
        if session is None or session.graph is not graph or session._closed:
            session = _global["session"] = Session(graph=graph)
    if not _global["manual"]:
        _initialize(session)
    return session


def _initialize(session: Any) -> None:
    """Give their first values to those variables of Keras that have none."""
    known = session.graph.kept.get(_VARIABLES, [])
    done = session.kept.get(_VARIABLES, 0)
    if done == len(known):
        return
    session.kept[_VARIABLES] = len(known)
    missing = [v for v in known[done:] if not session.variables.has(v.op)]
    if missing:
        session.run([v.initializer for v in missing])


def track_variable(variable: Any) -> None:
    """Let Keras initialize this variable when it is needed."""
    variable.graph.kept.setdefault(_VARIABLES, []).append(variable)


@symbol("keras.backend.set_session")
def set_session(session: Any) -> None:
    """Let Keras use this session."""
    _global["session"] = session


@symbol("keras.backend._get_available_gpus")
def get_available_gpus() -> list[str]:
    """None: sessions say themselves where they compute."""
    return []


@symbol("keras.backend.manual_variable_initialization")
def manual_variable_initialization(value: bool) -> None:
    """Whether the program itself initializes the variables of Keras."""
    _global["manual"] = value


@symbol("keras.backend.clear_session")
def clear_session() -> None:
    """Forget the graph and the session of Keras: begin anew."""
    tf.reset_default_graph()
    _global["session"] = None
    learning_phase()


@symbol("keras.backend.get_graph")
def get_graph() -> Any:
    """The default graph."""
    return get_default_graph()


# The learning phase


@symbol("keras.backend.learning_phase")
def learning_phase() -> Any:
    """A bool tensor that is fed: whether this is training; a number once it was set."""
    graph = get_default_graph()
    if _PHASE not in graph.kept:
        with tf.init_scope(), tf.name_scope(None):
            graph.kept[_PHASE] = tf.placeholder_with_default(
                False, shape=(), name="keras_learning_phase"
            )
    return graph.kept[_PHASE]


@symbol("keras.backend.set_learning_phase")
def set_learning_phase(value: int) -> None:
    """Fix the learning phase.

    Raises:
        ValueError: it is neither 0 nor 1.
    """
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    get_default_graph().kept[_PHASE] = int(value)


class learning_phase_scope:  # noqa: N801  # Keras's name
    """The learning phase is fixed inside the block."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __enter__(self) -> None:
        self._before = get_default_graph().kept.get(_PHASE)
        set_learning_phase(self._value)

    def __exit__(self, *_: object) -> None:
        kept = get_default_graph().kept
        if self._before is None:
            kept.pop(_PHASE, None)
        else:
            kept[_PHASE] = self._before


def phase_feed(value: int) -> dict[Any, Any]:
    """The feed of the learning phase, if it is fed."""
    phase = get_default_graph().kept.get(_PHASE)
    return {} if phase is None or isinstance(phase, int) else {phase: bool(value)}


SYMBOLS = {"keras.backend.learning_phase_scope": "learning_phase_scope"}
