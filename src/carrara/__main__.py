"""`python -m carrara`: the command line."""

import sys

from carrara.cli.main import main

sys.exit(main())
