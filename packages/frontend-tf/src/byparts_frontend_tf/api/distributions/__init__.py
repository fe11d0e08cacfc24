"""Random numbers of distributions; the distributions themselves are in byparts-tf-contrib."""
