"""`tf.io`: contents of strings and files, decoded and encoded."""
