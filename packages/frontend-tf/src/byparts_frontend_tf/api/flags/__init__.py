"""`tf.flags`: values from the command line."""
