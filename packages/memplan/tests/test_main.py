"""The command line: `python -m byparts_memplan`."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from problems import problems

import byparts_memplan.commands.place as command
from byparts_memplan import Buffer, Placement, check, read_buffers, write_placement
from byparts_memplan.commands.place import command as place_command

DATA = Path(__file__).parent / "data"
THREE = "id,lower,upper,size\na,0,2,4\nb,1,3,2\nc,2,4,4\n"
RING = "id,lower,upper,size,gaps\na,0,5,1,1-4\nb,0,2,1,\nc,1,3,1,\nd,2,4,1,\ne,3,5,1,\nf,9,10,1,\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run(text, *options)` places a file of that text: (status, stdout, stderr)."""

    def run(text: str, *options: str) -> tuple[int, str, str]:
        path = tmp_path / "f.csv"
        path.write_text(text, encoding="utf-8", newline="")
        status = command.main(["place", str(path), *options])
        return (status, *capsys.readouterr())

    return run


def test_prints_offsets_and_says_how_good_they_are(run: Run) -> None:
    """The table to stdout, a sentence to stderr."""
    status, out, err = run(THREE)

    assert (status, out) == (0, "id,lower,upper,size,offset\na,0,2,4,0\nb,1,3,2,4\nc,2,4,4,0\n")
    assert err.startswith("placed 3 buffers in 6 bytes (6 B); lower bound 6: none is smaller; by ")


def test_what_is_printed_can_be_placed_again(run: Run) -> None:
    """With the offsets as pins: so the command checks what others have placed."""
    text = run(THREE)[1]

    assert run(text)[:2] == (0, text)
    status, out, err = run(text.replace("1,3,2,4", "1,3,2,3"))
    assert (status, out) == (2, "")
    assert err.endswith("f.csv: buffers a and b share bytes [3, 4) during steps [1, 2)\n")


def test_json(run: Run) -> None:
    """One object."""
    status, out, _ = run(THREE, "--json", "--capacity", "6")
    fields = json.loads(out)

    assert (status, fields["offsets"]) == (0, {"a": 0, "b": 4, "c": 0})
    assert {k: fields[k] for k in ("byparts", "format", "fits", "arena_bytes", "optimal")} == {
        "byparts": "offsets",
        "format": 1,
        "fits": True,
        "arena_bytes": 6,
        "optimal": True,
    }


def test_what_does_not_fit_is_explained(run: Run) -> None:
    """Proved, with few buffers that are the reason."""
    status, out, err = run(THREE, "--capacity", "5")

    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "3 buffers do not fit in 5 bytes; proved",
        "the best found takes 6; lower bound 6",
        "2 of them (6 bytes, all needed at step 1) do not fit even alone; "
        "without any one of these, the others do:",
        "id  lower  upper  size",
        " a      0      2     4",
        " b      1      3     2",
    ]


def test_what_does_not_fit_as_json(run: Run) -> None:
    """The best that was found is in it, and the reason by id."""
    status, out, _ = run(THREE, "--capacity", "5", "--json")
    fields = json.loads(out)

    assert (status, fields["fits"], fields["proved"]) == (1, False, True)
    assert (fields["subset"], fields["arena_bytes"]) == (["a", "b"], 6)
    assert set(fields["offsets"]) == set("abc")


def test_a_reason_that_no_single_step_shows(run: Run) -> None:
    """Five in a ring: 2 bytes alive at each step, and no way to place them in 2."""
    status, _, err = run(RING, "--capacity", "2")

    assert (status, "; proved\n" in err) == (1, True)
    assert "5 of them (5 bytes) do not fit even alone" in err


def test_the_reason_is_told_with_all_that_matters(run: Run) -> None:
    """Alignments, gaps and pins stand in the table if there are any."""
    err = run("id,lower,upper,size,gaps,pinned\na,0,9,4,2-3,8\nb,0,1,2,,\n", "--capacity", "11")[2]

    assert err.splitlines()[-2:] == [
        "id  lower  upper  size  gaps  offset",
        " a      0      9     4   2-3       8",
    ]


def test_spaces(run: Run) -> None:
    """Each has its arena, and its capacity."""
    text = "id,lower,upper,size,space\na,0,2,4,\nb,0,2,8,npu\n"

    assert run(text, "--capacity", "npu=8", "--capacity", "=4")[0] == 0
    assert json.loads(run(text, "--json")[1])["arenas"] == {"": 4, "npu": 8}
    assert "do not fit" in run(text, "--capacity", "npu=7")[2]
    assert run(text, "--capacity", "gpu=7")[2] == (
        "--capacity: no buffer is in space 'gpu'; there are '', 'npu'\n"
    )


