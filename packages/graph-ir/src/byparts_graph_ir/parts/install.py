"""The command that installs a part or a package: what error messages advise.

Our parts need not be on an index.  Where byparts-graph-ir itself comes from says where the others
are: a clone has them in folders beside it, a wheel has theirs beside it, a repository has them all.
pip records the origin in `direct_url.json` (https://peps.python.org/pep-0610/).
"""

from __future__ import annotations

import os
from pathlib import Path

PREFIX = "byparts-"

# kind -> part -> what it provides; a test compares with what the parts say
PROVIDED = {
    "passes": {
        "autodiff": "gradients jvp",
        "memplan": "order",
        "recompute": "rematerialize",
        "optimize": "optimize canonical fold simplify merge fuse legalize",
    },
    "planners": {"memplan": "greedy"},
    "backends": {
        "kernels-cuda": "cuda",
        "kernels-numpy": "numpy",
        "kernels-torch": "torch-cuda torch",
    },
    "frontends": {"frontend-tf": "tinyflow", "frontend-torch": "torch"},
    "commands": {"conformance": "check", "memplan": "plan place", "recompute": "tradeoff"},
    "pictures": {"draw": "svg"},
}


def provider(kind: str, name: str) -> str:
    """The distribution of ours that provides it; "" if none does."""
    parts = PROVIDED.get(kind, {})
    return next((PREFIX + part for part, names in parts.items() if name in names.split()), "")


def install_command(name: str, *, newer: bool = False) -> str:
    """`pip install ...` for a distribution or a module, as it can be typed here.

        install_command("byparts-opset")    # pip install packages/opset, in a clone
        install_command("ml_dtypes")        # pip install ml_dtypes

    `newer`: it is installed, and too old.
    """
    upgrade = "pip install -U" if newer else "pip install"
    distribution = name.replace("_", "-")
    if not distribution.startswith(PREFIX):
        return f"{upgrade} {name}"
    here = Path(__file__).resolve()
    if len(here.parents) > 4 and (folder := _sources(distribution, here.parents[4])):
        return (
            f"git -C {_shown(folder.parents[1])} pull" if newer else f"pip install {_shown(folder)}"
        )
    wheel = here.parents[2]
    url, recorded = (wheel.as_uri(), {}) if wheel.suffix == ".whl" else _origin()
    return f"{upgrade} {_there(distribution, url, recorded)}"


def _sources(distribution: str, packages: Path) -> Path | None:
    """Its folder among those of a clone."""
    folder = packages / distribution.removeprefix(PREFIX)
    return folder if (folder / "pyproject.toml").is_file() else None


def _origin() -> tuple[str, dict[str, object]]:
    """Where byparts-graph-ir was installed from, if pip recorded it: the URL, and all of it."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = json.loads(distribution("byparts-graph-ir").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", {}
    recorded = recorded if isinstance(recorded, dict) else {}
    return str(recorded.get("url", "")), recorded


def _there(distribution: str, url: str, recorded: dict[str, object]) -> str:
    """What to install, by where byparts-graph-ir was installed from."""
    vcs = recorded.get("vcs_info")
    if isinstance(vcs, dict):
        part = f"subdirectory=packages/{distribution.removeprefix(PREFIX)}"
        return f'"{distribution} @ {vcs.get("vcs")}+{url}@{vcs.get("commit_id")}#{part}"'
    folder, _, file = url.rpartition("/")
    if not folder:
        return distribution
    local = _local(folder)
    if local and (sources := _sources(distribution, local)):
        return _shown(sources)
    pattern = f"{distribution.replace('-', '_')}-*.whl"
    wheels = sorted(local.glob(pattern)) if local else []
    if wheels:
        return _shown(wheels[-1])
    return f"{pattern}, from where {file} is" if file.endswith(".whl") else distribution


def _local(url: str) -> Path | None:
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    parts = urlsplit(url)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _shown(path: Path) -> str:
    """For a shell: relative where the path is under the working directory."""
    from shlex import quote

    try:
        near = path.relative_to(Path.cwd())
    except (ValueError, OSError):  # elsewhere; or the working directory was removed
        return quote(str(path))
    return quote(str(near) if near == Path() else f".{os.sep}{near}")
