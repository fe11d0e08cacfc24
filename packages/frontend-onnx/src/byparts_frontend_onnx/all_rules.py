"""All modules of rules: importing this one registers them."""

from byparts_frontend_onnx import trees
from byparts_frontend_onnx.microsoft import attention, fused, quantized
from byparts_frontend_onnx.standard import (
    columns,
    contraction,
    control,
    creation,
    elementwise,
    indexing,
    normalization,
    pool,
    quantize,
    random,
    recurrent,
    reduction,
    resize,
    sampling,
    sequence,
    shape,
    signal,
)

STANDARD = (
    *(
        columns,
        contraction,
        control,
        creation,
        elementwise,
        indexing,
        normalization,
        pool,
        quantize,
        random,
    ),
    *(recurrent, reduction, resize, sampling, sequence, shape, signal),
)
MODULES = (*STANDARD, attention, fused, quantized, trees)
