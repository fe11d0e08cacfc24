"""Pictures of graphs: which boxes and frames there are, where they stand, and the SVG."""

from byparts_draw.svg import svg as svg

__version__ = "0.2.0"
__all__ = ["svg"]
