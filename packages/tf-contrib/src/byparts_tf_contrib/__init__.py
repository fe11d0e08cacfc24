"""Names that only `tf.contrib` has, for byparts-frontend-tf: slim, seq2seq, distributions."""

__version__ = "0.2.0"
