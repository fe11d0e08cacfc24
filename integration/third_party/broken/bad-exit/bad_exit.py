"""Ends the process when it is imported."""

import sys

sys.exit("wrong platform")
