"""`tf.flags` and `tf.app.run`."""

import sys
from typing import Any

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.api.flags import flags as flags_module
from byparts_frontend_tf.api.flags.flags import FlagValues

flags = tf.flags


@pytest.fixture
def values() -> FlagValues:
    made = FlagValues()
    flags.DEFINE_string("name", "bar", "who", flag_values=made)
    flags.DEFINE_integer("n", 3, "how many", flag_values=made)
    flags.DEFINE_float("rate", 0.1, "how fast", flag_values=made)
    flags.DEFINE_boolean("on", True, "whether", flag_values=made)
    flags.DEFINE_bool("off", False, "whether not", flag_values=made)
    flags.DEFINE_enum("kind", "a", ["a", "b"], "which", flag_values=made)
    flags.DEFINE_list("parts", "x,y", "which ones", flag_values=made)
    flags.DEFINE_multi_string("each", None, "again", flag_values=made)
    return made


def test_every_way_to_write_a_flag(values: FlagValues) -> None:
    """With =, with a space, with one dash; "no" in front; what follows is left."""
    line = ["prog", "--name=foo", "--n", "-7", "-rate=1e-3", "--noon", "--off", "--kind=b"]
    line += ["--parts=1, 2", "--each=p", "--each", "q", "rest", "--name=not"]
    left = values(line)

    assert left == ["prog", "rest", "--name=not"]
    assert values.flag_values_dict() == {
        "name": "foo",
        "n": -7,
        "rate": 0.001,
        "on": False,
        "off": True,
        "kind": "b",
        "parts": ["1", "2"],
        "each": ["p", "q"],
    }


def test_defaults_and_what_is_set(values: FlagValues) -> None:
    values(["prog", "--", "--n=5"])
    assert (values.n, values.on, values.each, values.parts) == (3, True, None, ["x", "y"])
    values.n = 9
    values.set_default("name", "new")
    assert (values.n, values.name, len(values), "n" in values) == (9, "new", 8, True)
    assert sorted(values)[:2] == ["each", "kind"]
    assert values["n"].default == 3 and values.flags_into_string().startswith("--name=new\n--n=9\n")
    del values.n
    with pytest.raises(AttributeError, match="n"):
        _ = values.n


@pytest.mark.parametrize(
    ("word", "value"), [("true", True), ("T", True), ("1", True), ("False", False), ("0", False)]
)
def test_truth_values(values: FlagValues, word: str, value: bool) -> None:
    values(["prog", f"--on={word}"])

    assert values.on is value


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        (
            ["--nome=1"],
            flags.UnrecognizedFlagError,
            "Unknown command line flag 'nome'. Did you mean: name",
        ),
        (["--noname"], flags.UnrecognizedFlagError, "Unknown command line flag 'noname'"),
        (["--n=x"], flags.IllegalFlagValueError, "flag --n=x: invalid literal"),
        (["--rate=fast"], flags.IllegalFlagValueError, "flag --rate=fast: could not convert"),
        (
            ["--on=maybe"],
            flags.IllegalFlagValueError,
            "Non-boolean argument to boolean flag: maybe",
        ),
        (["--kind=c"], flags.IllegalFlagValueError, r"value should be one of <a\|b>"),
        (["--n"], flags.Error, "Missing value for flag --n"),
    ],
)
def test_a_wrong_command_line(
    values: FlagValues, line: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        values(["prog", *line])


def test_flags_that_are_not_known_can_be_left(values: FlagValues) -> None:
    assert values(["prog", "--other", "--n=4", "word", "--on=f"], known_only=True) == [
        "prog",
        "--other",
        "word",
    ]
    assert (values.n, values.on) == (4, False)


def test_required_flags_and_checks(values: FlagValues) -> None:
    flags.mark_flag_as_required("each", values)
    flags.register_validator("n", lambda n: n < 10, "too many", values)
    with pytest.raises(
        flags.IllegalFlagValueError, match="Flag --each must have a value other than None"
    ):
        values(["prog"])
    with pytest.raises(flags.IllegalFlagValueError, match="flag --n=11: too many"):
        values(["prog", "--each=1", "--n=11"])
    values(["prog", "--each=1"])
    with pytest.raises(flags.IllegalFlagValueError, match="too many"):
        values.n = 12


def test_a_definition_that_is_wrong(values: FlagValues) -> None:
    with pytest.raises(flags.DuplicateFlagError, match="The flag 'n' is defined twice"):
        flags.DEFINE_float("n", 1.0, flag_values=values)
    with pytest.raises(flags.IllegalFlagValueError, match=r"flag --m=1.5"):
        flags.DEFINE_integer("m", 1.5, flag_values=values)
    with pytest.raises(flags.IllegalFlagValueError, match=r"7 is not in the range \[0, 5\]"):
        flags.DEFINE_integer("m", 7, "", 0, 5, flag_values=values)
    with pytest.raises(AttributeError, match="other"):
        values.other = 1


def test_the_command_line_is_read_at_the_first_use(
    values: FlagValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And once; after `unparse_flags` again."""
    monkeypatch.setattr(sys, "argv", ["prog", "--n=8"])
    assert values.n == 8
    monkeypatch.setattr(sys, "argv", ["prog", "--n=9"])
    assert values.n == 8
    values.unparse_flags()
    assert values.n == 9


def _run(monkeypatch: pytest.MonkeyPatch, values: FlagValues, argv: list[str], main: Any) -> Any:
    from byparts_frontend_tf.api import app
    from byparts_frontend_tf.api.flags import definitions as flag_definitions

    for module in (app, flag_definitions, flags_module):
        monkeypatch.setattr(module, "FLAGS", values)
    with pytest.raises(SystemExit) as exit:
        tf.app.run(main, argv)
    return exit.value.code


def test_run_gives_main_what_is_left_and_exits_with_its_result(
    values: FlagValues, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flags that are not defined are left, as TensorFlow leaves them."""
    calls: list[list[str]] = []

    def main(argv: list[str]) -> int:
        calls.append(argv)
        return int(values.n)

    assert _run(monkeypatch, values, ["prog", "--n=4", "--other=1", "x"], main) == 4
    assert calls == [["prog", "--other=1", "x"]]


def test_run_says_what_is_wrong_and_what_flags_there_are(
    values: FlagValues, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, values, ["prog", "--n=x"], lambda argv: 0) == 1
    assert "FATAL Flags parsing error:\n  flag --n=x: invalid literal" in capsys.readouterr().err
    assert _run(monkeypatch, values, ["prog", "--help"], lambda argv: 0) == 1
    assert "--[no]on: whether\n    (default: True)" in capsys.readouterr().out


def test_the_flags_of_tensorflow_are_one_object() -> None:
    assert tf.flags.FLAGS is tf.app.flags.FLAGS is tf.python.platform.flags.FLAGS
