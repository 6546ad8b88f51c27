"""The registry of the kinds of machine for the controller: one module per kind, with everything that it needs of it.

The folder is the list: the module of a kind has the name of the kind, and its row that name in capitals.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from devices.kinds import KINDS

if TYPE_CHECKING:
    from devices.kinds import AnyDriver
    from table_controller.controller.kinds.controller_kind import ControllerKind

# By the name of the kind, in the order of `devices.kinds`.
CONTROLLER_KINDS: Final[dict[str, ControllerKind[AnyDriver]]] = {
    name: getattr(import_module(f"table_controller.controller.kinds.{name}"), name.upper()) for name in KINDS
}
