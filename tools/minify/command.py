"""What stands in for the command line of byparts-graph-ir in its wheel for devices."""

import sys


def main(argv: object = None) -> int:
    """Says where the command line is; returns the exit status."""
    wheel = "the device wheel of byparts-graph-ir"
    print(
        f"byparts: the command line is left out of {wheel}; the full wheel has it", file=sys.stderr
    )
    return 2


if __name__ == "__main__":
    sys.exit(main())
