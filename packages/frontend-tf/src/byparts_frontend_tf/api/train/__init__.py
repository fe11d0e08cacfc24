"""`tf.train`: optimizers, rates that change, moving averages, checkpoints, graphs in files."""
