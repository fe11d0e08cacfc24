"""`tf.io.decode_compressed`."""

from __future__ import annotations

from io import BytesIO
from typing import Optional

from byparts_frontend_tf.api.strings.strings import of_each, strings
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.inflated import Inflated

_WINDOW_BITS = {"ZLIB": 15, "GZIP": 31}
_MOST = 1 << 32  # bytes of an unpacked string


def _unpacked(s: bytes, kind: str) -> bytes:
    return Inflated(BytesIO(s), _WINDOW_BITS[kind]).read(_MOST) if kind else s


_DECOMPRESSED = Kind(
    "DecodeCompressed",
    host=lambda a, kind: of_each(a, lambda s: _unpacked(s, kind)),
    shape=like_first,
    gradient=False,
)


@symbol("decode_compressed", "io.decode_compressed")
def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: Optional[str] = None
) -> Tensor:
    """Decompress strings that are packed by "ZLIB" or "GZIP" (or, "", by nothing).

    Raises:
        ValueError: another kind.
    """
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise ValueError(
            f"Only ZLIB, GZIP or NONE are supported compressions, not {compression_type!r}"
        )
    return _DECOMPRESSED(strings(bytes, "bytes"), name=name, kind=compression_type)
