"""`gradient_generator`, with the names that the tests of pytensor take from here."""

import unittest as unittest

from byparts_frontend_pytensor.network.gradient import *  # noqa: F403
