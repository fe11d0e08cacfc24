"""Greets while it is loaded, in all the ways there are."""

import os
import sys

BYPARTS_API = (1, 0)

print("hello")
os.write(1, b"hello from below\n")
sys.stderr.write("hello, stderr\n")
