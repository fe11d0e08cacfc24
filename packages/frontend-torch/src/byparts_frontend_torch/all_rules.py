"""All modules of rules: importing this one registers them."""

from byparts_frontend_torch.aten import (
    attention,
    compare,
    convolution,
    creation,
    elementwise,
    indexing,
    loss,
    matrix,
    normalization,
    padding,
    pooling,
    random,
    reduction,
    reshape,
    scatter,
    upsample,
)

MODULES = (
    attention,
    compare,
    convolution,
    creation,
    elementwise,
    indexing,
    loss,
    matrix,
    normalization,
    padding,
    pooling,
    random,
    reduction,
    reshape,
    scatter,
    upsample,
)
