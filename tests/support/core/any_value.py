"""Any value that a struct may have, as a strategy of hypothesis."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st


def any_value(kind: type) -> st.SearchStrategy[Any]:
    """Any value that a field of this struct may have."""
    return st.builds(kind, **{field.name: _of(field.type) for field in msgspec.structs.fields(kind)})


def _of(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return any_value(kind)
    of: tuple[Any, ...] = getattr(kind, "__args__", ())
    origin = getattr(kind, "__origin__", None)
    if origin is tuple:
        return st.lists(_of(of[0]), max_size=3).map(tuple) if of[-1] is ... else st.tuples(*map(_of, of))
    if kind is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if kind is int:
        return st.integers(-(2**62), 2**63 - 1)
    return st.from_type(kind) if origin is not None or isinstance(kind, type) else st.one_of(*map(_of, of))
