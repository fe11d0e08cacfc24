"""`tf.signal`: Fourier transforms and frames of sound."""
