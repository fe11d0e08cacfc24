"""Graphs as pictures: which boxes and frames there are, where they stand, and the SVG."""
