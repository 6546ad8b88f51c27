"""Sources of numbers for a randomness report: the generator's own code, dice, and a scaling known to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.position import DICE, FACES, POSITIONS, position_of_dice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from devices.number_draw import NumberGenerator

    Noise = Callable[[int], bytes]

# Bytes of noise in one request: whole throws of three dice.
_CHUNK: Final = 3 * 4096
# Bytes below this are distributed evenly over six faces; the others are discarded.
_EVEN_FACES: Final = 256 // FACES * FACES


def generated(generator: NumberGenerator) -> Iterator[bytes]:
    """Yield numbers of the generator until its noise fails a health test."""
    if generator.run_startup_test() is None:
        while numbers := generator.draw_numbers():
            yield numbers


def remainders(noise: Noise) -> Iterator[bytes]:
    """Yield numbers by the remainder of a byte: 1 to 4 come 37 times in 256, 5 to 7 only 36 times. Must not pass."""
    table = bytes(byte % POSITIONS + 1 for byte in range(256))
    while True:
        yield noise(_CHUNK).translate(table)


def rolled(noise: Noise) -> Iterator[bytes]:
    """Yield the position numbers of three fair dice."""
    faces_of = bytes(byte * FACES // _EVEN_FACES + 1 for byte in range(_EVEN_FACES)) + bytes(256 - _EVEN_FACES)
    rejected = bytes(range(_EVEN_FACES, 256))
    while True:
        faces = noise(_CHUNK).translate(faces_of, rejected)
        throws = zip(*(faces[die::DICE] for die in range(DICE)), strict=False)
        yield bytes(position_of_dice(throw) for throw in throws)


def collect(blocks: Iterator[bytes], count: int, on_drawn: Callable[[int], None] = lambda _: None) -> bytes:
    """Return `count` numbers, or fewer if the source ends; calls `on_drawn` with the number so far."""
    drawn = bytearray()
    reported = 0
    for block in blocks:
        drawn += block
        if len(drawn) >= count:
            break
        if len(drawn) - reported >= count // 200:  # often enough for a progress bar
            reported = len(drawn)
            on_drawn(reported)
    return bytes(drawn[:count])
