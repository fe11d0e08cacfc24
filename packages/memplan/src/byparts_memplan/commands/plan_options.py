"""The options of `byparts plan`, and how each is read."""

from __future__ import annotations

import argparse
import re

from byparts_memplan.amount import size_bytes


def parser() -> argparse.ArgumentParser:
    """The parser of `byparts plan`."""
    command = argparse.ArgumentParser(
        "byparts plan",
        description="The memory plan of a graph: where every value lies in one arena.",
        allow_abbrev=False,
    )
    add_graph(command)
    _add_work(command.add_argument_group("what is done"))
    _add_output(command.add_argument_group("what is printed and written; default: the report"))
    return command


def add_graph(command: argparse.ArgumentParser) -> None:
    """Add the options that say which graph is meant."""
    command.add_argument("model", help="a graph as JSON or as text; - for what comes in")
    graph = command.add_argument_group("the graph")
    graph.add_argument(
        "--dim", action="append", default=[], type=_dim, metavar="n=32", help="a named dimension"
    )
    graph.add_argument(
        "--shape", action="append", default=[], type=_shape, metavar="x=32,784", help="of an input"
    )
    graph.add_argument(
        "--external",
        action="append",
        default=[],
        metavar="w1,b*",
        help="inputs that live outside the arena, by name or pattern, '!x' takes one back; "
        "default: none",
    )


def add_kernels(group: argparse._ArgumentGroup) -> None:
    """Add the option that names backends."""
    group.add_argument(
        "--backend",
        action="append",
        default=[],
        metavar="numpy",
        help="count the workspaces of its kernels; of several, the first that has the op",
    )


def _add_work(group: argparse._ArgumentGroup) -> None:
    add_kernels(group)
    group.add_argument("--order", action="store_true", help="first look for a better order")
    limit = group.add_mutually_exclusive_group()
    limit.add_argument(
        "--budget", type=_bytes, metavar="200MiB", help="recompute as little as fits into it"
    )
    limit.add_argument(
        "--max-extra-cost", type=fraction, metavar="0.01", help="recompute at most so much work"
    )
    group.add_argument(
        "--effort", type=fraction, default=1.0, metavar="1", help="how long to search for that"
    )
    group.add_argument("--alignment", type=_alignment, default=64, metavar="N", help="default: 64")
    group.add_argument("--planner", metavar="NAME", help="another installed planner, e.g. blocks")
    group.add_argument("--check", action="store_true", help="run the plan on symbolic memory")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--report", action="store_true", help="costs, the worst step, what shares")
    group.add_argument("--rows", type=int, default=10, metavar="N", help="of each list: 10")
    group.add_argument("--draw", action="store_true", help="the arena as text")
    group.add_argument("--json", action="store_true", help="the plan as JSON, and nothing else")
    group.add_argument("--svg", metavar="OUT.svg", help="the arena as a picture")
    group.add_argument("--curve", metavar="OUT.svg", help="bytes alive at each step as a picture")


def _dim(text: str) -> tuple[str, int]:
    matched = re.fullmatch(r"([^=]+)=(\d+)", text)
    if matched is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not like n=32")
    return matched[1], int(matched[2])


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    matched = re.fullmatch(r"([^=]+)=((\d+(,\d+)*)?)", text)
    if matched is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not like x=32,784")
    return matched[1], tuple([int(d) for d in matched[2].split(",") if d])


def _bytes(text: str) -> int:
    try:
        return size_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def fraction(text: str) -> float:
    """Read a number, 0 or more, also written as 1%."""
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0.01, or 1%")
    return number


def _alignment(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, such as 64")
    return int(text)
