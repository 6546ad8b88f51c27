"""Programs for the repository: they write generated files, check the tree and run long studies. Not for a box."""

from pathlib import Path
from typing import Final

# The root of the repository.
ROOT: Final = Path(__file__).resolve().parent.parent
