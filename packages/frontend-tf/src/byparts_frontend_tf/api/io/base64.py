"""`tf.io.encode_base64` and `tf.io.decode_base64`."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Optional

from byparts_frontend_tf.api.strings.strings import mapped, strings
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol

_ENCODE = mapped(
    "EncodeBase64",
    lambda s, pad: urlsafe_b64encode(s) if pad else urlsafe_b64encode(s).rstrip(b"="),
)


def _from_base64(s: bytes) -> bytes:
    plain = s.rstrip(b"=")
    if re.fullmatch(rb"[A-Za-z0-9_-]*", plain) is None or len(plain) % 4 == 1:
        raise ValueError("Invalid character found in base64.")
    return urlsafe_b64decode(plain + b"=" * (-len(plain) % 4))


_DECODE = mapped("DecodeBase64", _from_base64)


@symbol("encode_base64", "io.encode_base64")
def encode_base64(input: TensorLike, pad: bool = False, name: Optional[str] = None) -> Tensor:
    """Strings in base64 that is safe for the web; `pad`: with = at the end."""
    return _ENCODE(strings(input), name=name, pad=bool(pad))


@symbol("decode_base64", "io.decode_base64")
def decode_base64(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """Decode strings in web-safe base64."""
    return _DECODE(strings(input), name=name)
