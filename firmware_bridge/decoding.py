"""What a decoder raises for bytes or text that are not what they should be: one tuple, caught wherever bytes come in.

msgspec raises `UnicodeDecodeError` for invalid UTF-8 and `RecursionError` for deep nesting, beside its own errors.
Code that catches only msgspec's own errors is ended by one bad byte from a line or a file.
"""

from __future__ import annotations

import tomllib
from typing import Final

import msgspec

UNDECODABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
BAD_TOML: Final = (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError)
