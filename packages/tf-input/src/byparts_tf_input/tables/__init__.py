"""`tf.lookup` and `tf.contrib.lookup`: tables from keys to values, kept by sessions."""
