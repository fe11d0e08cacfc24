"""`tf.linalg`, Fourier transforms and signals."""
