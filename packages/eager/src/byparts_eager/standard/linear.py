"""Linear algebra of the array API standard: products of matrices and vectors."""
from byparts_graph_ir import ShapeError
import byparts_opset as ops
from byparts_eager.array import asarray
from byparts_eager.operators import _cast
from byparts_eager.promotion import promoted
def matmul(x1, x2):
    x, y = asarray(x1), asarray(x2)
    if x.type.rank == 0 or y.type.rank == 0: raise ShapeError(f"matmul: {x.type} and {y.type}: a 0-d array is no matrix; use *")
    t = promoted(x.type.dtype, y.type.dtype)
    x, y = _cast(x, t), _cast(y, t)
    if x.type.rank > 1 and y.type.rank > 1: return ops.matmul(x, y)
    a = ops.expand_dims(x, 0) if x.type.rank == 1 else x
    b = ops.expand_dims(y, 1) if y.type.rank == 1 else y
    z = ops.matmul(a, b)
    if x.type.rank == 1: z = ops.squeeze(z, -2)
    return ops.squeeze(z, -1) if y.type.rank == 1 else z
