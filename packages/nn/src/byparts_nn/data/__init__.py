"""Samples in batches, in an order that can be resumed anywhere."""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_nn.data.augment import (
        crop as crop,
        cutout as cutout,
        flip as flip,
        normalise as normalise,
    )
    from byparts_nn.data.csv_table import (
        read_csv as read_csv,
    )
    from byparts_nn.data.image_folder import (
        ImageFolder as ImageFolder,
    )
    from byparts_nn.data.pipeline import (
        Data as Data,
        Position as Position,
    )
    from byparts_nn.data.shipped import (
        digits as digits,
        sonnets as sonnets,
    )
    from byparts_nn.data.sources import (
        Arrays as Arrays,
        Items as Items,
        Stream as Stream,
    )
    from byparts_nn.data.text_lines import (
        TextLines as TextLines,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        augment="crop cutout flip normalise",
        csv_table="read_csv",
        image_folder="ImageFolder",
        pipeline="Data Position",
        shipped="digits sonnets",
        sources="Arrays Items Stream",
        text_lines="TextLines",
    )
