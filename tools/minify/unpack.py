"""Modules of a package that stand together in one file, each imported when it is asked for.

`pack.py` writes such a file, `_modules.py`: a function for each module, whose names are all global,
so that its code, run in the module's namespace, is the module's.  One file is compressed as a whole
and read at once, where sixty would be sixty look-ups on disk.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
else:
    ModuleSpec = type(__spec__)

_packs: dict[str, ModuleType] = {}


def unpack(package: str) -> None:
    """Let `import package.name` find the functions of `package._modules`."""
    name = package + "._modules"
    __import__(name)
    _packs[package] = sys.modules[name]


class _Finder:
    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, inside = name.partition(".")
        pack = _packs.get(package)
        if pack is None or not inside:
            return None
        function = _function(inside)
        if not hasattr(pack, function):
            from byparts_graph_ir.errors import LeftOut

            wheel = f"the device wheel of {package.replace('_', '-')}"
            raise LeftOut(f"{name} is left out of {wheel}; the full wheel has it", name=name)
        is_folder = any([f.startswith(function + "_") for f in vars(pack)])
        return ModuleSpec(name, _Finder, origin=pack.__file__, is_package=is_folder)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def get_code(name: str) -> CodeType:
        package, _, inside = name.partition(".")
        code: CodeType = getattr(_packs[package], _function(inside)).__code__
        return code

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        module.__file__ = _packs[module.__name__.partition(".")[0]].__file__
        exec(_Finder.get_code(module.__name__), module.__dict__)


def _function(inside: str) -> str:
    """Of a module: `run.program` -> `run__program_`."""
    return inside.replace(".", "__") + "_"


sys.meta_path.append(_Finder)
