"""Pictures of graphs: which boxes and frames there are, where they stand, and the SVG."""

from byparts_draw.svg import svg as svg

__version__ = "0.1.0"
__all__ = ["svg"]
