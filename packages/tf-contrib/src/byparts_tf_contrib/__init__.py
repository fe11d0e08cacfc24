"""What `tf.contrib` alone gives, for byparts-frontend-tf: slim, seq2seq, distributions and more."""

__version__ = "0.2.0"
