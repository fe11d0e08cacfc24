"""Connectionist temporal classification, from the branch ctc."""
