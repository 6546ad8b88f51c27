"""`python -m table_controller.cli`: the `pitbox` command where its script is not on the path."""

import sys

from table_controller.cli import main

sys.exit(main())
