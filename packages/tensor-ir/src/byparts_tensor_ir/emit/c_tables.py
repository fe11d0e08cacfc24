"""C++ as tables: operations on numbers, and on the vectors of GCC and clang."""

from __future__ import annotations

from byparts_tensor_ir.emit.language import Form, Forms, Language
from byparts_tensor_ir.emit.vectors import C_TYPES, VALUE_TYPES, literal
from byparts_tensor_ir.functions import FUNCTIONS

OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_BUILTIN = ("sqrt", "floor", "ceil", "rint", "trunc", "fma")

C_FORMS: dict[object, Form] = {
    **{op: f"{{a}} {sign} {{b}}" for op, sign in {**OPERATORS, **COMPARISONS}.items()},
    # C computes small integers as int.
    **{(op, "small"): f"({{memory}})({{a}} {sign} {{b}})" for op, sign in OPERATORS.items()},
    **{op: "__builtin_{op}{f}({args})" for op in _BUILTIN},
    **dict.fromkeys(FUNCTIONS, "__builtin_{op}{f}({args})"),
    ("neg", "small"): "({memory})(-{a})",
    "neg": "-{a}",
    "not": "!{a}",
    ("min", "float"): "({a} < {b} || {a} != {a}) ? {a} : {b}",
    ("max", "float"): "({a} > {b} || {a} != {a}) ? {a} : {b}",
    "min": "({a} < {b}) ? {a} : {b}",
    "max": "({a} > {b}) ? {a} : {b}",
    ("abs", "float"): "__builtin_fabs{f}({a})",
    ("abs", "small"): "({memory})(({a} < 0 ? -{a} : {a}))",
    "abs": "({a} < 0 ? -{a} : {a})",
    "select": "{a} ? {b} : {c}",
    ("cast", "any", "bool"): "{a} != 0",
    ("cast", "float", "half"): "rounded_{dtype}({a})",
    ("cast", "half", "any"): "{a}",  # a value of f32
    ("cast", "float", "unsigned"): "({memory})unsigned_of({a})",  # modulo 2^bits
    ("cast", "any", "any"): "({type}){a}",
    ("bitcast", "half", "any"): "({memory})to_{source}({a})",
    ("bitcast", "any", "half"): "from_{dtype}((uint16_t){a})",
    ("load", "half"): "from_{dtype}({a})",
    "load": "{a}",
    ("store", "half"): "to_{dtype}({a})",
    "store": "{a}",
    "index min": "least({a}, {b})",
    "index max": "most({a}, {b})",
}

CPP = Language(
    C_TYPES,
    VALUE_TYPES,
    Forms(
        {
            **C_FORMS,
            ("bitcast", "any", "any"): "__builtin_bit_cast({memory}, {a})",
            "floordiv": "floordiv<{type}>({a}, {b})",
            "mod": "floormod<{type}>({a}, {b})",
            "shl": "shift_left<{type}>({a}, {b})",
            "shr": "shift_right<{type}>({a}, {b})",
            "index floordiv": "floordiv<int64_t>({a}, {b})",
            "index mod": "floormod<int64_t>({a}, {b})",
        }
    ),
    literal,
    {
        "function": 'extern "C" void {name}(void **a)',
        "parameter": "{kind} * __restrict {name} = ({kind} *)a[{i}];",
        "alias": "{kind} * {name} = ({kind} *)a[{i}];",
        "size": "const int64_t {name} = ((const int64_t *)a[{table}])[{i}];",
        "workspace": "{kind} *__restrict {name} = ({kind} *)((char *)a[{i}] + {offset});",
        "loop": "for (int64_t {name} = {low}; {name} < {end}; ++{name})",
        "rare": "if (__builtin_expect({condition}, 0))",
        "local": "{type} {name}[{count}] __attribute__((aligned(64)));",
    },
)

_INSIDE = "(({b} >= 0) & ({b} < {bits}))"  # whether a shift leaves something
_I32 = "__builtin_convertvector({a}, {i32})"
_MASK = {"and": "&", "or": "|", "xor": "^", "ne": "^", "eq": "=="}
_MASK |= {"lt": "& ~", "le": "| ~"}  # b and not a; b or not a

VECTORS = Forms(
    {
        **{op: f"{{a}} {sign} {{b}}" for op, sign in OPERATORS.items()},
        **{op: f"({{a}} {sign} {{b}})" for op, sign in COMPARISONS.items()},
        **{("mask", op): f"({{b}} {sign} {{a}})" for op, sign in _MASK.items()},
        **dict.fromkeys(_BUILTIN, "{op}_{w}({args})"),
        "not": "~{a}",
        "neg": "-{a}",
        "shl": f"{_INSIDE} ? {{a}} << {{b}} : ({{v}}){{{{}}}}",
        ("shr", "signed"): f"{{a}} >> ({_INSIDE} ? {{b}} : {{last_bit}} - ({{v}}){{{{}}}})",
        "shr": f"{_INSIDE} ? {{a}} >> {{b}} : ({{v}}){{{{}}}}",
        ("min", "float"): "({a} != {a}) ? {a} : lesser_{w}({a}, {b})",
        ("max", "float"): "({a} != {a}) ? {a} : greater_{w}({a}, {b})",
        "min": "({a} < {b}) ? {a} : {b}",
        "max": "({a} > {b}) ? {a} : {b}",
        ("abs", "float"): f"({{v}})(({{i}}){{a}} & {(1 << 31) - 1})",
        ("abs", "f64"): f"({{v}})(({{i}}){{a}} & {(1 << 63) - 1}LL)",
        "abs": "({a} < 0 ? -{a} : {a})",
        ("cast", "float", "bool"): "({a} != 0)",
        ("cast", "any", "bool"): "({a} != 0)",
        ("cast", "half", "any"): "{a}",
        ("cast", "float", "half"): "rounded_{v}({a})",
        ("cast", "bool", "float"): "__builtin_convertvector(-(({i}){a}), {v})",
        ("cast", "bool", "any"): "({v})-(({i}){a})",
        ("cast", "float", "small"): f"__builtin_convertvector({_I32}, {{v}})",
        ("cast", "float", "u64"): "by lane",
        # Of a negative number modulo 2^bits.
        (
            "cast",
            "float",
            "u32",
        ): "__builtin_convertvector(__builtin_convertvector({a}, {i64}), {v})",
        ("cast", "any", "any"): "__builtin_convertvector({a}, {v})",
        ("bitcast", "bool", "any"): "({v})-(({i}){a})",
        ("bitcast", "half", "any"): "({v})to_{s}({a})",
        ("bitcast", "any", "half"): "from_{v}(({h}){a})",
        ("bitcast", "any", "any"): "({v}){a}",
    }
)
