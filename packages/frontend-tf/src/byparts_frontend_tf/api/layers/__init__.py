"""What layers are made with: initializers, regularizers, partitioners, statistics of batches."""
