"""Chains of stages: what to keep and what to compute again, for a budget."""
