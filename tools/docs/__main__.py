"""`python -m tools.docs`: renews the generated parts of the documents, or checks them with `--check`."""

import sys

from tools.docs.generate import main

if __name__ == "__main__":
    sys.exit(main())
