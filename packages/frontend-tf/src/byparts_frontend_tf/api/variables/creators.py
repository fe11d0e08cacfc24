"""`tf.variable_creator_scope`: functions that are called in place of `tf.Variable`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol

Creator = Callable[..., Any]
_CREATORS = "variable_creators"


class Created(type):
    """The class of `tf.Variable`: making one goes through the creators of the default graph."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object of the class, or what the innermost creator gives."""
        create: Creator = super().__call__
        creators: list[Creator] = get_default_graph().kept.get(_CREATORS, [])
        if not creators or not cls.__dict__.get("_has_creators"):
            return create(*args, **kwargs)
        given = inspect.signature(vars(cls)["__init__"]).bind(None, *args, **kwargs)
        given.apply_defaults()
        named = dict(list(given.arguments.items())[1:])
        for creator in creators:
            create = partial(creator, create)
        return create(**named)


@symbol("variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Variables made inside are what a function gives.

    Args:
        variable_creator: takes the next creator and the arguments of `tf.Variable` by name.
    """
    kept = get_default_graph().kept
    before: list[Creator] = kept.get(_CREATORS, [])
    kept[_CREATORS] = [*before, variable_creator]
    try:
        yield
    finally:
        kept[_CREATORS] = before
