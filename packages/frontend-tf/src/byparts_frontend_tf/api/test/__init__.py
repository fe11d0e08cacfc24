"""`tf.test`: test cases, benchmarks, gradients beside differences."""
