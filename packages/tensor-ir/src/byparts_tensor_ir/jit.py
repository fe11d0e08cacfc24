"""From LLVM IR to functions in this process, through llvmlite: no compiler on the machine.

llvmlite is LLVM in one wheel, made by the Numba project.  Code is made for this machine, with
registers of 512 bits where it has them; nothing is rounded otherwise than it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import llvmlite.binding as llvm

from byparts_tensor_ir.compile import CompilerError, caller
from byparts_tensor_ir.emit.source import LlvmSource
from byparts_tensor_ir.target import TARGETS, target

_one_at_a_time = Lock()  # modules share LLVM's global context
_engines: list[Any] = []  # each owns its code


def machine() -> Any:
    """A new LLVM target machine for this CPU; each engine owns the one that it is given."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    features.update({f: False for t in TARGETS for f in t.features if f not in target().features})
    features["prefer-256-bit"] = False
    kind = llvm.Target.from_triple(llvm.get_process_triple())
    return kind.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
        opt=3,
        reloc="pic",
        codemodel="small",
    )


def compiled(sources: Sequence[LlvmSource]) -> dict[str, int]:
    """Compile functions; their addresses by name.  The code stays until the process ends.

    Raises:
        CompilerError: LLVM refuses the code, or the C library lacks a function.
    """
    with _one_at_a_time:
        target = machine()
        # LLVM finds functions of the C library once the process has an engine.
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        for module in [_module(s) for s in sources]:
            optimize(module, target)
            engine.add_module(module)
        engine.finalize_object()
        _engines.append(engine)
        return {s.name: engine.get_function_address(s.name) for s in sources}


def _module(source: LlvmSource) -> Any:
    """The parsed module, with the functions of the C library that it calls."""
    for name in source.libm:
        address = llvm.address_of_symbol(name)
        if address is None:
            raise CompilerError(f"{source.name} calls {name}, which the C library does not have")
        llvm.add_symbol(f"libm.{name}", address)
    try:
        module = llvm.parse_assembly(source.body)
        module.verify()
    except RuntimeError as error:
        raise CompilerError(f"LLVM refuses {source.name}: {error}") from error
    return module


def optimize(module: Any, target: Any) -> None:
    """Run LLVM's passes on a module, in place."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)


def callable_of(source: LlvmSource) -> Callable[..., None]:
    """Compile one function: `f(pointers, sizes)` of addresses and numbers."""
    return caller(compiled([source])[source.name], source.workspace_bytes)
