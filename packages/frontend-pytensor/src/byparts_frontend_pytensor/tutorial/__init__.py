"""Trainers that the tutorials import."""
