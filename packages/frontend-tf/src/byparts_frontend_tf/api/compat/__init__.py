"""`tf.compat`, and what is accepted or refused of other versions."""
