"""The command that installs a part or a package: what error messages advise.

The parts of byparts need not be on a package index.  They are where byparts-graph-ir was installed
from: in folders of the same clone, in wheels of the same folder, or in the same repository.  pip
records that origin in `direct_url.json` (https://peps.python.org/pep-0610/).
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "byparts-"

# kind -> part -> what it provides; integration/test_parts.py compares with what the parts say
PROVIDED = {
    "passes": {
        "autodiff": "gradients jvp",
        "memplan": "order",
        "recompute": "rematerialize",
        "optimize": ("optimize canonical fold simplify merge prune share fuse legalize transfer"),
    },
    "planners": {"memplan": "greedy"},
    "backends": {
        "kernels-cuda": "cuda",
        "kernels-native": "native",
        "kernels-numpy": "numpy",
        "kernels-torch": "torch-cuda torch",
    },
    "frontends": {
        **{"frontend-tf": "tf", "frontend-torch": "torch", "frontend-onnx": "onnx"},
        **{"tinyflow": "tinyflow"},
    },
    "commands": {"conformance": "check fuzz", "memplan": "plan place", "recompute": "tradeoff"},
    "pictures": {"draw": "svg"},
    "names": {
        "tf-contrib": "tf tf-kinds",
        "tf-estimator": "tf tf-kinds",
        "tf-input": "tf tf-kinds",
        "tf-keras": "tf",
    },
}


def provider(kind: str, name: str) -> str:
    """The distribution of byparts that provides what has this name; "" if none does."""
    parts = PROVIDED.get(kind, {})
    return next((PREFIX + part for part, names in parts.items() if name in names.split()), "")


def install_command(name: str, *, newer: bool = False) -> str:
    """The `pip install ...` for a distribution or a module, to type in the working directory.

        install_command("byparts-opset")    # pip install packages/opset, in a clone
        install_command("ml_dtypes")        # pip install ml_dtypes

    Args:
        name: of the distribution or the module.
        newer: whether it is installed already and has to be upgraded.
    """
    upgrade = "pip install -U" if newer else "pip install"
    distribution = name.replace("_", "-")
    if not distribution.startswith(PREFIX):
        return f"{upgrade} {name}"
    here = Path(__file__).resolve()
    if len(here.parents) > 4 and (folder := _folder_in_clone(distribution, here.parents[4])):
        return (
            f"git -C {_shell_path(folder.parents[1])} pull"
            if newer
            else f"pip install {_shell_path(folder)}"
        )
    wheel = here.parents[2]
    url, recorded = (wheel.as_uri(), {}) if wheel.suffix == ".whl" else _recorded_origin()
    return f"{upgrade} {_requirement(distribution, url, recorded)}"


def _folder_in_clone(distribution: str, packages: Path) -> Path | None:
    """The folder of a distribution in the folder `packages` of a clone; `None`: there is none."""
    folder = packages / distribution.removeprefix(PREFIX)
    return folder if (folder / "pyproject.toml").is_file() else None


def _recorded_origin() -> tuple[str, dict[str, object]]:
    """The URL that byparts-graph-ir was installed from, and the whole record of pip.

    Both are empty where pip recorded none.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = json.loads(distribution("byparts-graph-ir").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", {}
    recorded = recorded if isinstance(recorded, dict) else {}
    return str(recorded.get("url", "")), recorded


def _requirement(distribution: str, url: str, recorded: dict[str, object]) -> str:
    """The argument of `pip install` for a distribution.

    Args:
        distribution: its name.
        url: that byparts-graph-ir was installed from; "" if it came from an index.
        recorded: pip's whole record of that.
    """
    vcs = recorded.get("vcs_info")
    if isinstance(vcs, dict):
        part = f"subdirectory=packages/{distribution.removeprefix(PREFIX)}"
        return f'"{distribution} @ {vcs.get("vcs")}+{url}@{vcs.get("commit_id")}#{part}"'
    folder, _, file = url.rpartition("/")
    if not folder:
        return distribution
    local = _folder_of(folder)
    if local and (sources := _folder_in_clone(distribution, local)):
        return _shell_path(sources)
    pattern = f"{distribution.replace('-', '_')}-*.whl"
    wheels = sorted(local.glob(pattern)) if local else []
    if wheels:
        return _shell_path(wheels[-1])
    return f"{pattern}, from where {file} is" if file.endswith(".whl") else distribution


def _folder_of(url: str) -> Path | None:
    """The path that a `file:` URL names; `None` for other URLs."""
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _shell_path(path: Path) -> str:
    """The path, quoted for a shell; relative where it is in the working directory."""
    from shlex import quote

    try:
        near = path.relative_to(Path.cwd())
    except (ValueError, OSError):  # elsewhere; or the working directory was removed
        return quote(str(path))
    return quote(str(near) if near == Path() else f".{os.sep}{near}")
