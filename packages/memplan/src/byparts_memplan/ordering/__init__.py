"""Schedules of a graph: list scheduling, bounds, exact search."""
