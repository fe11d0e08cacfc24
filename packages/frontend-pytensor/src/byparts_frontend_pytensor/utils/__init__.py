"""Vocabularies, under the name that programs of pytensor import."""
