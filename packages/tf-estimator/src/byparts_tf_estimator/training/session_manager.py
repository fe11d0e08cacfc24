"""`tf.train.SessionManager`: sessions whose variables are restored or initialised."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.checkpoint_state import get_checkpoint_state
from byparts_tf_files.errors import FailedPreconditionError, UnimplementedError


@symbol("train.SessionManager")
class SessionManager:
    """Makes sessions.

    Args:
        local_init_op: always run, fed `local_init_feed_dict`.
        ready_op: gives the names of variables that have no value; `None`: not asked.
        ready_for_local_init_op: the same, before `local_init_op`.
        graph: by default the default one.
        recovery_wait_secs: how often it is looked for a checkpoint that is waited for.
        local_init_run_options: for `local_init_op`.
        local_init_feed_dict: likewise.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
        local_init_feed_dict: Any = None,
    ) -> None:
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._wait_s = recovery_wait_secs
        self._options, self._local_feed = local_init_run_options, local_init_feed_dict

    def prepare_session(
        self,
        master: str = "",
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        """A session whose variables are those of the latest checkpoint, or else initialised.

        Args:
            master: accepted.
            init_op: run, fed `init_feed_dict`, where there is no checkpoint.
            saver: restores.
            checkpoint_dir: where checkpoints are.
            checkpoint_filename_with_path: or one of them.
            wait_for_checkpoint: whether to wait for one.
            max_wait_secs: how long.
            config: of the session.
            init_feed_dict: for `init_op`.
            init_fn: called with the session where there is no checkpoint.

        Raises:
            RuntimeError: afterwards a variable has no value.
        """
        sess, restored = self._restored(
            *(master, saver, checkpoint_dir, checkpoint_filename_with_path),
            *(wait_for_checkpoint, max_wait_secs, config),
        )
        if not restored:
            self._initialize(sess, init_op, init_feed_dict, init_fn)
        how = f"Init op: {_name(init_op)}, init fn: {init_fn}, local_init_op: "
        how += f"{_name(self._local_init_op)}"
        missing = self._local_init(sess)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready for local_init.  {how}, error: {missing}"
            )
        missing = _missing(self._ready_op, sess)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  {how}, error: {missing}"
            )
        return sess

    def _initialize(self, sess: Any, init_op: Any, feeds: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(sess)

    def recover_session(
        self,
        master: str = "",
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Any, bool]:
        """A session whose variables are those of a checkpoint, and whether all have values."""
        sess, restored = self._restored(
            *(master, saver, checkpoint_dir, checkpoint_filename_with_path),
            *(wait_for_checkpoint, max_wait_secs, config),
        )
        if not restored:
            return sess, False
        missing = self._local_init(sess) or _missing(self._ready_op, sess)
        if missing:
            info("Restoring model from %s did not make model ready: %s", checkpoint_dir, missing)
        return sess, not missing

    def wait_for_session(
        self, master: str = "", config: Any = None, max_wait_secs: float = float("inf")
    ) -> Any:
        """Refused: it waits for variables of another process.

        Raises:
            UnimplementedError: always.
        """
        raise UnimplementedError(
            None,
            None,
            "a worker waits for the variables that its chief, another process, initialises; "
            "programs here run in one process: use is_chief=True",
        )

    def _restored(
        self,
        master: str,
        saver: Any,
        folder: Any,
        path: Any,
        wait: bool,
        max_wait_s: float,
        config: Any,
    ) -> tuple[Any, bool]:
        if folder and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        sess = Session(master, graph=self._graph, config=config)
        if saver is None or not (folder or path):
            return sess, False
        if path:
            saver.restore(sess, path)
            return sess, True
        until_s = time.monotonic() + max_wait_s
        state = get_checkpoint_state(folder)
        while wait and not (state and state.model_checkpoint_path):
            if time.monotonic() > until_s:
                return sess, False
            info("Waiting for checkpoint to be available.")
            time.sleep(min(self._wait_s, max(0.0, until_s - time.monotonic())))
            state = get_checkpoint_state(folder)
        if not state or not state.model_checkpoint_path:
            return sess, False
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(list(state.all_model_checkpoint_paths))
        return sess, True

    def _local_init(self, sess: Any) -> str:
        """Run `local_init_op`; what it lacks, or ""."""
        if self._local_init_op is None:
            return ""
        missing = _missing(self._ready_for_local, sess)
        if not missing:
            info("Running local_init_op.")
            sess.run(self._local_init_op, feed_dict=self._local_feed, options=self._options)
            info("Done running local_init_op.")
        return missing


def _missing(ready_op: Any, sess: Any) -> str:
    """Say what keeps the graph from being ready; "" if nothing does."""
    if ready_op is None:
        return ""
    try:
        names = np.ravel(sess.run(ready_op))
    except FailedPreconditionError as error:
        return str(error)
    if names.dtype.kind != "O" or not len(names):
        return ""
    return "Variables not initialized: " + ", ".join([n.decode() for n in names])


def _name(op: Any) -> str:
    return "None" if op is None else str(getattr(op, "name", op))
