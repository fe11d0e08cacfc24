"""Decoding, attention and cells of `tf.contrib.seq2seq` and `tf.contrib.rnn`."""
