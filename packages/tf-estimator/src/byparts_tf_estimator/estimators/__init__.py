"""`tf.estimator`: models as functions that are trained, evaluated and asked, with checkpoints."""
