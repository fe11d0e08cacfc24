"""From nothing to the first green row, as the author of a backend walks: three commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from third_party.environment import NEEDS, Environment, make

RELU_WITH_A_BUG = """\
    kernels.on(Relu)(lambda op, inputs, outputs: partial(np.absolute, *inputs, *outputs))
    return Backend("""

ROW = r"^\w+(?: +(?:ok|via|some|-))+$"


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    if NEEDS:
        pytest.skip(f"needs {', '.join(NEEDS)}")
    return make(tmp_path / "env")


@pytest.mark.long
def test_three_commands_to_the_first_green_row(environment: Environment, tmp_path: Path) -> None:
    """Offline; what the new backend lacks is on no list of ours: also i4, of the eighth column."""
    made = environment.run("-m", "byparts_graph_ir", "new", "backend", "npu", cwd=tmp_path)
    environment.install(tmp_path / "byparts-kernels-npu", editable=True)
    check = environment.run("-m", "byparts_graph_ir", "check", "npu")
    rows = re.findall(ROW, check.stdout, re.M)
    # What ops mean does not depend on a backend, nor what it lacks at edges: our own try that.
    shown = " or ".join([f"npu-{row.split()[0]}-" for row in rows])
    own = ("--everything", "-k", f"test_also or test_kernel and (not (edges or long) or {shown})")
    whole = environment.run("-m", "byparts_graph_ir", "check", "npu", *own)

    assert made.stdout.splitlines()[-1].endswith("byparts-kernels-npu && byparts check npu")
    assert check.returncode == 0, check.stdout[-3000:]
    assert re.search(r"^add( +ok){7} +some( +ok){4}$", check.stdout, re.MULTILINE)
    assert re.search(r"^absent: \d+ ops; ", check.stdout, re.MULTILINE)
    assert re.search(r"^\d+ of \d+ ops right, \d+ .* 0 wrong, \d+ absent$", check.stdout, re.M)
    assert check.stdout.count("also: ") == 6 and " skipped" not in check.stdout
    assert whole.returncode == 0 and " tanh," in whole.stdout, whole.stdout[-3000:]
    assert rows and set(rows) <= set(re.findall(ROW, whole.stdout, re.M))


def test_a_wrong_kernel_is_a_red_row(environment: Environment, tmp_path: Path) -> None:
    """The next thing an author does: a rule more, which is wrong for negative numbers."""
    environment.run("-m", "byparts_graph_ir", "new", "backend", "npu", cwd=tmp_path)
    folder = tmp_path / "byparts-kernels-npu"
    module = folder / "byparts_kernels_npu.py"
    text = module.read_text().replace("import Add, Softsign\n", "import Add, Relu, Softsign\n")
    module.write_text(text.replace("    return Backend(", RELU_WITH_A_BUG))
    environment.install(folder)

    check = environment.run("-m", "byparts_graph_ir", "check", "npu", "--byparts-op", "relu")

    assert check.returncode == 1
    assert re.search(r"^relu +FAIL .* FAIL +FAIL$", check.stdout, re.MULTILINE), check.stdout
    assert "0 of 1 ops right, 0 of them decomposed; 1 wrong (relu), 0 absent" in check.stdout
    assert re.search(r"Mismatch: .*output 0 differs at \[\d", check.stdout)
