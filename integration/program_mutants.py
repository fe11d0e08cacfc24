"""Passes, lowering, emitters, planner and runtime, each made wrong at one place: do programs tell?

    python integration/program_mutants.py --count 500            # table on standard output
    python integration/program_mutants.py --group lowering --list

A mutant changes one expression of one function: another comparison, `or` for `and`, a number one
too large, a condition negated, another operator in emitted text.  Each runs in a forked child, in
which the code of that function is replaced, on the same random programs, until one gives something
else than it means or fails.  Mutants of lines that no program runs are counted as "not reached".
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import os
import pickle
import random
import signal
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from byparts_conformance.programs import expected, generate
from byparts_conformance.programs.noise import Expected
from byparts_conformance.programs.program import Program, parts_of, side_by_side
from byparts_conformance.programs.trial import difference, run
from byparts_conformance.programs.ways import way_of

_IR, _OPT, _MEM, _RUN = (
    "byparts_tensor_ir",
    "byparts_optimize",
    "byparts_memplan",
    "byparts_runtime",
)
# What is made wrong: group -> modules.
GROUPS: dict[str, tuple[str, ...]] = {
    "passes": tuple(
        f"{_OPT}.{m}"
        for m in (
            "fold",
            "simplify",
            "merge",
            "movement",
            "reductions",
            "fuse",
            "legalize",
            "prune",
        )
    ),
    "lowering": tuple(
        f"{_IR}.lowering.{m}"
        for m in (
            *("elementwise", "index", "function", "movement", "narrow", "reduction", "running"),
            *("regions.axes", "regions.layout", "regions.region", "regions.steps"),
            *("regions.inplace", "regions.joins", "pooling"),
        )
    ),
    "loops": tuple(f"{_IR}.{m}" for m in ("index", "guards", "lower", "substitute", "expression")),
    "emitter of LLVM": tuple(
        f"{_IR}.emit.{m}" for m in ("llvm", "llvm_values", "llvm_operations", "strategy")
    ),
    "emitter of C": tuple(f"{_IR}.emit.{m}" for m in ("c", "values", "strategy", "patterns")),
    "planner": tuple(
        f"{_MEM}.{m}" for m in ("sharing", "plan", "place", "inplace", "lifetimes", "buffers")
    ),
    "runtime": tuple(
        f"{_RUN}.{m}"
        for m in (
            *("building.place", "building.planning", "building.schedule", "building.updates"),
            *("run.bind", "run.commit", "run.machine", "run.results", "run.moving", "run.bodies"),
            *("run.rounds", "run.loops", "building.signature", "building.invariants"),
        )
    ),
}
_SECONDS = 90  # a mutant that runs for longer hangs, and is told by that
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr},
}
_TEXTS = {" + ": " - ", " * ": " + ", " < ": " <= ", " == ": " != ", " & ": " | ", " ? ": " ?: "}


@dataclass(frozen=True)
class Mutant:
    """One changed place.

    Attributes:
        group, module, function: where it is.
        line: in the file of the module.
        what: the change, in words.
        number: of the change among all of the module.
    """

    group: str
    module: str
    function: str
    line: int
    what: str
    number: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.what}"


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, Callable[[ast.AST], None]]]:
    """Each place that a rule changes: (node, the change in words, what makes it in a copy)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            new = _COMPARISONS.get(type(node.ops[0]))
            if new is not None:
                words = f"{type(node.ops[0]).__name__} -> {new.__name__}"
                yield node, words, lambda n, new=new: n.ops.__setitem__(0, new())
        elif isinstance(node, ast.BoolOp):
            other = ast.Or if isinstance(node.op, ast.And) else ast.And
            words = "and -> or" if other is ast.Or else "or -> and"
            yield node, words, lambda n, other=other: setattr(n, "op", other())
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            swapped = _OPERATORS[type(node.op)]
            words = f"{type(node.op).__name__} -> {swapped.__name__}"
            yield node, words, lambda n, new=swapped: setattr(n, "op", new())
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield node, f"{node.value} -> {node.value + 1}", _one_more
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield node, f"{node.value} -> {not node.value}", _negated_constant
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield node, "condition negated", _negated_test
        elif isinstance(node, ast.JoinedStr):
            for old, text in _TEXTS.items():
                if any(isinstance(v, ast.Constant) and old in v.value for v in node.values):
                    words = f"emitted {old.strip()!r} -> {text.strip()!r}"
                    yield node, words, lambda n, old=old, text=text: _text(n, old, text)


def _one_more(node: Any) -> None:
    node.value += 1


def _negated_constant(node: Any) -> None:
    node.value = not node.value


