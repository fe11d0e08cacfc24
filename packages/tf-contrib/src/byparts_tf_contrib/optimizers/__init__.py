"""Optimizers of `tf.contrib.opt`, and `optimize_loss`."""
