"""Plain C11 for a function: one number after the other, no vectors, no threads, no C++.

    void byparts_NAME(void **a);  // buffers in order, workspace, `int64_t *` of the sizes

For machines without a C++ compiler, and an example of a language: a table, what the table needs
before the functions, and what becomes of loops, all of which run one round after the other.  Sums
are added up in the order of the loops; C++ adds up lanes, so a sum may end in other last digits.
Compile with `FLAGS`, which let integers wrap and round each operation once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.emit.c_tables import CPP
from byparts_tensor_ir.emit.function import Function
from byparts_tensor_ir.emit.halves import SCALARS
from byparts_tensor_ir.emit.language import Fields, Forms
from byparts_tensor_ir.emit.source import Source
from byparts_tensor_ir.emit.statements import Statements
from byparts_tensor_ir.emit.values import Values
from byparts_tensor_ir.emit.vectors import C_TYPES
from byparts_tensor_ir.expression import INTEGERS
from byparts_tensor_ir.functions import FUNCTIONS
from byparts_tensor_ir.guards import without_guards
from byparts_tensor_ir.lower import placed_identities
from byparts_tensor_ir.statement import THREADS, Buffer, For, Func

FLAGS = ("-std=c11", "-fwrapv", "-ffp-contract=off")


def _same_bits(x: Fields) -> str:
    """The bits of a value as another dtype, by way of a union."""
    source, target = x.language.types[x["source"]], x["memory"]
    return f"((union {{ {source} x; {target} y; }}){{ {x['a']} }}).y"


C11 = replace(
    CPP,
    forms=Forms(
        {
            **CPP.forms,
            **dict.fromkeys(FUNCTIONS, "{op}{f}({args})"),
            ("bitcast", "any", "any"): _same_bits,
            ("cast", "float", "unsigned"): "({memory})unsigned_of({a})",
            "floordiv": "floordiv_{dtype}({a}, {b})",
            "mod": "floormod_{dtype}({a}, {b})",
            "shl": "shift_left_{dtype}({a}, {b})",
            "shr": "shift_right_{dtype}({a}, {b})",
            "index floordiv": "floordiv_i64({a}, {b})",
            "index mod": "floormod_i64({a}, {b})",
        }
    ),
    statements={
        **CPP.statements,
        "function": "void {name}(void **a)",
        "parameter": "{kind} *restrict {name} = ({kind} *)a[{i}]; (void){name};",
        "alias": "{kind} *{name} = ({kind} *)a[{i}]; (void){name};",
        "size": CPP.statements["size"] + " (void){name};",
        "workspace": "{kind} *restrict {name} = ({kind} *)((char *)a[{i}] + {offset});",
        "local": "_Alignas(64) {type} {name}[{count}];",
    },
)

_INTEGER = """
static inline {t} floordiv_{d}({t} a, {t} b) {{
  if (b == 0) return 0;
  {negated}return ({t})(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}}
static inline {t} floormod_{d}({t} a, {t} b) {{
  if (b == 0{or_least}) return 0;
  {t} r = ({t})(a % b);
  return r != 0 && (r < 0) != (b < 0) ? ({t})(r + b) : r;
}}
static inline {t} shift_left_{d}({t} a, {t} b) {{
  return (uint64_t)b < 8 * sizeof({t}) ? ({t})((uint64_t)a << b) : ({t})0;
}}
static inline {t} shift_right_{d}({t} a, {t} b) {{
  return (uint64_t)b < 8 * sizeof({t}) ? ({t})(a >> b) : ({t})(a < 0 ? -1 : 0);
}}"""


def _integer_functions(dtype: str) -> str:
    """The functions of one dtype; by -1 the least number has no quotient."""
    signed = dtype[0] == "i"
    negated = "if (b == -1) return ({t})(0 - (uint64_t)a);\n  " if signed else ""
    names = {"d": dtype, "t": C_TYPES[dtype]}
    or_least = " || b == -1" if signed else ""
    return _INTEGER.format(**names, negated=negated.format(**names), or_least=or_least)


HEADER = (
    "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    "#define INLINE static inline\n"
    + SCALARS
    + """
static inline uint64_t unsigned_of(double a) {
  return a < 0 ? (uint64_t)(int64_t)a : (uint64_t)a;
}
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }"""
    + "".join(map(_integer_functions, INTEGERS))
    + "\n"
)


def emit_c11(func: Func, aliases: Sequence[tuple[Buffer, Buffer]] = ()) -> Source:
    """C11 for the function, to be compiled after `HEADER`.

    Args:
        func: any function without GPU threads.
        aliases: pairs of parameters that the caller may give as one block of memory.

    Raises:
        EmitError: a local buffer of unknown size, or a statement that has no C.
    """
    func = without_guards(placed_identities(func))
    function = Function(func, C11, {b for pair in aliases for b in pair})
    statements = Statements(Values(C11, function.text))

    def loop(s: For) -> None:
        if s.kind in THREADS:
            raise EmitError(f"loop {s.name} is bound to {s.kind}: only for GPUs")
        statements.loop(s)

    statements.forms[For] = loop
    statements.inside = lambda s: function.declare(s.var)
    function.begin()
    statements.write(func.body)
    size = function.placement.workspace_bytes
    return Source(function.name, function.whole(), frozenset(), size)
