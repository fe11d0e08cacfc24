"""Requests of TensorFlow to compile or to save memory: accepted, they change no result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from byparts_frontend_tf.symbols import symbol


@symbol("contrib.compiler.jit.experimental_jit_scope", "xla.experimental.jit_scope")
@contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """Nothing: all programs are compiled."""
    yield


@symbol("autograph.experimental.do_not_convert")
def do_not_convert(func: Any = None) -> Any:
    """The function itself: Python's own branches are not made operations."""
    return func if func is not None else do_not_convert


@symbol("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Nothing: there is nothing to tell."""


@symbol("recompute_grad", "contrib.layers.recompute_grad")
def recompute_grad(f: Any = None, *given: Any, **options: Any) -> Any:
    """The function; what gradients keep of it is planned for the whole program."""
    if f is None:
        return recompute_grad

    @wraps(f)
    def call(*arguments: Any, **named: Any) -> Any:
        return f(*arguments, **named)

    return call
