"""Builds wheels for small devices: what everybody gets, without what only people read.

    python tools/device_wheels.py OUT              # those that run a program on NumPy
    python tools/device_wheels.py OUT --parts memplan

The same names and versions, "+device" behind.  Docstrings, comments and annotations are
gone, and with them the checks of arguments (`minify/strip.py`), so is what a device does not do,
such as searching for better programs (`minify/lean.py`).  Local variables have short names
(`minify/shorten.py`), and the modules of a part stand in one file (`minify/pack.py`), because a
wheel compresses each file by itself.  The licence is in byparts-graph-ir, which all others need.
Install them with pip: run from the path unpacked, the whole file is compiled at each start.
"""

from __future__ import annotations

import argparse
import ast
import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "integration"))

from combinations.environment import build_wheels, wheel_of
from combinations.facts import closure, read_parts
from combinations.plan import SMALL_DEVICE
from minify.lean import lean
from minify.pack import FOLDER, pack
from minify.shorten import shorten
from minify.strip import drop_unused_imports, strip, unparse

ROOT = Path(__file__).resolve().parent.parent
TAG = "device"
CARRIER = "byparts_graph_ir"  # has the licence, and finds the modules of all
ALONE = ("__init__", "__main__", "plugin")  # what others look for as files
UNPACK = f"from {CARRIER}.unpack import unpack\nunpack(__name__)\n"
HEADERS = ("Metadata-Version", "Name", "License-Expression", "Requires-", "Provides-Extra")
Files = dict[str, str]


def device_wheels(wheels: Sequence[Path], out: Path) -> list[Path]:
    """Write them, and say where."""
    opened = {wheel: _read(wheel) for wheel in wheels}
    modules, kept = _modules([files for files in opened.values()])
    modules = lean(modules)
    drop_unused_imports(modules, kept)
    shorten(modules)
    out.mkdir(parents=True, exist_ok=True)
    return [_write(_device(files, modules), wheel, out) for wheel, files in opened.items()]


def _read(wheel: Path) -> Files:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def _modules(wheels: Sequence[Files]) -> tuple[dict[str, ast.Module], frozenset[str]]:
    """All modules without docs, by name; and where an import is there for its effect."""
    modules, kept = {}, set()
    for name, text in [
        item for files in wheels for item in files.items() if item[0].endswith(".py")
    ]:
        module = name.removesuffix(".py").replace("/", ".")
        modules[module] = strip(text)
        lines = text.splitlines()
        kept |= {f"{module}:{i}" for i, line in enumerate(lines, 1) if "noqa: F401" in line}
    return modules, frozenset(kept)


def _device(files: Files, modules: Mapping[str, ast.Module]) -> Files:
    """The files of the small wheel."""
    made: Files = {}
    (package,) = {name.partition("/")[0] for name in files if name.endswith("/__init__.py")}
    inside = {
        m.partition(".")[2]: tree for m, tree in modules.items() if m.startswith(package + ".")
    }
    init = unparse(modules[f"{package}.__init__"])
    made[f"{package}/__init__.py"] = UNPACK + init
    for name in set(ALONE[1:]) & inside.keys():
        made[f"{package}/{name}.py"] = unparse(inside[name])
    packed = {
        name.removesuffix(".__init__").replace(".", FOLDER): tree
        for name, tree in inside.items()
        if name not in ALONE
    }
    made[f"{package}/_modules.py"] = pack(packed)
    if package == CARRIER:
        minify = Path(__file__).parent / "minify"
        for name, file in (("unpack", "unpack.py"), ("__main__", "command.py")):
            made[f"{package}/{name}.py"] = unparse(strip((minify / file).read_text()))
    for name, text in files.items():
        folder, _, last = name.partition(".dist-info/")
        if last in ("WHEEL", "entry_points.txt") or (package == CARRIER and "LICENSE" in last):
            made[f"{folder}+{TAG}.dist-info/{last}"] = text
        elif last == "METADATA":
            made[f"{folder}+{TAG}.dist-info/METADATA"] = _metadata(text, package == CARRIER)
    return made


def _metadata(text: str, licence: bool) -> str:
    """What pip goes by, and one sentence."""
    headers = text.partition("\n\n")[0].splitlines()
    lines = [line for line in headers if line.startswith(HEADERS)]
    version = next(line for line in headers if line.startswith("Version:"))
    lines[2:2] = [f"{version}+{TAG}", "Summary: For devices: without docstrings and annotations"]
    return "\n".join([*lines, *(["License-File: LICENSE"] if licence else []), "", ""])


def _write(files: Files, wheel: Path, out: Path) -> Path:
    """The wheel, with its record; the same bytes every time."""
    info = next(name.partition("/")[0] for name in files if name.endswith("/METADATA"))
    record = [f"{name},sha256={_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    path = out / re.sub(r"^([^-]+-[^-]+)", rf"\1+{TAG}", wheel.name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: no clock
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, text, compresslevel=9)
    return path


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--parts", nargs="+", default=SMALL_DEVICE, help="and what they need")
    given = parser.parse_args()
    parts = read_parts(ROOT)
    wanted = {name: parts[name] for name in sorted(closure(given.parts, parts))}
    with TemporaryDirectory() as folder:
        build_wheels(wanted, Path(folder))
        wheels = [wheel_of(part, Path(folder)) for part in wanted.values()]
        made = device_wheels(wheels, given.out)
        for small, whole in zip(made, wheels, strict=True):
            print(f"{small.stat().st_size:9,} of {whole.stat().st_size:9,} bytes  {small.name}")
    print(f"{sum(small.stat().st_size for small in made):9,} bytes together")


if __name__ == "__main__":
    main()
