"""`tf.contrib.learn` as programs still use it: data sets, older estimators."""
