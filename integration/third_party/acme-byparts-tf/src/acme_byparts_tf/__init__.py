"""ACME's functions in TensorFlow's API: `tf.contrib.acme`."""
