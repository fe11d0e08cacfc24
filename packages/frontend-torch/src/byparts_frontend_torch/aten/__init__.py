"""Rules for the ops of ATen, one module for each kind; importing one registers its rules."""

MODULES = (
    "attention",
    "compare",
    "convolution",
    "creation",
    "elementwise",
    "indexing",
    "loss",
    "matrix",
    "normalization",
    "padding",
    "pooling",
    "random",
    "reduction",
    "reshape",
    "scatter",
    "upsample",
)
