"""`tf.debugging`: assertions and checks of numbers."""
