"""`byparts tradeoff MODEL.json`: how many bytes a graph needs for how much more work.

    byparts tradeoff model.json --dim n=32 --external 'w*' --svg tradeoff.svg

The exit status is 0 where the trade-off was searched, and 2 where the question was wrong: a file
that is no graph, a name that is not in it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from byparts_graph_ir import GraphError
from byparts_graph_ir.parts.hub import PartError
from byparts_memplan.commands.backend_kernels import kernels_of
from byparts_memplan.commands.console import check_places, complain, print_progress, write
from byparts_memplan.commands.model_file import static_graph
from byparts_memplan.commands.plan_options import add_graph, add_kernels, fraction
from byparts_recompute.pictures import tradeoff_svg, tradeoff_text
from byparts_recompute.rematerialize import tradeoff


def command(arguments: Sequence[str]) -> int:
    """Run the command.  Returns the exit status."""
    options = parser().parse_args(arguments)
    try:
        check_places([options.svg])
        graph, external = static_graph(options)
        points = tradeoff(
            graph,
            external=external,
            kernels=kernels_of(options),
            effort=options.effort,
            progress=print_progress(),
        )
        print(tradeoff_text({"recomputed": points}, log=True))
        if options.svg:
            write(options.svg, tradeoff_svg({"recomputed": points}, log=True))
    except BrokenPipeError:
        raise  # the command line ends quietly
    except (GraphError, PartError, OSError) as error:
        complain("tradeoff", options.model, error)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    command = argparse.ArgumentParser(
        "byparts tradeoff",
        description="Bytes against extra work: what recomputation saves.",
        allow_abbrev=False,
    )
    add_graph(command)
    group = command.add_argument_group("the search")
    add_kernels(group)
    group.add_argument(
        "--effort", type=fraction, default=1.0, metavar="1", help="how long to search"
    )
    group.add_argument("--svg", metavar="OUT.svg", help="the trade-off as a picture")
    return command
