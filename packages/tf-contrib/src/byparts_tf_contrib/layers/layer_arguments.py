"""`tensorflow.python.layers.utils`: the arguments of convolutions, checked and in one form."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol

_UTILS = ("python.layers.utils.", "python.keras.utils.conv_utils.")


@symbol(*[place + "convert_data_format" for place in _UTILS])
def convert_data_format(data_format: str, ndim: int) -> str:
    """Keras' name of a layout, as the functions of `tf.nn` take it.

    Args:
        data_format: "channels_last" or "channels_first".
        ndim: how many axes there are: 3, 4 or 5.

    Raises:
        ValueError: one of them is another.
    """
    names = {"channels_last": ("NWC", "NHWC", "NDHWC"), "channels_first": ("NCW", "NCHW", "NCDHW")}
    if data_format not in names:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in (3, 4, 5):
        raise ValueError(f"Input rank not supported: {ndim}")
    return names[data_format][ndim - 3]


@symbol(*[place + "normalize_tuple" for place in _UTILS])
def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """An integer n times, or n integers as they are.

    Raises:
        ValueError: it is neither; `name` says what it is.
    """
    if isinstance(value, int):
        return (value,) * n
    try:
        numbers = tuple(value)
        whole = [int(v) for v in numbers]
    except (TypeError, ValueError):
        whole = []
    if len(whole) != n:
        raise ValueError(
            f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
        )
    return numbers


@symbol(*[place + "normalize_data_format" for place in _UTILS])
def normalize_data_format(value: Optional[str]) -> str:
    """A layout in lower case; by default "channels_last".

    Raises:
        ValueError: there is no such layout.
    """
    layout = (value or "channels_last").lower()
    if layout not in ("channels_first", "channels_last"):
        raise ValueError(
            "The `data_format` argument must be one of "
            f'"channels_first", "channels_last". Received: {value}'
        )
    return layout


@symbol(*[place + "normalize_padding" for place in _UTILS])
def normalize_padding(value: Any) -> Any:
    """A way of padding in lower case.

    Raises:
        ValueError: there is no such way.
    """
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            "The `padding` argument must be a list/tuple or one of "
            f'"valid", "same" (or "causal", only for `Conv1D). Received: {padding}'
        )
    return padding


@symbol(*[place + "conv_output_length" for place in _UTILS])
def conv_output_length(
    input_length: Optional[int], filter_size: int, padding: str, stride: int, dilation: int = 1
) -> Optional[int]:
    """The length of the result of a convolution along one axis; `None` of `None`."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    lost = {"same": 0, "causal": 0, "valid": window - 1, "full": 1 - window}[padding]
    return (input_length - lost + stride - 1) // stride


@symbol(*[place + "conv_input_length" for place in _UTILS])
def conv_input_length(
    output_length: Optional[int], filter_size: int, padding: str, stride: int
) -> Optional[int]:
    """The length of the input of a convolution along one axis; `None` of `None`."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


@symbol(*[place + "deconv_output_length" for place in _UTILS])
def deconv_output_length(
    input_length: Optional[int],
    filter_size: int,
    padding: str,
    output_padding: Optional[int] = None,
    stride: int = 0,
    dilation: int = 1,
) -> Optional[int]:
    """The length of a transposed convolution's result along one axis; `None` of `None`."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        more = {"valid": max(window - stride, 0), "full": -(stride + window - 2), "same": 0}
        return input_length * stride + more[padding]
    pad = {"same": window // 2, "valid": 0, "full": window - 1}[padding]
    return (input_length - 1) * stride + window - 2 * pad + output_padding
