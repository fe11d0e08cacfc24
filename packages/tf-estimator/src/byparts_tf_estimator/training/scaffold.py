"""`tf.train.Scaffold`: the operations that a training needs besides its own, made where missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.api.summary.summary import merge_all
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.variables.variable_lists import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import add_to_collection, get_collection
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol


def saver_or_default() -> Any:
    """The saver of the collection SAVERS, or a new one that is added to it.

    Raises:
        RuntimeError: there are several.
    """
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to "
            "use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    made = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, made)
    return made


@symbol("train.Scaffold")
class Scaffold:
    """Operations that `MonitoredSession` needs of a graph; `finalize` makes what is not given.

    Args:
        init_op: gives variables their first values, fed `init_feed_dict`.
        init_feed_dict: for `init_op`.
        init_fn: called with (scaffold, session) when `init_op` has run.
        ready_op: gives the names of variables that have no value.
        ready_for_local_init_op: the same, before `local_init_op`.
        local_init_op: gives local variables their first values, and tables; always run.
        summary_op: all summaries.
        saver: of checkpoints.
        copy_from_scaffold: what is not given is of this one.
        local_init_feed_dict: for `local_init_op`.
    """

    _saver: Any

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Optional[Callable[[Scaffold, Any], Any]] = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Optional[Scaffold] = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        given = {
            "_init_op": init_op,
            "_init_feed_dict": init_feed_dict,
            "_ready_op": ready_op,
            "_ready_for_local_init_op": ready_for_local_init_op,
            "_local_init_op": local_init_op,
            "_local_init_feed_dict": local_init_feed_dict,
            "_summary_op": summary_op,
            "_saver": saver,
        }
        for name, value in given.items():
            copied = value is None and copy_from_scaffold is not None
            setattr(self, name, getattr(copy_from_scaffold, name) if copied else value)
        self._init_fn: Any = None
        if init_fn is not None:
            self._init_fn = lambda session: init_fn(self, session)
        elif copy_from_scaffold is not None:
            self._init_fn = copy_from_scaffold.init_fn

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    init_fn = property(lambda self: self._init_fn)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    local_init_feed_dict = property(lambda self: self._local_init_feed_dict)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)

    def finalize(self) -> Scaffold:
        """Make what is missing, and finalize the graph."""
        self._default("_init_op", GraphKeys.INIT_OP, _initializer)
        self._default("_ready_op", GraphKeys.READY_OP, report_uninitialized_variables)
        self._default(
            "_ready_for_local_init_op",
            GraphKeys.READY_FOR_LOCAL_INIT_OP,
            lambda: report_uninitialized_variables(global_variables()),
        )
        self._default("_local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op)
        self._default("_summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        info("Graph was finalized.")
        return self

    def _default(self, name: str, key: str, make: Callable[[], Any]) -> None:
        if getattr(self, name) is None:
            setattr(self, name, self.get_or_default(name[1:], key, make))

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The item of a collection, or a new one that is added to it.

        Raises:
            RuntimeError: there are several.
        """
        found = get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                "one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """Gives local variables their first values, and tables."""
        return group(local_variables_initializer(), *get_collection(GraphKeys.TABLE_INITIALIZERS))


def _initializer() -> Any:
    return group(global_variables_initializer())