def _negated_test(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _text(node: Any, old: str, new: str) -> None:
    for v in node.values:
        if isinstance(v, ast.Constant):
            v.value = v.value.replace(old, new)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a module by their qualified names; those inside belong to them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name != "__repr__":
                    yield f"{node.name}.{inner.name}", inner


def mutants_of(group: str, module: str) -> list[Mutant]:
    """All mutants of a module."""
    tree = ast.parse(_source(module))
    found = []
    for name, function in functions(tree):
        if _live(module, name, function.lineno) is None:
            continue
        body = ast.Module(_without_docstring(function.body), [])
        for number, (node, words, _) in enumerate(changes(body)):
            found.append(Mutant(group, module, name, getattr(node, "lineno", 0), words, number))
    return found


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body


def _source(module: str) -> str:
    return inspect.getsource(importlib.import_module(module))


def _live(module: str, name: str, line: int) -> FunctionType | None:
    """The function object of a qualified name, beneath decorators."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = vars(found).get(part)
        if found is None:
            return None
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    if isinstance(found, property):
        found = found.fget
    found = inspect.unwrap(getattr(found, "func", found))
    return (
        found if isinstance(found, FunctionType) and found.__name__ == name.split(".")[-1] else None
    )


def apply(mutant: Mutant) -> bool:
    """Replace the code of the function; whether that could be done."""
    tree = ast.parse(_source(mutant.module))
    function = dict(functions(tree))[mutant.function]
    body = ast.Module(_without_docstring(function.body), [])
    node, _, change = list(changes(body))[mutant.number]
    change(node)
    ast.fix_missing_locations(tree)
    live = _live(mutant.module, mutant.function, function.lineno)
    code = _code(compile(tree, _file(mutant.module), "exec"), mutant.function)
    if live is None or code is None or code.co_freevars != live.__code__.co_freevars:
        return False
    live.__code__ = code
    return True


def _file(module: str) -> str:
    return str(importlib.import_module(module).__file__)


def _code(code: CodeType, name: str) -> CodeType | None:
    """The code of a function or method inside the code of a module."""
    head, _, rest = name.partition(".")
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name == head:
            return _code(inner, rest) if rest else inner
    return None


# -- programs -------------------------------------------------------------------------------------

Batch = tuple[Sequence[Program], Sequence[Sequence[Expected]], dict[str, Any]]


def batches(backends: Sequence[str], count: int, size: int, seed: int) -> list[Batch]:
    """Programs with what they mean, and how they are built."""
    made = []
    for number, first in enumerate(range(seed, seed + count, size)):
        programs = [generate(s) for s in range(first, first + size)]
        way = way_of(number)
        wants = [expected(p) for p in programs]
        options = way.build_options(backends, first)
        made.append(([way.twin(p) for p in programs], wants, options))
    return made


def told(tried: Sequence[Batch]) -> str:
    """What the first batch says that is not right; "" if all are."""
    for number, (programs, wants, options) in enumerate(tried):
        try:
            runs = run(side_by_side(programs), **options)
        except BaseException as error:
            return f"batch {number}: {type(error).__name__}"
        parted = [parts_of(outputs, programs) for outputs in runs]
        for i, some in enumerate(wants):
            if difference([outputs[i] for outputs in parted], some):
                return f"batch {number}: wrong"
    return ""


def in_child(job: Callable[[], Any]) -> Any:
    """The result of a function in a forked process; "hangs" or "dies" where there is none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_SECONDS)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            with tempfile.TemporaryDirectory() as cache:
                os.environ["BYPARTS_CACHE"] = cache
                made = pickle.dumps(job())
            os.write(writing, made)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    return "hangs" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM else "dies"


def lines_run(modules: Sequence[str], tried: Sequence[Batch]) -> dict[str, set[int]]:
    """The lines of modules that these programs run."""
    files = {_file(m): m for m in modules}
    lines: dict[str, set[int]] = defaultdict(set)

    def local(frame: Any, event: str, _: Any) -> Any:
        lines[files[frame.f_code.co_filename]].add(frame.f_lineno)
        return local

    def trace(frame: Any, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    sys.settrace(trace)
    try:
        told(tried)
    finally:
        sys.settrace(None)
    return dict(lines)


def tried_mutant(mutant: Mutant, tried: Sequence[Batch]) -> str:
    """What told the mutant from what is right; "" if nothing did."""
    return told(tried) if apply(mutant) else "no mutant"


def main() -> int:
    args = _arguments()
    warnings.simplefilter("ignore")
    groups = args.group or list(GROUPS)
    os.environ["BYPARTS_EMITTER"] = "c" if groups == ["emitter of C"] else "llvm"
    modules = {g: [m for m in GROUPS[g] if _exists(m)] for g in groups}
    tried = batches(args.backends.split(","), args.programs, args.batch, args.seed)
    reached = in_child(lambda: lines_run([m for ms in modules.values() for m in ms], tried))
    assert isinstance(reached, dict), f"the programs are not right without a mutant: {reached}"
    assert (said := in_child(lambda: told(tried))) == "", f"not right without a mutant: {said}"
    dice = random.Random(args.seed)
    every = [m for g, ms in modules.items() for name in ms for m in mutants_of(g, name)]
    live = [m for m in every if m.line in reached.get(m.module, ())]
    chosen = dice.sample(live, min(args.count, len(live)))
    print(
        f"{len(every):,} mutants, {len(live):,} of lines that programs run; tried {len(chosen):,}"
    )
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for k, mutant in enumerate(chosen):
        said = in_child(lambda m=mutant: tried_mutant(m, tried))
        kind = "survives" if not said else "no mutant" if said == "no mutant" else "told"
        counts[mutant.group][kind] += 1
        if kind == "survives":
            print(f"survives: {mutant}", flush=True)
        if args.log:
            with Path(args.log).open("a") as log:
                log.write(f"{k}\t{mutant}\t{said or 'survives'}\n")
    for group, some in counts.items():
        print(f"{group}: {some['told']} of {some['told'] + some['survives']} told")
    return 0


def _exists(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--group", action="append", choices=list(GROUPS))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--programs", type=int, default=160)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", default="native,numpy")
    parser.add_argument("--log", default="")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
