"""Names of TensorFlow's inside: `tensorflow.python.ops.array_ops.concat` is `tf.concat`.

Programs reach into TensorFlow's own modules for what is public elsewhere.  A name there is looked
for as itself, then in the public places where it may be, then by its last part alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from byparts_frontend_tf.names import by_last_part, is_space, own, place

_PLACES = ("", "nn.", "train.", "layers.", "losses.", "nn.rnn_cell.", "summary.", "image.", "data.")
_COMPAT = ("compat", "compat.v1", "compat.v2")
_DEPTH = 3  # of most modules: python.ops.array_ops
_DEEPER = (
    *(
        "python.data.",
        "python.debug.",
        "python.keras.",
        "python.lib.io.",
        "python.ops.distributions",
    ),
    *("python.ops.linalg.", "python.ops.losses.", "python.ops.parallel_for.", "python.summary."),
    *("python.tpu.", "python.training.experimental."),
)
_BESIDE = ("_ops", "_impl", "_util")  # modules that modules import: python.ops.rnn.rnn_cell_impl
_SLIM_MODULES = ("initializers", "layers", "learning", "losses", "regularizers", "tf_saver")
_SLIM = ("contrib.slim.", "contrib.layers.", "contrib.framework.")

# Modules that are called as a function is.
_MODULES = frozenset(
    (
        *("python.debug", "python.framework.device", "python.framework.smart_cond"),
        *("python.ops.confusion_matrix", "python.ops.custom_gradient", "python.ops.gradients"),
        *("python.ops.template", "python.ops.variable_scope", "python.ops.variables"),
        *("python.ops.distributions.categorical", "python.ops.distributions.multinomial"),
        *("python.ops.distributions.normal", "python.ops.distributions.uniform"),
        *("python.ops.distributions.exponential", "python.ops.distributions.gamma"),
        *("python.ops.metrics", "python.ops.rnn", "python.eager.function"),
        *("python.data.experimental.ops.get_single_element", "python.framework.load_library"),
        *("python.data.experimental.ops.matching_files", "python.data.experimental.ops.unique"),
        *("python.saved_model.main_op", "python.saved_model.simple_save"),
        *("python.training.evaluation", "python.training.training"),
        "python.summary.summary_iterator",
    )
)


def place_of(full: str) -> str | None:
    """Find the object of a name: "module:name" of this part, or `None` if there is none."""
    if (where := own().get(full)) is not None:  # most names: no other part's table is read
        return where
    if full in _MODULES or is_space(full):
        return place(full)
    if full.startswith(("python.keras.", "contrib.keras.")) and is_namespace(
        full.partition(".")[2]
    ):
        return None
    for candidate in _candidates(full):
        where = place(candidate)
        if where is not None:
            return where
    return None


def _candidates(full: str) -> Iterator[str]:
    """The names that a name may stand for."""
    yield full
    last = full.rpartition(".")[2]
    if full.startswith(("compat.v1.", "compat.v2.")):
        yield from _candidates(full[10:])
    elif full.startswith(("python.keras.", "contrib.keras.")):
        yield full.partition(".")[2]
        inner = [n for n in by_last_part().get(last, ()) if n.startswith("keras.")]
        yield from sorted(inner, key=lambda n: n.split(".")[1] not in full)
    elif full.startswith("python."):
        for place in _PLACES:
            yield place + last
        yield from by_last_part().get(last, ())
    elif full.startswith("contrib."):
        package, inside, _ = full.partition(".python.")
        if inside:
            yield f"{package}.{last}"
            yield from [n for n in by_last_part().get(last, ()) if n.startswith(f"{package}.")]
        if full.startswith(_SLIM):
            for place in _SLIM:
                yield place + last


def is_namespace(full: str) -> bool:
    """Whether a name is a namespace; `compat.v1.nn` and those of TensorFlow's inside are, too."""
    if is_space(full) or full in _COMPAT or full in _MODULES:
        return True
    if full.startswith(("compat.v1.", "compat.v2.")):
        return is_namespace(full[10:])
    if full.startswith("contrib.keras"):
        return is_namespace(full[8:])
    if full.startswith("contrib."):
        return _is_inside_contrib(full)
    parts = full.split(".")
    if parts[0] != "python" or not parts[-1].islower() or parts[-1].startswith("_"):
        return full == "python"
    if parts[-1].endswith(_BESIDE):
        return True
    return len(parts) <= _DEPTH or full.startswith(_DEEPER)


def _is_inside_contrib(full: str) -> bool:
    package, inside, _ = full.partition(".python")
    last = full.rpartition(".")[2]
    if full.startswith("contrib.slim.") and last in _SLIM_MODULES:
        return True
    return bool(inside) and last.islower() and not last.startswith("_") and is_namespace(package)
