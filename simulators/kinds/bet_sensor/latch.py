"""The memory of a bet sensor's firmware about its spot, and how each step changes it. Pure functions.

The firmware applies every step in one assignment, so power can fail between two steps and never within one.
"""

from __future__ import annotations

import msgspec

from devices.bet_sensor import messages as m


class SpotMemory(msgspec.Struct, frozen=True):
    """Persistent, except the light."""

    open: bool = False
    round: int = 0
    lies: m.SpotContent = m.SpotContent.EMPTY
    sequence: int = 0
    latch: m.Latch | None = None
    ended: int = 0  # the last round that was latched
    light: m.Light = m.Light.OFF
    interrupted: m.Reason = m.Reason.NONE  # why bets are closed, if not by a latch
    sound: bool = True  # the sensing has worked since the last self-test

    @property
    def reason(self) -> m.Reason:
        """What is or was wrong."""
        return self.interrupted if self.sound else m.Reason.SENSING_FAILED

    @property
    def state(self) -> m.State:
        """The state that the sensor reports."""
        if self.latch is not None:
            return m.State.LOCKED
        if not self.open:
            return m.State.NONE
        return m.State.PLACED if self.lies is m.SpotContent.CHIP else m.State.AWAITING


_replace = msgspec.structs.replace


def update_content(spot: SpotMemory, lies: m.SpotContent, level: int) -> tuple[SpotMemory, m.Changed | None]:
    """Update the content of the spot; a change gets the next number, and the light of a moved bet goes out."""
    if lies is spot.lies:
        return spot, None
    change = _meaning(spot, lies)
    sequence = spot.sequence + 1
    light = m.Light.OFF if spot.open else spot.light
    sound = spot.sound and lies is not m.SpotContent.UNREAD
    changed = m.Changed(sequence, spot.round, change, lies, level)
    return _replace(spot, lies=lies, sequence=sequence, light=light, sound=sound), changed


def _meaning(spot: SpotMemory, lies: m.SpotContent) -> m.Change:
    if spot.open:
        if lies is m.SpotContent.CHIP:
            return m.Change.PLACED
        return m.Change.WITHDRAWN if lies is m.SpotContent.EMPTY else m.Change.UNCLEAR
    if m.SpotContent.UNREAD in (spot.lies, lies):
        return m.Change.UNCLEAR
    if lies is m.SpotContent.EMPTY or (spot.lies, lies) == (m.SpotContent.SEVERAL, m.SpotContent.CHIP):
        return m.Change.TAKEN
    more = spot.lies is m.SpotContent.EMPTY or lies in (m.SpotContent.SEVERAL, m.SpotContent.FOREIGN)
    return m.Change.LATE if more else m.Change.UNCLEAR


def opening_refused(spot: SpotMemory, number: int) -> m.Reason:
    """Return why a round cannot be opened; a latched round never opens again."""
    if number in (0, spot.ended):
        return m.Reason.WRONG_ROUND
    if not spot.sound:
        return m.Reason.SENSING_FAILED
    return m.Reason.NONE if spot.lies is m.SpotContent.EMPTY else m.Reason.SPOT_OCCUPIED


def opened(spot: SpotMemory, number: int) -> SpotMemory:
    """Open bets for a round."""
    return _replace(spot, open=True, round=number, latch=None, light=m.Light.OFF, interrupted=m.Reason.NONE)


def lock(spot: SpotMemory, number: int, lock_id: int) -> tuple[SpotMemory, m.Locked | m.LockRefused]:
    """Latch: bets are closed afterwards in every case."""
    latch = spot.latch
    if latch is not None:
        if (latch.round, latch.lock_id) == (number, lock_id):
            return spot, m.Locked(latch)
        reason = m.Reason.OTHER_LOCK if latch.round == number else m.Reason.WRONG_ROUND
        return spot, m.LockRefused(lock_id, reason, spot.round, latch)
    if not spot.open:
        return spot, m.LockRefused(lock_id, m.Reason.NOT_OPEN, spot.round, None)
    if spot.round != number:
        closed = _replace(spot, open=False, light=m.Light.OFF, interrupted=m.Reason.WRONG_ROUND)
        return closed, m.LockRefused(lock_id, m.Reason.WRONG_ROUND, spot.round, None)
    latch = m.Latch(number, lock_id, spot.sequence, spot.lies)
    return _replace(spot, open=False, latch=latch, ended=number), m.Locked(latch)


def unlocking_refused(spot: SpotMemory, lock_id: int) -> m.Reason:
    """Return why a latch cannot be ended: the command must name its lock."""
    matches = spot.latch is not None and spot.latch.lock_id == lock_id
    return m.Reason.NONE if matches else m.Reason.OTHER_LOCK


def unlocked(spot: SpotMemory) -> SpotMemory:
    """End the latch; bets stay closed."""
    return _replace(spot, latch=None, light=m.Light.OFF)


def light_refused(spot: SpotMemory, light: m.Light, sequence: int) -> m.Reason:
    """Return why a light may not go on: acknowledged needs the present bet, accepted needs the latched bet."""
    if light is m.Light.OFF:
        return m.Reason.NONE
    if light is m.Light.ACKNOWLEDGED:
        right = spot.state is m.State.PLACED and sequence == spot.sequence
    else:
        right = (
            spot.latch is not None and spot.latch.content is m.SpotContent.CHIP and sequence == spot.latch.last_change
        )
    return m.Reason.NONE if right else m.Reason.NO_SUCH_BET


def with_light(spot: SpotMemory, light: m.Light) -> SpotMemory:
    """Switch a light on, or off."""
    return _replace(spot, light=light)


def rebooted(spot: SpotMemory) -> SpotMemory:
    """Power is back: keep the latch, close an open spot, switch the lamps off."""
    interrupted = m.Reason.POWER_LOST if spot.open else spot.interrupted
    return _replace(spot, open=False, light=m.Light.OFF, interrupted=interrupted)


def tested(spot: SpotMemory, *, passed: bool) -> SpotMemory:
    """A self-test ended: bets can open again only if it passed."""
    return _replace(spot, sound=passed)
