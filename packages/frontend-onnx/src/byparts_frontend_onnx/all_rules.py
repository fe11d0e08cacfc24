"""All modules of rules: importing this one registers them."""

from byparts_frontend_onnx.standard import (
    contraction,
    control,
    creation,
    elementwise,
    indexing,
    normalization,
    pool,
    quantize,
    recurrent,
    reduction,
    resize,
    sequence,
    shape,
)

MODULES = (
    contraction,
    control,
    creation,
    elementwise,
    indexing,
    normalization,
    pool,
    quantize,
    recurrent,
    reduction,
    resize,
    sequence,
    shape,
)
