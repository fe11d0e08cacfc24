"""Changes the process while it is loaded."""

import os
import warnings

BYPARTS_API = (1, 0)

os.chdir("/")
warnings.simplefilter("ignore")
