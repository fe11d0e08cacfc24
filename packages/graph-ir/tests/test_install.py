"""Advice to install something is a command that works where byparts-graph-ir came from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import byparts_graph_ir
from byparts_graph_ir.parts import install
from byparts_graph_ir.parts.install import install_command

CLONE = Path(byparts_graph_ir.__file__).resolve().parents[4]
IN_CLONE = (CLONE / "packages" / "opset" / "pyproject.toml").is_file()
ASK = "from byparts_graph_ir.parts.install import install_command as c; print(c('byparts-opset'))"


def advice(folder: Path, recorded: object = None, wheel: str = "") -> str:
    """What an installation in this folder says, with this `direct_url.json`."""
    site = folder / (wheel or "site-packages")
    package = Path(byparts_graph_ir.__file__).parent
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, site / package.name, ignore=kept)
    info = site / "byparts_graph_ir-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: byparts-graph-ir\nVersion: 0.1.0")
    if recorded is not None:
        (info / "direct_url.json").write_text(json.dumps(recorded))
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(not IN_CLONE, reason="needs a clone with all parts")
def test_in_a_clone_it_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Relative where it is under the working directory."""
    monkeypatch.chdir(CLONE)
    assert install_command("byparts-opset") == f"pip install .{os.sep}{Path('packages/opset')}"
    assert install_command("byparts_opset", newer=True) == "git -C . pull"
    monkeypatch.chdir(tmp_path)
    assert install_command("byparts-opset") == f"pip install {CLONE / 'packages' / 'opset'}"


def test_packages_of_others_are_on_the_index() -> None:
    assert install_command("ml_dtypes") == "pip install ml_dtypes"
    assert install_command("acme-npu", newer=True) == "pip install -U acme-npu"


def test_what_is_not_beside_us_has_its_plain_name(tmp_path: Path) -> None:
    assert install_command("byparts-nothing").endswith(" byparts-nothing")
    assert advice(tmp_path) == "pip install byparts-opset"


def test_installed_from_a_clone_it_names_the_folder(tmp_path: Path) -> None:
    for part in ("graph-ir", "opset"):
        (tmp_path / "my clone" / "packages" / part).mkdir(parents=True)
        (tmp_path / "my clone" / "packages" / part / "pyproject.toml").write_text("")
    url = (tmp_path / "my clone" / "packages" / "graph-ir").as_uri()

    assert (
        advice(tmp_path, {"url": url, "dir_info": {}}) == "pip install './my clone/packages/opset'"
    )


def test_installed_from_a_wheel_it_names_the_wheel_beside_it(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    url = (tmp_path / "wheels" / "byparts_graph_ir-0.1.0-py3-none-any.whl").as_uri()
    recorded = {"url": url, "archive_info": {}}
    absent = advice(tmp_path / "a", recorded)
    (tmp_path / "wheels" / "byparts_opset-0.1.0-py3-none-any.whl").write_text("")

    there = "from where byparts_graph_ir-0.1.0-py3-none-any.whl is"
    assert absent == f"pip install byparts_opset-*.whl, {there}"
    wheel = tmp_path / "wheels" / "byparts_opset-0.1.0-py3-none-any.whl"
    assert advice(tmp_path / "b", recorded) == f"pip install {wheel}"


def test_run_from_a_wheel_it_names_the_wheel_beside_it(tmp_path: Path) -> None:
    (tmp_path / "byparts_opset-0.1.0-py3-none-any.whl").write_text("")

    said = advice(tmp_path, wheel="byparts_graph_ir-0.1.0-py3-none-any.whl")
    assert said == "pip install ./byparts_opset-0.1.0-py3-none-any.whl"


def test_installed_from_a_repository_it_names_the_repository(tmp_path: Path) -> None:
    recorded = {
        "url": "https://example.org/byparts.git",
        "vcs_info": {"vcs": "git", "commit_id": "abc123"},
        "subdirectory": "packages/graph-ir",
    }

    where = "git+https://example.org/byparts.git@abc123#subdirectory=packages/opset"
    assert advice(tmp_path, recorded) == f'pip install "byparts-opset @ {where}"'


def test_a_record_that_cannot_be_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert advice(tmp_path, "no object") == "pip install byparts-opset"
    monkeypatch.setattr(install, "_recorded_origin", lambda: ("https://example.org/x", {}))
    assert install_command("byparts-nothing") == "pip install byparts-nothing"
