"""Recurrent networks: cells, loops, attention, decoders."""
