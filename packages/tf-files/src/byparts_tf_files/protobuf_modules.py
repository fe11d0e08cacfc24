"""`google.protobuf` for programs that are run as they are: our messages have no other one.

Programs import `google.protobuf.text_format` for messages of TensorFlow, which are ours.  Where
protobuf is installed, its own messages go to its own functions as before, and our errors are kinds
of its errors, so that `except DecodeError` of a program catches both.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from byparts_tf_files import text_format
from byparts_tf_files.message import DecodeError, Message

_PLACE = "google.protobuf"


def install_protobuf() -> None:
    """Let programs import `text_format` and `message` of `google.protobuf`."""
    theirs: ModuleType | None = None
    if _installed():
        theirs = import_module(f"{_PLACE}.text_format")
        _join(DecodeError, getattr(import_module(f"{_PLACE}.message"), "DecodeError", None))
        _join(text_format.ParseError, getattr(theirs, "ParseError", None))
    else:
        for name in ("google", _PLACE):
            sys.modules.setdefault(name, _package(name))
        message = _package(f"{_PLACE}.message")
        message.__dict__.update(Message=Message, DecodeError=DecodeError, EncodeError=ValueError)
        sys.modules[message.__name__] = message
    made = ModuleType(f"{_PLACE}.text_format", text_format.__doc__)
    for name in text_format.__all__:
        ours = getattr(text_format, name)
        other = getattr(theirs, name, None)
        if other is not None:
            ours = other if isinstance(ours, type) else _either(ours, other)
        setattr(made, name, ours)
    sys.modules[made.__name__] = made
    setattr(sys.modules[_PLACE], "text_format", made)  # noqa: B010 - no module declares it


def _installed() -> bool:
    try:
        return find_spec(_PLACE) is not None
    except ModuleNotFoundError:  # not even `google`
        return False


def _join(ours: Any, theirs: Any) -> None:
    """Let an error of ours be one of theirs too: `except` asks for base classes alone."""
    if theirs is not None and not issubclass(ours, theirs):
        ours.__bases__ = (*ours.__bases__, theirs)


def _package(name: str) -> ModuleType:
    made = ModuleType(name)
    made.__path__ = []
    return made


def _either(ours: Any, theirs: Any) -> Any:
    """`ours` for our messages, else `theirs`."""

    def call(*args: Any, **how: Any) -> Any:
        mine = any(isinstance(a, Message) for a in (*args, *how.values()))
        return (ours if mine else theirs)(*args, **how)

    return call