def test_one_capacity_for_all_or_one_for_each(run: Run) -> None:
    """Not both."""
    status, _, err = run(THREE, "--capacity", "8", "--capacity", "9")

    assert (status, err) == (2, "--capacity: give one N for every space, or NAME=N for each\n")


def test_one_capacity_of_a_name(run: Run) -> None:
    """The last would win otherwise, and nobody would know."""
    text = "id,lower,upper,size,space\na,0,2,4,npu\n"
    status, _, err = run(text, "--capacity", "npu=8", "--capacity", "npu=9")

    assert (status, err) == (2, "--capacity: npu=8 and npu=9; give one\n")
    assert run(text, "--capacity", "npu=3")[2].startswith("1 buffers do not fit in npu=3 bytes; ")


def test_pictures(run: Run, tmp_path: Path) -> None:
    """One to a file, one to stderr; stdout stays what it is."""
    target = tmp_path / "f.svg"
    status, out, err = run(THREE, "--draw", "--svg", str(target))

    assert (status, out) == (0, run(THREE)[1])
    assert "aaaa" in err
    assert ElementTree.parse(target).getroot().tag.endswith("svg")


def test_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Is called so in errors."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,lower,upper,size\nx,0,1")))

    assert command.main(["place", "-"]) == 2
    assert capsys.readouterr().err == "<stdin>:2:6: 3 fields; expected 4: id,lower,upper,size\n"


def test_damaged_and_absent_files(run: Run, tmp_path: Path) -> None:
    """Status 2, and one line that says where."""
    status, out, err = run(THREE.replace("1,3,2", "1,3,zwei"))

    assert (status, out) == (2, "")
    assert err == f"{tmp_path / 'f.csv'}:3:7: size is 'zwei': not an integer; expected bytes\n"
    assert run(THREE, "--svg", str(tmp_path / "no" / "f.svg"))[0] == 2
    assert command.main(["place", str(tmp_path / "none.csv")]) == 2


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--capacity", "1M"], "'1M' is not an amount; expected bytes, such as 1048576 or 1MiB"),
        (["--capacity", "-5"], "'-5' is not an amount; expected bytes, such as 1048576 or 1MiB"),
        (["--time-limit", "soon"], "'soon' is not a number of seconds, 0 or more"),
        (["--time-limit", "nan"], "'nan' is not a number of seconds, 0 or more"),
        (["--capacity", "1.5"], "'1.5' is not an amount; expected bytes, such as 1048576 or 1MiB"),
        (["--color"], "unrecognized arguments: --color"),
    ],
)
def test_wrong_options(
    run: Run, capsys: pytest.CaptureFixture[str], options: list[str], match: str
) -> None:
    """Status 2, as argparse does."""
    with pytest.raises(SystemExit, match="2"):
        run(THREE, *options)

    assert match in capsys.readouterr().err


def test_nothing_to_place(run: Run) -> None:
    """A header alone."""
    status, out, err = run("id,lower,upper,size\n")

    assert (status, out) == (0, "id,lower,upper,size,offset\n")
    assert err.startswith("placed 0 buffers in 0 bytes (0 B); lower bound 0: none is smaller; ")


def test_absurd_sizes(run: Run) -> None:
    """More than a float can hold."""
    status, out, _ = run(f"id,lower,upper,size\na,0,1,{10**400}\nb,0,1,1\n", "--draw")

    assert status == 0
    assert {line.rpartition(",")[2] for line in out.splitlines()[1:]} & {str(10**400), "1"}


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(problems(pins=False, spaces=["", "npu"]))
def test_whatever_is_read_is_placed(run: Run, problem: list[Buffer]) -> None:
    """And valid: every column makes the way there and back."""
    ids = [f"v{i}" for i in range(len(problem))]
    text = write_placement(ids, Placement(tuple(problem), (0,) * len(problem), 0, 0, ""))
    free = "\n".join([line.rpartition(",")[0] for line in text.splitlines()])
    status, out, _ = run(free)
    found, placed = read_buffers(out.splitlines())

    assert (status, list(found)) == (0, ids)
    offsets = [b.pinned or 0 for b in placed]
    check(problem, offsets, Placement(tuple(problem), tuple(offsets), 0, 0, "").arenas)


