"""Placements and curves for people, as SVG and as text."""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.pictures.curve import (
        curve_text as curve_text,
        live_bytes as live_bytes,
    )
    from byparts_memplan.pictures.curve_svg import (
        curve_svg as curve_svg,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        curve="curve_text live_bytes",
        curve_svg="curve_svg",
    )
