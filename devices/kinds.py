"""The registry of the kinds of machine: each with its driver, its view, and its service trigger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from devices.bet_sensor import messages as bet_sensor_messages
from devices.bet_sensor import state as bet_sensor_state
from devices.bet_sensor.driver import BetSensorDriver
from devices.button import messages as button_messages
from devices.button import state as button_state
from devices.button.driver import ButtonDriver
from devices.driver import Driver
from devices.driver_events import DeviceView
from devices.keypad import messages as keypad_messages
from devices.keypad import state as keypad_state
from devices.keypad.driver import KeypadDriver
from devices.meter_sign import messages as meter_sign_messages
from devices.meter_sign import state as meter_sign_state
from devices.meter_sign.driver import MeterSignDriver
from devices.rng import messages as rng_messages
from devices.rng import state as rng_state
from devices.rng.driver import RngDriver
from devices.shaker import messages as shaker_messages
from devices.shaker import state as shaker_state
from devices.shaker.driver import ShakerDriver
from devices.shoe import messages as shoe_messages
from devices.shoe import state as shoe_state
from devices.shoe.driver import ShoeDriver
from devices.shuffler import messages as shuffler_messages
from devices.shuffler import state as shuffler_state
from devices.shuffler.driver import ShufflerDriver
from firmware_bridge.errors import ConfigurationError
from firmware_bridge.messages import decoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import msgspec

    from devices.service import ReportTrigger

# Covariant: a slot of one kind can stand where a slot of any kind is expected.
D = TypeVar("D", bound=Driver, covariant=True)  # noqa: PLC0105 - the line above names its variance
V = TypeVar("V", bound=DeviceView, covariant=True)  # noqa: PLC0105
_E = TypeVar("_E")  # the events of one kind

# The drivers of machines that move cards along a path.
CardPathDriver = ShufflerDriver | ShoeDriver
# The driver and the view of any machine.
AnyDriver = (
    CardPathDriver | ShakerDriver | RngDriver | ButtonDriver | BetSensorDriver | KeypadDriver | MeterSignDriver
)  # fmt: skip
AnyView = (
    shuffler_state.ShufflerView | shoe_state.ShoeView | shaker_state.ShakerView | rng_state.RngView
    | button_state.ButtonView | bet_sensor_state.BetSensorView | keypad_state.KeypadView
    | meter_sign_state.MeterSignView
)  # fmt: skip
# Any event of any driver.
DriverEvent = (
    shuffler_state.DriverEvent | shoe_state.DriverEvent | shaker_state.DriverEvent | rng_state.DriverEvent
    | button_state.DriverEvent | bet_sensor_state.DriverEvent | keypad_state.DriverEvent | meter_sign_state.DriverEvent
)  # fmt: skip


class Kind(Generic[D, V]):
    """One kind of machine.

    `driver` makes a driver for a listener; `initial_view` is the view before any event; `fold` returns the view after
    one; `trigger` returns the service trigger of an event. Events of the types in `confirmation_events` only confirm
    that something is safe, so they may be processed a moment later. Events of the types in `telemetry_events` only
    change the view: they have no effect on the service state or on the rules.
    """

    def __init__(
        self,
        messages: ModuleType,
        driver: Callable[[Callable[[_E], None]], D],
        initial_view: V,
        fold: Callable[[V, _E], V],
        trigger: Callable[[_E], ReportTrigger | None],
        confirmation_events: tuple[type, ...] = (),
        telemetry_events: tuple[type, ...] = (),
    ) -> None:
        self.name: str = messages.KIND
        self.messages = messages
        self.decoder: msgspec.msgpack.Decoder[Any] = decoder(messages.ToHost)
        # mypy proves above that all three have the same events; a kind only ever gets its own.
        self.driver: Callable[[Callable[[Any], None]], D] = driver
        self.initial_view = initial_view
        self.fold: Callable[[V, Any], V] = fold
        self.trigger: Callable[[Any], ReportTrigger | None] = trigger
        self.confirmation_events = confirmation_events
        self.telemetry_events = telemetry_events


SHUFFLER: Final = Kind(
    shuffler_messages,
    ShufflerDriver,
    shuffler_state.ShufflerView(),
    shuffler_state.fold,
    shuffler_state.service_trigger,
    telemetry_events=(shuffler_messages.Progress,),
)
BET_SENSOR: Final = Kind(
    bet_sensor_messages,
    BetSensorDriver,
    bet_sensor_state.BetSensorView(),
    bet_sensor_state.fold,
    bet_sensor_state.service_trigger,
    (bet_sensor_messages.Locked,),
)
KEYPAD: Final = Kind(
    keypad_messages, KeypadDriver, keypad_state.KeypadView(), keypad_state.fold, keypad_state.service_trigger
)
METER_SIGN: Final = Kind(
    meter_sign_messages,
    MeterSignDriver,
    meter_sign_state.MeterSignView(),
    meter_sign_state.fold,
    meter_sign_state.service_trigger,
)

SHAKER: Final = Kind(
    shaker_messages, ShakerDriver, shaker_state.ShakerView(), shaker_state.fold, shaker_state.service_trigger
)
RNG: Final = Kind(rng_messages, RngDriver, rng_state.RngView(), rng_state.fold, rng_state.service_trigger)
BUTTON: Final = Kind(
    button_messages, ButtonDriver, button_state.ButtonView(), button_state.fold, button_state.service_trigger
)
SHOE: Final = Kind(
    shoe_messages,
    ShoeDriver,
    shoe_state.ShoeView(),
    shoe_state.fold,
    shoe_state.service_trigger,
    telemetry_events=(shoe_messages.Progress,),
)

AnyKind = Kind[AnyDriver, AnyView]

# In the order of their tags.
KINDS: Final[dict[str, AnyKind]] = {
    kind.name: kind for kind in (SHUFFLER, SHOE, SHAKER, RNG, BUTTON, BET_SENSOR, KEYPAD, METER_SIGN)
}


def kind_named(name: str) -> AnyKind:
    """Return a kind by its name in hellos and key files."""
    if name not in KINDS:
        raise ConfigurationError(f"there is no kind of device {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]
