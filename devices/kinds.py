"""Every kind of machine by its name: its driver, and how events become what is known of it. Opens no link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from devices.driver import Driver
from devices.report import View
from devices.shuffler import messages as shuffler_messages
from devices.shuffler import state as shuffler_state
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge.errors import ConfigurationError
from firmware_bridge.messages import decoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import msgspec

D = TypeVar("D", bound=Driver)
V = TypeVar("V", bound=View)


class Kind(Generic[D, V]):
    """One kind of machine: its three files as one thing.

    `driver` makes a driver for a listener, `blank` is what is known before anything was heard, `fold` gives what is
    known after an event, and `trigger` what an event means for the slot's service state.
    """

    def __init__(
        self,
        messages: ModuleType,
        driver: Callable[[Callable[[Any], None]], D],
        blank: V,
        fold: Callable[[V, Any], V],
        trigger: Callable[[Any], str | None],
    ) -> None:
        self.name: str = messages.KIND
        self.messages = messages
        self.decoder: msgspec.msgpack.Decoder[Any] = decoder(messages.ToHost)
        self.driver = driver
        self.blank = blank
        self.fold = fold
        self.trigger = trigger


SHUFFLER: Final = Kind(
    shuffler_messages,
    ShufflerDriver,
    shuffler_state.ShufflerView(),
    shuffler_state.fold,
    shuffler_state.service_trigger,
)

KINDS: Final[dict[str, Kind[Any, Any]]] = {kind.name: kind for kind in (SHUFFLER,)}


def kind_named(name: str) -> Kind[Any, Any]:
    """Return a kind by the name that hellos and key files use."""
    if name not in KINDS:
        raise ConfigurationError(f"there is no kind of device {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]
