"""The errors that decoders raise for malformed input, as tuples to catch wherever bytes or text come in.

msgspec raises `UnicodeDecodeError` for invalid UTF-8 and `RecursionError` for deep nesting, in addition to its own
errors. Code that catches only msgspec's own errors crashes on one bad byte from a line or a file.
"""

from __future__ import annotations

import tomllib
from typing import Final

import msgspec

UNDECODABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
BAD_TOML: Final = (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError)
