"""Records what TensorFlow 1.15 prints for the programs of this folder: `logs/`.

    cd packages/frontend-tf/tests; python -m tf1.record --python TENSORFLOW_1.15/bin/python [NAME ...]

A program is run three times, each in a process of its own, the second time on one core; where the
runs differ by more than 1e-5, the numbers are chance's, not TensorFlow's, and are not recorded.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess

from tf1.compare import differences
from tf1.places import FOLDER, Outcome, log, names, program

VERSIONS = (
    "import sys, numpy, tensorflow;"
    "print('TensorFlow %s, NumPy %s, Python %d.%d' % "
    "((tensorflow.__version__, numpy.__version__) + sys.version_info[:2]))"
)


def run_there(python: str, *arguments: str, cores: int = 2) -> Outcome:
    """A process of TensorFlow's Python."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH="")
    command = ["taskset", "-c", "0"] if cores == 1 else []
    done = subprocess.run(
        [*command, python, "-W", "ignore", *arguments],
        capture_output=True, text=True, check=False, env=environment, cwd=FOLDER,
    )  # fmt: skip
    return Outcome(done.stdout, done.stderr, done.returncode)


def record(python: str, name: str, versions: str) -> str:
    """Write the log of one program.  Returns what came of it."""
    runs = [run_there(python, str(program(name)), cores=cores) for cores in (2, 1, 2)]
    for run in runs:
        if run.status:
            return run.complaint()
        found = differences(runs[0].output, run.output, tolerance=1e-5)
        if found:
            return f"not repeatable: {found[0]}"
    header = f"# {versions}; recorded {datetime.date.today()} by tests/tf1/record.py\n"
    log(name).parent.mkdir(parents=True, exist_ok=True)
    log(name).write_text(header + runs[0].output)
    return f"{len(runs[0].output.splitlines())} lines"


def main() -> None:
    parser = argparse.ArgumentParser(description="Record TensorFlow 1.15's logs.")
    parser.add_argument("--python", required=True, help="an interpreter with TensorFlow 1.15")
    parser.add_argument("names", nargs="*", help="programs; all of them by default")
    arguments = parser.parse_args()
    versions = run_there(arguments.python, "-c", VERSIONS).output.strip()
    for name in arguments.names or names():
        print(f"{name}: {record(arguments.python, name, versions)}", flush=True)


if __name__ == "__main__":
    main()
