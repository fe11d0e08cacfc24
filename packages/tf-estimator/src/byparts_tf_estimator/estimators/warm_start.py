"""Variables that begin with the values of a checkpoint: `WarmStartSettings`, `train.warm_start`."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.initializers import GlorotUniform
from byparts_frontend_tf.api.train.init_from_checkpoint import begin_with
from byparts_frontend_tf.api.variables.variable_lists import trainable_variables
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_files.checkpoint_reader import load_checkpoint


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


@symbol("estimator.VocabInfo", "train.VocabInfo")
class VocabInfo(_VocabInfo):
    """Vocabularies of an embedding, before and now."""

    __slots__ = ()


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Optional[dict[str, VocabInfo]] = None
    var_name_to_prev_var_name: Optional[dict[str, str]] = None


@symbol("estimator.WarmStartSettings")
class WarmStartSettings(_Settings):
    """From which checkpoint variables begin, and which.

    Args:
        ckpt_to_initialize_from: a checkpoint, or a folder of them.
        vars_to_warm_start: a regular expression of trainable variables, a list of such of all
            variables, a list of variables, or `None`: only those of `var_name_to_vocab_info`.
        var_name_to_vocab_info: name of an embedding -> `VocabInfo`.
        var_name_to_prev_var_name: name of a variable -> its name in the checkpoint.

    Raises:
        ValueError: there is no checkpoint.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Optional[dict[str, VocabInfo]] = None,
        var_name_to_prev_var_name: Optional[dict[str, str]] = None,
    ) -> WarmStartSettings:
        """Settings, checked."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def as_settings(given: Any) -> Optional[WarmStartSettings]:
    """A path, settings or `None` as settings.

    Raises:
        ValueError: it is none of them.
    """
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if isinstance(given, (str, bytes)):
        path = given.decode() if isinstance(given, bytes) else given
        if named("saved_model.contains_saved_model")(path):
            path = f"{path}/variables/variables"
        return WarmStartSettings(path)
    raise ValueError(f"warm_start_from must be a string or a WarmStartSettings, but got {given}")


@symbol("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: Any,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Optional[dict[str, VocabInfo]] = None,
    var_name_to_prev_var_name: Optional[dict[str, str]] = None,
) -> None:
    """Let variables begin with the values of a checkpoint.  See `WarmStartSettings`.

    Raises:
        ValueError: a name of a variable is no variable's.
    """
    vocabularies, before = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    variables = {v.op.name: v for v in _wanted(vars_to_warm_start)}
    for name in vocabularies:
        variables.update({v.op.name: v for v in _named_so(name)})
    unknown = [n for n in [*vocabularies, *before] if n not in variables]
    if unknown:
        raise ValueError(
            f"You provided names of variables that are not in the graph: {unknown}; there are "
            f"{sorted(variables)}"
        )
    reader = load_checkpoint(ckpt_to_initialize_from)
    for name, variable in variables.items():
        value = reader.get_tensor(before.get(name, name))
        if name in vocabularies:
            value = _in_new_order(value, variable, vocabularies[name])
        begin_with(variable, partial(np.asarray, value))


def _wanted(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str):
        return list(get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=given))
    if isinstance(given, (list, tuple)):
        if all(isinstance(v, str) for v in given):
            found = [get_collection(GraphKeys.GLOBAL_VARIABLES, scope=v) for v in given]
            return list(dict.fromkeys(v for some in found for v in some))
        return list(given)
    raise ValueError(f"vars_to_warm_start must be a list, a string or None; got {given}")


def _named_so(name: str) -> list[Any]:
    return [v for v in trainable_variables() if v.op.name == name]


def _in_new_order(old: Any, variable: Any, info: VocabInfo) -> Any:
    """Rows (or columns) of an embedding, in the order of the new vocabulary."""
    before = {word: i for i, word in enumerate(_words(info.old_vocab, info.old_vocab_size))}
    words = _words(info.new_vocab, info.new_vocab_size)
    dims = variable.get_shape().as_list()
    new = _first_values(info, dims)
    there = [(i, before[word]) for i, word in enumerate(words) if word in before]
    new_at, old_at = (list(part) for part in zip(*there, strict=True)) if there else ([], [])
    if info.axis == 0:
        new[new_at] = old[old_at]
    else:
        new[:, new_at] = old[:, old_at]
    return new


def _first_values(info: VocabInfo, dims: list[int]) -> Any:
    """First values of the words that the old vocabulary has not."""
    make = info.backup_initializer or GlorotUniform()
    session = named("Session")(graph=(graph := named("Graph")()))
    with graph.as_default(), session:
        return np.array(session.run(make(dims, dtype=named("float32"))))


def _words(path: Any, count: int) -> list[str]:
    with open(path, encoding="utf-8") as file:
        words = [line.rstrip("\n") for line in file]
    return words if count == -1 else words[:count]
