"""Parts of layers: initializers, regularizers, partitioners, statistics of batches."""
