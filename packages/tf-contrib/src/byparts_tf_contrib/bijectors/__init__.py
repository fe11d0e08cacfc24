"""`tf.contrib.distributions.bijectors`, and distributions that they make of others."""
