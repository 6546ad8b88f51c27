"""`python -m table_controller.cli`, for where the `pitbox` script is not on the path. Nothing else."""

import sys

from table_controller.cli import main

sys.exit(main())
