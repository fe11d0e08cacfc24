"""Linear algebra and Fourier transforms of the array API standard, on values of any backend.

A name's module is imported when the name is first used; the transforms are in `byparts_linalg.fft`.
"""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_linalg.determinant import *  # noqa: F403
    from byparts_linalg.factor import *  # noqa: F403
    from byparts_linalg.matrices import MatrixError as MatrixError
    from byparts_linalg.norms import *  # noqa: F403
    from byparts_linalg.products import *  # noqa: F403
    from byparts_linalg.registry import OPS as OPS
    from byparts_linalg.solve import *  # noqa: F403
    from byparts_linalg.spectral import *  # noqa: F403
    from byparts_linalg.triangle import *  # noqa: F403

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        determinant="det slogdet",
        factor="cholesky qr",
        matrices="MatrixError",
        norms="matrix_norm matrix_rank vector_norm",
        products="cross diagonal matmul matrix_power matrix_transpose outer tensordot trace vecdot",
        registry="OPS",
        solve="inv pinv solve",
        spectral="eigh eigvalsh svd svdvals",
        triangle="tril triu",
    )
