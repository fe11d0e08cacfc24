"""Streaming metrics, metric learning, and losses of contrib."""
