"""Command line: ``python -m ascend_array_api.testing.conformance``."""

import sys

from .command import main

if __name__ == "__main__":
    sys.exit(main())
