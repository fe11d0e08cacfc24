"""Every op of this part, by its name in text."""

from byparts_graph_ir import Op
from byparts_linalg.determinant import Cofactor, Det, SlogDet
from byparts_linalg.factor import Cholesky, Qr
from byparts_linalg.fourier import Fft, Irfft, Rfft
from byparts_linalg.solve import Inv, Pinv, Solve
from byparts_linalg.spectral import Eigh, Svd
from byparts_linalg.triangle import Triangle

OPS: dict[str, type[Op]] = {
    op.name: op
    for op in (
        *(Cholesky, Cofactor, Det, Eigh, Inv, Pinv, Qr, SlogDet, Solve, Svd, Triangle),
        *(Fft, Irfft, Rfft),
    )
}
