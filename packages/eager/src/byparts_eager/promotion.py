"""Type promotion of the array API standard: which dtype an op on two dtypes computes in.

https://data-apis.org/array-api/2024.12/API_specification/type_promotion.html.  Within a kind the
larger one, u8 and a signed integer the next larger signed one; between integers and floats there is
none, and the error says to cast.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from byparts_eager.dtype import DTYPES, DType, dtype_of
from byparts_graph_ir import BITS, FLOATS, UNSIGNED, Value


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that an op on these computes in; Python's numbers take the dtype of the arrays.

    Raises:
        TypeError: they have no common dtype, or a number is of another kind than the arrays.
    """
    dtypes = [x.dtype if isinstance(x, Value) else x for x in arrays_and_dtypes
              if not isinstance(x, (int, float, complex))]  # fmt: skip
    numbers = [x for x in arrays_and_dtypes if isinstance(x, (int, float, complex))]
    if not dtypes:
        raise TypeError("result_type: numbers alone have no dtype; give an array or a dtype")
    names = [dtype_of(d).ours for d in dtypes]
    result = names[0]
    for name in names[1:]:
        result = promoted(result, name)
    for number in numbers:
        check_number(number, result)
    return DTYPES[result]


@cache
def promoted(a: str, b: str) -> str:
    """The dtype of `a` and `b` together.

    Raises:
        TypeError: there is none.
    """
    if a == b:
        return a
    if "bool" in (a, b) or (a in FLOATS) != (b in FLOATS):
        raise TypeError(
            f"{DTYPES[a]} and {DTYPES[b]} have no common dtype; cast one, as in astype(x, {b!r})"
        )
    if a in FLOATS:
        return "f32" if {a, b} == {"f16", "bf16"} else max(a, b, key=BITS.__getitem__)
    if (a in UNSIGNED) != (b in UNSIGNED):
        unsigned, signed = (a, b) if a in UNSIGNED else (b, a)
        bits = max(BITS[signed], 2 * BITS[unsigned])
        if bits <= 64:
            return f"i{bits}"
        raise TypeError(
            f"{DTYPES[a]} and {DTYPES[b]}: no dtype has all their numbers; cast one, as in "
            f"astype(x, {signed!r})"
        )
    return max(a, b, key=BITS.__getitem__)


def check_number(number: Any, dtype: str) -> None:
    """Refuse a number of Python beside an array of this dtype, if it is of a higher kind.

    Raises:
        TypeError: a float beside integers, a bool beside numbers, a number beside bools.
    """
    is_bool = isinstance(number, bool)
    fits = is_bool == (dtype == "bool") and (not isinstance(number, float) or dtype in FLOATS)
    if isinstance(number, complex) or not fits:
        raise TypeError(
            f"the number {number} is beside an array of dtype {DTYPES[dtype]}, whose kind it is "
            "not; cast the array, as in astype(x, float32)"
        )