def started(*options: str, encoding: str = "utf-8") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "byparts_memplan", "place", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )


def test_as_a_module() -> None:
    """A real file of a real network, at the bound."""
    with started(str(DATA / "resnet18_train_b8.csv"), "--json") as process:
        out, err = process.communicate()

    assert (process.returncode, json.loads(out)["optimal"]) == (0, True)
    assert "none is smaller" in err


def test_ids_in_any_script(tmp_path: Path) -> None:
    """Also on a console that has no letters for them: the output is UTF-8 as the input is."""
    path = tmp_path / "f.csv"
    path.write_text("id,lower,upper,size\n名,0,1,8\n", encoding="utf-8")
    with started(str(path), encoding="ascii") as process:
        out, _ = process.communicate()

    assert out == "id,lower,upper,size,offset\n名,0,1,8,0\n"


@pytest.mark.skipif(os.name == "nt", reason="needs pipes that break and signals, as POSIX has them")
def test_nobody_reads_the_output() -> None:
    """As `... | head -1`: no traceback."""
    with started(str(DATA / "resnet18_train_b8.csv")) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        err = process.stderr.read()

    assert (process.returncode, "Traceback" in err, "Exception" in err) == (141, False, False)


@pytest.mark.skipif(os.name == "nt", reason="needs pipes that break and signals, as POSIX has them")
def test_interrupted(tmp_path: Path) -> None:
    """One line, and the status that shells give it."""
    path = tmp_path / "f.csv"
    os.mkfifo(path)
    with started(str(path)) as process:
        with path.open("w"):  # when both ends are open, it waits for input
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        assert process.stderr
        err = process.stderr.read()

    assert process.returncode == 130
    assert err.startswith("interrupted after ")
    assert "Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("options", "streams", "status", "message"),
    [
        ("-", "<&-", 2, "<stdin>: closed; expected a table of buffers, or the name of a file"),
        ("f.csv", ">&-", 2, "<stdout>: closed, so there is no place for the offsets"),
        ("f.csv", ">.", 2, "irectory"),
        ("f.csv --svg .", "", 2, ".: Is a directory"),
    ],
)
def test_streams_that_are_not_there(
    tmp_path: Path, options: str, streams: str, status: int, message: str
) -> None:
    """One line each, and no traceback."""
    (tmp_path / "f.csv").write_text(THREE, encoding="utf-8")
    line = f"{sys.executable} -m byparts_memplan place {options} {streams}"
    made = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)

    assert (made.returncode, message in made.stderr, "Traceback" in made.stderr) == (
        status,
        True,
        False,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_no_space_left_for_the_output(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(THREE, encoding="utf-8")
    with open("/dev/full", "w") as full:
        line = [sys.executable, "-m", "byparts_memplan", "place", str(path)]
        made = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)

    assert (made.returncode, made.stderr) == (2, "<stdout>: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes streams")
def test_nothing_is_said_where_nobody_listens(tmp_path: Path) -> None:
    """A closed stderr does not turn up in the table."""
    (tmp_path / "f.csv").write_text(THREE, encoding="utf-8")
    line = f"{sys.executable} -m byparts_memplan place f.csv 2>&-"
    made = subprocess.run(line, shell=True, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    assert (made.returncode, made.stdout.splitlines()[-1]) == (0, "c,2,4,4,0")


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of POSIX")
def test_who_waits_at_a_terminal_is_told() -> None:
    """After a while, what is going on and how long it may take."""
    ours, theirs = os.openpty()
    line = [sys.executable, "-c", WAITING]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)  # so that reading ends should the process do so
    assert b"searching, for 7 s at most; --time-limit changes it" in os.read(ours, 1000)

    process.terminate()
    process.wait(timeout=60)
    os.close(ours)


WAITING = """
import time
from byparts_memplan.commands.place import _patience

with _patience(7.0):
    time.sleep(60)
"""


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main(["--version"])

    assert re.fullmatch(r"byparts-memplan \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_help_is_of_the_command_that_was_called(capsys: pytest.CaptureFixture[str]) -> None:
    """`byparts place` is the same under another name."""
    with pytest.raises(SystemExit, match="0"):
        place_command(["--help"])

    assert capsys.readouterr().out.startswith("usage: byparts place ")
