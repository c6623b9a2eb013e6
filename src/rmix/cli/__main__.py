"""`python -m rmix.cli`."""

import sys

from rmix.cli import main

sys.exit(main())
