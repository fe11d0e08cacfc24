"""Named arrays in files: .npz and .safetensors, read without running code of the file."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_weights.array_file import (
        ArrayFile as ArrayFile,
    )
    from byparts_weights.files import (
        load as load,
        open_file as open_file,
        save as save,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__, checked=True, array_file="ArrayFile", files="load open_file save"
    )
