"""The grader: `make grade`, or `python -m grader`."""

import sys
from pathlib import Path

if sys.version_info < (3, 10):  # before anything that an older Python cannot read
    sys.stderr.write("grade: needs Python 3.10 or newer, and this is %d.%d\n" % sys.version_info[:2])
    sys.exit(3)

ROOT = Path(__file__).resolve().parent.parent
"""Of the project: what is beside the grader, too, is found from here."""
